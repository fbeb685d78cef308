//! Acknowledgements that wait for the network card. Each keeps what was true when it became due; none is merged with
//! another as long as there is room.

use std::collections::VecDeque;

use crate::segment::Segment;

/// Acknowledgements that may wait; beyond, the last is replaced by the newest, which tells more.
const MOST: usize = 256;

/// A queue that needs memory of its own only for more than one.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    first: Option<Segment>,
    more: VecDeque<Segment>,
}

impl Acks {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn push(&mut self, ack: Segment) {
        if self.first.is_none() {
            self.first = Some(ack);
            return;
        }
        if self.more.len() == MOST {
            self.more.pop_back();
        }
        self.more.push_back(ack);
    }

    pub(super) fn pop(&mut self) -> Option<Segment> {
        let ack = self.first.take();
        self.first = self.more.pop_front();
        ack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: u64) -> Segment {
        Segment { ack, ..Segment::default() }
    }

    #[test]
    fn order_is_kept_and_the_newest_never_lost() {
        let mut acks = Acks::default();
        (0..1000).for_each(|n| acks.push(ack(n)));
        let all: Vec<u64> = std::iter::from_fn(|| acks.pop()).map(|ack| ack.ack).collect();
        assert_eq!(all.len(), MOST + 1);
        assert!(all.is_sorted());
        assert_eq!((all[0], all[MOST - 1], all[MOST]), (0, MOST as u64 - 1, 999));
        assert!(acks.is_empty());
    }
}
