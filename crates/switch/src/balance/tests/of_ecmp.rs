//! ECMP: dice, one path per flow, polarisation, lost ports.

use super::*;

fn ecmp(mapping: ecmp::Mapping) -> BalancerSettings {
    BalancerSettings::Ecmp(ecmp::EcmpSettings { mapping, ..Default::default() })
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
        let mut engines = [0, 1].map(|engine| {
            Bench::new(AnyBalancer::new(&ecmp(mapping), BalancerSite { engine, ..SITE }), &[0; 7])
        });
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
        let settings = BalancerSettings::Ecmp(ecmp::EcmpSettings { seeding, ..Default::default() });
        Bench::new(AnyBalancer::new(&settings, BalancerSite { switch: SwitchId(switch), ..SITE }), &[0; 4])
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
