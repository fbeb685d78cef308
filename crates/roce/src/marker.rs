//! TLT beside a queue pair: by the rate where the receiver keeps nothing beyond a gap, by the window where it does. Packets keep
//! their boundaries, so what is forced is a whole packet or an empty one.

use std::ops::Range;

use weft_tlt::settings::Clocking;
use weft_tlt::{InFlight, Ranges, RateMarker, WindowMarker};

use crate::queue_pairs::QueuePairs;

/// What a queue pair adds to its packets.
#[derive(Clone, Debug)]
pub(crate) struct TltMarker {
    rule: MarkingRule,
    /// Payload sent in important packets.
    important: u64,
}

/// Which packets are important.
#[derive(Clone, Debug)]
enum MarkingRule {
    /// Go-back-n: gaps are asked for.
    Rate(RateMarker),
    /// Selective: the echo proves losses.
    Window {
        /// Which packets are important.
        marker: WindowMarker,
        /// Proved lost, and not asked for by the receiver; to be sent again.
        lost: Ranges,
    },
}

impl TltMarker {
    /// `None`: nothing is marked.
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

    /// A packet goes, the `last` of its message or not. Whether it is important.
    pub(crate) fn sends(&mut self, bytes: Range<u64>, last: bool) -> bool {
        let length = bytes.end - bytes.start;
        let important = match &mut self.rule {
            MarkingRule::Rate(marker) => marker.sends(last),
            MarkingRule::Window { marker, lost } => {
                lost.remove(&bytes);
                marker.sends(bytes)
            }
        };
        self.important += if important { length } else { 0 };
        important
    }

    /// The packet that has just gone is the last for now. Whether that makes it important.
    pub(crate) fn exhausted(&mut self, bytes: &Range<u64>) -> bool {
        let MarkingRule::Window { marker, .. } = &mut self.rule else { return false };
        let important = marker.exhausted(bytes);
        self.important += if important { bytes.end - bytes.start } else { 0 };
        important
    }

    /// The first byte of what was proved lost.
    pub(crate) fn lost(&self) -> Option<u64> {
        match &self.rule {
            MarkingRule::Rate(_) => None,
            MarkingRule::Window { lost, .. } => lost.first().map(|bytes| bytes.start),
        }
    }

    /// Where the packet begins that goes although the window is closed, and whether it is empty.
    pub(crate) fn forced(&self, una: u64, next: u64, mss: u64) -> Option<(u64, bool)> {
        let MarkingRule::Window { marker, .. } = &self.rule else { return None };
        let bytes = marker.forced(Clocking::Adaptive, InFlight { una, next, mss })?;
        Some((bytes.start, bytes.end - bytes.start == 1 && next - una > 1))
    }

    /// All below `una` has arrived, and these bytes beyond it; with `echo` the answer is to the important packet. What that proves
    /// lost and `repairs` does not name as asked for goes again.
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

    /// Sending begins anew at a gap.
    pub(crate) fn goes_back(&mut self) {
        if let MarkingRule::Rate(marker) = &mut self.rule {
            marker.goes_back();
        }
    }

    /// Silence lasted too long: all in flight goes again.
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
