//! The parts of a run, as its caller provides them.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes};
use weft_core::{Bytes, Class, EcnConsent, HostId, LinkId, Span, SwitchId, Time};
use weft_switch::{BalancerSettings, PortSettings, SwitchSettings};
use weft_topology::{Graph, Node, Timeline};
use weft_transport::Transport;
use weft_transport::card::CardSettings;
use weft_workload::{Flow, Flows};

use crate::devices::DeviceKinds;
use crate::division::Division;
use crate::stacks::Stacks;

/// The parts of a run. Everything has been checked; building cannot fail.
#[derive(Clone)]
pub struct Setup {
    /// The network.
    pub graph: Arc<Graph>,
    /// Routes at the start, and what changes when.
    pub timeline: Arc<Timeline>,
    /// Every switch not overridden by `devices`.
    pub switch: SwitchSettings,
    /// The balancer of each of its forwarding engines.
    pub balancer: BalancerSettings,
    /// Switches that differ.
    pub devices: DeviceKinds,
    /// Ports of switches that differ from the others of their switch, by the link that leaves them.
    pub ports: BTreeMap<LinkId, PortSettings>,
    /// The transport of every flow not overridden by `stacks`.
    pub transport: Arc<Transport>,
    /// Overrides of the transport.
    pub stacks: Stacks,
    /// The network card of every host not overridden by `cards`.
    pub card: CardSettings,
    /// Hosts whose cards differ.
    pub cards: BTreeMap<HostId, CardSettings>,
    /// The flows, ordered by start.
    pub flows: Flows,
    /// Hosts that send pause storms; at most one entry per host.
    pub storms: Vec<Storm>,
    /// Names of the traffic entries.
    pub tags: Vec<String>,
    /// Priority class of each traffic entry, where it differs from the transport's.
    pub classes: Vec<Option<Class>>,
    /// Statistics cover flows that start at or after this instant.
    pub warm_up: Time,
    /// The run ends here, finished or not.
    pub until: Time,
    /// Sampling interval of queue lengths.
    pub queues_every: Option<Span>,
    /// Samples averaged per recorded value; at least 1.
    pub queues_averaged: u64,
    /// Queues with a sample above this are reported; `None`: none are.
    pub queues_above: Option<Bytes>,
    /// Maximum bins of a queue series, if more than the usual 512; beyond it, neighbours are merged.
    pub queue_bins: Option<usize>,
    /// Maximum number of bins of the run's time series, at least 2; absent: none is recorded.
    pub series_bins: Option<usize>,
    /// Whether each flow's waits are recorded by hop.
    pub flow_waits: bool,
    /// Sampling of senders.
    pub flow_samples: Option<FlowSampling>,
    /// Seed of all random streams.
    pub seed: u64,
    /// How the work is divided among threads. Affects speed, never a result.
    pub division: Division,
}

/// A host whose network card sends endless pause frames for all lossless classes: a fault that spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// The host.
    pub host: HostId,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub until: Time,
}

/// Which flows are sampled, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSampling {
    /// Interval between samples.
    pub every: Span,
    /// Number of flows, the first to start.
    pub flows: u32,
}

impl Setup {
    /// A network without traffic: ECMP on default switches, seed 1, one thread, nothing sampled, no time limit.
    #[must_use]
    pub fn new(graph: Graph, timeline: Timeline, transport: Transport) -> Setup {
        Setup {
            graph: Arc::new(graph),
            timeline: Arc::new(timeline),
            switch: SwitchSettings::default(),
            balancer: BalancerSettings::default(),
            devices: DeviceKinds::default(),
            ports: BTreeMap::new(),
            transport: Arc::new(transport),
            stacks: Stacks::default(),
            card: CardSettings::default(),
            cards: BTreeMap::new(),
            flows: Vec::new().into(),
            storms: Vec::new(),
            tags: Vec::new(),
            classes: Vec::new(),
            warm_up: Time::ZERO,
            until: Time::NEVER,
            queues_every: None,
            queues_averaged: 1,
            queues_above: None,
            queue_bins: None,
            series_bins: None,
            flow_waits: false,
            flow_samples: None,
            seed: 1,
            division: Division::LONE,
        }
    }

    /// The priority class of a flow, if its traffic entry has its own.
    #[must_use]
    pub fn class_of(&self, flow: &Flow) -> Option<Class> {
        self.classes.get(usize::from(flow.tag)).copied().flatten()
    }

    /// The transport at the sender of a flow.
    #[must_use]
    pub fn sender(&self, flow: &Flow) -> &Arc<Transport> {
        if self.stacks.differ() { self.stacks.own(flow.source, flow.tag) } else { &self.transport }
    }

    /// Which ends of a flow are willing to use ECN; `None` if all hosts have the same transport, and the ends follow their
    /// own settings.
    #[must_use]
    pub fn ecn_consent(&self, flow: &Flow) -> Option<EcnConsent> {
        let consents = |host, opens| self.stacks.own(host, flow.tag).consents_to_ecn(opens);
        self.stacks.differ().then(|| EcnConsent {
            sender: consents(flow.source, !flow.fetched),
            receiver: consents(flow.destination, flow.fetched),
        })
    }

    /// The transport at the receiver of a flow.
    #[must_use]
    pub fn receiver(&self, flow: &Flow) -> &Arc<Transport> {
        let stacks = &self.stacks;
        if !stacks.differ() {
            return &self.transport;
        }
        let pairs = &stacks.receivers[stacks.group(flow.source)][stacks.group(flow.destination)];
        &stacks.all[usize::from(pairs[usize::from(flow.tag)])]
    }

    /// The network card of a host.
    #[must_use]
    pub fn card_of(&self, host: HostId) -> &CardSettings {
        self.cards.get(&host).unwrap_or(&self.card)
    }

    /// The transports of a host, by traffic entry if they differ.
    pub fn transports_of(&self, host: HostId) -> impl Iterator<Item = &Arc<Transport>> {
        let one = (!self.stacks.differ()).then_some(&self.transport);
        one.into_iter().chain(self.stacks.all_of(host))
    }

    /// All transports in use.
    pub fn transports(&self) -> impl Iterator<Item = &Arc<Transport>> {
        let one = (!self.stacks.differ()).then_some(&self.transport);
        one.into_iter().chain(&self.stacks.all)
    }

    /// The settings of a switch.
    #[inline]
    #[must_use]
    pub fn switch_at(&self, switch: SwitchId) -> &SwitchSettings {
        self.devices.of(switch).map_or(&self.switch, |kind| &kind.switch)
    }

    /// The balancer of a switch.
    #[must_use]
    pub fn balancer_at(&self, switch: SwitchId) -> &BalancerSettings {
        self.devices.of(switch).map_or(&self.balancer, |kind| &kind.balancer)
    }

    /// All balancers in use.
    pub fn balancers(&self) -> impl Iterator<Item = &BalancerSettings> {
        std::iter::once(&self.balancer).chain(self.devices.kinds().iter().map(|kind| &kind.balancer))
    }

    /// The queue and pause settings of a node; a host has those of its switch.
    #[must_use]
    pub fn switch_for(&self, node: Node) -> &SwitchSettings {
        match node {
            Node::Switch(switch) => self.switch_at(switch),
            Node::Host(host) => self.switch_at(self.graph.switch_of_host(host)),
        }
    }

    /// All kinds of switches.
    pub fn switch_kinds(&self) -> impl Iterator<Item = &SwitchSettings> {
        std::iter::once(&self.switch).chain(self.devices.kinds().iter().map(|kind| &kind.switch))
    }

    /// Whether any class pauses anywhere.
    #[must_use]
    pub fn pauses(&self) -> bool {
        self.switch_kinds().any(|switch| switch.pfc.is_on())
    }

    /// Whether packets carry anything for arbiters.
    #[must_use]
    pub fn schedules(&self) -> bool {
        self.transports().any(|transport| transport.stack().arbiter().is_some())
    }

    /// The queue of a class at a node.
    #[inline]
    #[must_use]
    pub fn queue(&self, node: Node, class: Class) -> u8 {
        self.switch_for(node).queue_of(class) as u8
    }

    /// Queues as bit masks (bit q: queue q): those a flow's sender waits for while they are paused, and those its
    /// receiver waits for. TCP acknowledges in the class of the payload; a queue pair's acknowledgements and
    /// notifications have their own.
    #[must_use]
    pub fn queues_of(&self, flow: &Flow) -> (u8, u8) {
        let rate = flow.constant_rate();
        let classes = |transport: &Transport| transport.classes(self.class_of(flow), rate);
        let (Classes { sender, .. }, Classes { receiver, .. }) =
            (classes(self.sender(flow)), classes(self.receiver(flow)));
        let queues = |host, classes: ClassSet| {
            classes.iter().fold(0, |set, class| set | 1 << self.queue(Node::Host(host), class))
        };
        (queues(flow.source, sender), queues(flow.destination, receiver))
    }

    /// [`Setup::queues_of`] where some class pauses; elsewhere nobody waits for a queue.
    #[must_use]
    pub fn pausable_queues_of(&self, flow: &Flow) -> (u8, u8) {
        if self.pauses() { self.queues_of(flow) } else { (0, 0) }
    }

    /// Whether the queue of a class is among the paused queues of a host.
    #[inline]
    #[must_use]
    pub fn is_paused(&self, host: HostId, class: Class, paused: u8) -> bool {
        paused >> self.queue(Node::Host(host), class) & 1 == 1
    }
}
