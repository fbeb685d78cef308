//! Acknowledgements that wait for the network card. Each records the state when it became due; they are merged only
//! when the queue is full.

use std::collections::VecDeque;

use weft_core::Time;

use crate::segment::{Block, BlockCount, Flags, MAX_BLOCKS, Segment};

/// Maximum number of waiting acknowledgements; beyond it, the newest, which covers more, replaces the last.
const MOST: usize = 256;

/// The content of an acknowledgement: a segment without the parts common to all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    pub(super) ack: u64,
    pub(super) echo: Time,
    pub(super) blocks: [Block; MAX_BLOCKS],
    pub(super) flags: Flags,
    pub(super) blocks_used: BlockCount,
}

/// A queue that allocates only for more than one.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    first: Ack,
    waiting: bool,
    more: VecDeque<Ack>,
}

impl Ack {
    /// The segment, from a template with the flow and the sending time.
    #[inline]
    pub(super) const fn segment(&self, template: Segment) -> Segment {
        Segment {
            flags: self.flags,
            blocks_used: self.blocks_used,
            ack: self.ack,
            echo: self.echo,
            blocks: if self.is_plain() { template.blocks } else { self.blocks },
            ..template
        }
    }

    /// Whether it says nothing of what has arrived beyond a gap, or twice.
    #[inline]
    const fn is_plain(&self) -> bool {
        matches!(self.blocks_used, BlockCount::Zero) && !self.flags.has(Flags::DUPLICATE)
    }
}

impl Acks {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        !self.waiting
    }

    #[inline]
    pub(super) fn push(&mut self, ack: Ack) {
        if self.waiting {
            return self.push_behind(ack);
        }
        (self.first, self.waiting) = (ack, true);
    }

    /// [`Acks::push`] for an acknowledgement without blocks.
    #[inline(always)]
    pub(super) fn push_plain(&mut self, ack: u64, echo: Time, flags: Flags) {
        if self.waiting {
            return self.push_behind(Ack { ack, echo, flags, ..Ack::default() });
        }
        // Blocks of an earlier acknowledgement may stay: none is in use.
        (self.first.ack, self.first.echo) = (ack, echo);
        (self.first.flags, self.first.blocks_used) = (flags, BlockCount::Zero);
        self.waiting = true;
    }

    #[inline(never)]
    fn push_behind(&mut self, ack: Ack) {
        if self.more.len() == MOST {
            self.more.pop_back();
        }
        self.more.push_back(ack);
    }

    /// Adds flags to the newest waiting acknowledgement.
    pub(super) fn add_to_newest(&mut self, flags: Flags) {
        let newest = self.more.back_mut().unwrap_or(&mut self.first);
        newest.flags = newest.flags.with(flags);
    }

    /// The acknowledgement to send next; meaningless if there is none.
    #[inline]
    pub(super) fn first(&self) -> &Ack {
        &self.first
    }

    /// Removes the first, which has been sent.
    #[inline]
    pub(super) fn drop_first(&mut self) {
        self.waiting = false;
        if let Some(next) = self.more.pop_front() {
            (self.first, self.waiting) = (next, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: u64) -> Ack {
        Ack { ack, ..Ack::default() }
    }

    #[test]
    fn order_is_kept_and_the_newest_never_lost() {
        let mut acks = Acks::default();
        (0..1000).for_each(|n| acks.push(ack(n)));
        let mut all = Vec::new();
        while !acks.is_empty() {
            all.push(acks.first().ack);
            acks.drop_first();
        }
        assert_eq!(all.len(), MOST + 1);
        assert!(all.is_sorted());
        assert_eq!((all[0], all[MOST - 1], all[MOST]), (0, MOST as u64 - 1, 999));
    }

    #[test]
    fn after_the_last_the_next_is_the_first_again() {
        let mut acks = Acks::default();
        for n in 0..3 {
            acks.push(ack(n));
            acks.push(ack(10 + n));
            assert_eq!(acks.first().ack, n);
            acks.drop_first();
            assert_eq!(acks.first().ack, 10 + n);
            acks.drop_first();
            assert!(acks.is_empty());
        }
    }
}
