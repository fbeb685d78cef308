//! Balancers compared with their definitions, on given queue lengths: laws of chance and exact special cases. This
//! file has a bench and the balancers with few rules; the others have their own files.

mod of_conga;
mod of_drill;
mod of_ecmp;
mod of_letflow;
mod of_presto;
mod of_wcmp;

use weft_core::{HostId, Purpose};

use super::drill::Tie;
use super::*;
use crate::flowlet::FlowletSettings;

const SITE: BalancerSite = BalancerSite { seed: 7, switch: SwitchId(3), engine: 0 };

fn ports(k: u16) -> Vec<PortId> {
    (0..k).map(PortId).collect()
}

fn stream(entity: u64) -> Random {
    Random::new(7, Purpose::Balance, entity)
}

fn drill(choices: u32, memory: u32, tie: Tie) -> AnyBalancer {
    AnyBalancer::new(
        &BalancerSettings::Drill(drill::DrillSettings { choices, memory, tie, ..Default::default() }),
        SITE,
    )
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
    now: Time,
}

impl Bench {
    fn new(balancer: AnyBalancer, loads: &[u64]) -> Bench {
        Bench {
            balancer,
            random: stream(0),
            ports: ports(loads.len() as u16),
            loads: loads.to_vec(),
            now: Time::ZERO,
        }
    }

    fn of(settings: BalancerSettings, k: usize) -> Bench {
        Bench::new(AnyBalancer::new(&settings, SITE), &vec![0; k])
    }

    /// The port chosen for a packet.
    fn send(&mut self, packet: &Header) -> PortId {
        let component = Component::equal(self.ports.clone());
        let mut candidates = Candidates::with_loads(GroupId(0), &component, &self.loads);
        self.ports[self.balancer.choose(packet, &mut candidates, self.now, &mut self.random)]
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

#[test]
fn per_packet_random_is_uniform_and_without_memory() {
    let k = 6;
    let mut bench = Bench::of(BalancerSettings::PerPacketRandom(random::RandomSettings {}), k);
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
    let mut bench = Bench::of(BalancerSettings::RoundRobin(round_robin::RoundRobinSettings::default()), 5);
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
    let settings = BalancerSettings::RoundRobin(round_robin::RoundRobinSettings::default());
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
    let settings =
        BalancerSettings::RoundRobin(round_robin::RoundRobinSettings { permute_after: rounds as u32 });
    let mut bench = Bench::of(settings, 8);
    // The first walk begins anywhere; it is over when the pointer reaches the end of the order.
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
    let settings =
        flow_drill::FlowDrillSettings { choices: 4, memory: 1, tie: Tie::Random, ..Default::default() };
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

/// Two components of two and four ports, one engine.
#[test]
fn state_is_what_is_kept_for_groups_flows_and_paths() {
    let choices = Choices { components: 2, ports: 6, entries: 9 };
    let drill = |memory| BalancerSettings::Drill(drill::DrillSettings { memory, ..Default::default() });
    let fixed = |settings: BalancerSettings| settings.state(choices).fixed.0;
    assert_eq!([1, 2, 0].map(|memory| fixed(drill(memory))), [8, 16, 0], "4 bytes for each port remembered");
    assert_eq!(fixed(BalancerSettings::Ecmp(Default::default())), 0);
    assert_eq!(fixed(BalancerSettings::Wcmp(Default::default())), 18, "the name of a port in each entry");
    assert_eq!(fixed(BalancerSettings::LetFlow(Default::default())), 16 << 16);
    let exact = FlowletSettings { exact: true, ..Default::default() };
    let exact = letflow::LetFlowSettings { flowlets: exact, ..Default::default() };
    let exact = BalancerSettings::LetFlow(exact).state(choices);
    assert!(exact.fixed.0 == 0 && exact.per_flow.0 > 16, "{exact:?}");
    let pinned = BalancerSettings::FlowDrill(Default::default()).state(choices);
    assert!(pinned.fixed.0 == 8 && pinned.per_flow.0 > 16, "{pinned:?}");
    let conga = BalancerSettings::Conga(Default::default());
    let [once, twice] = [1, 2].map(|times| conga.state_of_paths(15 * times, 4).0);
    assert!(once > 15 * 4 * 32 && twice - once == 15 * 4 * 32, "{once} and {twice}");
    assert_eq!(drill(1).state_of_paths(15, 4).0, 0);
}
