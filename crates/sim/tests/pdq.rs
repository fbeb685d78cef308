//! PDQ as published (Hong, Caesar, Godfrey, SIGCOMM 2012): flows finish one after another, the most critical first, and
//! the link stays busy in between.

mod lab;

use weft_core::record::RunRecord;
use weft_core::{Bytes, Rate, Span, Time};
use weft_plan::{Division, Setup};
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
/// Two cables of 2 us each way, and the switch twice.
const ROUND_TRIP: Span = Span::from_us(9);

/// Hosts at one switch; the given flows.
fn star(hosts: u32, arbiter: PdqArbiterSettings, flows: Vec<Flow>) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(2), ..LinkSettings::of(LINE) };
    let topology = SingleSwitchSettings { hosts, host_link };
    let transport = TransportSettings::Pdq(PdqSettings { round_trip: ROUND_TRIP, ..Default::default() });
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &transport);
    setup.switch.arbiter = ArbiterSettings::Pdq(arbiter);
    setup.flows = flows.into();
    setup
}

/// Flows of these sizes in packets, from hosts of their own to the first, all at once.
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

fn nothing_is_lost(record: &RunRecord) {
    assert!(record.drops.is_empty(), "{:?}", record.drops);
    assert!(record.flows.iter().all(|flow| flow.timeouts == 0 && flow.retransmitted == Bytes::ZERO));
}

#[test]
fn look() {
    for sizes in [&[200, 400][..], &[400, 200], &[100, 200, 300, 400, 500], &[500, 400, 300, 200, 100], &[200; 5], &[20; 20], &[5; 20], &[5;60]] {
        for dampening in [0.0, 0.25, 0.5, 1.0] { for early_start in [0.0, 2.0] {
            let mut setup = together(sizes);
            setup.switch.arbiter = ArbiterSettings::Pdq(PdqArbiterSettings { dampening, early_start, ..Default::default() });
            let record = lab::run(setup);
            let mut all = times(&record);
            all.sort();
            let sum: f64 = all.iter().map(|t| t.micros()).sum();
            let mut order = sizes.to_vec(); order.sort();
            let mut passed = 0.0; let mut ideal = 0.0;
            for s in order { passed += on_the_line(s).micros(); ideal += passed + 14.0; }
            println!("{:?} damp {dampening} K {early_start}: last {:.0} of {:.0}, mean {:.0} of {:.0}, peak {:?}", &sizes[..sizes.len().min(5)], all.last().unwrap().micros(), passed + 14.0, sum / sizes.len() as f64, ideal / sizes.len() as f64, record.links.iter().map(|p| p.peak).max());
            nothing_is_lost(&record);
        }}
    }
}
