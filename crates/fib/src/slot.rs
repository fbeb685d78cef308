//! A slot: a next hop or a node, in one atomic word.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

/// The number of a next hop, from 1 to [`Hop::MAX`]; its meaning is up to the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop(pub u16);

impl Hop {
    /// No route.
    pub const NONE: Hop = Hop(0);
    /// The highest number.
    pub const MAX: Hop = Hop(0x7fff);
}

/// An atomic word that holds a [`Hop`], or the number of a node with its highest bit set.
pub trait RouteSlot: Send + Sync {
    /// The bit that marks a node.
    const NODE: u32;
    /// Maximum number of nodes, by numbering or memory.
    const MOST_NODES: u32;

    /// Holds no route.
    fn empty() -> Self;
    /// The word. Everything written to the node before is visible.
    fn get(&self) -> u32;
    /// Replaces the word.
    fn set(&self, word: u32);
}

impl RouteSlot for AtomicU16 {
    const NODE: u32 = 1 << 15;
    const MOST_NODES: u32 = (1 << 15) - 1;

    fn empty() -> AtomicU16 {
        AtomicU16::new(0)
    }

    #[inline(always)]
    fn get(&self) -> u32 {
        u32::from(self.load(Ordering::Acquire))
    }

    fn set(&self, word: u32) {
        self.store(word as u16, Ordering::Release);
    }
}

impl RouteSlot for AtomicU32 {
    const NODE: u32 = 1 << 31;
    const MOST_NODES: u32 = 1 << 20;

    fn empty() -> AtomicU32 {
        AtomicU32::new(0)
    }

    #[inline(always)]
    fn get(&self) -> u32 {
        self.load(Ordering::Acquire)
    }

    fn set(&self, word: u32) {
        self.store(word, Ordering::Release);
    }
}
