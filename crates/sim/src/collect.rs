//! From the state at the end of a run to its record.

use std::collections::BTreeMap;

use weft_core::record::{
    ArbitrationCounts, ArrivalRecord, FlowPauses, LinkRecord, Measured, PacketBalance, PauseRecord, Quantity,
    RunRecord, Stop,
};
use weft_core::{Bytes, FlowId, LinkId, PortId, Span, Time};
use weft_recorder::flow_series::FlowWatch;
use weft_recorder::sample::Sampler;
use weft_recorder::tally::Tally;
use weft_switch::PortCounters;
use weft_topology::{Change, Link, Node};

use crate::domain::Domain;
use crate::ends::Closed;
use crate::ledger::Ledger;
use crate::plan::RunPlan;
use crate::series::gathered as gathered_series;
use crate::simulation::{Finish, Simulation};

/// The record of a run, collected from its domains, without flows, which go to the ledger.
pub(crate) fn collect(simulation: Simulation, finish: Finish, ledger: &mut Ledger<'_>) -> RunRecord {
    let arrivals = arrivals(&simulation);
    let Simulation { plan, mut domains, sampler, deadlocks } = simulation;
    // A run that reached its limit includes that instant; one that ended on the grid does not.
    let end = if finish.stop == Stop::Finished { finish.at } else { finish.at + Span(1) };
    let series = gathered_series(&mut domains, finish.at, end);
    for domain in &mut domains {
        domain.cx.now = finish.at;
        domain.devices.revoke_all(&mut domain.cx, end);
    }
    let mut tally = Tally::new(plan.setup.incidents());
    let (mut waiting, mut arbitration) = (BTreeMap::new(), ArbitrationCounts::default());
    domains.iter_mut().for_each(|domain| domain.devices.tolls_of_waiting(&mut domain.cx, end, &mut waiting));
    for domain in &mut domains {
        domain.close(end, &waiting, ledger);
        domain.take_back(end);
        tally.merge(&domain.cx.tally);
        domain.devices.all_mut().for_each(|own| arbitration += own.switch.reading().arbitration());
    }
    ledger.pass_on_all(Time::NEVER);
    let (queues, imbalance) = match &sampler {
        Some(sampler) => {
            let (series, imbalance) = sampler.results();
            (Some(series), imbalance)
        }
        None => (None, Vec::new()),
    };
    let pauses = pauses(&mut domains, end);
    let left = domains.iter().map(|domain| domain.cx.pool.alive() as u64).sum();
    let jobs = domains[0].hosts.job_records(finish.at);
    let collector = Collector { plan: &plan, ended: finish.at, with_arrivals: arrivals.is_some() };
    let mut record = plan.setup.record();
    record
        .links
        .iter_mut()
        .enumerate()
        .for_each(|(number, link)| collector.measure(number, link, &mut domains));
    RunRecord {
        packet_hops: record.links.iter().map(|link| link.packets).sum(),
        hops: tally.hops(),
        drops: tally.drops(),
        incidents: tally.incidents,
        queues,
        queue_events: sampler.as_ref().and_then(Sampler::queue_events),
        imbalance,
        series,
        flow_series: FlowWatch::finish(domains.iter_mut().filter_map(|domain| domain.flow_watch.take())),
        pauses,
        deadlocks: deadlocks.results(),
        arbitration,
        jobs,
        events: tally.events,
        packets: PacketBalance { left, ..tally.packets },
        ended: finish.at,
        arrivals,
        late_changes: late_changes(&plan, finish.at),
        stop: finish.stop,
        measured: measured(&plan),
        ..record
    }
}

/// The arrival period of the run, if it lasted until then. It says little about a run that mostly drains.
fn arrivals(simulation: &Simulation) -> Option<ArrivalRecord> {
    let (_, until) = simulation.plan.setup.flows.arrivals()?;
    let domains = &simulation.domains;
    let noted: Option<Vec<Bytes>> = domains.iter().map(|domain| domain.arrived.delivered).collect();
    let delivered: Bytes = noted?.into_iter().sum();
    let whole: Bytes = domains.iter().map(|domain| domain.hosts.ends.delivered()).sum();
    let most = delivered.0 >= whole.0 - delivered.0;
    (until > simulation.plan.setup.warm_up).then_some(ArrivalRecord { until, delivered, most })
}

/// All quantities except those that no transport of the run has.
fn measured(plan: &RunPlan) -> Measured {
    match plan.setup.transports().any(|transport| transport.duplicates_acks()) {
        true => Measured::ALL,
        false => Measured::ALL.without(Quantity::DuplicateAcks),
    }
}

/// Failures and repairs after the end.
fn late_changes(plan: &RunPlan, end: Time) -> u64 {
    let of_cables = |change: &Change| change.cable().is_some();
    let late = plan.setup.timeline.changes.iter().filter(|(at, change)| *at > end && of_cables(change));
    late.count() as u64
}

/// By link, then class.
fn pauses(domains: &mut [Domain], end: Time) -> Vec<PauseRecord> {
    let mut records = Vec::new();
    domains.iter_mut().for_each(|domain| domain.pause_records(end, &mut records));
    records.sort_unstable_by_key(|record| (record.link, record.class));
    records
}

impl Domain {
    /// One record per flow due to start before `end` that is not done; a flow is due when its turn has come.
    fn close(&mut self, end: Time, waiting: &BTreeMap<FlowId, FlowPauses>, ledger: &mut Ledger<'_>) {
        let Domain { cx, hosts, .. } = self;
        std::mem::take(&mut hosts.ends.closed).into_iter().for_each(|closed| ledger.add(closed));
        hosts.release_cards(cx, end);
        let open: Vec<Closed> = hosts.ends.open(end).collect();
        open.into_iter().for_each(|closed| ledger.add(hosts.with_tolls(cx, closed, waiting)));
        while let Some((flow, spec)) = hosts.next_unsent(cx).filter(|(_, spec)| spec.start < end) {
            ledger.add_unsent(end, flow, &spec);
        }
    }

    /// Subtracts transmissions of foreseen ports that were counted in advance but would have happened at `end` or
    /// later.
    fn take_back(&mut self, end: Time) {
        for own in self.devices.all_mut() {
            own.switch.settle(end, &mut self.cx.pool.headers);
            for port in (0..own.switch.reading().ports()).map(|port| PortId(port as u16)) {
                let (packets, bytes) = own.switch.reading().waiting(end, port);
                let wire = self.cx.wires.of(own.link(port));
                wire.packets -= packets;
                wire.sent -= bytes;
            }
        }
    }
}

/// Collects the records of links.
struct Collector<'a> {
    plan: &'a RunPlan,
    ended: Time,
    with_arrivals: bool,
}

impl Collector<'_> {
    fn measure(&self, number: usize, record: &mut LinkRecord, domains: &mut [Domain]) {
        let link = &self.plan.setup.graph.links()[number];
        // Packets are lost at both ends of a link; everything else is counted by the transmitter.
        let lost = domains.iter().map(|domain| domain.cx.wires[LinkId(number as u32)].lost).sum::<u64>();
        let domain = &mut domains[self.plan.partition.of(link.from)];
        let wire = &domain.cx.wires[LinkId(number as u32)];
        (record.sent, record.packets, record.failed) = (wire.sent, wire.packets, wire.failed);
        record.sent_in_arrivals = if self.with_arrivals { domain.arrived.sent[number] } else { Bytes::ZERO };
        let counters = self.counters(domain, link);
        record.dropped = lost + counters.dropped;
        record.marked = counters.marked;
        (record.trimmed, record.returned) = (counters.trimmed, counters.returned);
        record.peak = counters.peak;
        record.mean_queue = counters.byte_time as f64 / (self.ended.0.max(1)) as f64;
    }

    fn counters(&self, domain: &mut Domain, link: &Link) -> PortCounters {
        let switch = match link.from {
            Node::Switch(switch) => switch,
            Node::Host(host) => return domain.hosts.counters_of_card(host, self.ended),
        };
        let own = domain.devices.get_mut(switch).expect("a domain has its switches");
        let counters = own.switch.reading().counters(self.ended, link.port);
        PortCounters { peak: counters.peak.max(domain.peak_before(switch, link.port)), ..counters }
    }
}
