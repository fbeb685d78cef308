//! The writer: keeps the routes, and the nodes that their prefixes need. `painting` writes them onto slots.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
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
pub(crate) type Key = (u128, u8);
/// The content painted into a slot: the length of the prefix and the hop.
pub(crate) type Paint = (u8, Hop);

/// Bits that index a node.
pub(crate) const NODE_BITS: u8 = 8;

/// A table of routes; the only object that changes it.
pub struct RouteWriter<A: AddressKey> {
    pub(crate) nodes: Arc<TrieNodes<A::Slot>>,
    pub(crate) routes: HashMap<Key, Hop>,
    /// Changed prefixes that are not yet painted, longest first, each with the key at which painting resumes.
    pub(crate) unpainted: BTreeMap<(Reverse<u8>, u128), u128>,
    /// Prefixes that have been removed, whose nodes may have become empty.
    pub(crate) removed: Vec<Key>,
    /// Length of the prefix that covers each slot of the root; 0 if none does.
    pub(crate) root_lengths: Box<[u8]>,
    /// Lengths for each node ever used.
    pub(crate) node_lengths: Vec<[u8; FAN_OUT]>,
    free: Vec<u32>,
    /// Nodes that readers may still see, each with the epoch of its removal.
    retired: VecDeque<(u64, u32)>,
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
            unpainted: BTreeMap::new(),
            removed: Vec::new(),
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
        let before = self.begin_insert(prefix, hop)?;
        self.repaint(usize::MAX);
        Ok(before)
    }

    /// Removes a route; returns its hop. Its addresses then match the next shorter prefix.
    pub fn remove(&mut self, prefix: IpPrefix) -> Option<Hop> {
        let before = self.begin_remove(prefix)?;
        self.repaint(usize::MAX);
        Some(before)
    }

    /// [`RouteWriter::insert`] without the painting: readers see the route after [`RouteWriter::repaint`], and its former hop until then.
    ///
    /// # Errors
    /// As [`RouteWriter::insert`].
    pub fn begin_insert(&mut self, prefix: IpPrefix, hop: Hop) -> Result<Option<Hop>, RouteError> {
        if !is_of::<A>(prefix) {
            return Err(RouteError::Family(prefix));
        }
        if hop == Hop::NONE || hop > Hop::MAX {
            return Err(RouteError::Hop(prefix));
        }
        let key = (prefix.key(), prefix.length());
        if !self.has_room(key) {
            // Nodes of removed routes may become free.
            self.repaint(usize::MAX);
            if !self.has_room(key) {
                return Err(RouteError::Full(prefix));
            }
        }
        self.path(key, true);
        self.unpainted.insert((Reverse(key.1), key.0), key.0);
        Ok(self.routes.insert(key, hop))
    }

    /// [`RouteWriter::remove`] without the painting: readers see the route until [`RouteWriter::repaint`].
    pub fn begin_remove(&mut self, prefix: IpPrefix) -> Option<Hop> {
        let key = (prefix.key(), prefix.length());
        self.get(prefix)?;
        self.unpainted.insert((Reverse(key.1), key.0), key.0);
        self.removed.push(key);
        self.routes.remove(&key)
    }

    /// The longest route that is shorter than this prefix and covers it.
    pub(crate) fn cover(&self, (key, length): Key) -> Paint {
        let shorter = |length: u8| {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            self.routes.get(&(key & mask, length)).map(|hop| (length, *hop))
        };
        (0..length).rev().find_map(shorter).unwrap_or((0, Hop::NONE))
    }

    /// The slots on the path to those of a prefix, from the root; with `grow`, adds nodes where the prefix is longer than the slots there.
    pub(crate) fn path(&mut self, (key, length): Key, grow: bool) -> Vec<SlotAt> {
        let (mut node, mut before, mut bits) = (None, 0, A::ROOT_BITS);
        let mut path = Vec::new();
        while length > before + bits {
            let at = SlotAt { node, index: index(key, before, bits) };
            let child = self.child(at).or_else(|| grow.then(|| self.grow(at)));
            let Some(child) = child else { break };
            path.push(at);
            (node, before, bits) = (Some(child), before + bits, NODE_BITS);
        }
        path
    }

    /// Whether there are enough nodes for a prefix of this length. Waits for readers in the middle of a batch if their
    /// nodes are needed.
    fn has_room(&mut self, (key, length): Key) -> bool {
        let has = self.path((key, length), false).len();
        let needs = usize::from(length.saturating_sub(A::ROOT_BITS).div_ceil(NODE_BITS)) - has;
        let fresh = A::Slot::MOST_NODES as usize - self.node_lengths.len();
        while self.free.len() + fresh < needs && !self.retired.is_empty() {
            self.reclaim();
            std::thread::yield_now();
        }
        self.free.len() + fresh >= needs
    }

    pub(crate) fn child(&self, at: SlotAt) -> Option<u32> {
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

    /// Removes nodes on the path that contain no prefix of their own, deepest first.
    pub(crate) fn collapse(&mut self, path: &[SlotAt]) {
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
pub(crate) fn index(key: u128, before: u8, bits: u8) -> usize {
    ((key << before) >> (128 - bits)) as usize
}

fn is_of<A: AddressKey>(prefix: IpPrefix) -> bool {
    prefix.address().is_ipv4() == (A::WIDTH == 32)
}
