//! A switch in a tree of three tiers: *leaves*, which have hosts, their *parents*, and the switches above those. Must not
//! depend on how a network is built or what is done with the tree.
//!
//! The links between a parent and the switches above it are its *upper links*. All leaves under a parent share them.

use std::sync::Arc;

use crate::ids::HostId;
use crate::units::Rate;

/// A switch's place in the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeSite {
    /// What each of its ports leads to.
    pub ports: Vec<TreePort>,
    /// The leaf of every host; the same for all switches.
    pub leaf_of_host: Arc<[u16]>,
    /// By leaf: whether the path there avoids upper links. Empty at switches other than leaves.
    pub near: Vec<bool>,
}

impl TreeSite {
    /// Whether the path from this leaf to a host, and back, avoids upper links.
    #[must_use]
    pub fn is_near(&self, host: HostId) -> bool {
        self.near.get(usize::from(self.leaf_of_host[host.index()])).is_none_or(|near| *near)
    }
}

/// What a port leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePort {
    /// A host, or a switch outside the tree.
    Elsewhere,
    /// From a leaf to a parent.
    Parent(Above),
    /// From a parent to a leaf.
    Child,
    /// From a parent to a switch above it, or the other way, at this rate.
    Upper(Rate),
}

/// The upper links of a parent, as a leaf knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Above {
    /// The rate of all of them, in one direction.
    pub capacity: Rate,
    /// The rate of the fastest.
    pub link: Rate,
    /// Cables from the parent to leaves.
    pub children: u32,
}
