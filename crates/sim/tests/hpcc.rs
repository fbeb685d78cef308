//! HPCC as published (Li et al., SIGCOMM 2019): links busy to 95 %, queues that empty within some round trips of an incast,
//! fair shares, and nothing lost.

mod lab;

use weft_core::record::RunRecord;
use weft_core::{Bytes, Rate, Span};
use weft_plan::Setup;
use weft_switch::arbiter::{ArbiterSettings, telemetry::TelemetryArbiterSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::hpcc::RoceHpccSettings;
use weft_transport::rate::hpcc::HpccSettings;
use weft_workload::Flow;

/// Payload of a full packet with the reports of links, and what it is on the wire.
const MSS: u64 = 1_414;
const WIRE: u64 = 1_538;
const LINE: Rate = Rate::from_gbps(100);
/// Two cables each way, the switch twice, a packet and an answer on two links each, and a little more.
const ROUND_TRIP: Span = Span::from_ns(5_300);

fn hpcc(base_rtt: Span) -> TransportSettings {
    let law = HpccSettings { base_rtt, ..Default::default() };
    TransportSettings::Hpcc(RoceHpccSettings { law, pairs: Default::default() })
}

/// Flows to the first of some hosts at one switch.
fn star(hosts: u32, base_rtt: Span, flows: Vec<Flow>) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(LINE) };
    let topology = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts, host_link });
    let mut setup = lab::setup(&topology, &hpcc(base_rtt));
    setup.switch.arbiter = ArbiterSettings::TelemetryArbiter(TelemetryArbiterSettings {});
    setup.flows = flows.into();
    setup
}

fn times(record: &RunRecord) -> Vec<Span> {
    record.flows.iter().map(|flow| flow.end.expect("it finishes").since(flow.start)).collect()
}

/// The part of the line that flows with these times used.
fn used(packets: u64, time: Span) -> f64 {
    LINE.time_for(Bytes(packets * WIRE)).micros() / time.micros()
}

fn nothing_is_lost(record: &RunRecord) {
    assert!(record.drops.is_empty(), "{:?}", record.drops);
    assert!(record.flows.iter().all(|flow| flow.timeouts == 0 && flow.retransmitted == Bytes::ZERO));
}

/// A lone flow uses 95 % of the line and a little for its additive steps; with a base round trip of half the real one, a
/// window is in flight for twice as long as the law thinks.
#[test]
fn a_flow_alone_uses_its_target() {
    let share = |base_rtt| {
        let record = lab::run(star(2, base_rtt, vec![lab::flow(Span::ZERO, 1, 0, 20_000 * MSS)]));
        nothing_is_lost(&record);
        used(20_000, times(&record)[0])
    };
    let (right, half) = (share(ROUND_TRIP), share(ROUND_TRIP / 2));
    assert!((0.94..0.975).contains(&right), "{right}");
    assert!((0.47..0.53).contains(&half), "{half}");
}

/// Sixteen flows at once put sixteen windows into the queue, less what leaves meanwhile; some round trips later it is all but
/// empty, and the flows share the line.
#[test]
fn the_queue_of_an_incast_is_gone_after_some_round_trips() {
    let flows = (1..=16).map(|host| lab::flow(Span::ZERO, host, 0, 2_000 * MSS)).collect();
    let mut setup = star(17, ROUND_TRIP, flows);
    setup.queues_every = Some(ROUND_TRIP);
    let record = lab::run(setup);
    nothing_is_lost(&record);
    let window = LINE.bytes_in(ROUND_TRIP).0;
    let series = record.queues.as_ref().expect("sampled");
    let bins: Vec<u64> =
        series.peak.chunks(series.links.len()).map(|bin| bin.iter().copied().max().expect("links")).collect();
    assert!(bins[..10].iter().any(|peak| *peak > 10 * window), "{bins:?}");
    assert!(bins[40..bins.len() / 2].iter().all(|peak| *peak < window / 4), "{bins:?}");
    let (fastest, slowest) = (times(&record).into_iter().min(), times(&record).into_iter().max());
    let (fastest, slowest) = (fastest.expect("one"), slowest.expect("one"));
    assert!(fastest.micros() > 0.7 * slowest.micros(), "{fastest:?} to {slowest:?}");
    let share = used(32_000, slowest);
    assert!((0.9..0.98).contains(&share), "{share}");
}

#[test]
fn threads_agree_on_reports() {
    let mut setup = lab::leaf_spine();
    setup.transport = weft_transport::Transport::new(&hpcc(Span::from_us(13))).into();
    setup.switch.arbiter = ArbiterSettings::TelemetryArbiter(TelemetryArbiterSettings {});
    setup.flows = lab::random_flows(&setup, 400, Span::from_us(500), 60_000).into();
    let alone = lab::run(setup.clone());
    assert!(alone.flows.iter().all(|flow| flow.end.is_some()));
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}
