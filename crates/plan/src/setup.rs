//! The parts of a run, as whoever starts it hands them over.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes};
use weft_core::{Class, HostId, Span, Time};
use weft_switch::{BalancerSettings, SwitchSettings};
use weft_topology::{Graph, Timeline};
use weft_transport::Transport;
use weft_workload::{Flow, Flows};

use crate::division::Division;

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
    /// Hosts that pause their switch whatever happens; at most one entry per host.
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
    /// Bins of a queue series at most, if more than the usual 512; beyond that, neighbours are merged.
    pub queue_bins: Option<usize>,
    /// Sampling of senders.
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

/// Which flows are sampled, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSampling {
    /// Interval between samples.
    pub every: Span,
    /// How many flows, the first to start.
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
            transport: Arc::new(transport),
            flows: Vec::new().into(),
            storms: Vec::new(),
            tags: Vec::new(),
            classes: Vec::new(),
            warm_up: Time::ZERO,
            until: Time::NEVER,
            queues_every: None,
            queues_averaged: 1,
            queue_bins: None,
            flow_samples: None,
            seed: 1,
            division: Division::LONE,
        }
    }

    /// The priority class of a flow, if its traffic entry has one of its own.
    #[must_use]
    pub fn class_of(&self, flow: &Flow) -> Option<Class> {
        self.classes.get(usize::from(flow.tag)).copied().flatten()
    }

    /// The queue of a class at every port.
    #[inline]
    #[must_use]
    pub fn queue(&self, class: Class) -> u8 {
        class.0.min(self.switch.queues as u8 - 1)
    }

    /// Queues as bit masks (bit q: queue q): those a flow's sender waits for while they are paused, and those its receiver
    /// waits for. TCP answers in the class of the payload; a queue pair's acknowledgements and notifications have their own.
    #[must_use]
    pub fn queues_of(&self, flow: &Flow) -> (u8, u8) {
        let Classes { sender, receiver } = self.transport.classes(self.class_of(flow), flow.constant_rate());
        let queues = |classes: ClassSet| classes.iter().fold(0, |set, class| set | 1 << self.queue(class));
        (queues(sender), queues(receiver))
    }

    /// Whether the queue of a class is among the paused ones.
    #[inline]
    #[must_use]
    pub fn is_paused(&self, class: Class, paused: u8) -> bool {
        paused >> self.queue(class) & 1 == 1
    }
}
