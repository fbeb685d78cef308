//! The closed form compared with the recursion it replaces and with values computed by hand.

use super::*;
use crate::build;
use crate::shapes::{
    TopologySettings, diamond::DiamondSettings, fat_tree::FatTreeSettings, leaf_spine::LeafSpineSettings,
};
use crate::wiring::LinkSettings;
use weft_core::{Purpose, Random};

/// Packet by packet, link by link: a link starts a packet when it is free and the packet has arrived.
fn recursion(path: &[(Rate, Span)], sizes: &[Bytes]) -> Span {
    let mut free = vec![Span::ZERO; path.len()];
    let mut end = Span::ZERO;
    for &size in sizes {
        let mut arrived = Span::ZERO;
        for (free, &(rate, delay)) in free.iter_mut().zip(path) {
            *free = (*free).max(arrived) + rate.time_for(size);
            arrived = *free + delay;
        }
        end = arrived;
    }
    end
}

#[test]
fn the_closed_form_is_the_recursion() {
    let mut random = Random::new(1, Purpose::Test, 0);
    for _ in 0..3000 {
        let link = |random: &mut Random| {
            (Rate(1_000_000 + u64::from(random.below(u32::MAX))), Span(random.below(5_000_000).into()))
        };
        let path: Vec<_> = (0..=random.below(6)).map(|_| link(&mut random)).collect();
        let full = 1 + u64::from(random.below(9000));
        let last = 1 + u64::from(random.below(full as u32));
        let count = 1 + u64::from(random.below(40));
        let mut sizes = vec![Bytes(full); count as usize];
        sizes[count as usize - 1] = Bytes(last);
        assert_eq!(
            pipelined(path.iter(), (count, Bytes(full), Bytes(last))),
            recursion(&path, &sizes),
            "{path:?} {sizes:?}"
        );
    }
}

fn train(count: u64) -> Train {
    Train { count, full_wire: Bytes(1538), last_wire: Bytes(538), handshake: None }
}

#[test]
fn one_packet_over_a_leaf_spine_is_the_sum_over_its_links() {
    let graph = build(&TopologySettings::default()).unwrap();
    let once = train(1);
    // 538 B: 430.4 ns at 10 Gb/s, 107.6 ns at 40 Gb/s; 500 ns per link; three switches of 1 us
    let other_leaf = ideal_fct(&graph, HostId(0), HostId(20), &once, Span::from_us(1));
    assert_eq!(other_leaf, Span(2 * 430_400 + 2 * 107_600 + 4 * 500_000 + 3_000_000));
    let same_leaf = ideal_fct(&graph, HostId(0), HostId(1), &once, Span::from_us(1));
    assert_eq!(same_leaf, Span(2 * 430_400 + 2 * 500_000 + 1_000_000));
}

#[test]
fn a_handshake_adds_one_round_trip() {
    let graph = build(&TopologySettings::default()).unwrap();
    let handshake = Some(Handshake { syn_wire: Bytes(78), synack_wire: Bytes(158) });
    let fct = |train: &Train| ideal_fct(&graph, HostId(3), HostId(300), train, Span::ZERO);
    let added = fct(&Train { handshake, ..train(9) }) - fct(&train(9));
    let way = |bytes: u64| Span(bytes * (800 + 200 + 200 + 800) + 4 * 500_000);
    assert_eq!(added, way(78) + way(158));
}

#[test]
fn the_fastest_of_unequal_paths_is_taken_for_each_train() {
    let slow_but_near = LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(Rate::from_gbps(1)) };
    let fast_but_far = LinkSettings { delay: Span::from_us(100), ..LinkSettings::of(Rate::from_gbps(10)) };
    let settings = DiamondSettings { path_a: slow_but_near, path_b: fast_but_far, ..Default::default() };
    let graph = build(&TopologySettings::Diamond(settings)).unwrap();
    let fct = |count| ideal_fct(&graph, HostId(0), HostId(1), &train(count), Span::ZERO).micros();
    // one packet: 2 us of delay on path a against 200 us; a thousand: 12.3 us each on path a
    assert!((2.0..20.0).contains(&fct(1)), "{}", fct(1));
    assert!((200.0 + 1000.0 * 1.23..1500.0).contains(&fct(1000)), "{}", fct(1000));
}

#[test]
fn halved_rates_and_doubled_delays_double_every_time() {
    let scaled = |n: u64| {
        let link = |gbps: u64| LinkSettings {
            delay: Span::from_us(4 / n),
            ..LinkSettings::of(Rate::from_gbps(gbps * n))
        };
        let settings = LeafSpineSettings { host_link: link(10), fabric_link: link(40), ..Default::default() };
        let graph = build(&TopologySettings::LeafSpine(settings)).unwrap();
        ideal_fct(&graph, HostId(0), HostId(99), &train(77), Span::from_us(2 / n))
    };
    assert_eq!(scaled(1), scaled(2) * 2);
}

#[test]
fn no_path_takes_no_time_and_says_so_by_zero() {
    let graph = build(&TopologySettings::default()).unwrap();
    let mut state = LinkState::all_up(&graph);
    for spine in 0..4 {
        state.set(graph.cable_named(&format!("leaf0-spine{spine}")).unwrap(), false);
    }
    let mut ideal = Ideal::new(&graph, &state, Span::ZERO);
    assert_eq!(ideal.fct(HostId(0), HostId(20), &train(3)), Span::ZERO);
    assert!(ideal.fct(HostId(20), HostId(40), &train(3)) > Span::ZERO);
}

/// Whatever has failed and however long each switch takes, paths found for one pair of a class are those of every pair.
#[test]
fn interchangeable_leaves_have_the_times_of_their_own_paths() {
    let fat_tree = TopologySettings::FatTree(FatTreeSettings { k: 4, ..Default::default() });
    for (seed, settings) in [(1, fat_tree.clone()), (2, fat_tree), (3, TopologySettings::default())] {
        let graph = build(&settings).unwrap();
        let mut random = Random::new(seed, Purpose::Test, 0);
        let mut state = LinkState::all_up(&graph);
        let latencies: Vec<Span> =
            graph.switches().iter().map(|_| Span::from_us(1 + u64::from(random.chance(0.1)))).collect();
        for cable in graph.fabric_cables() {
            state.set(cable, !random.chance(0.05));
        }
        let mut together = Ideal::with_latencies(&graph, &state, latencies.clone());
        let mut each = Ideal::with_latencies(&graph, &state, latencies);
        each.twins = twins::Twins::separate(&graph);
        each.distances = vec![None; each.twins.classes()];
        each.places = vec![Vec::new(); each.twins.classes()];
        assert!(together.twins.classes() < each.twins.classes(), "some leaves are interchangeable");
        for (source, destination) in (0..graph.hosts()).flat_map(|a| (0..graph.hosts()).map(move |b| (a, b)))
        {
            let hosts = (HostId(source), HostId(destination));
            for spreading in [Spreading::OnePath, Spreading::AllPaths, Spreading::AllRoutes] {
                let count = 1 + u64::from(random.below(9));
                let times =
                    [&mut together, &mut each].map(|ideal| ideal.fct_spread(hosts, &train(count), spreading));
                assert_eq!(times[0], times[1], "{hosts:?}, {count} packets, {spreading:?}");
            }
        }
    }
}
