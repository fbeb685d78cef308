//! How fast ideal schedules would have carried the flows of a run: bounds that no transport can beat, and the classic
//! schedules. Flows come one at a time, in order of start. Must not depend on how results are shown.

use crate::derived::{IdealSchedule, IdealSchedules, PAPER_BUCKETS};
use crate::summary::IdealTimes;
use std::collections::BTreeMap;
use weft_core::record::{FlowRecord, RunRecord};
use weft_core::{Rate, Span, Time};
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
        IdealSchedule::ShortestFirst => Some(|| Box::new(RankedLink::new(ServiceOrder::ShortestFirst))),
        IdealSchedule::LeastAttained => Some(|| Box::new(LeastAttained::default())),
        IdealSchedule::ProcessorSharing => Some(|| Box::new(ProcessorSharing::default())),
    }
}

/// The mean completion time of flows, from sums: which flow a completion belongs to does not matter.
#[derive(Clone, Debug, Default)]
struct MeanTime {
    arrived: u128,
    ended: u128,
    count: u64,
}

impl MeanTime {
    fn arrive(&mut self, at: Time) {
        self.arrived += u128::from(at.0);
        self.count += 1;
    }

    fn end(&mut self, done: &mut Vec<FlowCompletion>) {
        self.ended += done.drain(..).map(|(_, at)| u128::from(at.0)).sum::<u128>();
    }

    fn us(&self) -> Option<f64> {
        let sum = Span(u64::try_from(self.ended.saturating_sub(self.arrived)).ok()?);
        (self.count > 0).then(|| sum.micros() / self.count as f64)
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
        self.time.arrive(demand.arrival);
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

/// The big switch, when its schedule is asked for.
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
        self.time.arrive(demand.arrival);
        self.time.end(&mut self.done);
    }

    fn finish(mut self) -> Option<f64> {
        self.switch.finish(&mut self.done);
        self.time.end(&mut self.done);
        self.time.us()
    }
}

/// The ideal schedules of a run's measured, finished flows. A real network carries other flows as well and adds
/// headers and delays, so its mean over these flows cannot be lower than the least one of their payload alone.
pub(super) struct Ideals {
    /// What each host can send and receive.
    rates: Vec<[Rate; 2]>,
    /// Of all flows, then of small, medium and large ones alone.
    bounds: [BothSides; 4],
    links: Vec<(IdealSchedule, BothSides)>,
    fabric: Option<Fabric>,
    last: Time,
    /// Flows came in another order than that of their starts, or between hosts without links.
    is_void: bool,
}

impl Ideals {
    /// No flows yet. `wanted` are the schedules to compute besides the bounds.
    pub(super) fn new(record: &RunRecord, wanted: IdealSchedules) -> Ideals {
        let rates = rates(record);
        let links = wanted.iter().filter_map(|of| Some((of, BothSides::new(idle_link(of)?)))).collect();
        Ideals {
            fabric: wanted.iter().any(|of| of == IdealSchedule::BigSwitch).then(|| Fabric::new(rates.len())),
            rates,
            bounds: [(); 4].map(|()| BothSides::new(shortest_remaining)),
            links,
            last: Time::ZERO,
            is_void: false,
        }
    }

    /// Adds a measured flow that finished.
    pub(super) fn add(&mut self, flow: &FlowRecord) {
        self.is_void |= flow.start < self.last;
        self.last = flow.start;
        match self.ends(flow).filter(|_| !self.is_void) {
            Some(ends) => self.schedule(flow.size.0, &ends),
            None => self.is_void = true,
        }
    }

    fn ends(&self, flow: &FlowRecord) -> Option<BothEnds> {
        let hosts = [flow.source, flow.destination].map(|host| host.0 as usize);
        let [from, to] = hosts.map(|host| self.rates.get(host).copied());
        let rates = [from?[0], to?[1]];
        let demand = |rate: Rate| LinkDemand {
            flow: u64::from(flow.flow.0),
            arrival: flow.start,
            work: rate.time_for(flow.size),
            deadline: Time::NEVER,
        };
        rates
            .iter()
            .all(|rate| *rate > Rate(0))
            .then(|| [(hosts[0], demand(rates[0])), (hosts[1], demand(rates[1]))])
    }

    fn schedule(&mut self, size: u64, ends: &BothEnds) {
        let bucket = PAPER_BUCKETS.iter().filter(|end| size > **end).count();
        self.bounds[0].add(ends);
        self.bounds[1 + bucket].add(ends);
        self.links.iter_mut().for_each(|(_, links)| links.add(ends));
        self.fabric.iter_mut().for_each(|fabric| fabric.add(ends));
    }

    /// The means; absent if flows cannot be scheduled in the order in which they came.
    pub(super) fn finish(self) -> Option<IdealTimes> {
        if self.is_void {
            return None;
        }
        let [all, small, medium, large] = self.bounds.map(BothSides::finish);
        let links = self.links.into_iter().map(|(of, links)| (of, links.finish()));
        let fabric = self.fabric.map(|fabric| (IdealSchedule::BigSwitch, fabric.finish()));
        let named = fabric.into_iter().chain(links);
        let schedules: BTreeMap<String, f64> =
            named.filter_map(|(of, mean)| Some((of.metric().to_owned(), mean?))).collect();
        Some(IdealTimes { bound_us: all?, small_us: small, medium_us: medium, large_us: large, schedules })
    }
}

/// What each host can send and receive, over all its links.
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
    use weft_core::{Bytes, FlowId, HostId};

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
        let mut ideals = Ideals::new(&record(4), IdealSchedules::ALL);
        flows.iter().for_each(|flow| ideals.add(flow));
        ideals.finish()
    }

    /// 40 kB and 10 kB to one host: SRPT takes 10 and 50 us, sharing 20 and 50 us, first come is not asked for.
    #[test]
    fn two_flows_to_one_host_have_their_closed_forms() {
        let found = times(&[flow(0, 40_000, (0, 2)), flow(0, 10_000, (1, 2))]).expect("in order");
        assert_eq!((found.bound_us, found.small_us, found.large_us), (30.0, Some(30.0), None));
        let [big, sjf, las, ps] = ["big_switch", "sjf", "las", "ps"].map(|name| found.schedules[name]);
        assert_eq!([big, sjf, las, ps], [30.0, 30.0, 35.0, 35.0]);
    }

    /// Three flows a chain: each port alone is idle for most of them, yet the middle flow excludes both others.
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

    #[test]
    fn flows_out_of_order_or_without_links_have_no_bound() {
        assert_eq!(times(&[flow(5, 1_000, (0, 1)), flow(4, 1_000, (0, 1))]), None);
        assert_eq!(times(&[flow(5, 1_000, (0, 9))]), None);
    }
}
