//! The parts of a run, as whoever starts it hands them over, and what is derived from them once for all domains.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes};
use weft_core::{Class, HostId, LinkId, Span, Time};
use weft_switch::{BalancerSettings, SwitchSettings};
use weft_topology::{Change, Graph, Node, Timeline};
use weft_transport::Transport;
use weft_workload::{Flow, Flows};

use crate::flow_series::FlowSampling;
use crate::partition::{Division, Partition, delays};
use crate::stranded::Remains;

/// The parts of a run. Everything was checked before; building cannot fail.
#[derive(Clone)]
pub struct Setup {
    /// The network.
    pub graph: Arc<Graph>,
    /// Routes at the start, and what changes when.
    pub timeline: Arc<Timeline>,
    /// Every switch.
    pub switch: SwitchSettings,
    /// Every forwarding engine's balancer.
    pub balancer: BalancerSettings,
    /// Every host's transport.
    pub transport: Arc<Transport>,
    /// What is sent, ordered by start.
    pub flows: Flows,
    /// Hosts that pause their switch whatever happens; no two of one host.
    pub storms: Vec<Storm>,
    /// Names of the traffic entries.
    pub tags: Vec<String>,
    /// Their priority classes, as far as they have their own.
    pub classes: Vec<Option<Class>>,
    /// Statistics cover flows that start at or after this instant.
    pub warm_up: Time,
    /// The run ends here, finished or not.
    pub until: Time,
    /// Look at the queues so often.
    pub queues_every: Option<Span>,
    /// So many looks are put down as one value, their mean; at least 1.
    pub queues_averaged: u64,
    /// Look at the senders of flows.
    pub flow_samples: Option<FlowSampling>,
    /// Seed of all random streams.
    pub seed: u64,
    /// How the work is divided among threads. Changes the speed, never a result.
    pub division: Division,
}

/// A host whose network card sends pause frames for all lossless classes without end: a fault that spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// Which host.
    pub host: HostId,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

impl Setup {
    /// The priority class of a flow, if its traffic entry has one.
    pub(crate) fn class_of(&self, flow: &Flow) -> Option<Class> {
        self.classes.get(usize::from(flow.tag)).copied().flatten()
    }

    /// The queue of a class at every port.
    pub(crate) fn queue(&self, class: Class) -> u8 {
        class.0.min(self.switch.queues as u8 - 1)
    }

    /// Bit q: queue q. The queues that a flow's sender and its receiver use: an end waits while all of its own are paused.
    pub(crate) fn queues_of(&self, flow: &Flow) -> (u8, u8) {
        let Classes { sender, receiver } = self.transport.classes(self.class_of(flow), flow.constant_rate());
        let queues = |classes: ClassSet| classes.iter().fold(0, |set, class| set | 1 << self.queue(class));
        (queues(sender), queues(receiver))
    }

    /// Whether a queue that a class uses is among those that are paused.
    pub(crate) fn is_paused(&self, class: Class, paused: u8) -> bool {
        paused >> self.queue(class) & 1 == 1
    }
}

/// What all domains of a run read and none changes.
pub(crate) struct Plan {
    pub(crate) setup: Setup,
    pub(crate) partition: Partition,
    /// Links whose cable or port changes during the run, or that lose packets: whether a packet is lost is drawn when
    /// its transmission begins, not before.
    restless: Vec<bool>,
    /// Where hosts stay apart, in a run that only ends by itself.
    pub(crate) remains: Option<Remains>,
}

impl Plan {
    pub(crate) fn new(setup: Setup) -> Plan {
        let (graph, endless) = (&setup.graph, setup.until == Time::NEVER);
        Plan {
            partition: Partition::new(graph, &delays(graph, &setup.switch), setup.division),
            restless: restless(graph, &setup.timeline),
            remains: endless.then(|| Remains::new(graph, &setup.timeline)).flatten(),
            setup,
        }
    }

    /// Whether a run ends when ports wait for each other in a circle: nothing else would end it.
    pub(crate) fn ends_by_deadlock(&self) -> bool {
        self.setup.until == Time::NEVER && self.setup.switch.pfc.watchdog.is_none()
    }

    /// Whether a link stays as it is for the whole run.
    pub(crate) fn is_steady(&self, link: LinkId) -> bool {
        !self.restless[link.index()]
    }
}

fn restless(graph: &Graph, timeline: &Timeline) -> Vec<bool> {
    let mut restless: Vec<bool> = graph.links().iter().map(|link| link.loss > 0.0).collect();
    for (_, change) in &timeline.changes {
        match change {
            Change::CableDown(cable) | Change::CableUp(cable) => {
                for link in graph.links_of_cable(*cable) {
                    restless[link.index()] = true;
                }
            }
            Change::LocalDown { switch, port } | Change::LocalUp { switch, port } => {
                restless[graph.link_at(Node::Switch(*switch), *port).index()] = true;
            }
            Change::Install { .. } => {}
        }
    }
    restless
}
