//! Decisions at one node: buckets, flowlets, spreading, failures.

use weft_cluster::{ClusterPath, Director, DirectorSettings, RelayOrder, VlbKind};
use weft_core::{Bytes, Rate, Span, Time};

const R: Rate = Rate::from_gbps(10);
const SIZE: Bytes = Bytes(1000);

fn settings(nodes: u16) -> DirectorSettings {
    DirectorSettings { delta: Span::ZERO, ..DirectorSettings::new(nodes, R, R) }
}

/// Share of packets sent straight at a constant rate for one node, over 100 ms.
fn direct_share(rate: Rate) -> f64 {
    let mut director = Director::new(settings(4), 0);
    let (mut now, end) = (Time::ZERO, Time::ZERO + Span::from_ms(100));
    while now < end {
        director.choose(now, 1, 2, SIZE);
        now += rate.time_for(SIZE);
    }
    let counted = director.counters();
    counted.direct as f64 / (counted.direct + counted.relayed) as f64
}

#[test]
fn the_bucket_passes_a_quarter_of_the_external_rate_of_four_nodes() {
    assert_eq!(direct_share(Rate(R.0 / 4)), 1.0);
    // Half, and the millisecond that a full bucket holds at first.
    assert!((direct_share(Rate(R.0 / 2)) - 0.505).abs() < 0.001, "{}", direct_share(Rate(R.0 / 2)));
}

#[test]
fn two_nodes_have_no_third() {
    let mut director = Director::new(settings(2), 0);
    for n in 0..10_000 {
        assert_eq!(director.choose(Time(n), n, 1, SIZE), ClusterPath::Direct);
    }
    let mut valiant = Director::new(DirectorSettings { spreading: VlbKind::Valiant, ..settings(2) }, 0);
    assert!((0..100).all(|n| valiant.choose(Time(n), n, 1, SIZE) == ClusterPath::Direct));
}

#[test]
fn valiant_spreads_over_all_nodes_alike() {
    for order in [RelayOrder::RoundRobin, RelayOrder::Random] {
        let settings = DirectorSettings { spreading: VlbKind::Valiant, order, ..settings(8) };
        let mut director = Director::new(settings, 3);
        let mut by = [0_u32; 8];
        for n in 0..80_000 {
            match director.choose(Time(n), n, 5, SIZE) {
                ClusterPath::Direct => by[5] += 1,
                ClusterPath::Via(node) => by[usize::from(node)] += 1,
                other => panic!("{other:?}"),
            }
        }
        // Through itself and through the output node means straight.
        assert_eq!(by[3], 0);
        for (node, count) in by.into_iter().enumerate().filter(|(node, _)| *node != 3) {
            let expected = if node == 5 { 20_000.0 } else { 10_000.0 };
            assert!((f64::from(count) / expected - 1.0).abs() < 0.04, "{order:?} {node}: {count}");
        }
    }
}

/// The paths of the packets of one flow, 1 us apart, at twice R/N.
fn ways(delta: Span) -> Vec<ClusterPath> {
    let mut director = Director::new(DirectorSettings { delta, ..settings(4) }, 0);
    (0..4000).map(|n| director.choose(Time::ZERO + Span::from_us(n), 7, 2, SIZE)).collect()
}

#[test]
fn flowlets_keep_flows_together_and_zero_spreads_every_packet() {
    let kept = ways(Span(u64::MAX));
    assert!(kept.iter().all(|way| *way == kept[0]), "one path for the whole flow");
    let spread = ways(Span::ZERO);
    for way in [ClusterPath::Direct, ClusterPath::Via(1), ClusterPath::Via(3)] {
        assert!(spread.contains(&way), "{way:?}");
    }
}

#[test]
fn a_pause_longer_than_delta_frees_a_flow_and_a_shorter_one_does_not() {
    let delta = Span::from_ms(100);
    let mut director = Director::new(
        DirectorSettings { delta, depth: Span::ZERO, order: RelayOrder::RoundRobin, ..settings(4) },
        0,
    );
    let mut choose = |ms| director.choose(Time::ZERO + Span::from_ms(ms), 7, 2, SIZE);
    let first = choose(0);
    assert_eq!(choose(100), first, "exactly delta still counts");
    assert_ne!(choose(201), first);
}

#[test]
fn an_overloaded_link_sends_a_flow_another_way() {
    let link = Rate::from_gbps(1);
    // Without tokens it goes by relays, whose links carry the same.
    let settings = DirectorSettings { depth: Span::ZERO, ..DirectorSettings::new(4, R, link) };
    let mut director = Director::new(settings, 0);
    let ways: Vec<ClusterPath> =
        (0..1000).map(|n| director.choose(Time::ZERO + Span::from_ns(800 * n), 7, 2, SIZE)).collect();
    // 1 Gb/s is 125 packets of 1000 bytes in the window of 1 ms; the 127th finds more than that behind it.
    let turns = ways.windows(2).position(|pair| pair[0] != pair[1]).map(|at| at + 1);
    assert_eq!(turns, Some(126));
    assert!(director.counters().overloaded > 0);
}

/// Of the 125 packets that the link carries in a window, 120 are those of others.
#[test]
fn relayed_packets_load_a_link_like_those_that_entered() {
    let settings = DirectorSettings { depth: Span::ZERO, ..DirectorSettings::new(4, R, Rate::from_gbps(1)) };
    let mut director = Director::new(settings, 0);
    let ClusterPath::Via(relay) = director.choose(Time(0), 7, 2, SIZE) else { panic!("no tokens") };
    (0..120).for_each(|n| director.load(Time(n), relay, SIZE));
    let ways: Vec<ClusterPath> = (0..8).map(|n| director.choose(Time(200 + n), 7, 2, SIZE)).collect();
    assert_eq!(ways.iter().position(|way| *way != ClusterPath::Via(relay)), Some(5), "{ways:?}");
    assert_eq!(director.counters().overloaded, 1);
}

#[test]
fn nodes_that_are_down_carry_nothing_and_come_back() {
    let mut director = Director::new(DirectorSettings { depth: Span::ZERO, ..settings(4) }, 0);
    let seen = |director: &mut Director| -> Vec<ClusterPath> {
        (0..64).map(|n| director.choose(Time(n), n, 2, SIZE)).collect()
    };
    director.set_node(1, false);
    assert!(seen(&mut director).iter().all(|way| *way == ClusterPath::Via(3)));
    director.set_node(3, false);
    assert!(seen(&mut director).iter().all(|way| *way == ClusterPath::Direct), "no relay is left");
    director.set_node(2, false);
    assert!(seen(&mut director).iter().all(|way| *way == ClusterPath::Lost));
    (1..4).for_each(|node| director.set_node(node, true));
    let back = seen(&mut director);
    assert!(back.contains(&ClusterPath::Via(1)) && back.contains(&ClusterPath::Via(3)));
    assert_eq!(director.counters().lost, 64);
}

/// A cable is down while both its nodes are up: a node goes round it, by every relay that leads on and no other, and knows when
/// nothing does.
#[test]
fn a_link_that_is_down_is_gone_round() {
    for (spreading, depth) in
        [(VlbKind::Direct, Span::ZERO), (VlbKind::Direct, Span::from_s(1)), (VlbKind::Valiant, Span::ZERO)]
    {
        let settings = DirectorSettings { depth, spreading, delta: Span::ZERO, ..settings(5) };
        let mut director = Director::new(settings, 0);
        let mut seen = |change: (Option<u16>, u16, bool)| -> Vec<ClusterPath> {
            director.set_link(change.0, change.1, change.2);
            let ways: Vec<ClusterPath> = (0..64).map(|n| director.choose(Time(n), n, 2, SIZE)).collect();
            all().into_iter().filter(|one| ways.contains(one)).collect()
        };
        let (direct, lost) = (ClusterPath::Direct, ClusterPath::Lost);
        let by = |relays: &[u16]| relays.iter().map(|relay| ClusterPath::Via(*relay)).collect::<Vec<_>>();
        // The node's own link: by relays alone, even where it has tokens.
        assert_eq!(seen((None, 2, false)), by(&[1, 3, 4]));
        // A relay without a link to the output is passed over.
        assert_eq!(seen((Some(3), 2, false)), by(&[1, 4]));
        // So is one to which the link is down.
        assert_eq!(seen((None, 4, false)), by(&[1]));
        assert_eq!(seen((Some(1), 2, false)), [lost]);
        let back = seen((None, 2, true));
        assert_eq!(back, [direct], "{spreading:?}");
    }
}

/// Every path to node 2 of five.
fn all() -> Vec<ClusterPath> {
    let relays = [1, 3, 4].map(ClusterPath::Via);
    [&[ClusterPath::Direct, ClusterPath::Lost][..], &relays].concat()
}

#[test]
fn a_flow_leaves_a_path_that_is_down_even_within_delta() {
    let mut director =
        Director::new(DirectorSettings { depth: Span::ZERO, ..DirectorSettings::new(4, R, R) }, 0);
    let ClusterPath::Via(relay) = director.choose(Time(1), 7, 2, SIZE) else { panic!("no tokens") };
    director.set_node(relay, false);
    let other = director.choose(Time(2), 7, 2, SIZE);
    assert!(matches!(other, ClusterPath::Via(node) if node != relay));
}

#[test]
fn a_full_flowlet_table_loses_no_packet() {
    let mut director = Director::new(DirectorSettings { flows: 4, ..DirectorSettings::new(4, R, R) }, 0);
    for n in 0..10_000 {
        director.choose(Time(n), n, 1 + (n % 3) as u16, SIZE);
    }
    let counted = director.counters();
    assert_eq!((counted.direct + counted.relayed, counted.lost), (10_000, 0));
    assert!(director.evictions() > 9_000);
}

#[test]
fn workers_share_a_nodes_rates() {
    let whole = DirectorSettings::new(4, R, R);
    let part = whole.divided(2);
    assert_eq!((part.external, part.link, part.flows), (Rate(R.0 / 2), Rate(R.0 / 2), whole.flows / 2));
}
