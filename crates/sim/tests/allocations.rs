//! A packet costs no allocation: three times the packets over the same flows and network allocate no more than a few
//! buffers of the event list that still grow.

mod lab;

use weft_core::Span;
use weft_sim::Setup;
use weft_switch::BalancerSettings;
use weft_switch::mark::MarkerSettings;

/// Six flows of `size` bytes across the fabric.
fn crossing(balancer: BalancerSettings, size: u64) -> Setup {
    let mut setup = lab::leaf_spine();
    setup.balancer = balancer;
    setup.switch.ecn = MarkerSettings::Step(Default::default());
    setup.flows =
        (0..6).map(|host| lab::flow(Span::from_us(u64::from(host)), host, (host + 4) % 16, size)).collect();
    setup
}

/// Allocations and packet hops of a run.
fn cost(setup: Setup) -> (u64, u64) {
    let mut hops = 0;
    let counted = allocation_counter::measure(|| hops = lab::run(setup).packet_hops);
    (counted.count_total, hops)
}

/// Allocations per packet hop beyond those of a third of the packets.
fn per_hop(balancer: &BalancerSettings) -> f64 {
    let (few, few_hops) = cost(crossing(balancer.clone(), 8_000_000));
    let (many, many_hops) = cost(crossing(balancer.clone(), 24_000_000));
    let (more, extra) = (many.saturating_sub(few) as f64, (many_hops - few_hops) as f64);
    assert!(extra > 100_000.0, "{extra}");
    more / extra
}

#[test]
fn packets_do_not_allocate() {
    for balancer in [BalancerSettings::Ecmp(Default::default()), BalancerSettings::Drill(Default::default())]
    {
        let cost = per_hop(&balancer);
        assert!(cost < 1e-3, "{cost} allocations per packet hop under {}", balancer.name());
    }
}
