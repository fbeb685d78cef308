//! The list of traffic patterns: one file each, one line here. Must not depend on the network beyond the
//! [`PatternSite`].
//!
//! A pattern's file holds `SUMMARY`, its settings and a struct that turns them into a stream of flows in the order
//! of their start. All randomness comes from the streams of its site.

pub mod all_to_all;
pub mod constant;
pub mod dag;
pub mod groups;
pub mod incast;
pub mod list;
pub mod mice;
pub mod open_loop;
pub mod permutation;
pub mod random;
pub mod shuffle;
pub mod stride;
pub mod terasort;

use crate::flow::Flow;
use crate::flows::{Draw, Listed};
use crate::site::PatternSite;
use crate::sizes::SizeDistribution;
use std::collections::BTreeMap;
use weft_core::Problem;
use weft_core::{HostId, Purpose, Time};
use weft_jobs::ClusterJob;

/// Flows in the order of their start. They are drawn twice, to count them and for the run, so that a clone must draw the same.
pub struct Stream {
    /// The flows: none starts before the one ahead of it.
    pub flows: Box<dyn Draw>,
    /// Whether they never end.
    pub endless: bool,
}

/// How many flows start at or after a given instant, as far as known for every seed, without drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// At least this many.
    pub least: u64,
    /// At most this many.
    pub most: u64,
    /// The number of all flows.
    pub all: u64,
}

/// Bits per second on the wire, by (index of the destination leaf, index of the source leaf).
pub type LeafDemand = BTreeMap<(u16, u16), f64>;

/// Who sends to whom, and when.
pub trait Pattern {
    /// The flows, from the site's start, in the order of their start. All randomness comes from [`PatternSite::random`], so that
    /// equal sites give equal flows. All problems are found here, before the first flow; their paths are relative to the
    /// traffic entry.
    ///
    /// # Errors
    /// Settings that contradict each other or this network.
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>>;

    /// Whether a host sends one of these flows at a time: the next starts when the previous one is acknowledged and closed.
    fn is_in_turn(&self) -> bool {
        false
    }

    /// The job, if any, that starts flows when earlier ones finish, in addition to the flows drawn in advance. Only
    /// for sites in which [`Pattern::flows`] finds no problem.
    fn job(&self, site: &PatternSite<'_>) -> Option<ClusterJob> {
        let _ = site;
        None
    }

    /// Its flows that start at `end` or later, for patterns that do not fit their flows into the time of the run, such as a list.
    /// `weft check` and `weft run` ask this, and tell the user; it must not draw flows, of which there may be many.
    fn late(&self, site: &PatternSite<'_>, end: Time) -> Option<Late> {
        let _ = (site, end);
        None
    }

    /// Its settings that have no effect beside others; paths as in [`Pattern::flows`].
    fn without_effect(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// A remark that is not a mistake but should be read, without the name of the traffic entry: `weft check` and `weft run` print it
    /// behind that. Only for sites in which [`Pattern::flows`] finds no problem.
    fn note(&self, site: &PatternSite<'_>) -> Option<String> {
        let _ = site;
        None
    }

    /// What its flows offer to the fabric while they arrive, if they arrive at a load; otherwise empty. Only for sites in which
    /// [`Pattern::flows`] finds no problem.
    fn demand(&self, site: &PatternSite<'_>) -> LeafDemand {
        let _ = site;
        LeafDemand::new()
    }
}

weft_core::family! {
    /// All patterns.
    pub enum AnyPattern: Pattern;
    /// Which pattern, and its settings.
    pub enum PatternSettings;
    called "pattern" built at ();
    members {
        "open-loop" => open_loop::OpenLoop(OpenLoopSettings),
        "incast" => incast::Incast(IncastSettings),
        "groups" => groups::Groups(GroupsSettings),
        "permutation" => permutation::Permutation(PermutationSettings),
        "random" => random::RandomPairs(RandomPairsSettings),
        "stride" => stride::Stride(StrideSettings),
        "all-to-all" => all_to_all::AllToAll(AllToAllSettings),
        "shuffle" => shuffle::Shuffle(ShuffleSettings),
        "constant" => constant::Constant(ConstantSettings),
        "list" => list::List(ListSettings),
        "terasort" => terasort::TeraSort(TeraSortSettings),
        "dag" => dag::Dag(DagSettings),
    }
    methods {
        fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>>;
        fn is_in_turn(&self) -> bool;
        fn job(&self, site: &PatternSite<'_>) -> Option<ClusterJob>;
        fn late(&self, site: &PatternSite<'_>, end: Time) -> Option<Late>;
        fn without_effect(&self) -> Vec<Problem>;
        fn note(&self, site: &PatternSite<'_>) -> Option<String>;
        fn demand(&self, site: &PatternSite<'_>) -> LeafDemand;
    }
}

impl Stream {
    /// A complete list of flows; sorted here.
    #[must_use]
    pub fn of(mut flows: Vec<Flow>) -> Stream {
        flows.sort_by_key(|flow| flow.start);
        Stream { flows: Box::new(Listed::new(flows)), endless: false }
    }

    /// One flow per pair, all at the site's start, with sizes from the site's stream.
    #[must_use]
    pub fn at_once(
        site: &PatternSite<'_>,
        pairs: impl IntoIterator<Item = (HostId, HostId)>,
        sizes: &SizeDistribution,
    ) -> Stream {
        let mut random = site.random(Purpose::Sizes);
        let flow = |pair| Flow::new(site.tag, site.start, pair, sizes.draw(&mut random));
        Stream::of(pairs.into_iter().map(flow).collect())
    }
}
