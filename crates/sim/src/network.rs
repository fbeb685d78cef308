//! The state of a run: packets, wires, switches, hosts, ends, pending events and counts. Built once; from then on only
//! the handlers of [`crate::run`] change it.

use std::sync::Arc;

use weft_core::{Bytes, LinkId, Pool, PortId, Span, SwitchId, Time};
use weft_switch::{BalancerSettings, Effects, Switch, SwitchSettings, SwitchSite, Table};
use weft_topology::{Graph, Node, Routes, Timeline};
use weft_transport::{Segment, Transport};
use weft_workload::Flow;

use crate::calendar::{Calendar, width_for};
use crate::ends::Ends;
use crate::event::{Event, Order};
use crate::flow_series::{FlowSampling, FlowWatch};
use crate::host::Host;
use crate::sample::Sampler;
use crate::tally::Tally;
use crate::tap::Tap;
use crate::wire::Wire;

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
    pub flows: Vec<Flow>,
    /// Names of the traffic entries.
    pub tags: Vec<String>,
    /// Statistics cover flows that start at or after this instant.
    pub warm_up: Time,
    /// The run ends here, finished or not.
    pub until: Time,
    /// Look at the queues so often.
    pub queues_every: Option<Span>,
    /// Look at the senders of flows.
    pub flow_samples: Option<FlowSampling>,
    /// Seed of all random streams.
    pub seed: u64,
}

/// The whole state of a run.
pub(crate) struct Network {
    pub(crate) setup: Setup,
    pub(crate) now: Time,
    pub(crate) calendar: Calendar,
    pub(crate) pool: Pool<Segment>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) switches: Vec<Switch>,
    /// Link of port 0 of each switch.
    pub(crate) first_link: Vec<u32>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) ends: Ends,
    pub(crate) effects: Effects,
    pub(crate) tally: Tally,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) flow_watch: Option<FlowWatch>,
    pub(crate) tap: Option<Tap>,
}

impl Network {
    pub(crate) fn new(setup: Setup) -> Network {
        let graph = Arc::clone(&setup.graph);
        let switches = switches(&setup);
        let first_link = |n: usize| graph.first_link(Node::Switch(SwitchId(n as u32))).0;
        let mut network = Network {
            now: Time::ZERO,
            calendar: Calendar::new(Order::new(setup.seed), width_for(event_rate(&graph))),
            pool: Pool::new(),
            wires: wires(&setup),
            first_link: (0..switches.len()).map(first_link).collect(),
            switches,
            hosts: (0..graph.hosts()).map(|n| Host::new(LinkId(n), graph.links()[n as usize].rate)).collect(),
            ends: Ends::new(Arc::clone(&setup.transport), setup.flows.clone()),
            effects: Effects::new(),
            tally: Tally::new(),
            tap: None,
            sampler: setup.queues_every.map(|every| Sampler::new(&graph, every)),
            flow_watch: setup.flow_samples.map(FlowWatch::new),
            setup,
        };
        network.schedule_first();
        network
    }

    /// Adds an event to the calendar.
    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, event: Event) {
        self.calendar.push(time, event);
    }

    /// The link that leaves a switch by a port.
    #[inline]
    pub(crate) fn link_of(&self, switch: SwitchId, port: PortId) -> LinkId {
        LinkId(self.first_link[switch.index()] + u32::from(port.0))
    }

    /// The events that everything else follows from: the first change, the first flow, the first sample.
    fn schedule_first(&mut self) {
        if let Some((time, _)) = self.setup.timeline.changes.first() {
            self.schedule(*time, Event::Change(0));
        }
        if let Some(first) = self.ends.flows.first() {
            self.schedule(first.start, Event::FlowStart(weft_core::FlowId(0)));
        }
        let queues = self.setup.queues_every;
        let flows = self.setup.flow_samples.map(|sampling| sampling.every);
        if let Some(first) = queues.into_iter().chain(flows).min() {
            self.schedule(Time::ZERO + first, Event::Sample);
        }
    }
}

/// Two events per full-size packet on every link at half load: only the width of the calendar's buckets depends on it.
fn event_rate(graph: &Graph) -> f64 {
    graph.links().iter().map(|link| link.rate.0 as f64 / (1_500.0 * 8.0)).sum()
}

fn wires(setup: &Setup) -> Vec<Wire> {
    let latency = |node: Node| match node {
        Node::Host(_) => Span::ZERO,
        Node::Switch(_) => setup.switch.latency,
    };
    let links = setup.graph.links().iter().enumerate();
    let mut wires: Vec<_> =
        links.map(|(number, link)| Wire::new(link, latency(link.to), setup.seed, number)).collect();
    for cable in setup.timeline.initial.down() {
        for link in setup.graph.links_of_cable(cable) {
            wires[link.index()].up = false;
            wires[link.index()].failed = true;
        }
    }
    wires
}

fn switches(setup: &Setup) -> Vec<Switch> {
    let full_packet = Bytes(u64::from(setup.transport.full_wire()));
    let routes = &setup.timeline.states[0];
    let build = |number: usize| {
        let switch = SwitchId(number as u32);
        let rates = setup.graph.links_of(Node::Switch(switch)).iter().map(|link| link.rate).collect();
        let site = SwitchSite { seed: setup.seed, switch, rates, full_packet };
        Switch::new(&setup.switch, &setup.balancer, &site, table(routes, switch))
    };
    (0..setup.graph.switches().len()).map(build).collect()
}

/// The forwarding table of a switch.
pub(crate) fn table(routes: &Routes, switch: SwitchId) -> Table {
    let own = &routes.switches[switch.index()];
    let hosts = (Arc::clone(&routes.leaf_of_host), Arc::clone(&routes.port_of_host));
    Table::new(hosts, own.leaf, own.group_of_leaf.clone(), own.groups.clone())
}
