//! Colours: packets that their transport can do without are red, all others green. A queue drops red packets early, so that
//! green ones find room. Must not depend on transports: packets say themselves that they are red.
//!
//! *Source*: colour-aware dropping of merchant chips, as timeout-less transport uses it (Lim et al., EuroSys 2021).

use weft_core::record::Reason;
use weft_core::settings::Share;
use weft_core::{Bytes, Header, PortId, choice, settings};

use crate::ClassQueue;
use crate::outputs::Outputs;

choice! {
    /// Which bytes of a queue count towards the red threshold.
    pub enum ColorCount {
        /// Those of red packets.
        RedOnly = "red-only",
        /// All, as chips count.
        WholeQueue = "whole-queue",
    }
}

settings! {
    /// Early drops of red packets, which a transport marks that has `tlt`; off unless `red` or `red_share` is given.
    pub struct ColorSettings {
        /// A red packet is dropped if with it the bytes that count would reach this (K_color), the packet in service included.
        red: Option<Bytes> = None,
        /// The same threshold as a share of what the sharing rule lets the queue hold at that instant.
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
pub(crate) struct RedLimit {
    bytes: u64,
    share: Option<f64>,
    count: ColorCount,
}

impl RedLimit {
    /// `None`: colours do not matter.
    pub(crate) fn new(settings: &ColorSettings) -> Option<RedLimit> {
        let share = settings.red_share.map(|share| share.0);
        let bytes = settings.red.map_or(u64::MAX, |bytes| bytes.0);
        settings.is_on().then_some(RedLimit { bytes, share, count: settings.count })
    }

    /// Whether a red packet may join a queue that the sharing rule would let grow to `allowed` bytes.
    fn admits(&self, queue: &ClassQueue, wire: u16, allowed: impl Fn() -> u64) -> bool {
        let held = match self.count {
            ColorCount::RedOnly => queue.red,
            ColorCount::WholeQueue => queue.bytes,
        };
        let limit = self.share.map_or(self.bytes, |share| self.bytes.min((share * allowed() as f64) as u64));
        held + u64::from(wire) < limit
    }
}

impl Outputs {
    /// Whether a red packet may join a queue as far as its colour goes. A port that is down refuses it for that reason.
    #[inline(never)]
    pub(crate) fn admit_red(&self, (port, queue): (PortId, usize), header: &Header) -> Result<(), Reason> {
        let output = &self.ports[port.index()];
        let Some(limit) = output.red.filter(|_| output.port.up) else { return Ok(()) };
        let allowed = || self.store.allows(queue).min(output.limit);
        if limit.admits(&output.queues[queue], header.wire, allowed) { Ok(()) } else { Err(Reason::Red) }
    }
}
