//! TLT at the receiver: the sender must learn the fate of its important packets. Unused without TLT.

use weft_tlt::flags;

use super::TcpReceiver;
use crate::segment::{Flags, Segment};

impl TcpReceiver {
    /// Acknowledges an important packet at once, and marks the acknowledgement as its echo (TLT).
    #[inline(never)]
    pub(super) fn echo_importance(&mut self, segment: &Segment) {
        if self.unacknowledged.bytes > 0 || self.acks.is_empty() {
            self.acknowledge(Flags::ACK);
        }
        let forced = segment.flags.has(flags::FORCED);
        self.acks.add_to_newest(flags::ECHO.with_if(forced, flags::FORCED_ECHO));
    }
}
