//! Balancing: which of the equal-cost ports takes a packet?
//!
//! To add a balancer, copy the smallest file ([`random`]) and add one line to the list below. A balancer may look at
//! the packet, at the candidates' visible queue lengths, at the time and at its engine's random stream; never at
//! another switch.

use weft_core::{Component, GroupId, Grouping, Header, PortId, Random, SwitchId, Time, family};

use crate::outputs::Outputs;

pub mod drill;
pub mod ecmp;
pub mod flow_drill;
pub mod random;
pub mod round_robin;

/// Where a balancer lives.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Seed of the run.
    pub seed: u64,
    /// The switch.
    pub switch: SwitchId,
    /// The forwarding engine within the switch.
    pub engine: u16,
}

/// The equal-cost ports for one packet and the load of each as its engine sees it now.
pub struct Candidates<'a> {
    /// Names the component; state kept per component survives until [`Balancer::groups_changed`].
    pub group: GroupId,
    /// The ports, more than one, and what each may carry.
    pub component: &'a Component,
    pub(crate) loads: Loads<'a>,
}

/// How loads are read.
pub(crate) enum Loads<'a> {
    /// From the switch: visible bytes of the first `classes` queues of each port.
    Switch { outputs: &'a mut Outputs, now: Time, classes: usize },
    /// From a list, by port: for tests and for the book.
    Given(&'a [u64]),
}

impl<'a> Candidates<'a> {
    /// Candidates with given loads, by port number: for tests and examples.
    #[must_use]
    pub fn with_loads(group: GroupId, component: &'a Component, loads: &'a [u64]) -> Candidates<'a> {
        Candidates { group, component, loads: Loads::Given(loads) }
    }

    /// The ports, ascending.
    #[must_use]
    #[inline]
    pub fn ports(&self) -> &'a [PortId] {
        &self.component.ports
    }

    /// How many ports there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.component.ports.len()
    }

    /// Never true: a balancer is asked only when there is a choice.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.component.ports.is_empty()
    }

    /// The load of candidate `index` in bytes, read now.
    #[must_use]
    #[inline]
    pub fn load(&mut self, index: usize) -> u64 {
        let port = self.component.ports[index];
        match &mut self.loads {
            Loads::Given(loads) => loads[port.index()],
            Loads::Switch { outputs, now, classes } => outputs.load(*now, port, *classes),
        }
    }
}

/// Chooses a port for each packet.
pub trait Balancer {
    /// The index of the chosen candidate. There are at least two.
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        now: Time,
        random: &mut Random,
    ) -> usize;

    /// Routes changed: forget everything kept per group or port.
    fn groups_changed(&mut self) {}

    /// Whether [`Candidates::load`] is read; if not, the switch need not keep what engines see.
    fn reads_loads(&self) -> bool {
        false
    }

    /// How routing groups the ports.
    fn grouping(&self) -> Grouping {
        Grouping::Together
    }
}

impl BalancerSettings {
    /// How routing groups the ports for this balancer.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        AnyBalancer::new(self, Site { seed: 0, switch: SwitchId(0), engine: 0 }).grouping()
    }
}

family! {
    /// All balancers.
    pub enum AnyBalancer: Balancer;
    /// The balancer of a scenario.
    pub enum BalancerSettings;
    called "balancer" built at Site;
    members {
        "ecmp" => ecmp::Ecmp,
        "random" => random::PerPacketRandom,
        "round-robin" => round_robin::RoundRobin,
        "drill" => drill::Drill,
        "flow-drill" => flow_drill::FlowDrill,
    }
    methods {
        fn choose(&mut self, packet: &Header, candidates: &mut Candidates<'_>, now: Time, random: &mut Random) -> usize;
        fn groups_changed(&mut self);
        fn reads_loads(&self) -> bool;
        fn grouping(&self) -> Grouping;
    }
}

#[cfg(test)]
mod tests;
