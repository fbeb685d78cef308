//! Per-flow DRILL: the first packet of a flow chooses like DRILL(d, m); the rest follow it.
//!
//! *Paper*: the straw man of DRILL (SIGCOMM'17 section 4) that separates load awareness from granularity. *State*: one
//! entry per flow, kept for the run; a flow whose port has left the group chooses anew.

use std::collections::BTreeMap;

use weft_core::{Header, PortId, Random, Time, settings};

use super::drill::{Drill, Tie};
use super::{Balancer, Candidates, Site};

/// One sentence for lists.
pub const SUMMARY: &str = "DRILL's choice once per flow";

settings! {
    /// Per-flow DRILL(d, m).
    pub struct Settings {
        /// Random samples per flow (d).
        choices: u32 [1, 1024] = 2,
        /// Ports remembered per engine and group (m).
        memory: u32 [0, 1024] = 1,
        /// Who wins among equally loaded ports.
        tie: Tie = Tie::Random,
    }
}

/// Per-flow DRILL.
#[derive(Clone, Debug)]
pub struct FlowDrill {
    drill: Drill,
    pinned: BTreeMap<(u64, u32), PortId>,
}

impl FlowDrill {
    /// From the settings.
    #[must_use]
    pub fn new(settings: &Settings, site: Site) -> FlowDrill {
        let drill = super::drill::Settings {
            choices: settings.choices,
            memory: settings.memory,
            tie: settings.tie,
            ..Default::default()
        };
        FlowDrill { drill: Drill::new(&drill, site), pinned: BTreeMap::new() }
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
        let flow = (u64::from(packet.source.0) << 32 | u64::from(packet.destination.0), packet.ports);
        let pinned = self.pinned.get(&flow);
        if let Some(index) =
            pinned.and_then(|port| candidates.ports().iter().position(|member| member == port))
        {
            return index;
        }
        let index = self.drill.choose(packet, candidates, now, random);
        self.pinned.insert(flow, candidates.ports()[index]);
        index
    }

    fn groups_changed(&mut self) {
        self.drill.groups_changed();
    }

    fn reads_loads(&self) -> bool {
        true
    }
}
