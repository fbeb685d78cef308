//! LetFlow: flowlets on uniformly random ports, and its two limits: no gap and an endless one.

use weft_core::Span;

use super::*;

fn letflow(gap: Span) -> BalancerSettings {
    let flowlets = crate::flowlet::FlowletSettings { gap, ..Default::default() };
    BalancerSettings::LetFlow(letflow::LetFlowSettings { flowlets, ..Default::default() })
}

/// Packets of one flow, one per microsecond, with a pause of a millisecond after every tenth.
fn bursts(bench: &mut Bench, count: usize) -> Vec<Vec<usize>> {
    (0..count)
        .map(|_| {
            bench.now += Span::from_ms(1);
            (0..10)
                .map(|_| {
                    bench.now += Span::from_us(1);
                    bench.next()
                })
                .collect()
        })
        .collect()
}

#[test]
fn a_flowlet_stays_on_its_port_and_the_next_is_drawn_without_memory() {
    let k = 4;
    let mut bench = Bench::of(letflow(Span::from_us(500)), k);
    let bursts = bursts(&mut bench, 16_000);
    assert!(bursts.iter().all(|burst| burst.iter().all(|port| *port == burst[0])));
    let mut joint = vec![0u64; k * k];
    bursts.windows(2).for_each(|pair| joint[pair[0][0] * k + pair[1][0]] += 1);
    // 99.9 % quantile of chi-square with 15 degrees of freedom; the same port again is as likely as any other.
    assert!(chi_square(&joint) < 37.7, "{joint:?}");
}

#[test]
fn without_a_gap_it_is_per_packet_random() {
    let k = 5;
    let mut bench = Bench::of(letflow(Span::ZERO), k);
    let mut joint = vec![0u64; k * k];
    let packets: Vec<usize> = bursts(&mut bench, 2_500).concat();
    packets.windows(2).for_each(|pair| joint[pair[0] * k + pair[1]] += 1);
    // 99.9 % quantile of chi-square with 24 degrees of freedom.
    assert!(chi_square(&joint) < 51.2, "{joint:?}");
}

#[test]
fn with_an_endless_gap_it_is_per_flow_random() {
    let mut bench = Bench::of(letflow(Span(u64::MAX)), 4);
    let of_flow = bench.send(&flow(1));
    for _ in 0..100 {
        bench.now += Span::from_s(10);
        assert_eq!(bench.send(&flow(1)), of_flow);
    }
    let mut exact = crate::flowlet::FlowletSettings { gap: Span(u64::MAX), ..Default::default() };
    exact.exact = true;
    let mut bench = Bench::of(
        BalancerSettings::LetFlow(letflow::LetFlowSettings { flowlets: exact, ..Default::default() }),
        4,
    );
    let mut counts = vec![0; 4];
    (0..8_000).for_each(|n| counts[bench.send(&flow(n)).index()] += 1);
    // 99.9 % quantile of chi-square with 3 degrees of freedom.
    assert!(chi_square(&counts) < 16.3, "{counts:?}");
    assert!((0..8_000).all(|n| bench.send(&flow(n)) == bench.send(&flow(n))));
}

#[test]
fn a_flowlet_whose_port_is_gone_is_drawn_anew_and_stays() {
    let mut bench = Bench::of(letflow(Span::from_us(500)), 4);
    let first = bench.send(&flow(1));
    bench.ports.retain(|port| *port != first);
    let second = bench.send(&flow(1));
    assert_ne!(first, second);
    bench.ports = ports(4);
    assert!((0..20).all(|_| bench.send(&flow(1)) == second), "the flowlet goes on where it is");
}

#[test]
fn flowlets_may_be_drawn_by_the_capacity_beyond_the_ports() {
    let flowlets = crate::flowlet::FlowletSettings { gap: Span::ZERO, ..Default::default() };
    let drawn = |weighted| {
        let settings =
            BalancerSettings::LetFlow(letflow::LetFlowSettings { flowlets: flowlets.clone(), weighted });
        let mut balancer = AnyBalancer::new(&settings, SITE);
        let component = Component { weight: 1, ports: ports(3), shares: vec![4, 1, 3] };
        let (mut counts, mut random) = (vec![0; 3], stream(2));
        for n in 0..8_000 {
            let mut candidates = Candidates::with_loads(GroupId(0), &component, &[]);
            counts[balancer.choose(&flow(1), &mut candidates, Time(n + 1), &mut random)] += 1;
        }
        (counts, balancer.grouping())
    };
    let (by_share, grouping) = drawn(true);
    assert_eq!(grouping, weft_core::Grouping::Weighted);
    for (count, share) in by_share.into_iter().zip([0.5, 0.125, 0.375]) {
        assert_share(count, 8_000, share, 4.0);
    }
    let (evenly, grouping) = drawn(false);
    assert_eq!(grouping, weft_core::Grouping::Together);
    evenly.into_iter().for_each(|count| assert_share(count, 8_000, 1.0 / 3.0, 4.0));
}
