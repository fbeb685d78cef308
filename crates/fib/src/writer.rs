//! The writer: keeps the routes, and paints their prefixes onto slots.
//!
//! A slot holds the hop of the longest prefix that covers it; only the writer stores that prefix's length, which
//! determines the slots that a change affects.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use thiserror::Error;

use crate::nodes::{FAN_OUT, PrepareMemory, SlotAt, TrieNodes};
use crate::prefix::IpPrefix;
use crate::reader::{AddressKey, RouteReader};
use crate::slot::{Hop, RouteSlot};

/// Why a route is refused. The table is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RouteError {
    /// No room for a longer prefix.
    #[error("no room for {0}: the table has no node left for longer prefixes")]
    Full(IpPrefix),
    /// An IPv4 prefix in a table of IPv6 routes, or the reverse.
    #[error("{0} does not belong to this table's address family")]
    Family(IpPrefix),
    /// The number of a next hop is out of range.
    #[error("the next hop of {0} must be from 1 to 32767")]
    Hop(IpPrefix),
}

/// A prefix as the trie sees it: its bits, at the high end of a word, and their number.
type Key = (u128, u8);
/// What is painted into a slot: the length of the prefix and the hop.
type Paint = (u8, Hop);

/// Bits that index a node.
const NODE_BITS: u8 = 8;

/// A table of routes; the only object that changes it.
pub struct RouteWriter<A: AddressKey> {
    nodes: Arc<TrieNodes<A::Slot>>,
    routes: HashMap<Key, Hop>,
    /// Length of the prefix that covers each slot of the root; 0 if none does.
    root_lengths: Box<[u8]>,
    /// Lengths for each node ever used.
    node_lengths: Vec<[u8; FAN_OUT]>,
    free: Vec<u32>,
    /// Nodes that readers may still see, each with the epoch of its removal.
    retired: VecDeque<(u64, u32)>,
}

/// The slots to be painted for a prefix.
struct Target {
    /// The slots on the path to them, from the root.
    path: Vec<SlotAt>,
    node: Option<u32>,
    first: usize,
    count: usize,
}

impl<A: AddressKey> Default for RouteWriter<A> {
    fn default() -> RouteWriter<A> {
        RouteWriter::new()
    }
}

impl<A: AddressKey> RouteWriter<A> {
    /// An empty table.
    #[must_use]
    pub fn new() -> RouteWriter<A> {
        RouteWriter::in_memory(|_, _| {})
    }

    /// An empty table; `prepare` is called with the memory of its root first, for example to request large pages.
    #[must_use]
    pub fn in_memory(prepare: PrepareMemory) -> RouteWriter<A> {
        RouteWriter {
            nodes: Arc::new(TrieNodes::new(A::ROOT_BITS, prepare)),
            routes: HashMap::new(),
            root_lengths: vec![0; 1 << A::ROOT_BITS].into(),
            node_lengths: Vec::new(),
            free: Vec::new(),
            retired: VecDeque::new(),
        }
    }

    /// A reader of the table.
    #[must_use]
    pub fn reader(&self) -> RouteReader<A> {
        RouteReader::new(Arc::clone(&self.nodes))
    }

    /// Number of routes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether there are no routes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// The hop of exactly this prefix.
    #[must_use]
    pub fn get(&self, prefix: IpPrefix) -> Option<Hop> {
        self.routes.get(&(prefix.key(), prefix.length())).copied().filter(|_| is_of::<A>(prefix))
    }

    /// All routes, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, Hop)> + '_ {
        self.routes
            .iter()
            .filter_map(|((key, length), hop)| Some((IpPrefix::of_key(*key, *length, A::WIDTH)?, *hop)))
    }

    /// Number of nodes in use or not yet released.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.node_lengths.len() - self.free.len()
    }

    /// Adds or replaces a route; returns the hop it had.
    ///
    /// # Errors
    /// The prefix is of the other family, the hop out of range, or there is no room; the table is then unchanged.
    pub fn insert(&mut self, prefix: IpPrefix, hop: Hop) -> Result<Option<Hop>, RouteError> {
        if !is_of::<A>(prefix) {
            return Err(RouteError::Family(prefix));
        }
        if hop == Hop::NONE || hop > Hop::MAX {
            return Err(RouteError::Hop(prefix));
        }
        let (key, length) = (prefix.key(), prefix.length());
        if !self.has_room((key, length)) {
            return Err(RouteError::Full(prefix));
        }
        let target = self.descend((key, length), true);
        for index in target.first..target.first + target.count {
            self.paint(SlotAt { node: target.node, index }, &|painted| painted <= length, (length, hop));
        }
        Ok(self.routes.insert((key, length), hop))
    }

    /// Removes a route; returns its hop. Its addresses then match the next shorter prefix.
    pub fn remove(&mut self, prefix: IpPrefix) -> Option<Hop> {
        let (key, length) = (prefix.key(), prefix.length());
        self.get(prefix)?;
        let old = self.routes.remove(&(key, length));
        let cover = self.cover((key, length));
        let target = self.descend((key, length), false);
        for index in target.first..target.first + target.count {
            self.paint(SlotAt { node: target.node, index }, &|painted| painted == length, cover);
        }
        self.collapse(&target.path);
        old
    }

    /// The longest route that is shorter than this prefix and covers it.
    fn cover(&self, (key, length): Key) -> Paint {
        let shorter = |length: u8| {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            self.routes.get(&(key & mask, length)).map(|hop| (length, *hop))
        };
        (0..length).rev().find_map(shorter).unwrap_or((0, Hop::NONE))
    }

    /// Walks to the slots of a prefix; with `grow`, adds nodes where the prefix is longer than the slots on its path.
    fn descend(&mut self, (key, length): Key, grow: bool) -> Target {
        let (mut node, mut before, mut bits) = (None, 0, A::ROOT_BITS);
        let mut path = Vec::new();
        while length > before + bits {
            let at = SlotAt { node, index: index(key, before, bits) };
            let child = self.child(at).or_else(|| grow.then(|| self.grow(at)));
            let Some(child) = child else { break };
            path.push(at);
            (node, before, bits) = (Some(child), before + bits, NODE_BITS);
        }
        let count = 1 << (before + bits).saturating_sub(length);
        Target { path, node, first: index(key, before, bits), count }
    }

    /// Whether there are enough nodes for a prefix of this length. Waits for readers in the middle of a batch if their
    /// nodes are needed.
    fn has_room(&mut self, (key, length): Key) -> bool {
        let has = self.descend((key, length), false).path.len();
        let needs = usize::from(length.saturating_sub(A::ROOT_BITS).div_ceil(NODE_BITS)) - has;
        let fresh = A::Slot::MOST_NODES as usize - self.node_lengths.len();
        while self.free.len() + fresh < needs && !self.retired.is_empty() {
            self.reclaim();
            std::thread::yield_now();
        }
        self.free.len() + fresh >= needs
    }

    fn child(&self, at: SlotAt) -> Option<u32> {
        let word = self.nodes.at(at).get();
        (word & A::Slot::NODE != 0).then_some(word & !A::Slot::NODE)
    }

    fn length(&mut self, at: SlotAt) -> &mut u8 {
        match at.node {
            None => &mut self.root_lengths[at.index],
            Some(node) => &mut self.node_lengths[node as usize][at.index],
        }
    }

    /// Adds a node below a slot; its slots inherit the contents of that slot. Readers see it complete.
    fn grow(&mut self, at: SlotAt) -> u32 {
        let node = self.take();
        let (word, length) = (self.nodes.at(at).get(), *self.length(at));
        self.node_lengths[node as usize] = [length; FAN_OUT];
        for index in 0..=u8::MAX {
            self.nodes.below(node, index).set(word);
        }
        self.nodes.at(at).set(node | A::Slot::NODE);
        node
    }

    /// A node that no reader sees.
    fn take(&mut self) -> u32 {
        if self.free.is_empty() {
            self.reclaim();
        }
        self.free.pop().unwrap_or_else(|| {
            let node = self.node_lengths.len() as u32;
            self.nodes.provide(node);
            self.node_lengths.push([0; FAN_OUT]);
            node
        })
    }

    /// Frees retired nodes that readers no longer see.
    fn reclaim(&mut self) {
        let oldest = self.nodes.epochs.oldest();
        while let Some((_, node)) = self.retired.pop_front_if(|(epoch, _)| *epoch < oldest) {
            self.free.push(node);
        }
    }

    /// Paints a slot, or everything below it, wherever the length painted before satisfies `replaces`.
    fn paint(&mut self, at: SlotAt, replaces: &impl Fn(u8) -> bool, (length, hop): Paint) {
        match self.child(at) {
            Some(node) => {
                for index in 0..FAN_OUT {
                    self.paint(SlotAt { node: Some(node), index }, replaces, (length, hop));
                }
            }
            None if replaces(*self.length(at)) => {
                *self.length(at) = length;
                self.nodes.at(at).set(hop.0.into());
            }
            None => {}
        }
    }

    /// Removes nodes on the path that contain no prefix of their own, deepest first.
    fn collapse(&mut self, path: &[SlotAt]) {
        for (depth, at) in path.iter().enumerate().rev() {
            let Some(node) = self.child(*at) else { return };
            let before = A::ROOT_BITS + NODE_BITS * depth as u8;
            let own = |index: usize| self.child(SlotAt { node: Some(node), index }).is_some();
            let lengths = self.node_lengths[node as usize];
            if lengths.iter().any(|length| *length > before) || (0..FAN_OUT).any(own) {
                return;
            }
            *self.length(*at) = lengths[0];
            let word = self.nodes.below(node, 0).get();
            self.nodes.at(*at).set(word);
            self.retired.push_back((self.nodes.epochs.retire(), node));
        }
    }
}

/// `bits` bits of a key after the first `before`.
fn index(key: u128, before: u8, bits: u8) -> usize {
    ((key << before) >> (128 - bits)) as usize
}

fn is_of<A: AddressKey>(prefix: IpPrefix) -> bool {
    prefix.address().is_ipv4() == (A::WIDTH == 32)
}
