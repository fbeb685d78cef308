//! Painting: the hops of prefixes onto the slots that readers look up.
//!
//! A slot holds the hop of the longest prefix that covers it; only the writer stores that prefix's length. A changed
//! prefix is painted from its first slot to its last, according to the routes at that time: if it is a route, onto
//! slots of prefixes that are no longer than it; if not, its slots get the next shorter route. So changes may be
//! painted in any order and in parts, and the last one leaves every slot correct. Nodes stay while anything is
//! unpainted.

use std::cmp::Reverse;

use crate::nodes::{FAN_OUT, SlotAt};
use crate::reader::AddressKey;
use crate::slot::RouteSlot;
use crate::writer::{Key, NODE_BITS, RouteWriter, index};

impl<A: AddressKey> RouteWriter<A> {
    /// Paints at most `most` slots for the changes that were begun, and at least one, the longest prefixes first. Returns whether readers
    /// see all of them now.
    pub fn repaint(&mut self, most: usize) -> bool {
        let mut left = most.max(1);
        while let Some((&(Reverse(length), key), &from)) = self.unpainted.first_key_value() {
            if left == 0 {
                return false;
            }
            let (painted, next) = self.paint((key, length), from, left);
            left -= painted.min(left);
            match next {
                Some(next) => self.unpainted.insert((Reverse(length), key), next),
                None => self.unpainted.remove(&(Reverse(length), key)),
            };
        }
        self.collapse_removed(left)
    }

    /// Removes the empty nodes of removed prefixes; inspecting a node counts as much as painting it.
    fn collapse_removed(&mut self, mut left: usize) -> bool {
        while let Some(key) = self.removed.pop() {
            let path = self.path(key, false);
            self.collapse(&path);
            left = left.saturating_sub(FAN_OUT * path.len());
            if left == 0 {
                break;
            }
        }
        self.removed.is_empty()
    }

    /// Paints at most `most` slots of a prefix, from the one with the key `at`. Returns how many, and the key at
    /// which to continue, unless that was the last.
    fn paint(&mut self, (key, length): Key, mut at: u128, most: usize) -> (usize, Option<u128>) {
        let last = key | low_bits(length);
        let (over, (painted, hop)) = match self.routes.get(&(key, length)) {
            Some(hop) => (0..=length, (length, *hop)),
            None => (length..=length, self.cover((key, length))),
        };
        let mut count = 0;
        loop {
            let (SlotAt { node, index }, bits) = self.leaf(at);
            let run = 1 + ((last - at) >> (128 - bits)).min((most - count) as u128 - 1) as usize;
            let lengths = match node {
                None => &mut self.root_lengths[index..],
                Some(node) => &mut self.node_lengths[node as usize][index..],
            };
            let mut painted_here = 0;
            for (slot, length) in self.nodes.slots(node)[index..].iter().zip(lengths).take(run) {
                if slot.get() & A::Slot::NODE != 0 {
                    break;
                }
                if over.contains(length) {
                    *length = painted;
                    slot.set(hop.0.into());
                }
                painted_here += 1;
            }
            count += painted_here;
            // The first slot that was not painted: it holds a node, lies in another node, or is left for the next
            // call; `None` after the last.
            let next =
                (painted_here as u128).checked_mul(low_bits(bits) + 1).and_then(|span| at.checked_add(span));
            match next.filter(|next| *next <= last) {
                Some(next) if count < most => at = next,
                next => return (count, next),
            }
        }
    }

    /// The slot without a node that covers a key, and the number of bits it fixes.
    fn leaf(&self, key: u128) -> (SlotAt, u8) {
        let mut at = SlotAt { node: None, index: index(key, 0, A::ROOT_BITS) };
        let mut bits = A::ROOT_BITS;
        while let Some(node) = self.child(at) {
            at = SlotAt { node: Some(node), index: index(key, bits, NODE_BITS) };
            bits += NODE_BITS;
        }
        (at, bits)
    }
}

/// The bits of a key behind the first `length`.
fn low_bits(length: u8) -> u128 {
    u128::MAX.checked_shr(length.into()).unwrap_or(0)
}
