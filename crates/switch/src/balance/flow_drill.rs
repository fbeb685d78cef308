//! Per-flow DRILL: the first packet of a flow chooses like DRILL(d, m); the rest follow it.
//!
//! *Paper*: the straw man of DRILL (SIGCOMM'17 section 4) that separates load awareness from granularity. *State*:
//! one entry per flow and engine, forgotten after a pause of `idle`; a flow whose port has left the group chooses
//! again. *Limits*: blind to flow size and to anything after the first packet; large flows that share a port stay
//! there.

use weft_core::{Header, Random, Span, Time, settings};

use super::drill::chance::Chance;
use super::drill::{Drill, Tie};
use super::{Balancer, BalancerSite, Candidates, Choices, State};
use crate::flowlet::Flowlets;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "DRILL's choice, made once per flow";

settings! {
    /// Per-flow DRILL(d, m).
    pub struct FlowDrillSettings {
        /// Random samples per flow (d).
        choices: u32 [1, 1024] = 2,
        /// Ports remembered per engine and group (m).
        memory: u32 [0, 1024] = 1,
        /// Which of several equally loaded ports wins.
        tie: Tie = Tie::Random,
        /// A flow idle for longer is forgotten, and chooses again if it continues. The paper has no such limit.
        idle: Span = Span::from_s(1),
    }
}

/// Per-flow DRILL.
#[derive(Clone, Debug)]
pub struct FlowDrill {
    drill: Drill,
    pinned: Flowlets,
}

impl FlowDrill {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &FlowDrillSettings, site: BalancerSite) -> FlowDrill {
        let drill = super::drill::DrillSettings {
            choices: settings.choices,
            memory: settings.memory,
            tie: settings.tie,
            ..Default::default()
        };
        FlowDrill { drill: Drill::new(&drill, site), pinned: Flowlets::of_flows(settings.idle, site) }
    }

    /// The decision of [`Balancer::choose`], by any source of chance.
    #[inline]
    pub fn choose_by(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        now: Time,
        chance: &mut impl Chance,
    ) -> usize {
        let drill = &mut self.drill;
        self.pinned.keep(packet, now, candidates.ports(), |_| drill.decide_by(candidates, chance))
    }
}

impl Balancer for FlowDrill {
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        now: Time,
        random: &mut Random,
    ) -> usize {
        self.choose_by(packet, candidates, now, random)
    }

    fn groups_changed(&mut self) {
        self.drill.groups_changed();
    }

    fn reads_loads(&self) -> bool {
        true
    }

    fn state(&self, choices: Choices) -> State {
        State { fixed: self.drill.state(choices).fixed, ..self.pinned.state() }
    }
}
