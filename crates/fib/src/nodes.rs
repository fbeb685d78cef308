//! The memory shared by writer and readers: the root and the nodes below it. It grows in chunks that never move.

use std::sync::OnceLock;

use crate::epoch::Epochs;
use crate::slot::RouteSlot;

/// Slots of a node.
pub(crate) const FAN_OUT: usize = 256;
/// Nodes per chunk.
const CHUNK: usize = 256;

/// Called with the address and the length of a large piece of memory before its first use.
pub type PrepareMemory = fn(*const u8, usize);

/// A slot: of the root (`None`) or of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotAt {
    pub(crate) node: Option<u32>,
    pub(crate) index: usize,
}

/// All slots of a table.
pub(crate) struct TrieNodes<S> {
    pub(crate) root: Box<[S]>,
    chunks: Box<[OnceLock<Box<[S]>>]>,
    pub(crate) epochs: Epochs,
}

impl<S: RouteSlot> TrieNodes<S> {
    pub(crate) fn new(root_bits: u8, prepare: PrepareMemory) -> TrieNodes<S> {
        let chunks = (S::MOST_NODES as usize).div_ceil(CHUNK);
        let slots = 1 << root_bits;
        let mut root: Vec<S> = Vec::with_capacity(slots);
        prepare(root.as_ptr().cast(), slots * size_of::<S>());
        root.extend((0..slots).map(|_| S::empty()));
        TrieNodes {
            root: root.into(),
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            epochs: Epochs::default(),
        }
    }

    /// Ensures that a node has memory, before it is published.
    pub(crate) fn provide(&self, node: u32) {
        self.chunks[node as usize / CHUNK].get_or_init(|| empty(CHUNK * FAN_OUT));
    }

    /// A slot of a node that has been published.
    #[inline(always)]
    pub(crate) fn below(&self, node: u32, index: u8) -> &S {
        let (chunk, node) = (node as usize / CHUNK, node as usize % CHUNK);
        let chunk = self.chunks[chunk].get().expect("nodes have memory before they are published");
        &chunk[node * FAN_OUT + usize::from(index)]
    }

    /// The slots of a node that has been published, or of the root.
    pub(crate) fn slots(&self, node: Option<u32>) -> &[S] {
        let Some(node) = node else { return &self.root };
        let (chunk, node) = (node as usize / CHUNK, node as usize % CHUNK);
        let chunk = self.chunks[chunk].get().expect("nodes have memory before they are published");
        &chunk[node * FAN_OUT..][..FAN_OUT]
    }

    pub(crate) fn at(&self, at: SlotAt) -> &S {
        match at.node {
            None => &self.root[at.index],
            Some(node) => self.below(node, at.index as u8),
        }
    }
}

fn empty<S: RouteSlot>(slots: usize) -> Box<[S]> {
    (0..slots).map(|_| S::empty()).collect()
}
