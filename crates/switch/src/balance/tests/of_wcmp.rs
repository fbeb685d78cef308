//! WCMP: the reduction of weights compared with verified vectors, and flows in proportion to the reduced weights.

use super::wcmp::{oversubscription, reduce, reduce_to};
use super::*;

#[test]
fn weights_are_reduced_as_verified() {
    // Weights, theta_max, reduced weights, their oversubscription.
    let vectors: [(&[u64], f64, &[u64], f64); 9] = [
        (&[1, 1, 1, 1], 1.0, &[1, 1, 1, 1], 1.0),
        (&[2, 2, 2, 1], 1.3, &[2, 2, 1, 1], 1.1667),
        (&[2, 2, 2, 1], 1.75, &[1, 1, 1, 1], 1.75),
        (&[4, 4, 4, 3], 1.05, &[3, 3, 3, 2], 1.0227),
        (&[4, 4, 4, 3], 1.3, &[1, 1, 1, 1], 1.25),
        (&[12, 12, 12, 11], 1.1, &[1, 1, 1, 1], 1.0682),
        (&[6, 6, 6, 1], 1.2, &[5, 5, 5, 1], 1.1875),
        (&[10, 7, 5, 3], 1.1, &[4, 3, 2, 1], 1.0714),
        (&[10, 7, 5, 3], 1.25, &[3, 2, 1, 1], 1.1905),
    ];
    for (weights, most, reduced, error) in vectors {
        assert_eq!(reduce(weights, most), reduced, "{weights:?} at {most}");
        let found = oversubscription(weights, reduced);
        assert!((found - error).abs() < 5e-5, "{weights:?}: {found}");
    }
}

#[test]
fn a_bound_of_one_keeps_the_proportions_and_drops_common_divisors() {
    assert_eq!(reduce(&[40, 10, 20], 1.0), [4, 1, 2]);
    assert_eq!(reduce(&[7], 1.0), [1]);
    assert_eq!(reduce(&[9, 9, 9], 1.0), [1, 1, 1]);
    let odd = [97, 89, 83];
    assert_eq!(reduce(&odd, 1.0), odd);
    let rates = [9_999_999_967, 5_000_000_029];
    assert_eq!(reduce(&rates, 1.0), rates, "at once");
    assert_eq!(reduce(&rates, 1.001), [2, 1]);
    assert!(reduce_to(&rates, u64::MAX).iter().sum::<u64>() <= 65_536);
}

#[test]
fn a_table_of_some_size_holds_the_best_that_fits() {
    for (weights, entries) in [(vec![10, 7, 5, 3], 7), (vec![97, 89, 83], 40), (vec![1_000, 1, 1], 50)] {
        let best = reduce_to(&weights, entries);
        assert!(best.iter().sum::<u64>() <= entries, "{best:?}");
        let error = oversubscription(&weights, &best);
        // No bound that fits into the table is better.
        for step in 0..2_000 {
            let other = reduce(&weights, 1.0 + f64::from(step) * 0.01);
            let fits = other.iter().sum::<u64>() <= entries;
            assert!(!fits || oversubscription(&weights, &other) >= error - 1e-12, "{weights:?} {other:?}");
        }
    }
    assert_eq!(reduce_to(&[10, 7, 5, 3], 7), [3, 2, 1, 1]);
    assert_eq!(reduce_to(&[10, 7, 5, 3], 2), [1, 1, 1, 1], "no port is left out");
    assert_eq!(reduce_to(&[2, 1], 1_000_000), [2, 1]);
}

/// A balancer in front of ports with shares.
fn counts(settings: wcmp::WcmpSettings, shares: &[u64], flows: u32) -> Vec<u64> {
    let mut balancer = AnyBalancer::new(&BalancerSettings::Wcmp(settings), SITE);
    let ports: Vec<_> = (0..shares.len() as u16).map(PortId).collect();
    let component = Component { weight: 1, ports, shares: shares.to_vec() };
    let mut counts = vec![0; shares.len()];
    for n in 0..flows {
        let mut candidates = Candidates::with_loads(GroupId(3), &component, &[]);
        counts[balancer.choose(&flow(n), &mut candidates, Time::ZERO, &mut stream(0))] += 1;
    }
    counts
}

#[test]
fn flows_fall_to_ports_by_their_weights() {
    use weft_forwarding::hash::HashFunction;
    let shares = [40, 10, 20, 30];
    for hash in [HashFunction::Mix, HashFunction::Crc32, HashFunction::Crc16, HashFunction::Toeplitz] {
        let exact = wcmp::WcmpSettings { hash, oversubscription: 1.0, ..Default::default() };
        for (count, share) in counts(exact, &shares, 20_000).into_iter().zip(shares) {
            assert_share(count, 20_000, share as f64 / 100.0, 4.5);
        }
    }
    let small = wcmp::WcmpSettings { table_size: Some(7), ..Default::default() };
    for (count, weight) in counts(small, &[10, 7, 5, 3], 20_000).into_iter().zip([3.0, 2.0, 1.0, 1.0]) {
        assert_share(count, 20_000, weight / 7.0, 4.5);
    }
}

#[test]
fn equal_weights_are_ecmp_with_the_same_hash() {
    let mut ecmp = Bench::of(BalancerSettings::Ecmp(Default::default()), 5);
    let mut wcmp = Bench::of(BalancerSettings::Wcmp(Default::default()), 5);
    assert!((0..5_000).all(|n| ecmp.send(&flow(n)) == wcmp.send(&flow(n))));
}

#[test]
fn new_routes_bring_new_weights() {
    let mut balancer = AnyBalancer::new(&BalancerSettings::Wcmp(Default::default()), SITE);
    let mut first = |shares: [u64; 2]| {
        let component = Component { weight: 1, ports: ports(2), shares: shares.to_vec() };
        balancer.groups_changed();
        let mut chosen = |n| {
            let mut candidates = Candidates::with_loads(GroupId(0), &component, &[]);
            balancer.choose(&flow(n), &mut candidates, Time::ZERO, &mut stream(0))
        };
        (0..4_000).filter(|n| chosen(*n) == 0).count() as u64
    };
    assert_share(first([1, 1]), 4_000, 0.5, 4.5);
    assert_share(first([9, 1]), 4_000, 0.9, 4.5);
}
