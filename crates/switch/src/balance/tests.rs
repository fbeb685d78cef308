//! Balancers against their definitions, on given queue lengths: laws of chance and exact special cases.

use weft_core::{HostId, Purpose};

use super::drill::Tie;
use super::*;

const SITE: Site = Site { seed: 7, switch: SwitchId(3), engine: 0 };
const NOW: Time = Time::ZERO;

fn ports(k: u16) -> Vec<PortId> {
    (0..k).map(PortId).collect()
}

fn stream(entity: u64) -> Random {
    Random::new(7, Purpose::Balance, entity)
}

fn drill(choices: u32, memory: u32, tie: Tie) -> AnyBalancer {
    AnyBalancer::new(&BalancerSettings::Drill(drill::Settings { choices, memory, tie }), SITE)
}

/// Flow `n`: some hosts and ports, no two flows alike.
fn flow(n: u32) -> Header {
    Header { source: HostId(n % 61), destination: HostId(n / 61 % 53), ports: n, ..Header::default() }
}

/// A balancer in front of ports with given loads.
struct Bench {
    balancer: AnyBalancer,
    random: Random,
    ports: Vec<PortId>,
    loads: Vec<u64>,
}

impl Bench {
    fn new(balancer: AnyBalancer, loads: &[u64]) -> Bench {
        Bench { balancer, random: stream(0), ports: ports(loads.len() as u16), loads: loads.to_vec() }
    }

    fn of(settings: BalancerSettings, k: usize) -> Bench {
        Bench::new(AnyBalancer::new(&settings, SITE), &vec![0; k])
    }

    /// The port chosen for a packet.
    fn send(&mut self, packet: &Header) -> PortId {
        let mut candidates = Candidates::with_loads(GroupId(0), &self.ports, &self.loads);
        self.ports[self.balancer.choose(packet, &mut candidates, NOW, &mut self.random)]
    }

    fn next(&mut self) -> usize {
        self.send(&Header::default()).index()
    }

    /// How often each port is chosen for `n` packets.
    fn counts(&mut self, n: usize) -> Vec<u64> {
        let mut counts = vec![0; self.loads.len()];
        for _ in 0..n {
            counts[self.next()] += 1;
        }
        counts
    }
}

/// Asserts that `count` of `n` trials is the share `p`, within `sigmas` standard deviations.
#[track_caller]
fn assert_share(count: u64, n: usize, p: f64, sigmas: f64) {
    let expected = n as f64 * p;
    let allowed = sigmas * (expected * (1.0 - p)).sqrt();
    assert!((count as f64 - expected).abs() <= allowed, "{count} of {n}, expected {expected} +- {allowed}");
}

/// The chi-square statistic of equal shares.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum()
}

/// With equal loads every (d, m) is uniform over the group.
#[test]
fn equal_loads_give_equal_shares_for_every_d_and_m() {
    let n = 60_000;
    for (choices, memory) in [(1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (1, 4), (8, 0), (8, 8), (20, 20)] {
        let mut bench = Bench::new(drill(choices, memory, Tie::Random), &[500; 8]);
        let counts = bench.counts(n);
        // A remembered port comes back with probability about one half, so that runs of one port occur; they at most
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

/// The memory holds names; lengths are read anew.
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
    let mut random = Bench::of(BalancerSettings::PerPacketRandom(random::Settings {}), 7);
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
    // d = k sees everything once; then lengths turn round among the remembered three, and one sample cannot hide them.
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
    // Sample first follows the samples: like random without memory as long as all are equal.
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
    let mut send = |group: u16, ports: &[PortId]| {
        let mut candidates = Candidates::with_loads(GroupId(group), ports, &bench.loads);
        ports[bench.balancer.choose(&Header::default(), &mut candidates, NOW, &mut bench.random)].0
    };
    for _ in 0..100 {
        send(0, &low);
        send(1, &high);
    }
    for _ in 0..100 {
        assert_eq!((send(0, &low), send(1, &high)), (3, 4), "each found its shortest and kept it");
    }
}

/// A cell whose port has left the group is ignored, wherever others moved.
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

fn ecmp(mapping: ecmp::Mapping) -> BalancerSettings {
    BalancerSettings::Ecmp(ecmp::Settings { mapping, ..Default::default() })
}

const MAPPINGS: [ecmp::Mapping; 3] =
    [ecmp::Mapping::Multiply, ecmp::Mapping::Modulo, ecmp::Mapping::Resilient];

/// N flows on k ports have mean n/k and variance n/k (1 - 1/k) each.
#[test]
fn ecmp_loads_are_binomial() {
    let (k, n, trials) = (8usize, 400u32, 400u32);
    for mapping in MAPPINGS {
        let mut bench = Bench::of(ecmp(mapping), k);
        let mut moments = (0.0, 0.0);
        for trial in 0..trials {
            let on_first = (0..n).filter(|f| bench.send(&flow(trial * n + f)) == PortId(0)).count() as f64;
            moments = (moments.0 + on_first, moments.1 + on_first * on_first);
        }
        let mean = moments.0 / f64::from(trials);
        let variance = moments.1 / f64::from(trials) - mean * mean;
        let expected = f64::from(n) / k as f64 * (1.0 - 1.0 / k as f64);
        assert!((mean - 50.0).abs() < 4.0 * (expected / f64::from(trials)).sqrt(), "{mapping:?} {mean}");
        let spread = expected * (2.0 / f64::from(trials)).sqrt();
        assert!((variance - expected).abs() < 4.0 * spread, "{mapping:?} {variance} {expected}");
    }
}

/// Two flows meet with probability 1/k; k flows all miss each other with k!/k^k.
#[test]
fn ecmp_collisions_are_those_of_fair_dice() {
    let (k, n) = (4u32, 40_000u32);
    for mapping in MAPPINGS {
        let mut bench = Bench::of(ecmp(mapping), k as usize);
        let chosen: Vec<u16> = (0..n * k).map(|f| bench.send(&flow(f)).0).collect();
        let pairs = chosen.chunks(2).filter(|pair| pair[0] == pair[1]).count();
        assert_share(pairs as u64, chosen.len() / 2, 1.0 / f64::from(k), 4.0);
        let distinct = chosen.chunks(4).filter(|four| (0..4).all(|port| four.contains(&port))).count();
        assert_share(distinct as u64, n as usize, 24.0 / 256.0, 4.0);
    }
}

/// One path per flow, whatever its packets look like, in whichever engine.
#[test]
fn ecmp_keeps_a_flow_on_one_port() {
    for mapping in MAPPINGS {
        let mut engines = [0, 1]
            .map(|engine| Bench::new(AnyBalancer::new(&ecmp(mapping), Site { engine, ..SITE }), &[0; 7]));
        for n in 0..500 {
            let first = engines[0].send(&flow(n));
            let later =
                Header { wire: 84, ingress: PortId(5), hops: 3, arrived: Time(9), note: 7, ..flow(n) };
            assert_eq!(engines[0].send(&later), first);
            assert_eq!(engines[1].send(&later), first);
        }
    }
}

/// Stages of different switches are independent; with one seed for all they are one.
#[test]
fn ecmp_stages_are_uncorrelated_unless_they_share_a_seed() {
    let at = |switch, seeding| {
        let settings = BalancerSettings::Ecmp(ecmp::Settings { seeding, ..Default::default() });
        Bench::new(AnyBalancer::new(&settings, Site { switch: SwitchId(switch), ..SITE }), &[0; 4])
    };
    let (mut leaf, mut spine) = (at(1, ecmp::Seeding::PerSwitch), at(2, ecmp::Seeding::PerSwitch));
    let mut joint = vec![0u64; 16];
    for n in 0..32_000 {
        joint[leaf.send(&flow(n)).index() * 4 + spine.send(&flow(n)).index()] += 1;
    }
    // 99.9 % quantile of chi-square with 15 degrees of freedom.
    assert!(chi_square(&joint) < 37.7, "{joint:?}");
    let (mut leaf, mut spine) = (at(1, ecmp::Seeding::Same), at(2, ecmp::Seeding::Same));
    assert!((0..1_000).all(|n| leaf.send(&flow(n)) == spine.send(&flow(n))));
}

#[test]
fn resilient_mapping_moves_only_the_flows_of_a_lost_port() {
    let moved = |mapping| {
        let mut bench = Bench::of(ecmp(mapping), 8);
        let before: Vec<PortId> = (0..8_000).map(|n| bench.send(&flow(n))).collect();
        bench.ports.retain(|port| *port != PortId(3));
        let after: Vec<PortId> = (0..8_000).map(|n| bench.send(&flow(n))).collect();
        assert!(after.iter().all(|port| *port != PortId(3)));
        let pairs = before.iter().zip(&after);
        let innocent = pairs.clone().filter(|(old, new)| **old != PortId(3) && old != new).count();
        let mut inherited = [0u64; 8];
        for (_, new) in pairs.filter(|(old, _)| **old == PortId(3)) {
            inherited[new.index()] += 1;
        }
        (innocent, inherited)
    };
    let (innocent, mut inherited) = moved(ecmp::Mapping::Resilient);
    assert_eq!(innocent, 0);
    inherited.swap(3, 7);
    // 99.9 % quantile of chi-square with 6 degrees of freedom.
    assert!(chi_square(&inherited[..7]) < 22.5, "the heirs share equally: {inherited:?}");
    // By residues 6/7 of the innocent 7/8 move; by intervals nine 56ths: one, two and three, two, one from their neighbours.
    assert_share(moved(ecmp::Mapping::Modulo).0 as u64, 8_000, 0.75, 4.0);
    assert_share(moved(ecmp::Mapping::Multiply).0 as u64, 8_000, 9.0 / 56.0, 4.0);
}

// ---- oblivious, per packet ----

#[test]
fn per_packet_random_is_uniform_and_without_memory() {
    let k = 6;
    let mut bench = Bench::of(BalancerSettings::PerPacketRandom(random::Settings {}), k);
    let mut joint = vec![0u64; k * k];
    let mut last = bench.next();
    for _ in 0..36_000 {
        let next = bench.next();
        joint[last * k + next] += 1;
        last = next;
    }
    // 99.9 % quantile of chi-square with 35 degrees of freedom.
    assert!(chi_square(&joint) < 66.6, "{joint:?}");
}

#[test]
fn round_robin_counts_differ_by_one_at_most_at_every_instant() {
    let mut bench = Bench::of(BalancerSettings::RoundRobin(round_robin::Settings::default()), 5);
    let mut counts = [0u32; 5];
    let mut order = Vec::new();
    for _ in 0..503 {
        let port = bench.next();
        counts[port] += 1;
        order.push(port);
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
    }
    assert!(order.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 5), "in turn");
}

#[test]
fn round_robin_starts_anywhere() {
    let settings = BalancerSettings::RoundRobin(round_robin::Settings::default());
    let mut starts = vec![0u64; 4];
    for entity in 0..4_000 {
        let mut bench = Bench::of(settings.clone(), 4);
        bench.random = stream(entity);
        starts[bench.next()] += 1;
    }
    // 99.9 % quantile of chi-square with 3 degrees of freedom.
    assert!(chi_square(&starts) < 16.3, "{starts:?}");
}

#[test]
fn round_robin_draws_a_new_order_after_the_rounds_it_was_told() {
    let rounds = 5;
    let settings = BalancerSettings::RoundRobin(round_robin::Settings { permute_after: rounds as u32 });
    let mut bench = Bench::of(settings, 8);
    // The first walk begins somewhere; it is over when the pointer comes to the end of the order.
    while bench.next() != 7 {}
    let remaining: Vec<usize> = (0..8 * (rounds - 1)).map(|_| bench.next()).collect();
    assert!(remaining.iter().enumerate().all(|(n, port)| *port == n % 8), "the order holds for five rounds");
    let mut orders = Vec::new();
    for _ in 0..20 {
        let packets: Vec<usize> = (0..8 * rounds).map(|_| bench.next()).collect();
        assert!(packets.chunks(8).all(|round| round == &packets[..8]), "{packets:?}");
        let mut sorted = packets[..8].to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<_>>(), "every port once a round");
        orders.push(packets[..8].to_vec());
    }
    assert!(orders.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 18, "orders are drawn anew");
}

// ---- per-flow DRILL ----

fn flow_drill() -> Bench {
    let settings = flow_drill::Settings { choices: 4, memory: 1, tie: Tie::Random };
    Bench::of(BalancerSettings::FlowDrill(settings), 4)
}

#[test]
fn flow_drill_pins_a_flow_to_the_shortest_queue_of_its_first_packet() {
    let mut bench = flow_drill();
    bench.loads = vec![30, 10, 20, 40];
    assert_eq!(bench.send(&flow(1)), PortId(1));
    bench.loads = vec![0, 900, 20, 40];
    assert!((0..10).all(|_| bench.send(&flow(1)) == PortId(1)), "loads no longer matter to it");
    assert_eq!(bench.send(&flow(2)), PortId(0), "but to a new flow");
    let opposite = Header { source: HostId(5), destination: HostId(1), ..Header::default() };
    let reply = Header { source: HostId(1), destination: HostId(5), ..Header::default() };
    bench.send(&opposite);
    bench.loads = vec![900, 900, 0, 900];
    assert_eq!(bench.send(&reply), PortId(2), "directions are different flows");
}

#[test]
fn flow_drill_decides_anew_only_for_flows_whose_port_is_gone() {
    let mut bench = flow_drill();
    bench.loads = vec![0, 10, 20, 30];
    bench.send(&flow(1));
    bench.loads = vec![30, 20, 10, 0];
    bench.send(&flow(2));
    bench.ports.remove(0);
    bench.balancer.groups_changed();
    bench.loads = vec![0, 5, 1, 9];
    assert_eq!(bench.send(&flow(1)), PortId(2), "its port has left the group");
    assert_eq!(bench.send(&flow(2)), PortId(3), "its port is still there, at another place");
    bench.ports.insert(0, PortId(0));
    assert_eq!(bench.send(&flow(1)), PortId(2), "and the new choice is kept when the old port comes back");
}
