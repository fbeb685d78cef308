//! The state of a domain, that is of some nodes and the links that leave or reach them: packets, wires, switches, hosts,
//! ends of flows, pending events and counts. Built once; from then on only the handlers of [`crate::run`] change it. A
//! domain never reads another; a run on one thread has one domain that holds everything.

use std::sync::Arc;

use weft_core::{Bytes, FlowId, LinkId, Pool, PortId, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_switch::{Effects, Observer, Switch, SwitchSite, Table};
use weft_topology::{Node, Routes};
use weft_transport::{Body, Transport};
use weft_workload::{Draw, Flow};

use crate::calendar::{Calendar, width_for};
use crate::carried::Carried;
use crate::ends::Ends;
use crate::event::{Event, Order};
use crate::exchange::Outbox;
use crate::flow_series::FlowWatch;
use crate::host::Host;
use crate::labels::Labels;
use crate::pause::Pauses;
use crate::plan::Plan;
use crate::sample::Eye;
use crate::scout::{self, Scout};
use crate::tally::Tally;
use crate::turns::Turns;
use crate::wire::Wire;

/// See the file's head. Nodes and links keep their numbers of the whole network; what belongs to other domains is empty.
/// Aligned, so that threads share no cache line of their domains: that alone halves the time of a run on two threads.
#[repr(align(256))]
pub(crate) struct Domain {
    pub(crate) plan: Arc<Plan>,
    /// Its number.
    pub(crate) number: usize,
    pub(crate) now: Time,
    /// Events that may be handled before somebody looks at the run.
    pub(crate) left: u64,
    pub(crate) calendar: Calendar,
    pub(crate) pool: Pool<Body>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) switches: Vec<Option<Placed>>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) ends: Ends,
    /// What had been carried when the last flow started.
    pub(crate) arrived: Carried,
    /// If switches forward by labels.
    pub(crate) labels: Option<Box<Labels>>,
    /// The flows after that, and the number of the next of them.
    pub(crate) flows: (Box<dyn Draw>, u32),
    /// The next flow to start here.
    pub(crate) upcoming: Option<(FlowId, Flow)>,
    /// If some flows wait for others.
    pub(crate) turns: Option<Box<Turns>>,
    pub(crate) effects: Effects,
    pub(crate) tally: Tally,
    pub(crate) outbox: Outbox,
    pub(crate) eye: Option<Eye>,
    pub(crate) flow_watch: Option<FlowWatch>,
    /// If any class pauses.
    pub(crate) pauses: Option<Box<Pauses>>,
    /// If the network is too large for caches.
    pub(crate) scout: Option<Box<Scout>>,
}

/// A switch and where it stands.
pub(crate) struct Placed {
    pub(crate) switch: Switch,
    /// The link of its port 0; those of the other ports follow.
    pub(crate) first_link: u32,
}

impl Domain {
    pub(crate) fn new(plan: &Arc<Plan>, number: usize) -> Domain {
        let setup = &plan.setup;
        let graph = &setup.graph;
        let mut domain = Domain {
            number,
            now: Time::ZERO,
            calendar: Calendar::new(Order::new(setup.seed), graph.links().len(), bucket_width(setup)),
            pool: Pool::new(),
            wires: wires(plan, number),
            switches: switches(plan, number),
            hosts: hosts(setup),
            ends: Ends::new(setup.warm_up),
            arrived: Carried::new(setup),
            labels: Labels::new(setup),
            flows: (setup.flows.iter(), 0),
            upcoming: None,
            turns: Turns::new(&setup.flows),
            effects: Effects::new(),
            tally: Tally::new(),
            outbox: Outbox::new(plan.partition.domains),
            eye: Eye::new(plan, number),
            flow_watch: setup.flow_samples.map(FlowWatch::new),
            pauses: Pauses::new(setup),
            scout: None,
            left: 0,
            plan: Arc::clone(plan),
        };
        domain.look_ahead(scout::pays(graph.links().len()));
        domain.schedule_next_flow();
        domain.schedule_storms();
        domain
    }

    /// Adds an event to the calendar.
    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, event: Event) {
        self.calendar.push(time, event);
    }

    /// Has an observer watch a switch of this domain, from before the run begins. Such a switch is asked for every packet,
    /// so that departures are seen when they happen.
    pub(crate) fn observe(&mut self, switch: SwitchId, observer: Box<dyn Observer>) {
        let mut bare = bare_switch(&self.plan, switch);
        bare.observe(observer);
        self.switches[switch.index()] = Some(placed(&self.plan, switch, bare));
    }
}

fn hosts(setup: &Setup) -> Vec<Host> {
    let host = |link: LinkId| Host::new(link, setup.graph.links()[link.index()].rate, setup);
    (0..setup.graph.hosts()).map(LinkId).map(host).collect()
}

/// Only speed depends on it. Links that are longer than most by far are left to the heap.
fn bucket_width(setup: &Setup) -> Span {
    let links = setup.graph.links();
    let full = Bytes(u64::from(setup.transport.full_wire()));
    let rate = links.iter().map(|link| link.rate.0 as f64 / full.bits() as f64).sum();
    let mut ahead: Vec<_> = links
        .iter()
        .map(|link| link.delay + link.rate.time_for(full) + setup.switch_for(link.to).latency)
        .collect();
    ahead.sort_unstable();
    width_for(rate, ahead.get(ahead.len() * 9 / 10).copied().unwrap_or(Span::ZERO))
}

fn wires(plan: &Plan, number: usize) -> Vec<Wire> {
    let setup = &plan.setup;
    let latency = |node: Node| match node {
        Node::Host(_) => Span::ZERO,
        Node::Switch(switch) => setup.switch_at(switch).latency,
    };
    let links = setup.graph.links().iter().enumerate();
    let mut wires: Vec<_> =
        links.map(|(number, link)| Wire::new(link, latency(link.to), setup.seed, number)).collect();
    for wire in &mut wires {
        let far = plan.partition.of(wire.to);
        wire.away = (far != number).then_some(far as u16);
        wire.special |= wire.away.is_some();
    }
    for cable in setup.timeline.initial.down() {
        for link in setup.graph.links_of_cable(cable) {
            wires[link.index()].set_up(false);
        }
    }
    wires
}

fn switches(plan: &Plan, number: usize) -> Vec<Option<Placed>> {
    let own = |switch: &SwitchId| plan.partition.of_switch(*switch) == number;
    let all = (0..plan.setup.graph.switches().len()).map(|number| SwitchId(number as u32));
    all.map(|switch| own(&switch).then(|| placed(plan, switch, foreseeing(plan, switch)))).collect()
}

fn placed(plan: &Plan, switch: SwitchId, built: Switch) -> Placed {
    let first_link = plan.setup.graph.first_link(Node::Switch(switch)).0;
    Placed { switch: built, first_link }
}

/// A switch that foresees the departures of all ports whose links stay as they are.
fn foreseeing(plan: &Plan, switch: SwitchId) -> Switch {
    let mut built = bare_switch(plan, switch);
    for port in (0..built.ports()).map(|port| PortId(port as u16)) {
        if plan.is_steady(plan.setup.graph.link_at(Node::Switch(switch), port)) {
            built.foresee(port);
        }
    }
    built
}

/// A switch that is asked for every packet.
fn bare_switch(plan: &Plan, switch: SwitchId) -> Switch {
    let setup = &plan.setup;
    let links = setup.graph.links_of(Node::Switch(switch));
    let rates = links.iter().map(|link| link.rate).collect();
    let cables = links.iter().map(|link| link.delay).collect();
    let wire = |transport: &Arc<Transport>| {
        if setup.pauses() { transport.largest_wire() } else { transport.full_wire() }
    };
    let full = setup.transports().map(wire).max().unwrap_or_default();
    let full_packet = Bytes(u64::from(full));
    let site = SwitchSite { seed: setup.seed, switch, rates, cables, full_packet };
    let table = table(&setup.timeline.states[0], switch);
    let mut built = Switch::new(setup.switch_at(switch), setup.balancer_at(switch), &site, table);
    let first = setup.graph.first_link(Node::Switch(switch));
    for (link, own) in setup.ports.range(first..LinkId(first.0 + links.len() as u32)) {
        built.set_up(setup.graph.links()[link.index()].port, own);
    }
    built
}

/// The forwarding table of a switch.
fn table(routes: &Routes, switch: SwitchId) -> Table {
    let own = &routes.switches[switch.index()];
    let hosts = (Arc::clone(&routes.leaf_of_host), Arc::clone(&routes.port_of_host));
    Table::new(hosts, own.leaf, own.group_of_leaf.clone(), own.groups.clone())
}
