//! DRILL: shares, order statistics, memory, ties and groups.

use super::*;

/// With equal loads every (d, m) is uniform over the group.
#[test]
fn equal_loads_give_equal_shares_for_every_d_and_m() {
    let n = 60_000;
    for (choices, memory) in [(1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (1, 4), (8, 0), (8, 8), (20, 20)] {
        let mut bench = Bench::new(drill(choices, memory, Tie::Random), &[500; 8]);
        let counts = bench.counts(n);
        // A remembered port is chosen again with probability about one half, so runs of one port occur; they at most
        // triple the variance of a share: (1 + r) / (1 - r) for a correlation r of one half.
        for count in &counts {
            assert_share(*count, n, 1.0 / 8.0, if memory == 0 { 4.0 } else { 4.0 * 3f64.sqrt() });
        }
    }
}

#[test]
fn a_million_packets_of_drill_2_1_spread_evenly_over_48_ports() {
    let counts = Bench::new(drill(2, 1, Tie::Random), &[0; 48]).counts(1_000_000);
    for count in &counts {
        assert_share(*count, 1_000_000, 1.0 / 48.0, 3.0 * 1.5);
    }
}

/// JSQ.
#[test]
fn as_many_choices_as_ports_always_find_the_shortest_queue() {
    for (choices, memory) in [(6, 0), (6, 1), (9, 3), (1024, 1024)] {
        let mut bench = Bench::new(drill(choices, memory, Tie::Random), &[0; 6]);
        let mut other = stream(9);
        for _ in 0..2_000 {
            bench.loads.fill_with(|| u64::from(other.below(4)) * 100);
            let chosen = bench.next();
            assert_eq!(bench.loads[chosen], *bench.loads.iter().min().unwrap());
        }
    }
}

/// The shorter of two distinct samples has rank r with probability 2(k-r)/(k(k-1)).
#[test]
fn two_samples_without_memory_choose_by_rank_and_never_the_longest() {
    let k = 8usize;
    let loads: Vec<u64> = (1..=k as u64).map(|rank| rank * 100).collect();
    let n = 100_000;
    let counts = Bench::new(drill(2, 0, Tie::Random), &loads).counts(n);
    for (place, count) in counts.iter().enumerate() {
        let rank = place + 1;
        assert_share(*count, n, 2.0 * (k - rank) as f64 / (k * (k - 1)) as f64, 4.0);
    }
    assert_eq!(counts[k - 1], 0);
}

/// The first time the shortest port is sampled is geometric with mean k/d; from then on it is kept.
#[test]
fn memory_finds_the_shortest_port_after_k_over_d_packets_and_keeps_it() {
    let k = 12usize;
    let loads: Vec<u64> = (1..=k as u64).collect();
    for d in [1u32, 2, 3, 5] {
        let runs = 4_000;
        let mut bench = Bench::new(drill(d, 1, Tie::Random), &loads);
        let mut total = 0u64;
        for _ in 0..runs {
            bench.balancer.groups_changed();
            let needed = (1..).find(|_| bench.next() == 0).expect("found some day");
            total += needed;
            assert!((0..20).all(|_| bench.next() == 0), "once found it is kept");
        }
        let p = f64::from(d) / k as f64;
        let sigma = ((1.0 - p) / (p * p) / f64::from(runs)).sqrt();
        let mean = total as f64 / f64::from(runs);
        assert!((mean - 1.0 / p).abs() < 4.0 * sigma, "d {d}: {mean} instead of {}", 1.0 / p);
    }
}

/// The memory holds port names; lengths are read again.
#[test]
fn a_remembered_port_is_judged_by_its_length_now() {
    for seed in 0..50 {
        let mut bench = Bench::new(drill(1, 1, Tie::Random), &[5, 5, 5, 5]);
        bench.random = stream(seed);
        let remembered = bench.next();
        bench.loads[remembered] = 1_000;
        for _ in 0..30 {
            let chosen = bench.next();
            if chosen != remembered {
                break;
            }
        }
        let second = (0..30).map(|_| bench.next()).collect::<Vec<_>>();
        assert!(second.iter().all(|port| *port != remembered), "the long queue is left behind for good");
        bench.loads[remembered] = 0;
        let found = (0..200).position(|_| bench.next() == remembered).expect("sampled again some day");
        assert!((found..200).all(|_| bench.next() == remembered), "and kept as soon as it is the shortest");
    }
}

/// Two ports, the other one always sampled or remembered.
#[test]
fn with_all_ports_in_view_the_very_next_packet_sees_the_new_length() {
    let mut bench = Bench::new(drill(2, 1, Tie::Random), &[0, 10]);
    assert_eq!(bench.next(), 0);
    bench.loads = vec![20, 10];
    assert_eq!(bench.next(), 1);
    bench.loads = vec![9, 10];
    assert_eq!(bench.next(), 0);
}

/// More samples or cells than ports.
#[test]
fn d_and_m_beyond_the_group_are_join_the_shortest_queue_with_fair_ties() {
    let mut large = Bench::new(drill(20, 20, Tie::Random), &[0, 0]);
    let mut lengths = stream(5);
    for _ in 0..5_000 {
        large.loads.fill_with(|| u64::from(lengths.below(3)));
        let chosen = large.next();
        assert!(large.loads[chosen] <= large.loads[1 - chosen]);
    }
    large.loads = vec![4, 4];
    assert_share(large.counts(20_000)[0], 20_000, 0.5, 4.0);
}

/// The table of special cases: DRILL(1, 0) draws and chooses exactly like per-packet random.
#[test]
fn drill_1_0_is_per_packet_random() {
    let mut drill = Bench::new(drill(1, 0, Tie::Random), &[3, 1, 4, 1, 5, 9, 2]);
    let mut random = Bench::of(BalancerSettings::PerPacketRandom(random::RandomSettings {}), 7);
    assert!((0..1_000).all(|_| drill.next() == random.next()), "loads are not looked at");
}

#[test]
fn samples_are_distinct_for_every_d() {
    // With d = k - 1 distinct samples of strictly ordered lengths only the two shortest can win; the second with 1/k.
    for k in [3usize, 4, 7, 16] {
        let loads: Vec<u64> = (0..k as u64).collect();
        let n = 20_000;
        let counts = Bench::new(drill(k as u32 - 1, 0, Tie::Random), &loads).counts(n);
        assert_share(counts[1], n, 1.0 / k as f64, 4.0);
        assert_eq!(counts[0] + counts[1], n as u64);
    }
}

#[test]
fn the_memory_holds_the_m_shortest_of_those_seen() {
    // d = k sees everything once; then the order of the lengths of the remembered three reverses, and one sample
    // cannot hide them.
    let mut bench = Bench::new(drill(6, 3, Tie::Random), &[60, 50, 40, 30, 20, 10]);
    assert_eq!(bench.next(), 5);
    let AnyBalancer::Drill(drill) = &mut bench.balancer else { unreachable!("built as DRILL") };
    assert_eq!(drill.remembered(GroupId(0)), [PortId(5), PortId(4), PortId(3)]);
}

#[test]
fn tie_rules_prefer_what_they_say() {
    for seed in 0..40 {
        let mut memory = Bench::new(drill(1, 1, Tie::MemoryFirst), &[7; 5]);
        memory.random = stream(seed);
        let first = memory.next();
        assert!((0..50).all(|_| memory.next() == first), "memory first freezes the choice");

        let mut lowest = Bench::new(drill(5, 1, Tie::LowestPort), &[7; 5]);
        lowest.random = stream(seed);
        assert!((0..10).all(|_| lowest.next() == 0));
    }
    // A port that is both remembered and sampled is remembered; of several cells the first counts.
    let mut all = Bench::new(drill(5, 3, Tie::MemoryFirst), &[3, 9, 1, 9, 2]);
    all.next();
    all.loads = vec![7; 5];
    assert!((0..50).all(|_| all.next() == 2), "the best of the first packet stays the first cell");
    // Sample first follows the samples: like random without memory while all are equal.
    let mut sample = Bench::new(drill(1, 1, Tie::SampleFirst), &[7; 5]);
    let mut random = Bench::new(drill(1, 0, Tie::Random), &[7; 5]);
    let shares = (sample.counts(50_000), random.counts(50_000));
    for (with, without) in shares.0.iter().zip(&shares.1) {
        assert_share(*with, 50_000, 0.2, 4.0);
        assert_share(*without, 50_000, 0.2, 4.0);
    }
}

#[test]
fn groups_have_memories_of_their_own() {
    let mut bench = Bench::new(drill(1, 1, Tie::Random), &[9, 9, 9, 0, 0, 9, 9, 9]);
    let (low, high) = (ports(4), ports(8)[4..].to_vec());
    let mut send = |group: u32, ports: &[PortId]| {
        let component = Component::equal(ports.to_vec());
        let mut candidates = Candidates::with_loads(GroupId(group), &component, &bench.loads);
        ports[bench.balancer.choose(&Header::default(), &mut candidates, Time::ZERO, &mut bench.random)].0
    };
    for _ in 0..100 {
        send(0, &low);
        send(1, &high);
    }
    for _ in 0..100 {
        assert_eq!((send(0, &low), send(1, &high)), (3, 4), "each found its shortest and kept it");
    }
}

/// A cell whose port has left the group is ignored, wherever the others moved to.
#[test]
fn a_remembered_port_that_left_the_group_is_not_chosen() {
    for gone in 0..6u16 {
        let mut bench = Bench::new(drill(6, 4, Tie::Random), &[5, 3, 1, 0, 2, 4]);
        bench.next();
        bench.ports.retain(|port| port.0 != gone);
        let best = bench.ports.iter().min_by_key(|port| bench.loads[port.index()]).copied().unwrap();
        assert_eq!(bench.send(&Header::default()), best);
        assert!((0..200).all(|_| bench.send(&Header::default()).0 != gone));
    }
}

#[test]
fn a_remembered_port_is_known_by_its_name_not_by_its_place() {
    for seed in 0..40 {
        let mut bench = Bench::new(drill(1, 1, Tie::MemoryFirst), &[7; 6]);
        bench.random = stream(seed);
        let remembered = bench.send(&Header::default());
        let gone = if remembered == PortId(0) { 1 } else { 0 };
        bench.ports.remove(gone);
        assert_eq!(bench.send(&Header::default()), remembered);
        bench.ports.insert(gone, PortId(gone as u16));
        assert_eq!(bench.send(&Header::default()), remembered);
    }
}

// ---- ECMP ----

#[test]
fn acknowledgements_keep_to_a_path_if_told_and_payload_does_not() {
    use weft_core::PacketKind;
    let ports_of = |kind, control_by_hash| {
        let settings = drill::DrillSettings { control_by_hash, ..Default::default() };
        let mut bench = Bench::of(BalancerSettings::Drill(settings), 8);
        (0..200).map(|_| bench.send(&Header { kind, ..flow(9) })).collect::<std::collections::BTreeSet<_>>()
    };
    let counts =
        [PacketKind::Ack, PacketKind::Control, PacketKind::Data].map(|kind| ports_of(kind, true).len());
    assert_eq!(counts, [1, 1, 8]);
    assert_eq!(ports_of(PacketKind::Ack, false).len(), 8);
}
