//! TLT: the sender must learn what has become of its important packets. Not reached by a receiver without it.

use weft_tlt::flags;

use super::TcpReceiver;
use crate::segment::{Flags, Segment};

impl TcpReceiver {
    /// An important packet is answered at once, and the answer says so (TLT).
    #[inline(never)]
    pub(super) fn echo_importance(&mut self, segment: &Segment) {
        if self.unacknowledged.bytes > 0 || self.acks.is_empty() {
            self.acknowledge(Flags::ACK);
        }
        let forced = segment.flags.has(flags::FORCED);
        self.acks.add_to_newest(flags::ECHO.with_if(forced, flags::FORCED_ECHO));
    }
}
