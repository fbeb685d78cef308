//! Switches with virtual output queues in networks.

mod lab;

use lab::laws::same;
use weft_core::record::{Reason, RunRecord};
use weft_core::settings::Amount;
use weft_core::{Bytes, Class, FlowId, LinkId, Purpose, Random, Rate, Span, Time};
use weft_plan::{Division, Setup};
use weft_sim::Simulation;
use weft_switch::mark::{At, MarkerSettings, NonEct, step::StepSettings};
use weft_switch::schedule::{SchedulerSettings, drr::DrrSettings, strict::StrictSettings};
use weft_switch::{PortSettings, ShaperSettings, VoqSettings};
use weft_topology::Node;
use weft_workload::Flow;

fn with_voqs(voq: VoqSettings) -> Setup {
    let mut setup = lab::leaf_spine();
    setup.switch.voq = Some(voq);
    setup
}

/// Datagrams at line rate from several hosts to one, all starting at time zero.
fn blast(setup: &mut Setup, from: &[u32], to: u32, size: u64) {
    let line = setup.graph.links()[0].rate;
    let flow = |from: &u32| Flow { rate: line, ..lab::flow(Span::ZERO, *from, to, size) };
    setup.flows = from.iter().map(flow).collect::<Vec<_>>().into();
}

fn delivered(record: &RunRecord) -> Vec<u64> {
    record.flows.iter().map(|flow| flow.delivered.0).collect()
}

/// A lone flow of one packet takes the closed form of plain switches, plus the fabric of each, and request and credit
/// for the first packet of each direction. The SYN leaves credit behind, which the payload uses.
#[test]
fn a_lone_packet_takes_the_loop_at_every_switch() {
    let voq = VoqSettings::default();
    let took = |mut setup: Setup| {
        setup.flows = vec![lab::flow(Span::ZERO, 0, 15, 1_000)].into();
        let flow = lab::run(setup).flows[0].clone();
        let taken = flow.end.expect("a lonely flow finishes").since(flow.start);
        (taken, flow.ideal)
    };
    let ((with, ideal), (without, plain)) = (took(with_voqs(voq.clone())), took(lab::leaf_spine()));
    // Three packets cross three switches one after the other: two open the connection.
    let (requests, crossings) = (voq.credit_delay * 12, voq.crossing * 9);
    assert_eq!((without, with), (plain, plain + requests + crossings));
    assert_eq!(ideal, plain + crossings, "the ideal has credit at hand");
}

/// Senders share a crowded output by the group of the port they come in by, not by their number: of three hosts that send to a
/// fourth, the one of another leaf, which comes in by the second group of ports, gets half.
#[test]
fn an_output_serves_groups_alike() {
    let groups = |groups| {
        let mut setup = with_voqs(VoqSettings { groups, limit: Bytes(60_000), ..VoqSettings::default() });
        let ports = setup.graph.links_of(setup.graph.links()[0].to);
        // Hosts 0 to 3 have the first of two groups, the links to the spines the second.
        assert_eq!(ports.iter().filter(|link| matches!(link.to, Node::Host(_))).count(), 4);
        assert_eq!(ports.len(), 8);
        blast(&mut setup, &[0, 1, 4], 2, 3_000_000);
        delivered(&lab::run(setup))
    };
    let [two, one] = [groups(2), groups(1)];
    let share = |bytes: &[u64]| bytes[2] as f64 / bytes.iter().sum::<u64>() as f64;
    assert!((share(&two) - 0.5).abs() < 0.02, "{two:?}");
    assert!((share(&one) - 1.0 / 3.0).abs() < 0.05, "{one:?}");
}

/// The queue in front of the fabric holds packets that a plain switch drops, up to its limit.
#[test]
fn deep_queues_hold_what_shallow_ones_drop() {
    let peak = |limit: u64| {
        let mut setup = with_voqs(VoqSettings { limit: Bytes(limit), ..VoqSettings::default() });
        blast(&mut setup, &[8, 9, 10, 11], 0, 2_000_000);
        let toward = setup.graph.reverse(LinkId(0));
        let record = lab::run(setup);
        let why = record.drops.iter().map(|drop| drop.reason).collect::<Vec<_>>();
        (record.links[toward.index()].peak, why)
    };
    let (deep, none) = peak(200_000_000);
    assert!(deep > Bytes(3_000_000) && none.is_empty(), "{deep} {none:?}");
    let (shallow, why) = peak(100_000);
    assert!(shallow <= Bytes(2 * 100_000 + 140_000) && why.contains(&Reason::PortFull), "{shallow} {why:?}");
}

/// A class that its shaper slows down to a fifth of what it is offered takes no credit from a class that the line has room for,
/// whichever way the classes share the line.
#[test]
fn a_shaped_class_leaves_credit_to_the_others() {
    let shares = [
        SchedulerSettings::Strict(StrictSettings::default()),
        SchedulerSettings::Drr(DrrSettings::default()),
    ];
    for schedule in shares {
        let mut setup = with_voqs(VoqSettings { groups: 2, ..VoqSettings::default() });
        (setup.switch.queues, setup.switch.schedule) = (2, schedule.clone());
        let (line, port) = (setup.graph.links()[0].rate, setup.graph.reverse(LinkId(2)));
        let slow = Rate(line.0 / 10);
        let shaper = ShaperSettings { rate: slow, queues: vec![0], ..ShaperSettings::default() };
        let own = PortSettings { shaper: Some(shaper), schedule, ..PortSettings::default() };
        setup.ports = [(port, own)].into();
        setup.classes = vec![Some(Class(0)), Some(Class(1))];
        setup.tags = vec!["shaped".into(), "other".into()];
        let offered = |from, tag, share: u64| {
            let flow = lab::flow(Span::ZERO, from, 2, 30_000_000 / share);
            Flow { rate: Rate(line.0 / share), tag, ..flow }
        };
        // Both take the same time if nothing holds them back.
        setup.flows = vec![offered(0, 0, 2), offered(4, 1, 4)].into();
        let record = lab::run(setup);
        let took =
            |flow: usize| record.flows[flow].end.expect("nothing is lost").since(record.flows[flow].start);
        let (shaped, other) = (took(0), took(1));
        let ratio = |span: Span, offered: u64| {
            span.0 as f64 / Rate(line.0 / offered).time_for(Bytes(30_000_000 / offered)).0 as f64
        };
        assert!((4.8..5.6).contains(&ratio(shaped, 2)), "{}", ratio(shaped, 2));
        assert!((1.0..1.12).contains(&ratio(other, 4)), "{}", ratio(other, 4));
    }
}

/// A marker that drops on departure what it cannot mark spends no credit: the line stays busy, as behind shared memory.
#[test]
fn packets_dropped_on_departure_spend_no_credit() {
    let threshold = Amount::Bytes(Bytes(50_000));
    let drops = StepSettings { threshold, at: At::Dequeue, non_ect: NonEct::Drop, ..StepSettings::default() };
    let share = |voq: Option<VoqSettings>| {
        let mut setup = lab::leaf_spine();
        (setup.switch.voq, setup.switch.ecn) = (voq, MarkerSettings::Step(drops.clone()));
        blast(&mut setup, &[0, 1], 2, 3_000_000);
        let (line, toward) = (setup.graph.links()[0].rate, setup.graph.reverse(LinkId(2)));
        setup.until = Time::ZERO + line.time_for(Bytes(3_000_000));
        let record = lab::run(setup);
        assert!(record.drops.iter().all(|drop| drop.reason == Reason::Early) && !record.drops.is_empty());
        record.links[toward.index()].sent.0 as f64 / 3_000_000.0
    };
    let (chassis, shared) = (share(Some(VoqSettings::default())), share(None));
    assert!(shared > 0.97 && chassis > 0.95, "{chassis} and {shared} of the line");
}

#[test]
fn threads_agree() {
    let mut setup = with_voqs(VoqSettings { groups: 2, spill: Bytes(10_000), ..VoqSettings::default() });
    setup.flows = lab::random_flows(&setup, 200, Span::from_us(300), 60_000).into();
    let alone = lab::run(setup.clone());
    assert!(alone.flows.iter().all(|flow| flow.end.is_some()));
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}

/// Outputs that foresee departures behave like outputs with an event for everything (as in a traced switch): with and
/// without room on the chip and in deep memory, with marks, drops and stale queues of other outputs.
#[test]
fn foreseen_departures_change_nothing() {
    let mut random = Random::new(3, Purpose::Test, 0);
    let mut pick = |among: [u64; 3]| among[random.below(3) as usize];
    let mut dropped = 0;
    for world in 0..60 {
        let mut setup = with_voqs(VoqSettings {
            groups: pick([1, 2, 4]) as u32,
            limit: Bytes(pick([30_000, 200_000, 200_000_000])),
            on_chip: Bytes(pick([20_000, 60_000, 16_000_000])),
            spill: Bytes(pick([0, 10_000, 200_000])),
            deep: Bytes(pick([100_000, 8_000_000_000, 8_000_000_000])),
            deep_rate: Rate::from_gbps(pick([50, 200, 900])),
            credit: Bytes(pick([300, 4_096, 16_000])),
            credit_delay: Span::from_ns(pick([0, 250, 3_000])),
            crossing: Span::from_ns(pick([0, 500, 2_000])),
            ..VoqSettings::default()
        });
        let threshold = Amount::Bytes(Bytes(pick([15_000, 60_000, 1 << 40])));
        setup.switch.ecn = MarkerSettings::Step(StepSettings { threshold, ..StepSettings::default() });
        setup.flows = lab::random_flows(&setup, 80, Span::from_us(pick([20, 100, 300])), 80_000).into();
        let foreseen = lab::run(setup.clone());
        let (mut followed, _) = Simulation::new(setup).run_traced(FlowId(0));
        assert!(foreseen.events < followed.events);
        followed.events = foreseen.events;
        same(&foreseen, &followed).unwrap_or_else(|why| panic!("world {world}: {why}"));
        dropped += foreseen.drops.iter().map(|drop| drop.packets).sum::<u64>();
    }
    assert!(dropped > 100, "{dropped} packets dropped");
}

/// The monitor sees each group of inputs separately, and reports the traffic to the crowded port.
#[test]
fn a_monitor_reports_queues_by_their_inputs() {
    let mut setup = with_voqs(VoqSettings { groups: 2, ..VoqSettings::default() });
    blast(&mut setup, &[0, 1, 4], 2, 3_000_000);
    (setup.queues_every, setup.queues_above) = (Some(Span::from_us(100)), Some(Bytes(500_000)));
    let toward = setup.graph.reverse(LinkId(2));
    let record = lab::run(setup.clone());
    let lines = record.queue_events.clone().expect("it was monitored").lines;
    assert!(lines.iter().all(|line| line.link == toward), "only one port is crowded: {lines:?}");
    // Two local hosts send twice the line rate into the first group; the second group alone receives the line rate.
    for inputs in ["0-3", "4-7"] {
        let own: Vec<_> = lines.iter().filter(|line| &*line.inputs == inputs).collect();
        let letters: String = own.iter().map(|line| line.stage.letter()).collect();
        let updates = letters.len() - 2;
        assert_eq!(letters, format!("S{}E", "U".repeat(updates)), "{inputs:?}");
        let (start, end) = (own[0], own[own.len() - 1]);
        let longest = own.iter().map(|line| line.length).max().expect("some");
        assert_eq!((end.length, end.lasted), (longest, Some(end.time.since(start.time))));
        assert_eq!(end.lasted, Some(Span::from_us(100) * (updates as u64 + 1)));
    }
    let divided = Setup { division: Division::threads(2), ..setup };
    assert_eq!(lab::run(divided).queue_events, record.queue_events);
}

/// Groups need not be blocks: here even and odd ports.
#[test]
fn ports_may_be_grouped_as_in_a_real_chassis() {
    let port_groups = vec![0, 1, 0, 1, 0, 1, 0, 1];
    let mut setup = with_voqs(VoqSettings { groups: 2, port_groups, ..VoqSettings::default() });
    blast(&mut setup, &[0, 1, 3], 2, 3_000_000);
    (setup.queues_every, setup.queues_above) = (Some(Span::from_us(100)), Some(Bytes(500_000)));
    let lines = lab::run(setup).queue_events.expect("it was monitored").lines;
    let longest = |inputs| lines.iter().filter(|line| &*line.inputs == inputs).map(|line| line.length).max();
    let (even, odd) = (longest("0,2,4,6"), longest("1,3,5,7"));
    assert!(odd > even, "two of three senders are at odd ports: {odd:?} and {even:?}");
    assert!(lines.iter().all(|line| ["0,2,4,6", "1,3,5,7"].contains(&&*line.inputs)));
}

/// A switch with shared memory has one set of inputs: all its ports.
#[test]
fn a_shared_memory_is_monitored_by_port() {
    let mut setup = lab::leaf_spine();
    blast(&mut setup, &[0, 1, 4], 2, 300_000);
    (setup.queues_every, setup.queues_above) = (Some(Span::from_us(5)), Some(Bytes(20_000)));
    let lines = lab::run(setup).queue_events.expect("it was monitored").lines;
    assert!(!lines.is_empty() && lines.iter().all(|line| &*line.inputs == "0-7"), "{lines:?}");
}

/// Nothing is lost in a deep queue, so only receive windows bound it: it holds all of them except what is on the way,
/// a dozen packets at any window.
#[test]
fn receive_windows_bound_a_deep_queue() {
    let (senders, packet) = ([8, 9, 12, 13], 1_538);
    let on_the_way = |segments: u64| {
        let windows = lab::dctcp(|tcp| tcp.receive_window = Some(Bytes(1_460 * segments)));
        let mut setup = lab::on((*lab::leaf_spine().graph).clone(), &windows);
        setup.switch.voq = Some(VoqSettings { groups: 2, ..VoqSettings::default() });
        setup.flows = senders.map(|from| lab::flow(Span::ZERO, from, 0, 29_200 * segments)).to_vec().into();
        let toward = setup.graph.reverse(LinkId(0)).index();
        let record = lab::run(setup);
        assert!(record.drops.is_empty() && record.flows.iter().all(|flow| flow.end.is_some()));
        senders.len() as u64 * segments - record.links[toward].peak.0 / packet
    };
    let [short, long] = [200, 400].map(on_the_way);
    assert!((1..16).contains(&short) && long.abs_diff(short) < 3, "{short} and {long} packets");
}
