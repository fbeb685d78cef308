//! PDQ as published (Hong, Caesar, Godfrey, SIGCOMM 2012): flows finish one after another, the most critical first, and
//! the link stays busy in between.

mod lab;

use weft_core::record::RunRecord;
use weft_core::{Bytes, Rate, Span, Time};
use weft_plan::Setup;
use weft_switch::arbiter::{ArbiterSettings, pdq::PdqArbiterSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::pdq::PdqSettings;
use weft_workload::Flow;

/// Payload of a full packet, and what it is on the wire.
const MSS: u64 = 1_444;
const WIRE: u64 = 1_538;
const LINE: Rate = Rate::from_gbps(10);
/// Two cables each way, and the switch twice.
const ROUND_TRIP: Span = Span::from_us(41);

/// Runs the given flows between hosts at one switch.
fn star(hosts: u32, arbiter: PdqArbiterSettings, flows: Vec<Flow>) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(10), ..LinkSettings::of(LINE) };
    let topology = SingleSwitchSettings { hosts, host_link };
    let transport = TransportSettings::Pdq(PdqSettings { round_trip: ROUND_TRIP, ..Default::default() });
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &transport);
    setup.switch.arbiter = ArbiterSettings::PdqArbiter(arbiter);
    setup.flows = flows.into();
    setup
}

/// Flows of these sizes in packets, each from a different host to the first, all at once.
fn together(packets: &[u64]) -> Setup {
    let flows = packets.iter().enumerate();
    let flows = flows.map(|(number, packets)| lab::flow(Span::ZERO, number as u32 + 1, 0, packets * MSS));
    star(packets.len() as u32 + 1, PdqArbiterSettings::default(), flows.collect())
}

fn times(record: &RunRecord) -> Vec<Span> {
    record.flows.iter().map(|flow| flow.end.expect("it finishes").since(Time::ZERO)).collect()
}

fn on_the_line(packets: u64) -> Span {
    LINE.time_for(Bytes(packets * WIRE))
}

/// A little later: probes of paused flows take up to a twentieth of the line (84 bytes each n fifths of a round trip for
/// the n-th of the list), and each of the switchovers before costs some round trips.
fn soon_after(least: Span, switchovers: u64) -> Span {
    least + least / 20 + ROUND_TRIP * (6 + 4 * switchovers)
}

fn nothing_is_lost(record: &RunRecord) {
    assert!(record.drops.is_empty(), "{:?}", record.drops);
    assert!(record.flows.iter().all(|flow| flow.timeouts == 0 && flow.retransmitted == Bytes::ZERO));
}

/// A lone flow opens within a round trip and then has the line to itself, exact to the picosecond.
#[test]
fn a_flow_alone_takes_the_time_of_an_empty_network() {
    for packets in [1, 2, 10, 200] {
        let record = lab::run(together(&[packets]));
        assert_eq!(times(&record), [record.flows[0].ideal], "{packets} packets");
        nothing_is_lost(&record);
    }
}

/// Flows that start together finish in the order of their sizes: each when it and the smaller ones have passed.
#[test]
fn flows_finish_one_after_another_in_the_order_of_their_sizes() {
    for sizes in [&[200, 400][..], &[400, 200], &[1_000, 3_000, 2_000, 5_000, 4_000]] {
        let record = lab::run(together(sizes));
        nothing_is_lost(&record);
        let taken = times(&record);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|flow| sizes[*flow]);
        let mut passed = 0;
        for (place, flow) in order.into_iter().enumerate() {
            passed += sizes[flow];
            let least = on_the_line(passed) + ROUND_TRIP;
            let most = soon_after(least, place as u64);
            assert!(taken[flow] >= least && taken[flow] <= most, "{sizes:?} {flow}: {:?}", taken[flow]);
        }
    }
}

/// Processor sharing would finish n equal flows together; one after another they take (n + 1) / 2n of that on average.
#[test]
fn equal_flows_take_turns() {
    let record = lab::run(together(&[1_000; 5]));
    nothing_is_lost(&record);
    let mean = times(&record).iter().map(|time| time.micros()).sum::<f64>() / 5.0;
    let shared = on_the_line(5_000).micros();
    assert!((0.6..0.65).contains(&(mean / shared)), "{mean} us of {shared} us");
}

/// A smaller flow takes the line from a larger one as soon as it has asked.
#[test]
fn a_smaller_flow_preempts_a_larger_one() {
    let mouse = |start| lab::flow(start, 2, 0, 50 * MSS);
    let elephant = lab::flow(Span::ZERO, 1, 0, 2_000 * MSS);
    let flows = vec![elephant, mouse(Span::from_us(500)), mouse(Span::from_us(1_200))];
    let record = lab::run(star(3, PdqArbiterSettings::default(), flows));
    nothing_is_lost(&record);
    let taken: Vec<Span> =
        record.flows.iter().map(|flow| flow.end.expect("it finishes").since(flow.start)).collect();
    for mouse in [1, 2] {
        let slack = taken[mouse].0 - record.flows[mouse].ideal.0;
        assert!(slack <= (ROUND_TRIP * 3).0, "{:?} of {:?}", taken[mouse], record.flows[mouse].ideal);
    }
    let least = on_the_line(2_100) + ROUND_TRIP;
    assert!(taken[0] >= least && taken[0] <= soon_after(least, 4), "{:?} of {least:?}", taken[0]);
}

/// How busy the line to the receiver is from the first grant to the last byte, with equal flows.
fn utilization(early_start: f64) -> f64 {
    let mut setup = together(&[1_000; 10]);
    setup.switch.arbiter =
        ArbiterSettings::PdqArbiter(PdqArbiterSettings { early_start, ..Default::default() });
    let record = lab::run(setup);
    nothing_is_lost(&record);
    let last = times(&record).into_iter().max().expect("there are flows");
    let sent = record.links.iter().map(|link| link.sent).max().expect("there are links");
    LINE.time_for(sent).micros() / (last - ROUND_TRIP).micros()
}

/// With Early Start the next flow begins before the last one has ended; without, the line idles for about two round
/// trips at each switchover.
#[test]
fn early_start_keeps_the_line_busy() {
    let (with, without) = (utilization(2.0), utilization(0.0));
    assert!(with > 0.95, "{with}");
    assert!(without < with - 0.02, "{without} of {with}");
}

/// Flows beyond the list wait until it has room, and none is lost or forgotten.
#[test]
fn a_short_list_serves_all_flows() {
    let mut setup = together(&[100; 30]);
    let arbiter = PdqArbiterSettings { least_list: 2, ..Default::default() };
    setup.switch.arbiter = ArbiterSettings::PdqArbiter(arbiter);
    let record = lab::run(setup);
    nothing_is_lost(&record);
    let last = times(&record).into_iter().max().expect("there are flows").micros();
    assert!(last < on_the_line(3_000).micros() * 1.25, "{last} us");
}

/// The link from a host has an arbiter, too: flows from one host to several do not share it.
#[test]
fn flows_of_one_host_finish_one_after_another() {
    let flows = vec![lab::flow(Span::ZERO, 0, 1, 2_000 * MSS), lab::flow(Span::ZERO, 0, 2, 1_000 * MSS)];
    let record = lab::run(star(3, PdqArbiterSettings::default(), flows));
    nothing_is_lost(&record);
    let taken = times(&record);
    assert!(taken[1] <= soon_after(on_the_line(1_000), 1), "{:?}", taken[1]);
    assert!(taken[0] <= soon_after(on_the_line(3_000), 2), "{:?}", taken[0]);
}

/// A host whose flow is paused at one link does not block another link: disjoint flows all run at full rate.
#[test]
fn a_paused_flow_holds_no_link() {
    let flows = vec![
        lab::flow(Span::ZERO, 0, 1, 1_000 * MSS),
        lab::flow(Span::ZERO, 2, 1, 2_000 * MSS),
        lab::flow(Span::ZERO, 2, 3, 3_000 * MSS),
    ];
    let record = lab::run(star(4, PdqArbiterSettings::default(), flows));
    nothing_is_lost(&record);
    let taken = times(&record);
    // The second waits for the first at host 1; until then the third has the line of host 2.
    assert!(taken[1] <= soon_after(on_the_line(3_000), 1), "{:?}", taken[1]);
    assert!(taken[2] <= soon_after(on_the_line(5_000), 2), "{:?}", taken[2]);
}

#[test]
fn threads_agree_on_grants() {
    let mut setup = lab::leaf_spine();
    let transport = TransportSettings::Pdq(PdqSettings::default());
    setup.transport = weft_transport::Transport::new(&transport).into();
    setup.switch.arbiter = ArbiterSettings::PdqArbiter(PdqArbiterSettings::default());
    setup.flows = lab::random_flows(&setup, 400, Span::from_us(500), 60_000).into();
    let alone = lab::run(setup.clone());
    assert!(alone.flows.iter().all(|flow| flow.end.is_some() && flow.timeouts == 0));
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}

/// Flows from different hosts to the first, with deadlines a little after the instants at which earliest deadline
/// first on the line would finish them: that order meets all, shortest first would not.
#[test]
fn deadlines_that_some_order_meets_are_met() {
    let sizes = [900, 300, 600, 100, 400];
    let mut passed = 0;
    let flows = sizes.iter().enumerate().map(|(number, packets)| {
        passed += packets;
        let flow = lab::flow(Span::ZERO, number as u32 + 1, 0, packets * MSS);
        Flow { deadline: soon_after(on_the_line(passed) + ROUND_TRIP, number as u64), ..flow }
    });
    let flows: Vec<Flow> = flows.collect();
    let record = lab::run(star(6, PdqArbiterSettings::default(), flows.clone()));
    nothing_is_lost(&record);
    for (flow, taken) in record.flows.iter().zip(times(&record)) {
        assert!(taken <= flow.deadline.expect("it has one"), "{taken:?} of {:?}", flow.deadline);
        assert!(!flow.terminated);
    }
    let undated: Vec<Flow> = flows.iter().map(|flow| Flow { deadline: Span::ZERO, ..*flow }).collect();
    let shortest_first = times(&lab::run(star(6, PdqArbiterSettings::default(), undated)));
    assert!(shortest_first.iter().zip(&flows).any(|(taken, flow)| *taken > flow.deadline));
}

/// Two flows that fill the line until their common deadline, and a third for which no time is left: it gives up, the run ends,
/// and the others meet theirs.
#[test]
fn a_flow_without_hope_gives_up_and_harms_nobody() {
    let deadline = soon_after(on_the_line(1_000) + ROUND_TRIP, 2);
    let flow =
        |number: u32, packets: u64| Flow { deadline, ..lab::flow(Span::ZERO, number, 0, packets * MSS) };
    let record =
        lab::run(star(4, PdqArbiterSettings::default(), vec![flow(1, 400), flow(2, 600), flow(3, 900)]));
    let ends: Vec<_> = record.flows.iter().map(|flow| (flow.end.is_some(), flow.terminated)).collect();
    assert_eq!(ends, [(true, false), (true, false), (false, true)]);
    assert!(record.flows[..2].iter().all(|flow| flow.end.expect("it ends").since(flow.start) <= deadline));
    assert_eq!(record.stop, weft_core::record::Stop::Finished);
}
