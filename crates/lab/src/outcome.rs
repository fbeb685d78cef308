//! The record of a lab run: flows from the sockets, links and drops from the switches.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use weft_core::record::{
    ArrivalRecord, DropRecord, FlowRecord, Measured, PacketBalance, Quantity, Reason, RunRecord, Stop,
};
use weft_core::{Bytes, FlowId, Span, Time};
use weft_plan::{Alone, Setup, Sink};
use weft_topology::Node;

use crate::cable::CableTally;
use crate::demand::rough;
use crate::ends::SocketFlow;
use crate::fabric::{LabFabric, LinkCount, MOST_STORED};

/// The observations once everything has stopped.
pub(crate) struct LabResults<'a> {
    pub(crate) transfers: &'a [SocketFlow],
    pub(crate) fabric: &'a LabFabric,
    pub(crate) tally: &'a CableTally,
    /// Bytes sent by each link, and payload delivered, when the last flow had started.
    pub(crate) in_arrivals: Option<(Vec<Bytes>, Bytes)>,
    pub(crate) ended: Time,
    pub(crate) stop: Stop,
}

/// The quantities that a lab measures: flows, loads, queues, drops and marks. Those of senders, card queues and hops
/// stay in the kernel.
fn measured() -> Measured {
    let known = [Quantity::Loads, Quantity::Queues, Quantity::Drops, Quantity::Marks];
    known.into_iter().fold(Measured::FLOWS, Measured::with)
}

/// Passes the flows to the sink: those that finished in that order, then the others.
pub(crate) fn pass_flows(setup: &Setup, seen: &LabResults<'_>, sink: Sink<'_>) {
    let mut alone = Alone::new(setup);
    let started =
        |(_, transfer): &(usize, &SocketFlow)| transfer.flow.start < seen.ended || transfer.end.is_some();
    let numbered = seen.transfers.iter().enumerate().filter(started);
    let mut records: Vec<FlowRecord> = numbered
        .map(|(number, transfer)| FlowRecord {
            flow: FlowId(number as u32),
            listed: transfer.flow.listed_id(),
            tag: transfer.flow.tag,
            source: transfer.flow.source,
            destination: transfer.flow.destination,
            size: transfer.flow.size,
            start: transfer.flow.start,
            end: transfer.end,
            deadline: transfer.flow.own_deadline(),
            ideal: alone.completion(&transfer.flow, transfer.end.unwrap_or(transfer.flow.start)),
            delivered: Bytes(transfer.delivered),
            ecn_marks: seen.tally.marks[number].load(Ordering::Relaxed),
            ..FlowRecord::default()
        })
        .collect();
    records.sort_unstable_by_key(|record| (record.end.unwrap_or(Time(u64::MAX)), record.flow));
    let _ = records.iter().all(sink);
}

/// Everything but the flows.
pub(crate) fn record(setup: &Setup, seen: &LabResults<'_>) -> RunRecord {
    let counts = seen.fabric.links(setup);
    let mut record = setup.record();
    for (number, (link, count)) in record.links.iter_mut().zip(&counts).enumerate() {
        let ((packets, sent), counters) = count;
        (link.packets, link.sent) = (*packets, *sent);
        (link.dropped, link.marked, link.peak) = (counters.dropped, counters.marked, counters.peak);
        link.mean_queue = counters.byte_time as f64 / seen.ended.0.max(1) as f64;
        link.failed = !setup.timeline.initial.is_up(setup.graph.links()[number].cable);
        if let Some((in_arrivals, _)) = &seen.in_arrivals {
            link.sent_in_arrivals = in_arrivals[number];
        }
    }
    let drops = drops(setup, &counts, &seen.fabric.drops());
    let from_hosts = |number: &usize| matches!(setup.graph.links()[*number].from, Node::Host(_));
    let entered: u64 = (0..counts.len()).filter(from_hosts).map(|number| counts[number].0.0).sum();
    let created = entered + seen.fabric.unheard(setup);
    let delivered = seen.tally.delivered.load(Ordering::Relaxed);
    let dropped = drops.iter().map(|drop| drop.packets).sum::<u64>() + seen.fabric.mishaps();
    RunRecord {
        packet_hops: record.links.iter().map(|link| link.packets).sum(),
        drops,
        packets: PacketBalance {
            created,
            delivered,
            dropped,
            left: created.saturating_sub(delivered + dropped),
        },
        ended: seen.ended,
        arrivals: arrivals(setup, seen),
        stop: seen.stop,
        measured: measured(),
        ..record
    }
}

fn arrivals(setup: &Setup, seen: &LabResults<'_>) -> Option<ArrivalRecord> {
    let (_, until) = setup.flows.arrivals()?;
    let (_, delivered) = seen.in_arrivals.as_ref()?;
    let counts = |transfer: &&SocketFlow| transfer.flow.start >= setup.warm_up;
    let whole: u64 = seen.transfers.iter().filter(counts).map(|transfer| transfer.delivered).sum();
    let most = delivered.0 >= whole.saturating_sub(delivered.0);
    (until > setup.warm_up).then_some(ArrivalRecord { until, delivered: *delivered, most })
}

/// Drops by hop and reason. A port counts its drops and a switch its reasons; where a switch has several reasons, its ports take
/// them in turn, so that the sums by hop and by reason are exact.
fn drops(setup: &Setup, counts: &[LinkCount], by_switch: &[Vec<(Reason, u64)>]) -> Vec<DropRecord> {
    let mut found: BTreeMap<(u8, Reason), u64> = BTreeMap::new();
    for (number, reasons) in by_switch.iter().enumerate() {
        let mut reasons =
            reasons.iter().flat_map(|(reason, count)| std::iter::repeat_n(*reason, *count as usize));
        let node = Node::Switch(weft_core::SwitchId(number as u32));
        for link in setup.graph.links_of(node) {
            let count = counts[setup.graph.link_at(node, link.port).index()].1.dropped as usize;
            reasons
                .by_ref()
                .take(count)
                .for_each(|reason| *found.entry((hop(setup, link), reason)).or_default() += 1);
        }
        // Drops at no port: packets without a route.
        reasons.for_each(|reason| *found.entry((tier(setup, node), reason)).or_default() += 1);
    }
    let full = u64::from(setup.transport.full_wire());
    let drop = |((hop, reason), packets): ((u8, Reason), u64)| DropRecord {
        hop,
        reason,
        packets,
        bytes: Bytes(packets * full),
    };
    found.into_iter().map(drop).collect()
}

fn tier(setup: &Setup, node: Node) -> u8 {
    match node {
        Node::Host(_) => 0,
        Node::Switch(switch) => setup.graph.switches()[switch.index()].tier,
    }
}

/// The hop of a link on the longest paths: up, and down again.
fn hop(setup: &Setup, link: &weft_topology::Link) -> u8 {
    let highest = setup.graph.switches().iter().map(|switch| switch.tier).max().unwrap_or(1);
    let (own, next) = (tier(setup, link.from), tier(setup, link.to));
    if next > own { own } else { (2 * highest).saturating_sub(own) }
}

/// Facts for the manifest besides the scale: the punctuality of the lab, and the kernel's counters.
pub(crate) fn facts(seen: &LabResults<'_>, real: impl Fn(Span) -> Span) -> Vec<(String, String)> {
    let (mean, most) = seen.tally.lateness.read();
    let (sent_again, time_outs) = kernel_counts(seen.transfers);
    let failures: Vec<&String> =
        seen.transfers.iter().filter_map(|transfer| transfer.failure.as_ref()).collect();
    let lost = seen.fabric.mishaps();
    let mut facts = vec![
        (
            "punctuality",
            format!(
                "frames were {} late on average and {} at most ({} and {} of real time), not counting the time that they waited in sockets",
                rough(mean),
                rough(most),
                rough(real(mean)),
                rough(real(most))
            ),
        ),
        ("segments sent again", sent_again.to_string()),
        ("time-outs", time_outs.map_or("not counted by this kernel".to_owned(), |count| count.to_string())),
    ];
    facts.extend(shortcomings(lost, seen.tally.ran_full.load(Ordering::Relaxed)));
    if let Some(first) = failures.first() {
        facts.push(("connections that failed", format!("{}, the first: {first}", failures.len())));
    }
    facts.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Segments sent again and time-outs of all senders that there were; the latter are `None` if the kernel does not count them.
fn kernel_counts(transfers: &[SocketFlow]) -> (u64, Option<u64>) {
    let of_senders = || transfers.iter().filter_map(|transfer| transfer.counted);
    let sent_again = of_senders().map(|counts| u64::from(counts.sent_again)).sum();
    (sent_again, of_senders().map(|counts| counts.time_outs.map(u64::from)).sum())
}

/// What the lab did that no network does: it lost frames, or a switch ran out of buffers.
fn shortcomings(lost: u64, ran_full: bool) -> Vec<(&'static str, String)> {
    let full = format!("a switch holds at most {MOST_STORED} packets in a lab and was full");
    let mut facts = Vec::new();
    if lost > 0 {
        facts.push(("frames lost by the lab itself", lost.to_string()));
        let more = if ran_full { format!("; {full}") } else { String::new() };
        let words = "The lab itself lost frames, which are not among the packets dropped";
        facts.push(("caution", format!("{words}: {lost}{more}. A larger scale may avoid this.")));
    }
    if ran_full {
        facts.push(("buffers", full));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::TcpCounts;
    use weft_core::HostId;
    use weft_workload::Flow;

    /// Two flows had senders, the third had not begun when the run was interrupted.
    #[test]
    fn time_outs_are_those_of_the_senders_that_there_were() {
        let flow = Flow::new(0, Time::ZERO, (HostId(0), HostId(1)), Bytes(1_000));
        let mut transfers = [0, 1, 2].map(|_| SocketFlow::new(flow));
        let counts = |time_outs| Some(TcpCounts { sent_again: 5, time_outs });
        (transfers[0].counted, transfers[1].counted) = (counts(Some(2)), counts(Some(1)));
        assert_eq!(kernel_counts(&transfers), (10, Some(3)));
        transfers[1].counted = counts(None);
        assert_eq!(kernel_counts(&transfers), (10, None), "a kernel before 6.7");
    }

    #[test]
    fn what_the_lab_has_lost_is_a_caution_that_reports_begin_with() {
        let told = |lost, ran_full| shortcomings(lost, ran_full).into_iter().collect::<BTreeMap<_, _>>();
        assert!(told(0, false).is_empty());
        let lost = told(12, false);
        assert_eq!(lost["frames lost by the lab itself"], "12");
        assert!(lost["caution"].contains("not among the packets dropped: 12."), "{lost:?}");
        assert!(told(12, true)["caution"].contains("a switch holds at most 16384 packets"));
        let full: Vec<_> = told(0, true).into_keys().collect();
        assert_eq!(full, ["buffers"], "frames that only waited were not lost");
    }
}
