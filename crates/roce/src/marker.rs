//! TLT for a queue pair: rate-based if the receiver keeps nothing beyond a gap, window-based if it does. Packets keep
//! their boundaries, so a forced packet is a whole packet or an empty one.

use std::ops::Range;

use weft_tlt::settings::Clocking;
use weft_tlt::{InFlight, Ranges, RateMarker, WindowMarker};

use crate::queue_pairs::QueuePairs;

/// The TLT state of a queue pair.
#[derive(Clone, Debug)]
pub(crate) struct TltMarker {
    rule: MarkingRule,
    /// Payload sent in important packets.
    important: u64,
}

/// Which packets are important.
#[derive(Clone, Debug)]
enum MarkingRule {
    /// Go-back-N: the receiver requests missing packets.
    Rate(RateMarker),
    /// Selective retransmission: the echo proves losses.
    Window {
        /// The window-based marker.
        marker: WindowMarker,
        /// Bytes proved lost but not requested by the receiver; to be retransmitted.
        lost: Ranges,
    },
}

impl TltMarker {
    /// `None` without TLT.
    pub(crate) fn new(pairs: &QueuePairs) -> Option<Box<TltMarker>> {
        let settings = pairs.settings.tlt.as_ref()?;
        let rule = match pairs.selective() {
            true => MarkingRule::Window { marker: WindowMarker::new(), lost: Ranges::default() },
            false => MarkingRule::Rate(RateMarker::new(settings.every)),
        };
        Some(Box::new(TltMarker { rule, important: 0 }))
    }

    /// Payload sent in important packets.
    pub(crate) fn important(&self) -> u64 {
        self.important
    }

    /// Called when a packet is sent; `last` if it is the last of its message. Returns whether it is important.
    pub(crate) fn sends(&mut self, bytes: Range<u64>, last: bool) -> bool {
        let length = bytes.end - bytes.start;
        let important = match &mut self.rule {
            MarkingRule::Rate(marker) => marker.sends(bytes.end, last),
            MarkingRule::Window { marker, lost } => {
                lost.remove(&bytes);
                marker.sends(bytes)
            }
        };
        self.important += if important { length } else { 0 };
        important
    }

    /// Called when the packet just sent is the last that may be sent for now; `una` is the first unacknowledged byte.
    /// Returns whether that makes it important.
    pub(crate) fn exhausted(&mut self, una: u64, bytes: &Range<u64>) -> bool {
        let important = match &mut self.rule {
            MarkingRule::Rate(marker) => marker.exhausted(una, bytes.end),
            MarkingRule::Window { marker, .. } => marker.exhausted(bytes),
        };
        self.important += if important { bytes.end - bytes.start } else { 0 };
        important
    }

    /// The first byte proved lost.
    pub(crate) fn lost(&self) -> Option<u64> {
        match &self.rule {
            MarkingRule::Rate(_) => None,
            MarkingRule::Window { lost, .. } => lost.first().map(|bytes| bytes.start),
        }
    }

    /// The start of a packet that must be sent although the window is closed, and whether it is empty.
    pub(crate) fn forced(&self, una: u64, next: u64, mss: u64) -> Option<(u64, bool)> {
        let MarkingRule::Window { marker, .. } = &self.rule else { return None };
        let bytes = marker.forced(Clocking::Adaptive, InFlight { una, next, mss })?;
        Some((bytes.start, bytes.end - bytes.start == 1 && next - una > 1))
    }

    /// Called when everything below `una` has arrived, and these bytes beyond it; with `echo`, the answer is to the
    /// important packet. Bytes that it proves lost must be retransmitted, except those in `repairs`, which the
    /// receiver has requested.
    pub(crate) fn answered(&mut self, una: u64, beyond: &[(u64, u64)], (echo, repairs): (bool, Range<u64>)) {
        let MarkingRule::Window { marker, lost } = &mut self.rule else { return };
        marker.arrived(una, beyond.iter().copied());
        lost.remove(&(0..una));
        beyond.iter().for_each(|(start, end)| lost.remove(&(*start..*end)));
        if echo {
            let mut proved = marker.echoed();
            proved.remove(&repairs);
            lost.add_all(proved);
        }
    }

    /// Called when go-back-N restarts at a gap.
    pub(crate) fn goes_back(&mut self) {
        if let MarkingRule::Rate(marker) = &mut self.rule {
            marker.goes_back();
        }
    }

    /// Called when the retransmission timer has expired: everything in flight is retransmitted.
    pub(crate) fn timed_out(&mut self) {
        match &mut self.rule {
            MarkingRule::Rate(marker) => marker.goes_back(),
            MarkingRule::Window { marker, lost } => {
                marker.timed_out();
                *lost = Ranges::default();
            }
        }
    }
}
