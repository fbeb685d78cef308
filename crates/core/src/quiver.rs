//! How a network is divided into symmetric components: the settings, shared by the balancer that wants components and
//! the topology that computes them. Must not depend on either.
//!
//! *Paper*: Ghorbani et al., SIGCOMM'17, section 3.4 (the quiver).

use crate::{choice, settings};

choice! {
    /// What a link's label counts.
    pub enum Labels {
        /// Each pair of leaves as often as it has shortest paths through the link: links are equivalent only if they
        /// carry equal shares.
        Multiset = "multiset",
        /// Each pair of leaves once: links are equivalent if they carry traffic of the same pairs.
        Set = "set",
    }
}

choice! {
    /// Which labels decide whether two paths are symmetric.
    pub enum Score {
        /// Labels of all pairs of leaves (the paper's definition).
        AllPairs = "all-pairs",
        /// Only labels of the pair the paths belong to: the capacity factors along the paths. Coarser: it leaves a
        /// choice where links have failed or differ.
        OwnPair = "own-pair",
    }
}

choice! {
    /// The capacity factor of a path's first link, which has no predecessor; the paper does not give it.
    pub enum SourceFactor {
        /// 1 / capacity: first links of different rates differ.
        Inverse = "inv",
        /// 1: first links of different rates are equivalent.
        Constant = "const",
    }
}

settings! {
    /// How shortest paths are compared.
    pub struct QuiverSettings {
        /// What a link's label counts.
        labels: Labels = Labels::Multiset,
        /// Which labels decide whether two paths are symmetric.
        score: Score = Score::AllPairs,
        /// The capacity factor of a path's first link.
        source_cf: SourceFactor = SourceFactor::Inverse,
        /// Use only paths that go up, then down; a pair of leaves without one has no route. Otherwise all shortest
        /// paths, including those through a third leaf.
        valley_free: bool = false,
    }
}

impl Copy for QuiverSettings {}
