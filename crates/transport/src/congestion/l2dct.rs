//! L2DCT: DCTCP whose flows yield as they age. Flow sizes stay unknown; a flow that has sent little grows fast and
//! falls little, one that has sent much grows slowly and halves.
//!
//! *Source*: Munir, Qazi, Uzmi, Mushtaq, Ismail, Iqbal and Khan, INFOCOM 2013. *Parameters*: the weight is `weight_young`
//! until a flow has sent `young`, `weight_old` from `old` on, and falls linearly between; the paper's values are from
//! memory. *State*: DCTCP's estimate alpha and the bytes sent. *Limits*: those of DCTCP; a long flow that was alone for a
//! while does not become young again.
//!
//! With weight w, a window without marks grows by w / `weight_young` segments per round trip, and a marked one falls by
//! half of alpha^w.

use weft_core::Bytes;
use weft_core::settings;
use weft_core::settings::Share;

use super::dctcp::{Dctcp, DctcpSettings};
use super::growth::{Gathered, at_least_two_segments, flight, slow_start};
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, MarkUse, Window};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "DCTCP that favours flows that have sent little (INFOCOM'13)";

settings! {
    /// L2DCT.
    pub struct L2dctSettings {
        /// Weight of the newest window in the estimate of the marked fraction (g).
        gain: Share [0.001, 1.0] = Share(1.0 / 16.0),
        /// Initial estimate of the marked fraction (alpha).
        initial_alpha: Share = Share(1.0),
        /// Minimum window after a mark, in segments.
        minimum_window: u32 [1, 1000] = 2,
        /// Weight of a flow that has sent at most `young`.
        weight_young: f64 [0.01, 100.0] = 2.5,
        /// Weight of a flow that has sent at least `old`.
        weight_old: f64 [0.01, 100.0] = 0.125,
        /// Bytes sent up to which a flow has its first weight.
        young: Bytes = Bytes(200_000),
        /// Bytes sent from which a flow has its last weight; at least `young`.
        old: Bytes = Bytes(1_000_000),
    }
}

/// L2DCT.
#[derive(Clone, Debug)]
pub struct L2dct {
    site: LawSite,
    /// Estimates the marked fraction.
    estimate: Dctcp,
    gathered: Gathered,
    /// Acknowledged bytes below one that counts: growth is a fraction of Reno's.
    fraction: f64,
    sent: u64,
    minimum_segments: u32,
    /// Weights of young and of old flows; a sender is kept small.
    weights: [f32; 2],
    /// Bytes sent at which the weight begins and ends to fall.
    ages: [u64; 2],
}

impl L2dct {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &L2dctSettings, site: LawSite) -> L2dct {
        let estimate = DctcpSettings {
            gain: settings.gain,
            initial_alpha: settings.initial_alpha,
            ..Default::default()
        };
        L2dct {
            site,
            estimate: Dctcp::new(&estimate, site),
            gathered: Gathered::default(),
            fraction: 0.0,
            sent: 0,
            minimum_segments: settings.minimum_window,
            weights: [settings.weight_young as f32, settings.weight_old as f32],
            ages: [settings.young.0, settings.old.0],
        }
    }

    /// The weight of the flow now.
    #[must_use]
    pub fn weight(&self) -> f64 {
        let ([first, last], [young, old]) = (self.weights.map(f64::from), self.ages);
        let beyond = self.sent.saturating_sub(young) as f64;
        let aged = match old.saturating_sub(young) {
            0 => f64::from(u8::from(self.sent > young)),
            span => (beyond / span as f64).min(1.0),
        };
        first + (last - first) * aged
    }

    fn lowered(&self, window: &Window) -> u64 {
        let share = self.estimate.alpha().powf(self.weight()) / 2.0;
        (window.cwnd - (window.cwnd as f64 * share) as u64)
            .max(u64::from(self.minimum_segments) * self.site.mss)
    }
}

impl CongestionLaw for L2dct {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if !ack.cwnd_limited {
            return;
        }
        let left = slow_start(window, ack.acked, &self.site);
        if !window.in_slow_start() {
            self.fraction += left as f64 * self.weight() / f64::from(self.weights[0]);
            let whole = self.fraction.floor();
            self.fraction -= whole;
            self.gathered.grow(window, whole as u64);
        }
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.gathered.clear();
        match event.cause {
            Cause::Mark => self.lowered(window),
            Cause::Loss | Cause::Timeout => at_least_two_segments(flight(window, event) / 2, window),
        }
    }

    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        self.sent = self.sent.max(ack.next);
        self.estimate.observe(window, ack);
    }

    fn mark_use(&self) -> MarkUse {
        MarkUse::Accurate
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, SITE};
    use super::*;
    use weft_core::Span;

    const RTT: Span = Span::from_us(100);

    /// A flow that has sent `sent` bytes, with an estimate of `alpha`.
    fn law(alpha: f64, sent: u64) -> L2dct {
        let settings = L2dctSettings { initial_alpha: Share(alpha), ..L2dctSettings::default() };
        L2dct { sent, ..L2dct::new(&settings, SITE) }
    }

    #[test]
    fn the_weight_falls_linearly_between_young_and_old() {
        let weights = [0, 200_000, 600_000, 1_000_000, 1 << 40].map(|sent| law(1.0, sent).weight());
        assert_eq!(weights, [2.5, 2.5, (2.5 + 0.125) / 2.0, 0.125, 0.125]);
    }

    #[test]
    fn a_young_flow_grows_as_reno_and_an_old_one_a_twentieth_as_fast() {
        let mut young = Rig::avoiding(law(0.0, 0), 4, RTT);
        (0..8).for_each(|_| young.round());
        assert_eq!(young.segments(), 12.0, "0 to 88 segments of 1460 B: below 200 kB");
        let mut old = Rig::avoiding(law(0.0, 1 << 30), 10, RTT);
        (0..40).for_each(|_| old.round());
        assert_eq!(old.segments(), 12.0, "40 round trips at 0.125 / 2.5");
    }

    #[test]
    fn a_mark_takes_half_of_alpha_to_the_weight() {
        for (sent, weight) in [(0, 2.5), (1 << 30, 0.125)] {
            let mut rig = Rig::avoiding(law(0.5, sent), 1_000, RTT);
            rig.fall(Cause::Mark);
            let expected = 1_000.0 * (1.0 - 0.5f64.powf(weight) / 2.0);
            assert!((rig.segments() - expected).abs() < 1.0, "{} for {expected}", rig.segments());
        }
        let mut rig = Rig::avoiding(law(1.0, 0), 64, RTT);
        rig.fall(Cause::Mark);
        assert_eq!(rig.segments(), 32.0, "with every byte marked, any flow halves");
        (0..10).for_each(|_| rig.fall(Cause::Mark));
        assert_eq!(rig.segments(), 2.0, "never below the minimum");
    }

    #[test]
    fn with_equal_weights_it_is_dctcp() {
        let settings = L2dctSettings { weight_young: 1.0, weight_old: 1.0, ..Default::default() };
        let mut mine = Rig::avoiding(L2dct::new(&settings, SITE), 20, RTT);
        let mut dctcp = Rig::avoiding(Dctcp::new(&DctcpSettings::default(), SITE), 20, RTT);
        for round in 0..200 {
            let marked = if round % 7 == 0 { 5 } else { 0 };
            mine.marked_round(marked);
            dctcp.marked_round(marked);
            assert_eq!(mine.window, dctcp.window, "round {round}");
        }
        assert_eq!(mine.law.estimate.alpha(), dctcp.law.alpha());
    }
}
