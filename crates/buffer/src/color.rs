//! Colours: packets whose loss their transport can afford are red, all others green. A queue drops red packets early,
//! so that green ones find room. Must not depend on transports: packets themselves carry the colour.
//!
//! *Source*: colour-aware dropping of merchant chips, as timeout-less transport uses it (Lim et al., EuroSys 2021).

use weft_core::settings::Share;
use weft_core::{Bytes, choice, settings};

choice! {
    /// Which bytes of a queue count towards the red threshold.
    pub enum ColorCount {
        /// Red packets only.
        RedOnly = "red-only",
        /// All packets, as chips do.
        WholeQueue = "whole-queue",
    }
}

settings! {
    /// Early drops of red packets, for transports with `tlt`; off unless `red` or `red_share` is given.
    pub struct ColorSettings {
        /// A red packet is dropped if it would raise the bytes that count to this (K_color), including the packet in
        /// service.
        red: Option<Bytes> = None,
        /// The threshold as a share of what the sharing rule allows the queue to hold at that instant, instead of
        /// `red`.
        red_share: Option<Share> = None,
        /// Which bytes count.
        count: ColorCount = ColorCount::RedOnly,
    }
}

impl ColorSettings {
    /// Whether any packet is dropped for its colour.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.red.is_some() || self.red_share.is_some()
    }
}

/// The red threshold of a port's queues.
#[derive(Clone, Copy, Debug)]
pub struct RedLimit {
    bytes: u64,
    share: Option<f64>,
    count: ColorCount,
}

impl RedLimit {
    /// `None` if no packet is dropped for its colour.
    #[must_use]
    pub fn new(settings: &ColorSettings) -> Option<RedLimit> {
        let share = settings.red_share.map(|share| share.0);
        let bytes = settings.red.map_or(u64::MAX, |bytes| bytes.0);
        settings.is_on().then_some(RedLimit { bytes, share, count: settings.count })
    }

    /// Whether a red packet of `wire` bytes may join a queue that holds `red` red bytes and `bytes` in all, and may
    /// grow to `allowed` bytes by the sharing rule.
    pub fn admits(&self, (red, bytes): (u64, u64), wire: u16, allowed: impl Fn() -> u64) -> bool {
        let held = match self.count {
            ColorCount::RedOnly => red,
            ColorCount::WholeQueue => bytes,
        };
        let limit = self.share.map_or(self.bytes, |share| self.bytes.min((share * allowed() as f64) as u64));
        held + u64::from(wire) < limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_red_packet_joins_while_what_counts_stays_below_the_threshold() {
        let limit = |settings: ColorSettings| RedLimit::new(&settings).expect("a threshold is given");
        let own = limit(ColorSettings { red: Some(Bytes(10_000)), ..ColorSettings::default() });
        assert!(own.admits((8_499, 90_000), 1_500, || 0) && !own.admits((8_500, 8_500), 1_500, || 0));
        let all = ColorSettings { red: Some(Bytes(10_000)), count: ColorCount::WholeQueue, red_share: None };
        assert!(
            !limit(all.clone()).admits((0, 8_500), 1_500, || 0) && limit(all).admits((0, 8_499), 1_500, || 0)
        );
        let share = limit(ColorSettings { red_share: Some(Share(0.25)), ..ColorSettings::default() });
        assert!(share.admits((0, 0), 1_500, || 6_004) && !share.admits((0, 0), 1_500, || 6_000));
        assert!(RedLimit::new(&ColorSettings::default()).is_none());
    }
}
