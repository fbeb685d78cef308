//! The state of a domain, which is some nodes and the links that leave or reach them: what nodes share ([`Context`]),
//! the switches ([`Devices`]), the hosts ([`Hosts`]) and samples. Built once; afterwards only the handlers of
//! [`crate::run`] change it. A domain never reads another; a run on one thread has a single domain.

use std::sync::Arc;

use weft_core::{Bytes, Pool, Span, Time};
use weft_plan::{Setup, Storm};
use weft_recorder::flow_series::FlowWatch;
use weft_recorder::sample::Look;
use weft_recorder::series::SeriesWatch;
use weft_recorder::tally::Tally;
use weft_topology::Node;

use crate::calendar::{Calendar, width_for};
use crate::carried::Carried;
use crate::context::Context;
use crate::devices::Devices;
use crate::event::{Event, EventOrder};
use crate::flow_series;
use crate::host::Hosts;
use crate::outbox::Outbox;
use crate::plan::RunPlan;
use crate::sample::Eye;
use crate::scout::{self, Ground, Scout};
use crate::transmitters::Pauses;
use crate::wire::{Wire, Wires};

/// A part of the network, simulated on one thread. Nodes and links keep their network-wide numbers; entries of other
/// domains are empty. Aligned, so that no two domains share a cache line: this alone halves the time of a run on two
/// threads.
#[repr(C, align(256))]
pub(crate) struct Domain {
    pub(crate) cx: Context,
    pub(crate) devices: Devices,
    pub(crate) hosts: Hosts,
    /// Traffic carried when the last flow started.
    pub(crate) arrived: Carried,
    pub(crate) eye: Option<Eye>,
    pub(crate) flow_watch: Option<FlowWatch>,
    pub(crate) series: Option<Box<SeriesWatch>>,
    /// Present if the network is too large for caches.
    pub(crate) scout: Option<Box<Scout>>,
    /// Events that may be handled before the watcher is called.
    pub(crate) left: u64,
}

impl Domain {
    pub(crate) fn new(plan: &Arc<RunPlan>, number: usize) -> Domain {
        let setup = &plan.setup;
        let mut domain = Domain {
            cx: Context::new(plan, number),
            devices: Devices::new(plan, number),
            hosts: Hosts::new(setup),
            arrived: Carried::new(setup),
            eye: Eye::new(plan, number),
            flow_watch: setup.flow_samples.map(FlowWatch::new),
            series: SeriesWatch::new(setup, |host| plan.partition.of_host(host) == number).map(Box::new),
            scout: None,
            left: 0,
        };
        domain.look_ahead(scout::pays(setup.graph.links().len()));
        domain.hosts.schedule_next_flow(&mut domain.cx);
        domain.hosts.schedule_jobs(&mut domain.cx);
        domain.schedule_storms();
        domain
    }

    /// Schedules the pause storms of this domain's hosts.
    fn schedule_storms(&mut self) {
        let plan = Arc::clone(&self.cx.plan);
        let own = |storm: &&Storm| plan.partition.of_host(storm.host) == self.cx.number;
        for Storm { host, from, .. } in plan.setup.storms.iter().filter(own) {
            self.cx.calendar.push(*from, Event::Pause(self.hosts.link_of(*host)));
        }
    }

    /// Starts or stops prefetching for upcoming events.
    pub(crate) fn look_ahead(&mut self, looks: bool) {
        self.scout = looks.then(Box::default);
        self.cx.calendar.set_seen(looks.then_some(0));
    }

    /// Prefetches for the next events, unless already done.
    pub(crate) fn scout_ahead(&mut self) {
        let Domain { cx, hosts, devices, scout, .. } = self;
        if let Some(scout) = scout.as_mut().filter(|_| cx.calendar.is_unseen()) {
            let seen = scout.fetch(&Ground { cx, hosts, devices });
            cx.calendar.set_seen(Some(seen));
        }
    }

    /// Samples the domain's flows and queues after all events of `now`.
    pub(crate) fn look(&mut self, now: Time) -> Option<&Vec<Look>> {
        let setup = &self.cx.plan.setup;
        if let Some(watch) = self.flow_watch.as_mut().filter(|_| now >= setup.warm_up) {
            flow_series::look(watch, now, setup.flows.len(), &mut self.hosts.ends.senders);
        }
        self.look_at_series(now);
        let eye = self.eye.as_mut()?;
        self.devices.settle(Time(now.0 + 1), &mut self.cx.pool.headers);
        Some(eye.look(&self.devices))
    }

    /// Records what has been carried up to and including all events of `now`.
    pub(crate) fn note_carried(&mut self, now: Time) {
        let delivered = self.hosts.ends.delivered();
        self.arrived.note(now, &mut self.cx, &mut self.devices, delivered);
    }
}

impl Context {
    fn new(plan: &Arc<RunPlan>, number: usize) -> Context {
        let setup = &plan.setup;
        let links = setup.graph.links().len();
        let mut pool = Pool::new();
        if setup.schedules() {
            pool.headers.carry_in_band();
        }
        if setup.flow_waits {
            pool.headers.carry_waits();
        }
        let mut calendar = Calendar::new(EventOrder::new(setup.seed), links, bucket_width(setup));
        if setup.switch_kinds().any(|switch| switch.voq.is_some()) {
            calendar.give_rows_to_timers();
        }
        Context {
            number,
            now: Time::ZERO,
            calendar,
            pool,
            wires: Wires::new(wires(plan, number)),
            tally: Tally::new(setup.incidents()),
            outbox: Outbox::new(plan.partition.domains),
            pauses: Pauses::new(setup),
            waits: setup.flow_waits.then(Vec::new),
            trace: None,
            plan: Arc::clone(plan),
        }
    }
}

/// Affects only speed. Links far longer than most are left to the heap.
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

fn wires(plan: &RunPlan, number: usize) -> Vec<Wire> {
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
