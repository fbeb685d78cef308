//! Laws of every world: packets and bytes are conserved, drops have a place and a reason, buffers and lines have
//! their limits, order and progress, and the same record however it is computed. A broken law is reported in words.

use weft_core::record::{FlowRecord, HopRecord, Reason, RunRecord, Stop};
use weft_core::{Bytes, Span, Time};
use weft_plan::{Division, Setup};
use weft_switch::mark::{MarkerSettings, NonEct};
use weft_switch::order::OrderSettings;
use weft_switch::pause::WatchdogAction;
use weft_switch::share::SharingSettings;
use weft_switch::{BalancerSettings, PortSettings, SwitchSettings, flowlet::FlowletSettings};
use weft_topology::Node;
use weft_transport::card::{CardPlan, CardSettings};
use weft_transport::{RankBy, TransportSettings};
use weft_workload::Flow;

use super::series;
use super::worlds::World;

/// Broken, and how.
pub(crate) type Verdict = Result<(), String>;

/// The laws for a record of a world.
pub(crate) type Law = fn(&World, &RunRecord) -> Verdict;

/// All laws on one record.
pub(crate) const LAWS: &[(&str, Law)] = &[
    ("packets are conserved", packets_are_conserved),
    ("bytes are conserved", bytes_are_conserved),
    ("drops have a place", drops_have_a_place),
    ("drops have a reason", drops_have_a_reason),
    ("buffers hold", buffers_hold),
    ("lossless is lossless", lossless_is_lossless),
    ("lines keep their rate", lines_keep_their_rate),
    ("marks come from markers", marks_come_from_markers),
    ("headers come from trimming", headers_come_from_trimming),
    ("paths keep order", paths_keep_order),
    ("flows are sound", flows_are_sound),
    ("flows finish", flows_finish),
    ("nobody beats the empty network", nobody_beats_the_empty_network),
    ("senders know later", senders_know_later),
    ("arrivals are a part of the run", arrivals_are_a_part),
    ("samples are sound", samples_are_sound),
    ("time series add up", series::adds_up),
];

macro_rules! demand {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

/// Packets of the links that satisfy a condition, and their bytes.
fn sent(record: &RunRecord, which: impl Fn(u32, u32) -> bool) -> (u64, u64) {
    let links = record.links.iter().filter(|link| which(link.from, link.to));
    links.fold((0, 0), |(packets, bytes), link| (packets + link.packets, bytes + link.sent.0))
}

fn dropped(record: &RunRecord, which: impl Fn(Reason) -> bool) -> (u64, u64) {
    let drops = record.drops.iter().filter(|drop| which(drop.reason));
    drops.fold((0, 0), |(packets, bytes), drop| (packets + drop.packets, bytes + drop.bytes.0))
}

fn on_a_wire(reason: Reason) -> bool {
    matches!(reason, Reason::Loss | Reason::LinkDown)
}

fn packets_are_conserved(world: &World, record: &RunRecord) -> Verdict {
    let packets = record.packets;
    demand!(
        packets.created == packets.delivered + packets.dropped + packets.left,
        "{packets:?} do not add up"
    );
    let hosts = world.setup.graph.hosts();
    let (by_hosts, _) = sent(record, |from, _| from < hosts);
    let in_cards = dropped_in_cards(record).0;
    let queued = if queues_at_cards(world) { packets.left } else { 0 };
    let sent_or_waiting = by_hosts + in_cards..=by_hosts + in_cards + queued;
    demand!(
        sent_or_waiting.contains(&packets.created),
        "hosts sent {by_hosts} of {} created, {in_cards} dropped in cards",
        packets.created
    );
    let (to_hosts, _) = sent(record, |_, to| to < hosts);
    let (lost, _) = dropped(record, on_a_wire);
    let landed = packets.delivered..=packets.delivered + packets.left + lost;
    demand!(landed.contains(&to_hosts), "{to_hosts} sent to hosts, {packets:?}");
    let (all, _) = sent(record, |_, _| true);
    demand!(all == record.packet_hops, "{all} sent, {} hops", record.packet_hops);
    let none_left = record.stop != Stop::Stuck || packets.left == 0;
    demand!(none_left, "nothing is left to happen, but {packets:?}");
    Ok(())
}

/// Packets that a card had no room for, and their bytes.
fn dropped_in_cards(record: &RunRecord) -> (u64, u64) {
    let drops = record.drops.iter().filter(|drop| drop.hop == 0 && drop.reason == Reason::PortFull);
    drops.fold((0, 0), |(packets, bytes), drop| (packets + drop.packets, bytes + drop.bytes.0))
}

/// Whether packets wait in some card.
fn queues_at_cards(world: &World) -> bool {
    world.cards().any(|card| card.plan() != CardPlan::Turns)
}

/// Packets that hosts have sent and that no host received are dropped in a switch, lost on a wire or still there; and
/// no switch sends more than came in.
fn bytes_are_conserved(world: &World, record: &RunRecord) -> Verdict {
    let hosts = world.setup.graph.hosts();
    let (_, by_hosts) = sent(record, |from, _| from < hosts);
    let (_, to_hosts) = sent(record, |_, to| to < hosts);
    let (_, within) = dropped(record, |reason| !on_a_wire(reason));
    let in_switches = within - dropped_in_cards(record).1;
    let (_, on_wires) = dropped(record, on_a_wire);
    let gone = to_hosts + in_switches;
    let cut: u64 = record.links.iter().map(|link| link.trimmed).sum();
    let rest = (record.packets.left + cut) * world.full().0 + on_wires;
    demand!(
        gone <= by_hosts && by_hosts <= gone + rest,
        "hosts sent {by_hosts} B, {to_hosts} B went to hosts, {in_switches} B were dropped, {rest} B at most are left"
    );
    for node in hosts..record.nodes.len() as u32 {
        let (into, out) = (sent(record, |_, to| to == node), sent(record, |from, _| from == node));
        demand!(out.0 <= into.0 && out.1 <= into.1, "node {node}: {into:?} came, {out:?} left");
    }
    let payload: u64 = record.flows.iter().map(|flow| flow.delivered.0).sum();
    demand!(payload <= to_hosts, "{payload} B of payload in {to_hosts} B");
    Ok(())
}

/// A packet without a route, or in a loop of routes, is lost at no port; every other drop is counted at one link and at one hop.
fn drops_have_a_place(_: &World, record: &RunRecord) -> Verdict {
    let by_hop: u64 = record.drops.iter().map(|drop| drop.packets).sum();
    let by_link: u64 = record.links.iter().map(|link| link.dropped).sum();
    let (nowhere, _) = dropped(record, |reason| matches!(reason, Reason::NoRoute | Reason::HopLimit));
    demand!(
        by_hop == record.packets.dropped && by_link + nowhere == by_hop,
        "{:?}: {by_hop} by hop, {by_link} by link, {nowhere} without route",
        record.packets
    );
    let real = record.drops.iter().all(|drop| drop.packets > 0 && drop.bytes.0 >= 64 * drop.packets);
    demand!(real, "{:?}", record.drops);
    Ok(())
}

fn drops_have_a_reason(world: &World, record: &RunRecord) -> Verdict {
    for drop in &record.drops {
        let by_port = |port: &PortSettings| match drop.reason {
            Reason::PortFull => port.queue_limit.is_some(),
            Reason::Early => drops_early(&port.ecn),
            Reason::Red => port.color.is_on(),
            _ => false,
        };
        let at_card = drop.hop == 0 && drop.reason == Reason::PortFull;
        let possible = at_card
            || world.setup.switch_kinds().any(|switch| may_drop(world, switch, drop.reason))
            || world.setup.ports.values().any(by_port);
        demand!(possible, "{drop:?} cannot happen here");
        let limited = |card: &CardSettings| matches!(card.plan(), CardPlan::InOrder { limit: Some(_), .. });
        let in_card = drop.reason == Reason::PortFull && world.cards().any(limited);
        let there = drop.hop > 0 || on_a_wire(drop.reason) || in_card;
        demand!(there, "{drop:?}: no card has a limit");
    }
    Ok(())
}

/// Whether a marker drops packets.
fn drops_early(ecn: &MarkerSettings) -> bool {
    match ecn {
        MarkerSettings::Pie(pie) => pie.mark_up_to < 1.0 || pie.non_ect == NonEct::Drop,
        other => other.non_ect() == Some(NonEct::Drop),
    }
}

/// Whether a switch may drop for a reason.
fn may_drop(world: &World, switch: &SwitchSettings, reason: Reason) -> bool {
    let fails = !world.plan.outages.is_empty();
    match reason {
        Reason::PortFull | Reason::BufferFull if switch.voq.is_some() => true,
        Reason::PortFull => match &switch.sharing {
            SharingSettings::Fixed(_) => true,
            SharingSettings::Mmu(own) => own.port_limit.is_some(),
            _ => false,
        },
        Reason::Threshold => {
            matches!(switch.sharing, SharingSettings::Dynamic(_) | SharingSettings::Mmu(_))
        }
        Reason::Ingress => matches!(switch.sharing, SharingSettings::Mmu(_)),
        Reason::BufferFull => switch.buffer.is_some(),
        Reason::Early => drops_early(&switch.ecn),
        Reason::NoRoute | Reason::LinkDown | Reason::HopLimit => fails,
        Reason::Loss => world.lossy,
        Reason::Headroom => may_overrun(world),
        Reason::Watchdog => switch.pfc.watchdog.is_some(),
        Reason::Red => switch.color.is_on(),
        Reason::Evicted => matches!(switch.order, OrderSettings::Ranked(_)),
    }
}

/// Whether a sender may send in spite of a pause, or headroom may be insufficient: frames are lost, a watchdog wants
/// it, ports share headroom, a stalling cable holds packets back and hands them over together, or packets change into
/// a paused class as they are trimmed.
fn may_overrun(world: &World) -> bool {
    let pfc = &world.setup.switch.pfc;
    let pooled =
        matches!(&world.setup.switch.sharing, SharingSettings::Mmu(own) if own.headroom_pool.is_some());
    let forward = pooled || pfc.watchdog.is_some() && pfc.watchdog_action == WatchdogAction::Forward;
    let changes_class = world.setup.switch_kinds().any(|switch| switch.trim.is_on());
    let stalls = world.setup.graph.links().iter().any(|link| link.stalls.is_some());
    forward || stalls || world.lossy || changes_class || !world.plan.outages.is_empty()
}

/// Where everything pauses, memory never runs out, and no more headroom is used than there is. No sender is stopped
/// for longer than the run, or released more often than stopped.
fn lossless_is_lossless(world: &World, record: &RunRecord) -> Verdict {
    if !world.setup.switch.pfc.is_on() {
        demand!(record.pauses.is_empty() && record.deadlocks.is_empty(), "pauses nobody asked for");
        return Ok(());
    }
    let wanting = |reason| match reason {
        Reason::Headroom => !may_overrun(world),
        _ => matches!(reason, Reason::PortFull | Reason::Threshold | Reason::BufferFull | Reason::Ingress),
    };
    demand!(dropped(record, wanting).0 == 0, "{:?}", record.drops);
    for pause in &record.pauses {
        let sound = pause.headroom_peak <= pause.headroom
            && pause.resumed <= pause.asked
            && pause.asked <= pause.resumed + 1
            && pause.longest <= pause.paused
            && pause.paused <= record.ended.since(Time::ZERO) + Span(1);
        demand!(sound, "{pause:?}, ended {}", record.ended);
    }
    Ok(())
}

/// A dynamic threshold allows alpha times what is free before the packet enters, so at most alpha (B + packet) / (1 +
/// alpha) for the shared part of a queue.
fn buffers_hold(world: &World, record: &RunRecord) -> Verdict {
    if world.setup.pauses() {
        return Ok(());
    }
    for (number, link) in record.links.iter().enumerate() {
        let limit = match world.setup.graph.links()[number].from {
            Node::Switch(switch) => limit_of_port(world, world.setup.switch_at(switch)),
            Node::Host(_) => u64::MAX,
        };
        demand!(link.peak.0 <= limit, "link {number}: a queue of {} where {limit} is the limit", link.peak);
        let mean = (0.0..=link.peak.0 as f64 * (1.0 + 1e-9)).contains(&link.mean_queue);
        demand!(mean, "link {number}: {} B on average, {} at most", link.mean_queue, link.peak);
    }
    Ok(())
}

/// The most that a port of a switch may hold.
fn limit_of_port(world: &World, switch: &SwitchSettings) -> u64 {
    let buffer = switch.buffer.map_or(u64::MAX, |buffer| buffer.0);
    let full = world.full().0 as f64;
    if let Some(voq) = &switch.voq {
        // What is granted while the output is almost full, and the packet that takes more than the credit.
        let behind = voq.output.0 + voq.credit.0 + full as u64;
        return voq.limit.0 * u64::from(voq.groups * switch.queues) + behind;
    }
    match &switch.sharing {
        SharingSettings::Infinite(_) => u64::MAX,
        SharingSettings::Fixed(fixed) => fixed.per_port.0.min(buffer),
        SharingSettings::Dynamic(dynamic) => {
            let occupied = switch.cell.map_or(full, |cell| (full / cell.0 as f64).ceil() * cell.0 as f64);
            let shared = dynamic.alpha * (buffer as f64 + occupied) / (1.0 + dynamic.alpha);
            let queues = u64::from(switch.queues);
            ((shared.ceil() as u64 + dynamic.minimum.0).saturating_mul(queues)).min(buffer)
        }
        SharingSettings::Mmu(own) => own.port_limit.map_or(buffer, |limit| {
            let minima = own.queue_minimum * u64::from(switch.queues);
            buffer.min((limit + minima).0)
        }),
    }
}

fn lines_keep_their_rate(world: &World, record: &RunRecord) -> Verdict {
    let full = world.full();
    for (number, link) in record.links.iter().enumerate() {
        let time = record.ended.since(Time::ZERO) + link.rate.time_for(full);
        let needed = link.rate.time_for(link.sent);
        demand!(needed <= time, "link {number}: {} at {} in {time}", link.sent, link.rate);
    }
    Ok(())
}

fn marks_come_from_markers(world: &World, record: &RunRecord) -> Verdict {
    let set: u64 = record.links.iter().map(|link| link.marked).sum();
    let seen: u64 = record.flows.iter().map(|flow| u64::from(flow.ecn_marks)).sum();
    let of_ports = world.setup.ports.values().map(|port| &port.ecn);
    let mut all = world.setup.switch_kinds().map(|switch| &switch.ecn).chain(of_ports);
    let marks = |card: &CardSettings| match card.plan() {
        CardPlan::InOrder { mark_beyond, .. } => mark_beyond.is_some(),
        CardPlan::Turns => false,
    };
    let off = all.all(|ecn| matches!(ecn, MarkerSettings::Off(_))) && !world.cards().any(marks);
    demand!(seen <= set && (set == 0 || !off), "{set} marks set, {seen} seen");
    Ok(())
}

/// No packet is trimmed unless that is allowed, a header comes back at most once, and each retransmission has a
/// cause: the header arrived, or nothing did in time.
fn headers_come_from_trimming(world: &World, record: &RunRecord) -> Verdict {
    let cut: u64 = record.links.iter().map(|link| link.trimmed).sum();
    let back: u64 = record.links.iter().map(|link| link.returned).sum();
    let trim = &world.setup.switch.trim;
    let mut transports = world.setup.transports();
    let trimmable = transports.any(|own| own.stack().is_trimmable());
    demand!(cut == 0 || trim.is_on() && trimmable, "{cut} cut for nobody");
    demand!(back <= cut && (back == 0 || trim.returns), "{back} came back of {cut}");
    let flows = with_specs(world, record).filter(|_| cut == 0);
    for (flow, _) in flows.filter(|(_, spec)| world.setup.sender(spec).stack().is_trimmable()) {
        let again = flow.retransmitted == Bytes::ZERO || flow.timeouts > 0;
        demand!(again, "sent again without cause: {flow:?}");
    }
    Ok(())
}

/// A balancer that keeps a flow on its path never reorders it, provided that nothing is lost or sent twice, and that
/// the flow is never moved to a higher class, as PASE does.
fn paths_keep_order(world: &World, record: &RunRecord) -> Verdict {
    if !keeps_paths(world) || record.packets.dropped > 0 {
        return Ok(());
    }
    let one_class = |spec: &Flow| world.setup.sender(spec).stack().arbiter() != Some("pase");
    let overtakes = overtakes(world) && ranks_fall(world);
    let keeps =
        |spec: Flow| one_class(&spec) && !(overtakes && world.setup.sender(&spec).protocol() == "udp");
    let specs: Vec<bool> = world.setup.flows.iter().map(keeps).collect();
    let in_order = |flow: &&FlowRecord| flow.retransmitted == Bytes::ZERO && specs[flow.flow.index()];
    for flow in record.flows.iter().filter(in_order) {
        demand!(flow.out_of_order == 0 && flow.dupacks_reorder == 0, "reordered without cause: {flow:?}");
    }
    Ok(())
}

/// Whether a switch sends the packet with the smallest rank before earlier ones of its flow.
fn overtakes(world: &World) -> bool {
    let out_of_order =
        |switch: &SwitchSettings| matches!(&switch.order, OrderSettings::Ranked(own) if !own.flows_in_order);
    world.setup.switch_kinds().any(out_of_order)
}

/// Whether later packets of flows that are neither TCP nor RoCE may have smaller ranks.
fn ranks_fall(world: &World) -> bool {
    world.transports.iter().any(
        |transport| matches!(transport, TransportSettings::Pfabric(own) if own.rank == RankBy::Remaining),
    )
}

/// Every flow has one path for the whole run.
fn keeps_paths(world: &World) -> bool {
    let endless = |gap: Span| gap >= Span::from_ms(100);
    let lasting = |flowlets: &FlowletSettings| flowlets.exact && endless(flowlets.gap);
    let per_flow = |balancer: &BalancerSettings| match balancer {
        BalancerSettings::Ecmp(_) | BalancerSettings::Wcmp(_) => true,
        BalancerSettings::FlowDrill(own) => endless(own.idle),
        BalancerSettings::LetFlow(own) => lasting(&own.flowlets),
        BalancerSettings::Conga(own) => lasting(&own.flowlets),
        _ => false,
    };
    let kinds = world.setup.devices.kinds().iter().map(|kind| &kind.balancer);
    let all = std::iter::once(&world.setup.balancer).chain(kinds);
    world.plan.outages.is_empty() && all.into_iter().all(per_flow)
}

/// The flows of a record, with the requested ones.
fn with_specs<'a>(world: &World, record: &'a RunRecord) -> impl Iterator<Item = (&'a FlowRecord, Flow)> {
    let specs: Vec<Flow> = world.setup.flows.iter().collect();
    record.flows.iter().map(move |flow| (flow, specs[flow.flow.0 as usize]))
}

fn flows_are_sound(world: &World, record: &RunRecord) -> Verdict {
    let specs: Vec<Flow> = world.setup.flows.iter().collect();
    let last = record.ended + Span(u64::from(record.stop != Stop::Finished));
    let in_turn = |flow: &Flow| world.setup.flows.is_in_turn(flow.tag);
    let due = specs.iter().filter(|flow| flow.start < last).count();
    let waiting = specs.iter().filter(|flow| in_turn(flow) && record.stop != Stop::Finished).count();
    demand!(
        (due - waiting.min(due)..=due).contains(&record.flows.len()),
        "{} flows of {due} that are due by {}, of which {waiting} may wait for their turns",
        record.flows.len(),
        record.ended
    );
    for (flow, spec) in with_specs(world, record) {
        let same = (flow.size, flow.source) == (spec.size, spec.source);
        let in_time = match in_turn(&spec) {
            true => flow.start >= spec.start,
            false => flow.start == spec.start,
        };
        let same = same && in_time;
        demand!(same, "{flow:?} is not {spec:?}");
        demand!(flow.delivered <= flow.size, "more than all: {flow:?}");
        let whole = flow.delivered == flow.size || flow.end.is_none();
        demand!(whole, "finished without every byte: {flow:?}");
        let end = flow.end.unwrap_or(record.ended);
        demand!(flow.start <= end && end <= record.ended, "out of time: {flow:?}, ended {}", record.ended);
    }
    demand!(record.stop != Stop::TimeLimit || record.ended == world.setup.until, "{}", record.ended);
    Ok(())
}

/// Whether pFabric, whose time-out is fixed, may fill long queues with retransmissions forever: where switches ignore
/// ranks, which scenarios may not ask for.
pub(crate) fn may_collapse(world: &World) -> bool {
    let repeats = |transport: &TransportSettings| matches!(transport, TransportSettings::Pfabric(_));
    let by_ranks = |switch: &SwitchSettings| matches!(switch.order, OrderSettings::Ranked(_));
    world.transports.iter().any(repeats) && !world.setup.switch_kinds().all(by_ranks)
}

/// Datagrams may be lost forever, networks may be partitioned, and pFabric [`may_collapse`]; all other flows finish.
fn flows_finish(world: &World, record: &RunRecord) -> Verdict {
    if may_collapse(world) {
        return Ok(());
    }
    let open = with_specs(world, record).filter(|(flow, _)| flow.end.is_none());
    let stuck = open.filter(|(_, spec)| !(world.is_datagrams(spec) && record.packets.dropped > 0)).count();
    if world.is_cut() && record.stop == Stop::TimeLimit {
        return Ok(());
    }
    demand!(stuck == 0, "{stuck} flows do not finish, {:?} at {}", record.stop, record.ended);
    let finished = record.stop == Stop::Finished;
    let excused = record.stop == Stop::Stuck && world.has_datagrams() && record.packets.dropped > 0;
    demand!(finished || excused, "ends {:?} at {}", record.stop, record.ended);
    Ok(())
}

/// No flow is faster than alone, whatever the balancer.
fn nobody_beats_the_empty_network(_: &World, record: &RunRecord) -> Verdict {
    for flow in &record.flows {
        let Some(end) = flow.end else { continue };
        let taken = end.since(flow.start);
        demand!(taken >= flow.ideal, "{taken}, alone {}: {flow:?}", flow.ideal);
    }
    Ok(())
}

/// A sender knows that its flow is over after the receiver does, unless no answer comes.
fn senders_know_later(world: &World, record: &RunRecord) -> Verdict {
    for (flow, spec) in with_specs(world, record) {
        let Some(acknowledged) = flow.acknowledged else { continue };
        let sound = flow.end.is_some_and(|end| end < acknowledged) && acknowledged <= record.ended;
        demand!(sound && !world.is_datagrams(&spec), "acknowledged at {acknowledged}: {flow:?}");
        demand!(flow.syn_timeouts <= flow.timeouts, "{flow:?}");
    }
    Ok(())
}

/// Flows arrive until the last one starts; what is carried by then is a part of all that is carried.
fn arrivals_are_a_part(world: &World, record: &RunRecord) -> Verdict {
    let none = record.links.iter().all(|link| link.sent_in_arrivals == Bytes::ZERO);
    let Some(arrivals) = record.arrivals else {
        demand!(none, "bytes were sent while no flows arrived");
        return Ok(());
    };
    let last = world.setup.flows.iter().map(|flow| flow.start).max();
    demand!(Some(arrivals.until) == last && arrivals.until <= record.ended, "{arrivals:?} of {last:?}");
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered.0).sum();
    demand!(
        arrivals.delivered.0 <= delivered && (arrivals.delivered.0 * 2 >= delivered) == arrivals.most,
        "{arrivals:?} of {delivered}"
    );
    for link in &record.links {
        let longest = link.rate.bytes_in(arrivals.until.since(Time::ZERO)).0 + world.full().0;
        demand!(link.sent_in_arrivals <= link.sent && link.sent_in_arrivals.0 <= longest, "{link:?}");
    }
    Ok(())
}

/// Senders are sampled on the sampling grid while they are open, and never know more than there is.
fn samples_are_sound(world: &World, record: &RunRecord) -> Verdict {
    let (Some(sampling), Some(series)) = (world.setup.flow_samples, &record.flow_series) else {
        demand!(
            world.setup.flow_samples.is_none() && record.flow_series.is_none(),
            "samples nobody asked for"
        );
        return Ok(());
    };
    let specs: Vec<Flow> = world.setup.flows.iter().collect();
    for row in &series.rows {
        let flow =
            record.flows.iter().find(|flow| flow.flow == row.flow).expect("sampled flows have records");
        let due = row.flow.0 < sampling.flows && row.time.0.is_multiple_of(series.every.0);
        demand!(due && row.time >= flow.start && row.time <= record.ended, "{row:?} of {flow:?}");
        demand!(
            row.acknowledged <= flow.size && row.retransmitted <= flow.retransmitted,
            "{row:?} of {flow:?}"
        );
        let datagrams = world.is_datagrams(&specs[row.flow.index()]);
        demand!(!(datagrams && row.ssthresh.is_some()), "a threshold of datagrams: {row:?}");
        let limit = row.rate.map_or(row.cwnd.0, |rate| rate.0);
        let may_pause = world.setup.sender(&specs[row.flow.index()]).stack().arbiter().is_some();
        demand!(datagrams || limit > 0 || may_pause, "no window and no rate: {row:?}");
    }
    Ok(())
}

/// Waits by hop: how many, the greatest, the mean.
fn waits(record: &RunRecord) -> Vec<(u64, u64, f64)> {
    let numbers = |hop: &HopRecord| (hop.wait_ns.count(), hop.wait_ns.max(), hop.wait_ns.mean());
    record.hops.iter().map(numbers).collect()
}

/// Foreseen and asked departures give the same record, except for the number of events and the waits of packets that
/// still wait when the run ends, which a port that foresees reports as well.
pub(crate) fn same_but_foreseen(foreseen: &RunRecord, asked: &RunRecord) -> Verdict {
    let (mut further, left) = (0, asked.packets.left);
    for (hop, foreseen) in foreseen.hops.iter().enumerate() {
        let (count, max) = asked.hops.get(hop).map_or((0, 0), |hop| (hop.wait_ns.count(), hop.wait_ns.max()));
        let wait = &foreseen.wait_ns;
        demand!(wait.count() >= count && wait.max() >= max, "hop {hop}: waits are missing");
        further += wait.count() - count;
    }
    demand!(
        further <= left,
        "{further} waits more, {left} packets left: {:?}, {:?}",
        waits(foreseen),
        waits(asked)
    );
    let hops = if further == 0 { foreseen.hops.clone() } else { asked.hops.clone() };
    // ports are asked because of cables that come back at the start
    let incidents = asked.incidents.clone();
    if is_late(foreseen, asked) {
        return Ok(());
    }
    let foreseen = RunRecord { events: asked.events, hops, incidents, ..foreseen.clone() };
    same(&as_often_sampled(foreseen, asked), asked)
}

/// A sample is due in the last interval of a run only if something is still to happen there, be it a call for a credit that moves no
/// packet: of two records with different numbers of samples, those are not compared.
fn as_often_sampled(record: RunRecord, other: &RunRecord) -> RunRecord {
    let samples = |record: &RunRecord| record.queues.as_ref().map_or(0, |queues| queues.samples);
    match samples(&record).abs_diff(samples(other)) {
        1 => RunRecord { queues: other.queues.clone(), imbalance: other.imbalance.clone(), ..record },
        _ => record,
    }
}

/// When nothing is left to happen, a run ends with its last event, which may be a call for a credit that moved no packet. Where
/// departures are foreseen that comes later, and means over the run differ.
fn is_late(foreseen: &RunRecord, asked: &RunRecord) -> bool {
    let stuck = (foreseen.stop, asked.stop) == (Stop::Stuck, Stop::Stuck);
    stuck
        && foreseen.ended > asked.ended
        && foreseen.packets == asked.packets
        && foreseen.flows == asked.flows
}

/// Whether two records are the same, and what differs first, because a record is too long to print.
pub(crate) fn same(a: &RunRecord, b: &RunRecord) -> Verdict {
    demand!(a.flows.len() == b.flows.len(), "{} flows, {}", a.flows.len(), b.flows.len());
    for (a, b) in a.flows.iter().zip(&b.flows) {
        demand!(a == b, "flows\n{a:?}\n{b:?}");
    }
    demand!((a.stop, a.ended) == (b.stop, b.ended), "end {:?} {}, {:?} {}", a.stop, a.ended, b.stop, b.ended);
    for (number, (a, b)) in a.links.iter().zip(&b.links).enumerate() {
        demand!(a == b, "link {number}\n{a:?}\n{b:?}");
    }
    demand!(a.packets == b.packets, "packets {:?}, {:?}", a.packets, b.packets);
    demand!(a.packet_hops == b.packet_hops, "{} packet hops, {}", a.packet_hops, b.packet_hops);
    demand!(a.drops == b.drops, "drops {:?}, {:?}", a.drops, b.drops);
    demand!(a.hops == b.hops, "waits {:?}, {:?}", waits(a), waits(b));
    demand!(a.flow_series == b.flow_series, "samples of flows differ");
    demand!(a.queues == b.queues && a.imbalance == b.imbalance, "samples differ");
    demand!(a.events == b.events, "{} events, {}", a.events, b.events);
    demand!(a.pauses == b.pauses, "pauses {:?}\n{:?}", a.pauses, b.pauses);
    demand!(a.deadlocks == b.deadlocks, "deadlocks {:?}\n{:?}", a.deadlocks, b.deadlocks);
    let bin =
        |record: &RunRecord, n: usize| record.series.as_ref().and_then(|series| series.bins.get(n).cloned());
    let bins = |record: &RunRecord| record.series.as_ref().map_or(0, |series| series.bins.len());
    demand!(bins(a) == bins(b), "{} bins, {}", bins(a), bins(b));
    for n in 0..bins(a) {
        demand!(bin(a, n) == bin(b, n), "bin {n}\n{:?}\n{:?}", bin(a, n), bin(b, n));
    }
    demand!(a == b, "something else differs");
    Ok(())
}

/// Fails unless the run of a setup is the same on these numbers of threads.
pub(crate) fn same_on_threads(setup: &Setup, alone: &RunRecord, numbers: impl IntoIterator<Item = usize>) {
    for threads in numbers {
        let divided = Setup { division: Division::threads(threads), ..setup.clone() };
        same(alone, &super::run(divided)).unwrap_or_else(|why| panic!("{threads} threads: {why}"));
    }
}
