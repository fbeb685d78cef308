//! Balancing: how often hashed flows collide, what spreading packets does to their order, and DRILL's published gain.

use weft_core::record::{FlowRecord, RunRecord};
use weft_core::{Bytes, PortId, Rate, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_switch::BalancerSettings;
use weft_switch::share::{SharingSettings, dynamic::DynamicSharingSettings};
use weft_theory_tests::{lab, port};
use weft_transport::TransportSettings;
use weft_transport::settings::Tcp;

const TRIALS: u32 = 4_000;

/// Four flows on four uplinks land on distinct ones with probability 4!/4^4 = 0.094, and two given ones on the same with
/// 1/4. 4 000 draws of four flows; the tolerance is three standard deviations of a share.
#[test]
fn hashed_flows_collide_as_by_chance() {
    let rate = Rate::from_gbps(10);
    let setup = || {
        let mut setup = lab::leaf_spine((2, 4, 4), (rate, rate), &TransportSettings::Udp(Default::default()));
        let trial = |n: u32| {
            (0..4).map(move |host| {
                lab::datagrams(Span::from_us(10) * u64::from(n), (host, 4 + host), 1_000, rate)
            })
        };
        setup.flows = (0..TRIALS).flat_map(trial).collect();
        setup
    };
    // Uplink of each flow: flows are identified by trial (their instant) and source.
    let mut uplink = vec![[0_u16; 4]; TRIALS as usize];
    for number in 0..4 {
        let (seen, _) = port::watch(setup(), SwitchId(0), PortId(4 + number), Span::ZERO);
        for passage in seen.passages {
            uplink[(passage.came.0 / Span::from_us(10).0) as usize][passage.source.index()] = number;
        }
    }
    let share = |happens: fn(&[u16; 4]) -> bool| {
        uplink.iter().filter(|ports| happens(ports)).count() as f64 / f64::from(TRIALS)
    };
    let distinct = share(|ports| (0..4).all(|number| ports.contains(&number)));
    let together = share(|ports| ports[0] == ports[1]);
    let sigma = |p: f64| (p * (1.0 - p) / f64::from(TRIALS)).sqrt();
    for (seen, expected) in [(distinct, 24.0 / 256.0), (together, 0.25)] {
        assert!((seen - expected).abs() < 3.0 * sigma(expected), "{seen}, expected {expected}");
    }
}

/// TCP that calls everything a loss by three duplicates, with or without the shim below.
fn tcp(reorder_shim: bool) -> TransportSettings {
    lab::newreno(Tcp {
        reorder_shim,
        initial_rto: Span::from_ms(10),
        min_rto: Span::from_ms(10),
        ..Tcp::default()
    })
}

/// A quarter of the fabric of the DRILL paper, buffers that lose nothing, web flows at 80 % load.
fn sprayed(reorder_shim: bool) -> RunRecord {
    let mut setup =
        lab::leaf_spine((4, 4, 20), (Rate::from_gbps(10), Rate::from_gbps(40)), &tcp(reorder_shim));
    setup.switch.sharing = lab::port_buffer(1 << 40);
    setup.balancer = BalancerSettings::PerPacketRandom(Default::default());
    lab::load_with(&mut setup, 0.8, "facebook-web", 4_000);
    setup.until = Time::NEVER;
    lab::run(setup)
}

/// DRILL (SIGCOMM 2017, section 4): a buffer that restores the order hides all reordering from TCP, and completion times
/// are nearly the same with and without. Within 5 %; measured 1 %.
#[test]
fn a_reordering_shim_hides_spreading_from_tcp() {
    let (with, without) = (sprayed(true), sprayed(false));
    let sum = |record: &RunRecord, what: fn(&FlowRecord) -> u64| record.flows.iter().map(what).sum::<u64>();
    assert_eq!(sum(&with, |flow| u64::from(flow.dupacks)), 0);
    assert_eq!(sum(&with, |flow| flow.retransmitted.0), 0);
    assert!(sum(&with, |flow| u64::from(flow.out_of_order)) > 1_000, "there was something to hide");
    assert!(sum(&without, |flow| u64::from(flow.dupacks_reorder)) > 1_000);
    let (with, without) = (lab::mean_completion(&with), lab::mean_completion(&without));
    assert!(lab::near(with, without, 0.05), "{with} with, {without} without");
}

/// The fabric and the traffic of scenarios/drill-80.toml at 80 % load, shorter.
fn drill_80(balancer: BalancerSettings) -> Setup {
    let mut setup = lab::leaf_spine((16, 4, 20), (Rate::from_gbps(10), Rate::from_gbps(40)), &tcp(false));
    setup.switch.latency = Span::from_ns(500);
    setup.switch.buffer = Some(Bytes(12 << 20));
    setup.switch.sharing = SharingSettings::Dynamic(DynamicSharingSettings::default());
    setup.balancer = balancer;
    setup.warm_up = Time::ZERO + Span::from_ms(6);
    setup.until = Time::NEVER;
    lab::load_with(&mut setup, 0.8, "facebook-web", 12_000);
    setup
}

/// Mean completion time of the flows after warm-up, in seconds.
fn settled_mean(balancer: BalancerSettings) -> f64 {
    let record = lab::run(drill_80(balancer));
    let settled = record.flows.iter().filter(|flow| flow.start >= record.warm_up);
    let times: Vec<f64> = settled.map(|flow| lab::completion(flow).seconds()).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// DRILL finishes flows 1.5 to 1.6 times faster than ECMP on average at 80 % load (SIGCOMM 2017, introduction and
/// section 4). The whole experiment, 200 000 flows, gives 1.37 with seed 1 and 1.34 with seed 2: `weft run
/// scenarios/drill-80.toml --set traffic.trace.load=0.8 --seed 1`; per-packet random and round robin gain as much. Here
/// 12 000 flows after 6 ms, before ECMP's queues have grown to their full length, so that the gain is lower (1.29).
#[test]
fn drill_is_faster_than_ecmp_at_high_load() {
    let ecmp = settled_mean(BalancerSettings::Ecmp(Default::default()));
    let gain = |balancer| ecmp / settled_mean(balancer);
    let drill = gain(BalancerSettings::Drill(Default::default()));
    let turns = gain(BalancerSettings::RoundRobin(Default::default()));
    assert!((1.2..2.2).contains(&drill), "{drill}");
    assert!(lab::near(turns, drill, 0.1), "taking turns {turns}, DRILL {drill}");
}
