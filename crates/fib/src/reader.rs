//! Readers: single look-ups, and batches that overlap their memory accesses.

use std::sync::Arc;

use weft_core::prefetch;

use crate::epoch::Presence;
use crate::nodes::TrieNodes;
use crate::slot::{Hop, RouteSlot};

/// An address as the key of a table.
pub trait AddressKey: Copy + Default + Send {
    /// The slots of the table.
    type Slot: RouteSlot;
    /// Bits of an address.
    const WIDTH: u8;
    /// Bits that index the root.
    const ROOT_BITS: u8;

    /// Index of the root.
    fn root(self) -> usize;
    /// Index of a node, `level` nodes below the first.
    fn below(self, level: u32) -> u8;
}

/// Maximum number of addresses whose memory is fetched together.
const BATCH: usize = 64;

/// Looks up routes while the writer may change them. Each thread has its own.
pub struct RouteReader<A: AddressKey> {
    nodes: Arc<TrieNodes<A::Slot>>,
    presence: Arc<Presence>,
}

impl<A: AddressKey> Clone for RouteReader<A> {
    fn clone(&self) -> RouteReader<A> {
        RouteReader::new(Arc::clone(&self.nodes))
    }
}

/// The entries of a table at which look-ups begin.
pub struct RootEntries<'a, A: AddressKey>(&'a [A::Slot]);

impl<A: AddressKey> RootEntries<'_, A> {
    /// Fetches the entry for an address, so that [`RouteReader::lookup_all`] soon afterwards does not wait for it.
    #[inline(always)]
    pub fn anticipate(&self, address: A) {
        if let Some(entry) = self.0.get(address.root()) {
            prefetch(entry);
        }
    }
}

/// An unfinished look-up: its index in the batch, and its current node.
type Pending = (u8, u32);

impl<A: AddressKey> RouteReader<A> {
    pub(crate) fn new(nodes: Arc<TrieNodes<A::Slot>>) -> RouteReader<A> {
        let presence = nodes.epochs.join();
        RouteReader { nodes, presence }
    }

    /// The next hop for an address, or [`Hop::NONE`].
    #[must_use]
    pub fn lookup(&self, address: A) -> Hop {
        let _reading = self.nodes.epochs.enter(&self.presence);
        let mut word = self.nodes.root[address.root()].get();
        let mut level = 0;
        while word & A::Slot::NODE != 0 {
            word = self.nodes.below(word & !A::Slot::NODE, address.below(level)).get();
            level += 1;
        }
        Hop(word as u16)
    }

    /// The entries at which look-ups begin.
    #[must_use]
    #[inline(always)]
    pub fn root(&self) -> RootEntries<'_, A> {
        RootEntries(&self.nodes.root)
    }

    /// The next hop for each address; faster if all have been [anticipated](RootEntries::anticipate).
    ///
    /// # Panics
    /// If there is not one hop for each address.
    #[inline]
    pub fn lookup_all(&self, addresses: &[A], hops: &mut [Hop]) {
        assert_eq!(addresses.len(), hops.len(), "there is a hop for each address");
        let _reading = self.nodes.epochs.enter(&self.presence);
        for (addresses, hops) in addresses.chunks(BATCH).zip(hops.chunks_mut(BATCH)) {
            self.lookup_batch(addresses, hops);
        }
    }

    /// At most [`BATCH`] addresses.
    #[inline(always)]
    fn lookup_batch(&self, addresses: &[A], hops: &mut [Hop]) {
        let root = &*self.nodes.root;
        let mut pending: [Pending; BATCH] = [(0, 0); BATCH];
        let mut count = 0;
        for (place, (address, hop)) in addresses.iter().zip(hops.iter_mut()).enumerate() {
            let word = root[address.root()].get();
            *hop = Hop(word as u16);
            if word & A::Slot::NODE != 0 {
                pending[count % BATCH] = (place as u8, word & !A::Slot::NODE);
                count += 1;
            }
        }
        if count > 0 {
            self.descend(addresses, hops, &mut pending[..count]);
        }
    }

    /// Follows the unfinished look-ups level by level.
    #[inline(never)]
    fn descend(&self, addresses: &[A], hops: &mut [Hop], mut pending: &mut [Pending]) {
        let mut level = 0;
        let mut slots = [&self.nodes.root[0]; BATCH];
        while !pending.is_empty() {
            for (slot, (place, node)) in slots.iter_mut().zip(pending.iter()) {
                *slot = self.nodes.below(*node, addresses[usize::from(*place)].below(level));
                prefetch(*slot);
            }
            let mut left = 0;
            for (number, slot) in slots.iter().enumerate().take(pending.len()) {
                let (place, _) = pending[number];
                let word = slot.get();
                hops[usize::from(place)] = Hop(word as u16);
                if word & A::Slot::NODE != 0 {
                    pending[left] = (place, word & !A::Slot::NODE);
                    left += 1;
                }
            }
            pending = &mut pending[..left];
            level += 1;
        }
    }
}
