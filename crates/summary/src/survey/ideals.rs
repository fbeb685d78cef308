//! How fast ideal schedules would have carried the flows of a run: bounds that no transport can beat, and the classic
//! schedules. Flows come one at a time, in order of start. Must not depend on how results are shown.

use crate::derived::{IdealSchedule, IdealSchedules, size_class};
use crate::summary::IdealTimes;
use std::collections::BTreeMap;
use weft_core::record::{FlowRecord, RunRecord};
use weft_core::{Rate, Time};
use weft_ideal::{
    BigSwitch, FlowCompletion, LeastAttained, LinkDemand, PortDemand, ProcessorSharing, RankedLink, Schedule,
    ServiceOrder,
};

/// A new, idle link of some schedule.
type IdleLink = fn() -> Box<dyn Schedule>;

fn shortest_remaining() -> Box<dyn Schedule> {
    Box::new(RankedLink::new(ServiceOrder::ShortestRemaining))
}

/// The schedule of a link; the big switch is none.
fn idle_link(schedule: IdealSchedule) -> Option<IdleLink> {
    match schedule {
        IdealSchedule::BigSwitch => None,
        IdealSchedule::ShortestRemaining => Some(shortest_remaining),
        IdealSchedule::ShortestFirst => Some(|| Box::new(RankedLink::new(ServiceOrder::ShortestFirst))),
        IdealSchedule::LeastAttained => Some(|| Box::new(LeastAttained::default())),
        IdealSchedule::ProcessorSharing => Some(|| Box::new(ProcessorSharing::default())),
    }
}

/// The name of flows that count; all others only load the links.
const COUNTED: u64 = 1;

/// The mean completion time of flows that count, from sums: it does not matter to which flow a completion belongs.
#[derive(Clone, Debug, Default)]
struct MeanTime {
    arrived: u128,
    ended: u128,
    count: u64,
}

impl MeanTime {
    fn arrive(&mut self, demand: &LinkDemand) {
        if demand.flow == COUNTED {
            self.arrived += u128::from(demand.arrival.0);
            self.count += 1;
        }
    }

    fn end(&mut self, done: &mut Vec<FlowCompletion>) {
        let counted = done.drain(..).filter(|(flow, _)| *flow == COUNTED);
        self.ended += counted.map(|(_, at)| u128::from(at.0)).sum::<u128>();
    }

    fn us(&self) -> Option<f64> {
        // the sum may exceed what a `Span` holds
        let micros = self.ended.saturating_sub(self.arrived) as f64 / 1e6;
        (self.count > 0).then(|| micros / self.count as f64)
    }
}

/// The links of all hosts on one side of the network, each with a schedule of its own.
struct HostLinks {
    idle: IdleLink,
    links: Vec<Option<Box<dyn Schedule>>>,
    done: Vec<FlowCompletion>,
    time: MeanTime,
}

impl HostLinks {
    fn new(idle: IdleLink) -> HostLinks {
        HostLinks { idle, links: Vec::new(), done: Vec::new(), time: MeanTime::default() }
    }

    fn add(&mut self, host: usize, demand: LinkDemand) {
        if host >= self.links.len() {
            self.links.resize_with(host + 1, || None);
        }
        let link = self.links[host].get_or_insert_with(self.idle);
        link.arrive(demand, &mut self.done);
        self.time.arrive(&demand);
        self.time.end(&mut self.done);
    }

    fn finish(mut self) -> Option<f64> {
        self.links.iter_mut().flatten().for_each(|link| link.finish(&mut self.done));
        self.time.end(&mut self.done);
        self.time.us()
    }
}

/// A flow at both of its hosts: the host and the flow's demand on its link.
type BothEnds = [(usize, LinkDemand); 2];

/// One schedule at the links on which hosts send, and at those on which they receive.
struct BothSides([HostLinks; 2]);

impl BothSides {
    fn new(idle: IdleLink) -> BothSides {
        BothSides([HostLinks::new(idle), HostLinks::new(idle)])
    }

    fn add(&mut self, ends: &BothEnds) {
        self.0.iter_mut().zip(ends).for_each(|(side, (host, demand))| side.add(*host, *demand));
    }

    /// The mean at the side where it is greater.
    fn finish(self) -> Option<f64> {
        let [sending, receiving] = self.0.map(HostLinks::finish);
        Some(sending?.max(receiving?))
    }
}

/// The big switch, if its schedule is requested.
struct Fabric {
    switch: BigSwitch,
    done: Vec<FlowCompletion>,
    time: MeanTime,
}

impl Fabric {
    fn new(ports: usize) -> Fabric {
        Fabric { switch: BigSwitch::new(ports), done: Vec::new(), time: MeanTime::default() }
    }

    fn add(&mut self, [from, to]: &BothEnds) {
        let work = from.1.work.max(to.1.work);
        let demand = LinkDemand { work, ..from.1 };
        self.switch
            .arrive(PortDemand { demand, ingress: from.0 as u32, egress: to.0 as u32 }, &mut self.done);
        self.time.arrive(&demand);
        self.time.end(&mut self.done);
    }

    fn finish(mut self) -> Option<f64> {
        self.switch.finish(&mut self.done);
        self.time.end(&mut self.done);
        self.time.us()
    }
}

/// The other schedules, which serve all flows, as the network does.
struct Orders {
    links: Vec<(IdealSchedule, BothSides)>,
    fabric: Option<Fabric>,
    sequence: Sequence,
}

/// Whether flows can be scheduled as they arrive.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    last: Time,
    /// Flows arrived out of order of their starts, or between hosts without links.
    is_void: bool,
}

impl Sequence {
    /// The flow's demands, unless this or an earlier flow cannot be scheduled.
    fn admit(&mut self, start: Time, ends: Option<BothEnds>) -> Option<BothEnds> {
        self.is_void |= start < self.last || ends.is_none();
        self.last = start;
        ends.filter(|_| !self.is_void)
    }
}

impl Orders {
    fn new(ports: usize, wanted: IdealSchedules) -> Orders {
        Orders {
            links: wanted.iter().filter_map(|of| Some((of, BothSides::new(idle_link(of)?)))).collect(),
            fabric: wanted.iter().any(|of| of == IdealSchedule::BigSwitch).then(|| Fabric::new(ports)),
            sequence: Sequence::default(),
        }
    }

    fn add(&mut self, start: Time, ends: Option<BothEnds>) {
        if let Some(ends) = self.sequence.admit(start, ends) {
            self.links.iter_mut().for_each(|(_, links)| links.add(&ends));
            self.fabric.iter_mut().for_each(|fabric| fabric.add(&ends));
        }
    }

    /// The means by the last words of their metrics; empty if flows cannot be scheduled in the order in which they
    /// arrived.
    fn finish(self) -> BTreeMap<String, f64> {
        if self.sequence.is_void {
            return BTreeMap::new();
        }
        let links = self.links.into_iter().map(|(of, links)| (of, links.finish()));
        let fabric = self.fabric.map(|fabric| (IdealSchedule::BigSwitch, fabric.finish()));
        let named = fabric.into_iter().chain(links);
        named.filter_map(|(of, mean)| Some((of.metric().to_owned(), mean?))).collect()
    }
}

/// The ideal schedules of a run. Its bounds serve the measured flows that finished alone: a real network carries
/// other flows as well and adds headers and delays, so its mean over these flows cannot be lower than the minimum for
/// their payload alone. The other schedules serve all flows, including those of the warm-up, and count the same ones.
pub(super) struct Ideals {
    /// The rates at which each host can send and receive.
    rates: Vec<[Rate; 2]>,
    /// Over all flows, then over small, medium and large ones separately.
    bounds: [BothSides; 4],
    sequence: Sequence,
    /// `None` if there are none, so that flows that do not count cost nothing.
    orders: Option<Orders>,
}

impl Ideals {
    /// No flows yet. `wanted` are the schedules to compute besides the bounds.
    pub(super) fn new(record: &RunRecord, wanted: IdealSchedules) -> Ideals {
        let rates = rates(record);
        Ideals {
            orders: wanted.iter().next().map(|_| Orders::new(rates.len(), wanted)),
            rates,
            bounds: [(); 4].map(|()| BothSides::new(shortest_remaining)),
            sequence: Sequence::default(),
        }
    }

    /// Adds a flow; it counts if it is measured and finished.
    pub(super) fn add(&mut self, flow: &FlowRecord, counts: bool) {
        if !counts && self.orders.is_none() {
            return;
        }
        let ends = self.ends(flow, counts);
        if let Some(orders) = &mut self.orders {
            orders.add(flow.start, ends);
        }
        if counts && let Some(ends) = self.sequence.admit(flow.start, ends) {
            let bucket = size_class(flow.size);
            self.bounds[0].add(&ends);
            self.bounds[1 + bucket].add(&ends);
        }
    }

    fn ends(&self, flow: &FlowRecord, counts: bool) -> Option<BothEnds> {
        let hosts = [flow.source, flow.destination].map(|host| host.0 as usize);
        let [from, to] = hosts.map(|host| self.rates.get(host).copied());
        let rates = [from?[0], to?[1]];
        let demand = |rate: Rate| LinkDemand {
            flow: if counts { COUNTED } else { 0 },
            arrival: flow.start,
            work: rate.time_for(flow.size),
            deadline: Time::NEVER,
        };
        rates
            .iter()
            .all(|rate| *rate > Rate(0))
            .then(|| [(hosts[0], demand(rates[0])), (hosts[1], demand(rates[1]))])
    }

    /// The means; absent if flows cannot be scheduled in the order in which they arrived.
    pub(super) fn finish(self) -> Option<IdealTimes> {
        if self.sequence.is_void {
            return None;
        }
        let [all, small, medium, large] = self.bounds.map(BothSides::finish);
        let schedules = self.orders.map(Orders::finish).unwrap_or_default();
        Some(IdealTimes { bound_us: all?, small_us: small, medium_us: medium, large_us: large, schedules })
    }
}

/// The rates at which each host can send and receive, over all its links.
fn rates(record: &RunRecord) -> Vec<[Rate; 2]> {
    let hosts = record.nodes.iter().take_while(|node| node.tier == 0).count();
    let mut rates = vec![[Rate(0); 2]; hosts];
    for link in &record.links {
        for (side, node) in [link.from, link.to].into_iter().enumerate() {
            if let Some(rate) = rates.get_mut(node as usize) {
                rate[side].0 += link.rate.0;
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{LinkRecord, NodeRecord};
    use weft_core::{Bytes, FlowId, HostId, Span};

    /// Hosts with links of 8 Gbps to one switch: a byte takes a nanosecond.
    fn record(hosts: u32) -> RunRecord {
        let node = |tier| NodeRecord { tier, ..NodeRecord::default() };
        let nodes = (0..=hosts).map(|n| node(u8::from(n == hosts))).collect();
        let link = |from, to| LinkRecord { from, to, rate: Rate::from_gbps(8), ..LinkRecord::default() };
        let links = (0..hosts).flat_map(|host| [link(host, hosts), link(hosts, host)]).collect();
        RunRecord { nodes, links, ..RunRecord::default() }
    }

    fn flow(start_us: u64, size: u64, (source, destination): (u32, u32)) -> FlowRecord {
        FlowRecord {
            flow: FlowId(start_us as u32),
            start: Time::ZERO + Span::from_us(start_us),
            size: Bytes(size),
            source: HostId(source),
            destination: HostId(destination),
            ..FlowRecord::default()
        }
    }

    fn times(flows: &[FlowRecord]) -> Option<IdealTimes> {
        times_after(&[], flows)
    }

    /// The times of flows that count, after flows that do not.
    fn times_after(before: &[FlowRecord], flows: &[FlowRecord]) -> Option<IdealTimes> {
        let mut ideals = Ideals::new(&record(4), IdealSchedules::ALL);
        before.iter().for_each(|flow| ideals.add(flow, false));
        flows.iter().for_each(|flow| ideals.add(flow, true));
        ideals.finish()
    }

    /// Three flows of 107 days each: the sum is more than fits a `Span`.
    #[test]
    fn long_runs_have_a_mean() {
        let (long, mut mean) = (Time(1 << 63), MeanTime::default());
        let demand = LinkDemand { flow: COUNTED, arrival: Time::ZERO, work: Span(1), deadline: Time::NEVER };
        (0..3).for_each(|_| mean.arrive(&demand));
        mean.end(&mut vec![(COUNTED, long); 3]);
        assert_eq!(mean.us(), Some(9_223_372_036_854.775));
        assert_eq!(MeanTime::default().us(), None);
    }

    /// 40 kB and 10 kB to one host: SRPT takes 10 and 50 us, sharing 20 and 50 us, first come is not asked for.
    #[test]
    fn two_flows_to_one_host_have_their_closed_forms() {
        let found = times(&[flow(0, 40_000, (0, 2)), flow(0, 10_000, (1, 2))]).expect("in order");
        assert_eq!((found.bound_us, found.small_us, found.large_us), (30.0, Some(30.0), None));
        let all = ["big_switch", "srpt", "sjf", "las", "ps"].map(|name| found.schedules[name]);
        assert_eq!(all, [30.0, 30.0, 30.0, 35.0, 35.0]);
    }

    /// Three flows form a chain: each port is idle for most of them, yet the middle flow excludes both others.
    #[test]
    fn a_big_switch_is_never_faster_than_its_ports() {
        let flows = [flow(0, 10_000, (0, 2)), flow(1, 8_000, (0, 3)), flow(1, 6_000, (1, 3))];
        let found = times(&flows).expect("in order");
        assert!(found.schedules["big_switch"] >= found.bound_us);
    }

    /// A bound over small flows alone ignores the large ones.
    #[test]
    fn bounds_by_size_come_from_flows_of_that_size_only() {
        let found = times(&[flow(0, 20_000_000, (0, 2)), flow(5, 10_000, (0, 2))]).expect("in order");
        assert_eq!((found.small_us, found.large_us), (Some(10.0), Some(20_000.0)));
        assert!((found.bound_us - (20_010.0 + 10.0) / 2.0).abs() < 1e-9);
    }

    /// 20 kB remain of a flow of the warm-up when 30 kB arrive at the same host: a bound leaves it out, all other
    /// schedules serve it, and none counts it.
    #[test]
    fn flows_of_the_warm_up_delay_those_that_count_but_not_the_bound() {
        let found = times_after(&[flow(0, 40_000, (0, 2))], &[flow(20, 30_000, (1, 2))]).expect("in order");
        assert_eq!(found.bound_us, 30.0);
        let all = ["big_switch", "srpt", "sjf", "las", "ps"].map(|name| found.schedules[name]);
        assert_eq!(all, [50.0, 50.0, 30.0, 40.0, 50.0]);
    }

    /// Flows of the warm-up out of order say nothing about the bound.
    #[test]
    fn a_bound_does_not_ask_for_the_order_of_flows_that_do_not_count() {
        let before = [flow(5, 1_000, (0, 1)), flow(4, 1_000, (0, 1))];
        let found = times_after(&before, &[flow(6, 1_000, (0, 1))]).expect("in order");
        assert_eq!((found.bound_us, found.schedules.len()), (1.0, 0));
    }

    #[test]
    fn flows_out_of_order_or_without_links_have_no_bound() {
        assert_eq!(times(&[flow(5, 1_000, (0, 1)), flow(4, 1_000, (0, 1))]), None);
        assert_eq!(times(&[flow(5, 1_000, (0, 9))]), None);
    }
}
