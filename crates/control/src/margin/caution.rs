//! The caution for loops that the published model calls stable and in which packets keep oscillating.

use weft_draw::text::number;

use super::{AT_DEPARTURE, CaseMargins};

/// Below this many degrees with marks at departures, the spread of the packets' queue is a multiple of what the
/// scarcity of marks explains.
const CAUTIOUS: f64 = 20.0;

impl CaseMargins {
    /// The meaning of a small margin with marks at departures for packets.
    pub(super) fn caution(&self) -> Option<String> {
        let margin = self.margins.phase()?.margin;
        if self.name != AT_DEPARTURE || self.beyond || margin >= CAUTIOUS {
            return None;
        }
        let swings = if self.unstable == Some(0) {
            "the randomness of marks keeps the queue of packets swinging"
        } else {
            "packets oscillate"
        };
        Some(format!(
            "{}: a busy queue marks packets that were sent one queueing delay ago, so marks per second do not follow the current \
             rates, and fast recovery has a memory. With both the margin is {} degrees, and {swings}; `weft fluid compare` \
             shows how far.",
            self.title(),
            number(margin)
        ))
    }
}
