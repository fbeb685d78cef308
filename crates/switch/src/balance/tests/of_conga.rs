//! CONGA's decision: once per flowlet, by the least metric, without a move that gains nothing, fair among equals.

use weft_core::Span;

use super::*;

/// CONGA in front of ports with given metrics of their paths.
struct Leaf {
    bench: Bench,
    metrics: Vec<u8>,
}

impl Leaf {
    fn new(metrics: &[u8]) -> Leaf {
        let settings = BalancerSettings::Conga(conga::CongaSettings::default());
        Leaf { bench: Bench::of(settings, metrics.len()), metrics: metrics.to_vec() }
    }

    fn send(&mut self, packet: &Header) -> usize {
        let Bench { balancer, random, ports, loads, now } = &mut self.bench;
        let component = Component::equal(ports.clone());
        let candidates = Candidates::with_loads(GroupId(0), &component, loads);
        balancer.choose(packet, &mut candidates.with_congestion(&self.metrics), *now, random)
    }

    /// A packet of a flow after a pause that ends its flowlet.
    fn flowlet(&mut self, packet: &Header) -> usize {
        self.bench.now += Span::from_us(501);
        self.send(packet)
    }
}

#[test]
fn a_flowlet_takes_the_least_congested_path_and_keeps_it() {
    let mut leaf = Leaf::new(&[3, 5, 1, 2]);
    assert_eq!(leaf.send(&flow(1)), 2);
    leaf.metrics = vec![0, 5, 7, 2];
    assert_eq!(leaf.send(&flow(1)), 2, "until the flowlet is over");
    assert_eq!(leaf.flowlet(&flow(1)), 0);
}

#[test]
fn a_flow_moves_only_where_it_is_strictly_better() {
    let mut leaf = Leaf::new(&[1, 0, 1, 1]);
    assert_eq!(leaf.send(&flow(1)), 1);
    leaf.metrics = vec![4, 4, 4, 4];
    assert!((0..200).all(|_| leaf.flowlet(&flow(1)) == 1), "equal is not better");
    leaf.metrics = vec![4, 4, 4, 3];
    assert_eq!(leaf.flowlet(&flow(1)), 3);
    leaf.metrics = vec![3, 3, 4, 3];
    assert!((0..200).all(|_| leaf.flowlet(&flow(1)) == 3), "nor does it return");
}

/// Nor for the first of the best twice.
#[test]
fn new_flows_are_spread_evenly_over_equally_good_paths() {
    let mut leaf = Leaf::new(&[2, 6, 2, 2, 7, 2]);
    let mut counts = vec![0u64; 6];
    (0..8_000).for_each(|n| counts[leaf.flowlet(&flow(n))] += 1);
    assert_eq!((counts[1], counts[4]), (0, 0));
    // 99.9 % quantile of chi-square with 3 degrees of freedom.
    assert!(chi_square(&[counts[0], counts[2], counts[3], counts[5]]) < 16.3, "{counts:?}");
}

/// All of many paths are compared, not some of them.
#[test]
fn the_best_of_many_paths_is_found_wherever_it_is() {
    for best in 0..64 {
        let mut metrics = vec![1; 64];
        metrics[best] = 0;
        assert_eq!(Leaf::new(&metrics).send(&flow(1)), best);
    }
}

#[test]
fn switches_that_are_not_the_source_leaf_spread_flows_by_a_hash() {
    let mut bench = Bench::of(BalancerSettings::Conga(conga::CongaSettings::default()), 4);
    let first: Vec<_> = (0..4_000).map(|n| bench.send(&flow(n))).collect();
    bench.now += Span::from_s(1);
    assert!((0..4_000).all(|n| bench.send(&flow(n)) == first[n as usize]), "for ever");
    let counts: Vec<_> =
        (0..4).map(|port| first.iter().filter(|chosen| chosen.0 == port).count() as u64).collect();
    assert!(chi_square(&counts) < 16.3, "{counts:?}");
}
