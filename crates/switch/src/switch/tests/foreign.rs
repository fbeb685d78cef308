//! Drivers, packets and tables that name ports the switch does not have: a panic or no answer, but never an access
//! beyond the ports.

use std::panic::{AssertUnwindSafe, catch_unwind};

use weft_core::scheduling::{Role, SchedulingHeader};

use super::*;
use crate::PfcSettings;
use weft_arbiter::ArbiterSettings;
use weft_queue::schedule::SchedulerSettings;

const BEYOND: PortId = PortId(60_000);

fn panics<T>(call: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

fn strict() -> SwitchSettings {
    let schedule = SchedulerSettings::Strict(Default::default());
    SwitchSettings { queues: 2, schedule, visibility: Visibility::Instant, ..SwitchSettings::default() }
}

#[test]
fn a_driver_names_a_port_beyond_the_last() {
    let mut bench = BenchOptions { settings: strict(), ..BenchOptions::default() }.build();
    let packet = bench.pool.insert(far(FULL), ());
    let shared = bench.switch.shared_outputs();
    let (switch, mut turn) = bench.turn();
    assert!(panics(|| switch.sends_early(BEYOND)));
    assert!(panics(|| switch.transmit_early(&mut turn, BEYOND)));
    assert!(panics(|| switch.transmit(&mut turn, BEYOND)));
    assert!(panics(|| switch.enqueue(&mut turn, BEYOND, packet, &shared)));
    assert!(panics(|| switch.wake(&mut turn, BEYOND)));
}

#[test]
fn a_driver_revokes_at_a_port_beyond_the_last() {
    let pfc = PfcSettings { classes: vec![0], ..PfcSettings::default() };
    let settings = SwitchSettings { pfc, buffer: Some(Bytes(1_000_000)), ..strict() };
    let mut bench = BenchOptions { settings, ..BenchOptions::default() }.build();
    assert!(bench.switch.foresee_in_lulls(PortId(0)));
    let (switch, mut turn) = bench.turn();
    assert!(panics(|| switch.revocable(Time(5), BEYOND)));
    assert!(panics(|| switch.revoke(&mut turn, BEYOND, &[], |_, _, _| ())));
}

/// An answer names the port by which it goes back. If this switch has no such port, routes decide.
#[test]
fn a_packet_names_a_port_beyond_the_last() {
    let arbiter = ArbiterSettings::PdqArbiter(Default::default());
    let settings = SwitchSettings { arbiter, ..SwitchSettings::default() };
    let mut bench = BenchOptions { settings, id: 7, ..BenchOptions::default() }.build();
    bench.pool.headers.carry_in_band();
    let packet = bench.pool.insert(to(1, FULL), ());
    let own = bench.pool.headers.scheduling_mut(packet).expect("they are carried");
    *own = SchedulingHeader { role: Role::Grant, ..SchedulingHeader::NONE };
    own.trail.push(SwitchId(3), PortId(0));
    own.trail.push(SwitchId(7), BEYOND);
    let (switch, mut turn) = bench.turn();
    assert_eq!(switch.receive(&mut turn, PortId(0), packet), Verdict::Ready(PortId(1)));
}

/// A switch refuses routes for another switch and keeps its own.
#[test]
fn routes_name_a_port_beyond_the_last() {
    let mut bench = BenchOptions::default().build();
    let others = vec![Group::together(vec![BEYOND])];
    assert!(panics(|| bench.switch.install(vec![GroupId(0); 2], others)));
    assert!(bench.send(0, far(FULL)).is_some());
}

/// Routes that name a group missing from them leave a table without paths.
#[test]
fn routes_name_a_group_beyond_the_last() {
    let mut bench = BenchOptions::default().build();
    assert!(panics(|| bench.switch.install(vec![GroupId(5); 2], vec![together(&[1])])));
    assert!(panics(|| bench.send(0, far(FULL))));
}

/// A balancer that reads loads without declaring it would see lengths that are not maintained.
#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "says so in `reads_loads`"))]
fn loads_are_read_by_balancers_that_say_so() {
    let balancer = BalancerSettings::PerPacketRandom(Default::default());
    let mut bench = BenchOptions { balancer, ..BenchOptions::default() }.build();
    assert_eq!(bench.switch.outputs.load(Time::ZERO, PortId(0), (0, 1)), 0);
}
