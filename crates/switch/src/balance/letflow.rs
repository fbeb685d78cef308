//! LetFlow: each flowlet takes a random port; congestion itself steers flows, because slowed flows pause more often.
//!
//! *Paper*: Vanini et al., NSDI'17. *Parameters*: `gap` is T_fl. Applies at every switch with several paths; the
//! random choice may repeat a port. *State*: 16 bytes per table entry and engine. *Limits*: ignores queues; traffic
//! without pauses (constant rate, paced) is spread per flow; a gap shorter than the difference of path delays
//! reorders.

use weft_core::group::share_of;
use weft_core::{Grouping, Header, Random, Time, settings};

use super::{Balancer, BalancerSite, Candidates, Choices, State};
use crate::flowlet::{self, Flowlets};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "each flowlet on a random port (NSDI'17)";

settings! {
    /// LetFlow.
    pub struct LetFlowSettings {
        /// When a flowlet ends, and how it is remembered.
        flowlets: flowlet::FlowletSettings [flatten],
        /// Draw ports in proportion to the capacity of the paths beyond them, as WCMP does, instead of evenly.
        weighted: bool = false,
    }
}

/// LetFlow.
#[derive(Clone, Debug)]
pub struct LetFlow {
    flowlets: Flowlets,
    weighted: bool,
}

impl LetFlow {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &LetFlowSettings, site: BalancerSite) -> LetFlow {
        LetFlow { flowlets: Flowlets::new(&settings.flowlets, site), weighted: settings.weighted }
    }
}

impl Balancer for LetFlow {
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        now: Time,
        random: &mut Random,
    ) -> usize {
        let weighted = self.weighted;
        self.flowlets.keep(packet, now, candidates.ports(), |_| match weighted {
            true => share_of((random.bits() >> 32) as u32, &candidates.component.shares),
            false => random.below(candidates.len() as u32) as usize,
        })
    }

    fn grouping(&self) -> Grouping {
        if self.weighted { Grouping::Weighted } else { Grouping::Together }
    }

    fn state(&self, _choices: Choices) -> State {
        self.flowlets.state()
    }
}
