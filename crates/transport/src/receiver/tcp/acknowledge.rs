//! Acknowledgements of TCP's receiver become due: what they say.

use super::{NOTHING, TcpReceiver};
use crate::receiver::acks::Ack;
use crate::segment::{Block, BlockCount, Flags, MAX_BLOCKS};

impl TcpReceiver {
    /// Makes an acknowledgement of everything that has arrived due at once.
    #[inline]
    pub(super) fn acknowledge(&mut self, flags: Flags) {
        if self.rules.sack && self.arrivals.gaps() {
            self.acknowledge_with_blocks(flags);
        } else {
            self.acknowledge_plainly(flags);
        }
    }

    /// Acknowledges payload that had already arrived, in the last block (RFC 2883 puts it first).
    pub(super) fn acknowledge_duplicate(&mut self, start: u64) {
        let (mut blocks, used) = match self.rules.sack {
            true => self.arrivals.blocks(),
            false => Default::default(),
        };
        let used = used.min(BlockCount::Two);
        let offset = start.wrapping_sub(self.arrivals.expected()) as u32;
        blocks[used.get()] = Block { offset, length: 0 };
        self.acknowledge_with(Flags::ACK.with(Flags::DUPLICATE), (blocks, used));
    }

    #[inline(never)]
    fn acknowledge_with_blocks(&mut self, flags: Flags) {
        self.acknowledge_with(flags, self.arrivals.blocks());
    }

    fn acknowledge_with(&mut self, flags: Flags, (blocks, blocks_used): ([Block; MAX_BLOCKS], BlockCount)) {
        let flags = self.flags_with(flags);
        let (ack, echo) = (self.arrivals.expected(), self.unacknowledged.sent);
        self.acks.push(Ack { ack, echo, blocks, flags, blocks_used });
        self.unacknowledged = NOTHING;
    }

    /// Acknowledges what has arrived in order.
    #[inline(always)]
    fn acknowledge_plainly(&mut self, flags: Flags) {
        let flags = self.flags_with(flags);
        self.acks.push_plain(self.arrivals.expected(), self.unacknowledged.sent, flags);
        self.unacknowledged = NOTHING;
    }

    /// These, and those that the connection adds to an acknowledgement that leaves now.
    #[inline(always)]
    fn flags_with(&self, flags: Flags) -> Flags {
        let closing = self.rules.close && self.is_complete();
        let flags = flags.with_if(self.unacknowledged.again, Flags::AGAIN);
        flags.with_if(self.echo_mark, Flags::ECE).with_if(closing, Flags::FIN)
    }
}
