//! In an empty network a flow takes exactly the time of the closed form: to the picosecond, for every topology, path
//! length and size.

mod lab;

use weft_core::{Bytes, Rate, Span};
use weft_plan::Setup;
use weft_switch::BalancerSettings;
use weft_topology::shapes::*;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::settings::AutotuneSettings;

/// Sizes around the borders of packets, up to a long train.
const SIZES: [u64; 8] = [1, 100, 1_459, 1_460, 1_461, 14_600, 100_000, 1_000_003];

fn topologies() -> Vec<TopologySettings> {
    let link = |gbps| LinkSettings::of(Rate::from_gbps(gbps));
    vec![
        TopologySettings::LeafSpine(leaf_spine::LeafSpineSettings::default()),
        TopologySettings::LeafSpine(leaf_spine::LeafSpineSettings {
            leaves: 3,
            spines: 2,
            hosts_per_leaf: 2,
            host_link: link(40),
            fabric_link: link(10),
            ..Default::default()
        }),
        TopologySettings::FatTree(Default::default()),
        TopologySettings::Dumbbell(Default::default()),
        TopologySettings::ParkingLot(Default::default()),
        TopologySettings::SingleSwitch(Default::default()),
        TopologySettings::Diamond(Default::default()),
        TopologySettings::FullMesh(Default::default()),
    ]
}

/// All data may leave at once, so that only the network limits it.
fn open_window() -> TransportSettings {
    lab::dctcp(|tcp| tcp.initial_window = weft_core::settings::Amount::Packets(1_000_000))
}

fn unloaded(setup: &Setup, source: u32, destination: u32, size: u64) -> (Span, Span) {
    let mut setup = setup.clone();
    setup.flows = vec![lab::flow(Span::from_us(3), source, destination, size)].into();
    let flow = lab::run(setup).flows[0].clone();
    (flow.end.expect("a lonely flow finishes").since(flow.start), flow.ideal)
}

#[test]
fn unloaded_flow_times_equal_the_closed_form() {
    for topology in topologies() {
        let setup = lab::setup(&topology, &open_window());
        let hosts = setup.graph.hosts();
        for (source, destination) in [(0, hosts - 1), (hosts - 1, 0), (0, 1), (hosts / 2, 0)] {
            for size in SIZES {
                if source == destination {
                    continue;
                }
                let (measured, ideal) = unloaded(&setup, source, destination, size);
                assert_eq!(measured, ideal, "{topology:?} {source}->{destination} {size} B");
            }
        }
    }
}

/// Round robin gives every uplink its share, so that a long flow comes within 1 % of the bound on all paths together, and
/// a short one still takes as long as it must; ECMP keeps to one path, and to the exact time on it.
#[test]
fn spread_flows_reach_the_bound_of_all_paths() {
    let link = |gbps| LinkSettings::of(Rate::from_gbps(gbps));
    let topology = |spines| leaf_spine::LeafSpineSettings {
        leaves: 2,
        spines,
        hosts_per_leaf: 2,
        host_link: link(40),
        fabric_link: link(10),
        ..Default::default()
    };
    let lone = |spines, balancer: BalancerSettings, size| {
        let mut setup = lab::setup(&TopologySettings::LeafSpine(topology(spines)), &open_window());
        setup.balancer = balancer;
        unloaded(&setup, 0, 3, size)
    };
    for spines in [2, 3, 4] {
        let robin = || BalancerSettings::RoundRobin(Default::default());
        let (measured, ideal) = lone(spines, robin(), 20_000_000);
        assert!(
            measured >= ideal && measured.micros() < 1.01 * ideal.micros(),
            "{spines}: {measured} {ideal}"
        );
        let (_, on_one) = lone(spines, BalancerSettings::default(), 20_000_000);
        let gain = on_one.micros() / ideal.micros();
        assert!((gain - f64::from(spines)).abs() < 0.01, "{spines} paths carry {gain} times as much");
        for size in SIZES {
            let (measured, ideal) = lone(spines, robin(), size);
            assert!(measured >= ideal, "{spines}, {size} B: {measured} against {ideal}");
        }
    }
}

/// A constant rate is a rate of payload: the last datagram leaves when the application has it.
#[test]
fn constant_rates_take_the_time_of_their_payload() {
    for topology in topologies() {
        let setup = lab::setup(&topology, &open_window());
        let to = setup.graph.hosts() - 1;
        for (size, mbps) in SIZES.into_iter().flat_map(|size| [(size, 100), (size, 1_000)]) {
            let mut setup = setup.clone();
            let flow = lab::constant(Span::from_us(3), 0, to, size, Rate::from_mbps(mbps));
            setup.flows = vec![flow].into();
            let flow = lab::run(setup).flows[0].clone();
            let measured = flow.end.expect("nothing is lost").since(flow.start);
            assert_eq!(measured, flow.ideal, "{topology:?} {size} B at {mbps} Mb/s");
        }
    }
}

/// Doubling all rates and halving all times halves every flow time.
#[test]
fn time_scales_with_the_network() {
    let fabric = |gbps: u64, delay: Span, latency: Span| {
        let link = LinkSettings { delay, ..LinkSettings::of(Rate::from_gbps(gbps)) };
        let topology = leaf_spine::LeafSpineSettings {
            host_link: link.clone(),
            fabric_link: link,
            ..Default::default()
        };
        let mut setup = lab::setup(&TopologySettings::LeafSpine(topology), &open_window());
        setup.switch.latency = latency;
        setup
    };
    let slow = fabric(10, Span::from_ns(1_000), Span::from_ns(500));
    let fast = fabric(20, Span::from_ns(500), Span::from_ns(250));
    for size in SIZES {
        assert_eq!(unloaded(&slow, 0, 319, size).0, unloaded(&fast, 0, 319, size).0 * 2);
    }
}

/// A path of 1 ms and 10 Gb/s holds 1.25 MB. A window that tunes itself keeps ahead of slow start, except for a few
/// round trips at the start; one that may not grow so far lets a window pass in each round trip.
#[test]
fn a_window_that_tunes_itself_fills_a_long_path() {
    let link = LinkSettings { delay: Span::from_us(250), ..LinkSettings::of(Rate::from_gbps(10)) };
    let star = single_switch::SingleSwitchSettings { hosts: 2, host_link: link };
    let took = |autotune: Option<AutotuneSettings>| {
        let windows = lab::dctcp(|tcp| tcp.autotune = autotune);
        let setup = lab::setup(&TopologySettings::SingleSwitch(star.clone()), &windows);
        unloaded(&setup, 0, 1, 60_000_000).0.seconds()
    };
    let (unlimited, round_trip) = (took(None), 1.0e-3);
    let tuned = took(Some(AutotuneSettings::default()));
    assert!(
        (unlimited..unlimited + 4.0 * round_trip).contains(&tuned),
        "{tuned} s, {unlimited} s without limit"
    );
    let short = took(Some(AutotuneSettings { max: Bytes(200_000), ..Default::default() }));
    let expected = 60_000_000.0 / 200_000.0 * round_trip;
    assert!((short / expected - 1.0).abs() < 0.05, "{short} s, a window a round trip: {expected} s");
}
