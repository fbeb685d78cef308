//! Balancing: which of the equal-cost ports takes a packet?
//!
//! To add a balancer, copy the smallest file ([`random`]) and add one line to the list below. A balancer may depend
//! on the packet, the candidates' visible queue lengths, the time and its engine's random stream; never on another
//! switch.

use weft_core::{Bytes, Component, Group, GroupId, Grouping, Header, PortId, Random, SwitchId, Time, family};

use crate::outputs::Outputs;
use weft_congestion::{self as congestion, Congestion};
use weft_forwarding::hash::FlowHash;
use weft_visibility::SharedOutputs;

pub use crate::state::State;
pub use weft_forwarding::BalancerSite;

pub mod conga;
pub mod drill;
pub mod ecmp;
pub mod flow_drill;
pub mod letflow;
pub mod presto;
pub mod random;
pub mod round_robin;
pub mod wcmp;

/// The equal-cost ports for one packet and the load of each as its engine sees it now.
pub struct Candidates<'a> {
    /// Names the component; state kept per component survives until [`Balancer::groups_changed`].
    pub group: GroupId,
    /// The ports, more than one, and their shares.
    pub component: &'a Component,
    pub(crate) loads: Loads<'a>,
    pub(crate) paths: PathCongestion<'a>,
}

/// The source of path congestion metrics.
pub(crate) enum PathCongestion<'a> {
    /// None: the balancer does not measure, or the packet comes from another leaf.
    Unknown,
    /// From the switch, towards a leaf.
    Switch { congestion: &'a mut Congestion, now: Time, leaf: u16 },
    /// A list, by port: for tests and for the book.
    Given(&'a [u8]),
}

/// The source of queue lengths.
pub(crate) enum Loads<'a> {
    /// From the switch: an engine's view of the first `classes` queues of each port.
    Switch { outputs: &'a mut Outputs, now: Time, engine: usize, classes: usize },
    /// Any other source. One variant for the rare cases, so that the common one costs one comparison.
    Elsewhere(Elsewhere<'a>),
}

/// The less common sources of queue lengths.
pub(crate) enum Elsewhere<'a> {
    /// The virtual output queues of the packet's own group: the first `classes` queues of each port.
    Fabric { fabric: &'a weft_voq::VoqFabric, group: u16, classes: usize },
    /// Outputs that several threads share: the first `classes` queues of each port, as an engine sees them.
    Shared { outputs: &'a SharedOutputs, now: Time, engine: usize, classes: usize },
    /// A list, by port: for tests and for the book.
    Given(&'a [u64]),
}

impl Elsewhere<'_> {
    #[cold]
    fn load(&self, port: PortId) -> u64 {
        match self {
            Elsewhere::Fabric { fabric, group, classes } => fabric.load(*group, port, *classes),
            Elsewhere::Shared { outputs, now, engine, classes } => {
                outputs.load(*now, port, (*engine, *classes))
            }
            Elsewhere::Given(loads) => loads[port.index()],
        }
    }
}

impl<'a> Candidates<'a> {
    /// Candidates with given loads, by port number: for tests and examples.
    #[must_use]
    pub fn with_loads(group: GroupId, component: &'a Component, loads: &'a [u64]) -> Candidates<'a> {
        let loads = Loads::Elsewhere(Elsewhere::Given(loads));
        Candidates { group, component, loads, paths: PathCongestion::Unknown }
    }

    /// Adds the congestion of the paths beyond the ports, by port number.
    #[must_use]
    pub fn with_congestion(self, metrics: &'a [u8]) -> Candidates<'a> {
        Candidates { paths: PathCongestion::Given(metrics), ..self }
    }

    /// The ports, ascending.
    #[must_use]
    #[inline]
    pub fn ports(&self) -> &'a [PortId] {
        &self.component.ports
    }

    /// The number of ports.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.component.ports.len()
    }

    /// Always `false`: a balancer is consulted only when there is a choice.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.component.ports.is_empty()
    }

    /// The load of candidate `index` in bytes, read now.
    #[must_use]
    #[inline(always)]
    pub fn load(&mut self, index: usize) -> u64 {
        let port = self.component.ports[index];
        match &mut self.loads {
            Loads::Switch { outputs, now, engine, classes } => outputs.load(*now, port, (*engine, *classes)),
            Loads::Elsewhere(loads) => loads.load(port),
        }
    }

    /// Whether the switch measures the paths of this packet: it is the leaf of the packet's source, and
    /// [`Balancer::measures`].
    #[must_use]
    pub fn knows_paths(&self) -> bool {
        !matches!(self.paths, PathCongestion::Unknown)
    }

    /// The congestion of the path through candidate `index` to the packet's leaf, from 0 to 2^Q - 1; 0 if unknown.
    #[must_use]
    pub fn congestion(&mut self, index: usize) -> u8 {
        let port = self.component.ports[index];
        match &mut self.paths {
            PathCongestion::Unknown => 0,
            PathCongestion::Switch { congestion, now, leaf } => congestion.metric(*now, port, *leaf),
            PathCongestion::Given(metrics) => metrics[port.index()],
        }
    }
}

/// The inputs to the size of a balancer's state: the groups of a switch that have several ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Components of two or more ports.
    pub components: u64,
    /// Their ports, counted per component.
    pub ports: u64,
    /// Table entries for them: [`Balancer::entries`] of each component.
    pub entries: u64,
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

    /// The port that [`Balancer::choose`] will probably name for this packet, if it can be predicted cheaply. A hint by which the engine
    /// fetches memory early: a wrong answer costs time, never correctness.
    fn likely(&self, _packet: &Header, _ports: &[PortId]) -> Option<PortId> {
        None
    }

    /// The flow hash by which a packet is spread over the ports, if nothing else matters: the balancer is then not
    /// called.
    fn decides_by(&self) -> Option<&FlowHash> {
        None
    }

    /// Whether all packets of a flow take one path while routes stay the same.
    fn keeps_paths(&self) -> bool {
        false
    }

    /// Called when routes have changed: discards all state kept per group or port.
    fn groups_changed(&mut self) {}

    /// Whether [`Candidates::load`] is read; if not, the switch need not maintain the engines' view.
    fn reads_loads(&self) -> bool {
        false
    }

    /// Whether ports on which the packet's class is paused are excluded, provided that another remains.
    fn excludes_paused(&self) -> bool {
        false
    }

    /// How the switch measures the congestion of paths for [`Candidates::congestion`]; if not at all, packets carry
    /// nothing and nothing is kept.
    fn measures(&self) -> Option<&congestion::CongestionSettings> {
        None
    }

    /// How routing groups the ports.
    fn grouping(&self) -> Grouping {
        Grouping::Together
    }

    /// How routing would group the ports if they were to have the shares of the traffic that they get here in the long run: as it does,
    /// unless hosts choose the paths.
    fn long_run(&self) -> Grouping {
        self.grouping()
    }

    /// The weights that ports with these shares get.
    fn weights(&self, shares: &[u64]) -> Vec<u64> {
        shares.to_vec()
    }

    /// Table entries needed for a component whose ports have these shares.
    fn entries(&self, shares: &[u64]) -> u64 {
        shares.len() as u64
    }

    /// Memory that an engine keeps for these groups, without what the switch keeps for [`Balancer::measures`].
    fn state(&self, choices: Choices) -> State {
        let _ = choices;
        State::default()
    }
}

impl BalancerSettings {
    /// The balancer of any engine, to ask what is the same for all.
    fn probe(&self) -> AnyBalancer {
        AnyBalancer::new(self, BalancerSite { seed: 0, switch: SwitchId(0), engine: 0 })
    }

    /// What the state depends on, for a switch with these components.
    #[must_use]
    pub fn choices<'a>(&self, components: impl IntoIterator<Item = &'a Component>) -> Choices {
        let balancer = self.probe();
        let chosen = components.into_iter().filter(|component| component.ports.len() > 1);
        chosen.fold(Choices::default(), |sum, component| Choices {
            components: sum.components + 1,
            ports: sum.ports + component.ports.len() as u64,
            entries: sum.entries + balancer.entries(&component.shares),
        })
    }

    /// Memory that an engine of a switch with these groups keeps.
    #[must_use]
    pub fn state(&self, choices: Choices) -> State {
        self.probe().state(choices)
    }

    /// Memory that a leaf keeps in addition to measure the paths to `leaves` other leaves over `uplinks` uplinks.
    #[must_use]
    pub fn state_of_paths(&self, leaves: u64, uplinks: u64) -> Bytes {
        let measures = self.probe();
        measures.measures().map_or(Bytes::ZERO, |_| congestion::state(leaves, uplinks))
    }

    /// Whether all packets of a flow take one path while routes stay the same.
    #[must_use]
    pub fn keeps_paths(&self) -> bool {
        self.probe().keeps_paths()
    }

    /// How routing groups the ports for this balancer.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.probe().grouping()
    }

    /// The grouping whose shares the ports get in the long run, as far as queues are alike.
    #[must_use]
    pub fn long_run(&self) -> Grouping {
        self.probe().long_run()
    }

    /// These groups with the weights of the balancer's table as shares.
    #[must_use]
    pub fn weighed(&self, groups: &[Group]) -> Vec<Group> {
        let balancer = self.probe();
        let mut groups = groups.to_vec();
        for component in groups.iter_mut().flat_map(|group| &mut group.components) {
            component.shares = balancer.weights(&component.shares);
        }
        groups
    }
}

family! {
    /// All balancers.
    pub enum AnyBalancer: Balancer;
    /// The balancer of a scenario.
    pub enum BalancerSettings;
    called "balancer" built at BalancerSite;
    members {
        "ecmp" => ecmp::Ecmp(EcmpSettings),
        "wcmp" => wcmp::Wcmp(WcmpSettings),
        "random" => random::PerPacketRandom(RandomSettings),
        "round-robin" => round_robin::RoundRobin(RoundRobinSettings),
        "drill" => drill::Drill(DrillSettings),
        "flow-drill" => flow_drill::FlowDrill(FlowDrillSettings),
        "letflow" => letflow::LetFlow(LetFlowSettings),
        "conga" => conga::Conga(CongaSettings),
        "presto" => presto::Presto(PrestoSettings),
    }
    methods {
        fn choose(&mut self, packet: &Header, candidates: &mut Candidates<'_>, now: Time, random: &mut Random) -> usize;
        fn likely(&self, packet: &Header, ports: &[PortId]) -> Option<PortId>;
        fn decides_by(&self) -> Option<&FlowHash>;
        fn keeps_paths(&self) -> bool;
        fn groups_changed(&mut self);
        fn reads_loads(&self) -> bool;
        fn excludes_paused(&self) -> bool;
        fn measures(&self) -> Option<&congestion::CongestionSettings>;
        fn grouping(&self) -> Grouping;
        fn long_run(&self) -> Grouping;
        fn weights(&self, shares: &[u64]) -> Vec<u64>;
        fn entries(&self, shares: &[u64]) -> u64;
        fn state(&self, choices: Choices) -> State;
    }
}

#[cfg(test)]
mod tests;
