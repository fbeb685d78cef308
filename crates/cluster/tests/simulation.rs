//! The simulated cluster: conservation, loads, order, failures.

use weft_cluster::simulate::{ClusterModel, ClusterOutcome, ClusterSpan, NodeChange, simulate};
use weft_cluster::traffic::{ClusterArrival, PoissonArrivals, SizeMix, TraceArrivals, TrafficMatrix};
use weft_cluster::{ClusterShape, DirectorSettings, RelayOrder, ServerModel, VlbKind};
use weft_core::{Bytes, Rate, Span, Time};

const R: Rate = Rate::from_gbps(10);

/// Servers that are no bottleneck.
fn strong() -> ServerModel {
    ServerModel { card: Rate::from_gbps(200), frequency: 1e12, ..ServerModel::of_2009() }
}

fn mesh(nodes: u16, server: ServerModel) -> ClusterModel {
    let director = DirectorSettings { delta: Span::ZERO, ..DirectorSettings::new(nodes, R, R) };
    ClusterModel { shape: ClusterShape::Mesh { nodes }, server, director, notice: Span::ZERO }
}

fn span(from_ms: u64, to_ms: u64) -> ClusterSpan {
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    ClusterSpan { from: at(from_ms), to: at(to_ms), changes: Vec::new() }
}

fn run(model: &ClusterModel, matrix: &TrafficMatrix, load: f64, span: &ClusterSpan) -> ClusterOutcome {
    let rate = Rate((R.0 as f64 * load) as u64);
    let outcome = simulate(model, PoissonArrivals::new(matrix, rate, SizeMix::Mixed, 1), span);
    assert_eq!(outcome.inside, 0);
    assert_eq!(outcome.entered, outcome.delivered + outcome.losses.all(), "packets are conserved");
    outcome
}

/// Processing of the busiest server in units of the external rate.
fn processing(spreading: VlbKind, nodes: u16, matrix: &TrafficMatrix) -> f64 {
    let mut model = mesh(nodes, strong());
    model.director.spreading = spreading;
    let outcome = run(&model, matrix, 0.9, &span(5, 25));
    assert_eq!(outcome.losses.all(), 0);
    assert!(outcome.most_nodes <= 3);
    assert_eq!(outcome.parsed, outcome.entered, "headers are parsed once");
    outcome.busiest().gbps() / (0.9 * R.gbps())
}

#[test]
fn direct_vlb_processes_twice_the_rate_of_uniform_traffic_and_at_most_three_times_any() {
    let uniform = processing(VlbKind::Direct, 8, &TrafficMatrix::uniform(8));
    assert!((1.95..2.15).contains(&uniform), "{uniform}");
    // A permutation: all but R/N of the traffic goes by relays.
    let permuted = processing(VlbKind::Direct, 8, &TrafficMatrix::permutation(8));
    let direct = 1.0 / (8.0 * 0.9);
    assert!((permuted - (3.0 - direct)).abs() < 0.06, "{permuted}");
    let hot = processing(VlbKind::Direct, 8, &TrafficMatrix::hot_spot(8));
    assert!(hot <= 3.0, "{hot}");
}

#[test]
fn plain_vlb_processes_what_the_closed_form_says() {
    let uniform = processing(VlbKind::Valiant, 8, &TrafficMatrix::uniform(8));
    assert!((uniform - (3.0 - 2.0 / 8.0)).abs() < 0.06, "{uniform}");
}

#[test]
fn links_of_a_valiant_mesh_carry_two_nths_of_the_rate_under_any_matrix() {
    for seed in 0..3 {
        let mut model = mesh(8, strong());
        (model.director.spreading, model.director.order) = (VlbKind::Valiant, RelayOrder::Random);
        let outcome = run(&model, &TrafficMatrix::doubly_stochastic(8, seed), 1.0, &span(2, 42));
        let load = outcome.busiest_link().gbps() / (2.0 * R.gbps() / 8.0);
        assert!((0.9..1.06).contains(&load), "{load}");
        assert!(outcome.losses.overload() * 100 < outcome.entered, "{:?}", outcome.losses);
    }
}

/// Node 0 has R/N for node 1 and the rest for node 2, and node 3 has the rest of what node 1 gets: the link from 0 to 1 carries R/N
/// directly, as much for node 2, and as much from node 3.
#[test]
fn a_link_of_a_direct_mesh_carries_up_to_three_nths_of_the_rate() {
    let nodes = 8;
    let (whole, rest) = (1.0 / f64::from(nodes), 1.0 - 1.0 / f64::from(nodes));
    let share = |from, to| match (from, to) {
        (0, 1) => whole,
        (0, 2) | (3, 1) => rest,
        _ => 0.0,
    };
    let outcome = run(&mesh(nodes, strong()), &TrafficMatrix::of(nodes, share), 0.98, &span(2, 42));
    let load = outcome.busiest_link().gbps() / (R.gbps() / f64::from(nodes));
    assert!((2.8..3.05).contains(&load), "{load}");
    assert_eq!(outcome.losses.all(), 0);
}

#[test]
fn all_outputs_are_full_and_alike() {
    let outcome = run(&mesh(8, strong()), &TrafficMatrix::doubly_stochastic(8, 5), 1.0, &span(5, 25));
    let throughput = outcome.throughput().gbps() / (8.0 * R.gbps());
    assert!(throughput > 0.98 && outcome.fairness() > 0.99, "{throughput} {}", outcome.fairness());
}

fn one_flow(delta: Span, cores: u16) -> ClusterOutcome {
    // One core as fast as all: how flows are divided must not matter.
    let server = ServerModel::of_2009();
    let frequency = server.frequency * f64::from(server.cores / cores);
    let mut model = mesh(4, ServerModel { cores, frequency, ..server });
    model.director.delta = delta;
    let outcome = simulate(&model, TraceArrivals::new(Rate::from_mbps(8_750), 2), &span(150, 250));
    assert_eq!(outcome.entered, outcome.delivered + outcome.losses.all());
    outcome
}

#[test]
fn flowlets_keep_order_and_spreading_by_packet_does_not() {
    for cores in [1, 8] {
        let (spread, kept) = (one_flow(Span::ZERO, cores), one_flow(Span(u64::MAX), cores));
        assert!(spread.reordering() > 0.01, "{}", spread.reordering());
        assert_eq!((kept.reordered, kept.losses.all()), (0, 0));
    }
}

#[test]
fn a_full_flowlet_table_costs_order_but_no_packet() {
    let mut model = mesh(4, strong());
    (model.director.delta, model.director.flows) = (Span::from_ms(100), 4);
    let outcome = simulate(&model, TraceArrivals::new(Rate::from_gbps(6), 2), &span(0, 60));
    assert!(outcome.evictions > 1_000 && outcome.reordered > 0);
    assert_eq!(outcome.losses.all(), 0);
}

#[test]
fn a_node_that_dies_loses_what_is_in_flight_and_comes_back() {
    let mut model = mesh(4, strong());
    model.director.delta = Span::from_ms(100);
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let changes =
        vec![NodeChange { time: at(10), node: 2, up: false }, NodeChange { time: at(20), node: 2, up: true }];
    let span = ClusterSpan { changes, ..span(0, 30) };
    // Node 2 is neither input nor output, so it only relays.
    let matrix = TrafficMatrix::of(4, |from, to| f64::from(u8::from((from, to) == (0, 1))));
    let outcome = run(&model, &matrix, 0.8, &span);
    let losses = outcome.losses;
    assert_eq!((losses.no_path, losses.overload(), outcome.refused), (0, 0, 0));
    // Some tens of microseconds of a third of the traffic.
    assert!(losses.failure > 0 && losses.failure < 200, "{losses:?}");
    assert!(outcome.links[&(0, 2)] > 0);

    // Its decisions before it failed are those of the whole run.
    let under = |changes| {
        let span = ClusterSpan { changes, ..span };
        let outcome = run(&model, &matrix, 0.8, &span);
        outcome.decided.iter().map(|one| one.relayed).sum::<u64>() as f64
    };
    let blink = |node| {
        let change = |time, up| NodeChange { time, node, up };
        vec![change(at(29), false), change(at(29) + Span::from_us(100), true)]
    };
    let (quiet, restarted) = (under(Vec::new()), under(blink(0)));
    assert!((restarted / quiet - 1.0).abs() < 0.02, "{restarted} of {quiet}");

    // As an output, it takes down its own traffic only.
    let outcome = run(&model, &TrafficMatrix::uniform(4), 0.5, &span);
    assert!(outcome.losses.no_path > 0 && outcome.refused > 0);
    let third = outcome.entered as f64 / 30.0 * 10.0 / 3.0;
    assert!((outcome.losses.no_path as f64) < third * 1.2, "{:?}", outcome.losses);
}

/// Node 3 fails and comes back while node 2 is down for good: it sends nothing by node 2 once it knows, as if it had not failed.
#[test]
fn a_node_that_comes_back_learns_which_others_are_down() {
    let at = |us| Time::ZERO + Span::from_us(us);
    let change = |us, node, up| NodeChange { time: at(us), node, up };
    let lost = |notice: Span, changes: &[NodeChange]| {
        let span = ClusterSpan { changes: changes.to_vec(), ..span(0, 20) };
        let model = ClusterModel { notice, ..mesh(4, strong()) };
        run(&model, &TrafficMatrix::permutation(4), 0.4, &span).losses.failure
    };
    let gone = change(5_000, 2, false);
    let flap = [gone, change(6_000, 3, false), change(7_000, 3, true)];
    let (alone, at_once) = (lost(Span::ZERO, &[gone]), lost(Span::ZERO, &flap));
    assert!(alone > 0 && at_once < 4 * alone, "{at_once} packets, {alone} without a return");
    let late = lost(Span::from_ms(1), &flap);
    assert!(late > 4 * at_once, "{late} if it takes 1 ms to know");
}

#[test]
fn an_n_fly_goes_round_a_relay_that_is_down_wherever_it_is() {
    let shape = ClusterShape::Fly { arity: 2, ranks: 2 };
    let model = ClusterModel { shape, ..mesh(4, strong()) };
    let with = |changes: &[(u64, u16, bool)]| {
        let change = |(ms, node, up)| NodeChange { time: Time::ZERO + Span::from_ms(ms), node, up };
        let span = ClusterSpan { changes: changes.iter().copied().map(change).collect(), ..span(12, 20) };
        run(&model, &TrafficMatrix::permutation(4), 0.4, &span)
    };
    let whole = with(&[]).throughput().gbps();
    for relay in 4..12 {
        let outcome = with(&[(5, relay, false)]);
        assert!((1..60).contains(&outcome.losses.failure), "node {relay}: {:?}", outcome.losses);
        assert_eq!(outcome.losses.no_path, 0);
        assert!((outcome.throughput().gbps() / whole - 1.0).abs() < 0.01);
        let used = |outcome: &ClusterOutcome| outcome.processed[usize::from(relay)];
        assert!(used(&outcome) == 0 && used(&with(&[(5, relay, false), (10, relay, true)])) > 0);
    }
    // What no way leads to is dropped where it enters: the traffic of an output, or of an input whose two relays are down.
    let output = with(&[(5, 1, false)]).losses;
    assert!(output.no_path > 1_000 && output.failure < 60, "{output:?}");
    let ways: Vec<u16> = shape.neighbours(0);
    let blocked = with(&[(5, ways[0], false), (5, ways[1], false)]).losses;
    assert!(blocked.no_path > 1_000 && blocked.failure < 100, "{blocked:?}");
}

#[test]
fn an_n_fly_delivers_everything_by_two_relays() {
    let shape = ClusterShape::Fly { arity: 4, ranks: 2 };
    let model = ClusterModel { shape, ..mesh(16, strong()) };
    let outcome = run(&model, &TrafficMatrix::doubly_stochastic(16, 1), 0.9, &span(2, 8));
    assert_eq!((outcome.losses.all(), outcome.most_nodes), (0, 4));
    assert_eq!((outcome.parsed, outcome.relayed), (outcome.entered, 2 * outcome.entered));
    // No relay processes more than the rate of a port.
    let relays = outcome.processed[16..].iter().max().copied().unwrap();
    assert!(outcome.rate(relays).gbps() < 1.05 * 0.9 * R.gbps());
}

#[test]
fn an_empty_cluster_takes_two_or_three_times_the_published_estimate_of_a_server() {
    let mut model = mesh(4, ServerModel::of_2009());
    model.director.depth = Span::from_ns(300);
    // Two packets each millisecond: nothing waits for another, and every other one finds the bucket filled.
    let packet = |n: u64| ClusterArrival {
        time: Time::ZERO + Span::from_us(1000 * (n / 2)),
        from: 0,
        to: 1,
        flow: n,
        sequence: 0,
        size: Bytes(64),
    };
    let outcome = simulate(&model, (0..100).map(packet), &span(0, 100));
    let (two, three) = (outcome.latencies[&2], outcome.latencies[&3]);
    let per_server = 4.0 * 2.56 + 12.8;
    assert!((two.mean_us() - 2.0 * per_server).abs() < 2.0, "{}", two.mean_us());
    assert!((three.mean_us() - 3.0 * per_server).abs() < 2.0, "{}", three.mean_us());
}

#[test]
fn a_simulation_is_its_description() {
    let once = || run(&mesh(4, ServerModel::of_2009()), &TrafficMatrix::uniform(4), 0.5, &span(1, 3));
    assert_eq!(once(), once());
}

#[test]
fn the_cores_bound_small_packets_as_the_closed_form_says() {
    let server = ServerModel::of_2009();
    let most = server.packets_per_second(Bytes(64)) * 4.0 * 512.0;
    let model = mesh(4, server);
    let load = |share: f64| {
        let rate = Rate((most / 4.0 * share) as u64);
        let traffic = PoissonArrivals::new(&TrafficMatrix::uniform(4), rate, SizeMix::Fixed(Bytes(64)), 1);
        simulate(&model, traffic, &span(1, 6))
    };
    let (below, above) = (load(0.9), load(1.1));
    assert_eq!(below.losses.all(), 0, "{:?}", below.losses);
    assert!(above.losses.core > 0);
}
