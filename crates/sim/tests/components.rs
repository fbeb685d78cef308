//! DRILL in networks whose paths are not alike: flows stay in symmetric components, capacity is used, and failures
//! replace the components.

mod lab;

use std::sync::Arc;

use weft_core::record::{Reason, RunRecord};
use weft_core::{Rate, Span, Time};
use weft_plan::{Division, Setup};
use weft_switch::BalancerSettings;
use weft_switch::balance::drill::{self, Components};
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_topology::shapes::leaf_spine::LeafSpineSettings;
use weft_topology::timeline::Convergence;
use weft_topology::{FailureSettings, LinkSettings, RoutingSettings, TopologySettings, plan, timeline};
use weft_transport::TransportSettings;

const HOSTS: u32 = 16;

fn drill(components: Components) -> BalancerSettings {
    BalancerSettings::Drill(drill::DrillSettings { components, ..Default::default() })
}

/// Four leaves and three spines, 40 Gb/s everywhere, DRILL, without the cable between leaf 0 and spine 0: before the run,
/// or from `fails` to `back`.
fn figure_4(
    components: Components,
    failure: (Option<Span>, Option<Span>),
    convergence: Convergence,
) -> Setup {
    let topology = LeafSpineSettings {
        leaves: 4,
        spines: 3,
        hosts_per_leaf: HOSTS,
        host_link: LinkSettings::of(Rate::from_gbps(40)),
        fabric_link: LinkSettings::of(Rate::from_gbps(40)),
        ..Default::default()
    };
    let transport = TransportSettings::NewReno(Default::default());
    let mut setup = lab::setup(&TopologySettings::LeafSpine(topology), &transport);
    setup.balancer = drill(components);
    let failure = FailureSettings {
        cables: vec!["leaf0-spine0".into()],
        at: failure.0,
        repair_at: failure.1,
        ..Default::default()
    };
    let plan = plan(&setup.graph, &[failure], 1).expect("the cable exists");
    let routing = RoutingSettings { convergence, spf_delay: Span::from_ms(1), ..Default::default() };
    setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, setup.balancer.grouping()));
    setup
}

/// Packets that were sent from one switch to another.
fn packets(setup: &Setup, record: &RunRecord, from: &str, to: &str) -> u64 {
    let [from, to] = [from, to].map(|name| setup.graph.node_named(name).expect("a node"));
    let links = setup.graph.links().iter().zip(&record.links);
    links.filter(|(link, _)| (link.from, link.to) == (from, to)).map(|(_, link)| link.packets).sum()
}

fn until(setup: &Setup, ms: u64) -> RunRecord {
    lab::run(Setup { until: Time::ZERO + Span::from_ms(ms), ..setup.clone() })
}

/// Leaves 0 and 3 send without end to leaf 1, twelve flows each: Gb/s into leaf 1, in the steady state.
fn throughput(components: Components) -> f64 {
    let mut setup = figure_4(components, (None, None), Convergence::Flooded);
    let flow = |n: u32, leaf: u32| lab::flow(Span::from_us(n.into()), leaf * HOSTS + n, HOSTS + n, 1 << 40);
    setup.flows = (0..12).flat_map(|n| [flow(n, 0), flow(n, 3)]).collect();
    setup.switch.sharing =
        SharingSettings::Fixed(FixedSharingSettings { per_port: weft_core::Bytes(1_000_000) });
    let [early, late] = [10, 30].map(|ms| until(&setup, ms));
    let bits = |record: &RunRecord| {
        let spines = ["spine0", "spine1", "spine2"];
        let links = spines.map(|spine| {
            let cable = setup.graph.cable_named(&format!("leaf1-{spine}")).unwrap();
            record.links[setup.graph.links_of_cable(cable)[1].index()].sent.0
        });
        8.0 * links.iter().sum::<u64>() as f64
    };
    (bits(&late) - bits(&early)) / 20e-3 / 1e9
}

/// Section 3.4.1 of the paper: packets spread evenly over unequal paths are all as slow as the slowest.
#[test]
fn with_components_all_links_are_full_and_without_one_is_half_idle() {
    let (with, without) = (throughput(Components::Quiver), throughput(Components::None));
    assert!(with >= 0.95 * 120.0, "{with} Gb/s with components");
    assert!(without <= 0.90 * 120.0, "{without} Gb/s without");
}

/// The spines that a flow from leaf 3 to leaf 1 uses.
fn spines_of_flow(components: Components, n: u32) -> Vec<u64> {
    let mut setup = figure_4(components, (None, None), Convergence::Flooded);
    setup.flows = vec![lab::constant(
        Span::ZERO,
        3 * HOSTS + n % HOSTS,
        HOSTS + n / HOSTS,
        600_000,
        Rate::from_gbps(20),
    )]
    .into();
    let record = until(&setup, 2);
    ["spine0", "spine1", "spine2"].map(|spine| packets(&setup, &record, "leaf3", spine)).to_vec()
}

#[test]
fn a_flow_stays_in_its_component_and_uses_all_of_it() {
    let mut alone = 0;
    for n in 0..60 {
        match spines_of_flow(Components::Quiver, n)[..] {
            [all, 0, 0] if all > 300 => alone += 1,
            [0, one, other] if one > 100 && other > 100 => {}
            ref mixed => panic!("flow {n} uses {mixed:?}"),
        }
    }
    // A third of 60, within four standard deviations.
    assert!((6..=34).contains(&alone), "{alone} flows over spine 0");
    assert!(spines_of_flow(Components::None, 0).iter().all(|packets| *packets > 50));
}

/// A cable fails at 2 ms and comes back at 6 ms; a constant flow runs from leaf 3 to leaf 1, another to leaf 0.
fn changing(convergence: Convergence) -> Setup {
    let failure = (Some(Span::from_ms(2)), Some(Span::from_ms(6)));
    let mut setup = figure_4(Components::Quiver, failure, convergence);
    let flow = |n, to| lab::constant(Span::ZERO, 3 * HOSTS + n, to, 30_000_000, Rate::from_gbps(20));
    setup.flows = (0..4).map(|n| flow(n, HOSTS + n)).chain([flow(4, 0)]).collect();
    setup
}

/// Packets from leaf 3 to each spine between two instants.
fn between(setup: &Setup, ms: [u64; 2]) -> [u64; 3] {
    let [early, late] = ms.map(|ms| until(setup, ms));
    ["spine0", "spine1", "spine2"]
        .map(|spine| packets(setup, &late, "leaf3", spine) - packets(setup, &early, "leaf3", spine))
}

#[test]
fn components_are_replaced_when_a_cable_fails_and_when_it_is_back() {
    let setup = Setup {
        flows: changing(Convergence::Instant).flows.iter().take(1).collect(),
        ..changing(Convergence::Instant)
    };
    assert!(between(&setup, [1, 2]).iter().all(|packets| *packets > 300), "symmetric: all spines");
    let broken = between(&setup, [3, 6]);
    let alone = broken[0] > 0 && broken[1] == 0 && broken[2] == 0;
    let pair = broken[0] == 0 && broken[1] > 1_000 && broken[2] > 1_000;
    assert!(alone || pair, "one component: {broken:?}");
    assert!(between(&setup, [7, 9]).iter().all(|packets| *packets > 600), "symmetric again");
}

/// The packets lost on the way to leaf 0: those on the cable, and those sent to spine 0 until everybody knows.
#[test]
fn nothing_is_sent_to_a_removed_port() {
    let lost = |convergence| {
        let record = until(&changing(convergence), 9);
        let sum = |reason| record.drops.iter().filter(|d| d.reason == reason).map(|d| d.packets).sum::<u64>();
        (sum(Reason::LinkDown), sum(Reason::NoRoute))
    };
    // 20 Gb/s in 1538-byte packets, a third of them by spine 0.
    let per_ms = 20e9 / 3.0 / (8.0 * 1538.0) / 1e3;
    let (down, none) = lost(Convergence::Instant);
    assert!(down <= 20 && none == 0, "{down} and {none} with instant convergence");
    // Spine 0 knows at once that its own port is down, leaf 3 after 1 ms and the flooding.
    let (_, none) = lost(Convergence::Flooded);
    assert!((none as f64 - per_ms).abs() < 0.1 * per_ms, "{none} of about {per_ms}");
}

#[test]
fn in_a_symmetric_network_components_change_nothing() {
    let mut setup = lab::leaf_spine();
    setup.flows = lab::random_flows(&setup, 150, Span::from_us(200), 50_000).into();
    let record = |components| {
        let balancer = drill(components);
        let (failures, routing) = (Default::default(), RoutingSettings::default());
        let timeline = Arc::new(timeline(&setup.graph, &failures, &routing, balancer.grouping()));
        lab::run(Setup { balancer, timeline, ..setup.clone() })
    };
    let [with, without] = [Components::Quiver, Components::None].map(record);
    lab::laws::same(&with, &without).unwrap();
}

#[test]
fn any_number_of_threads_gives_the_same_record() {
    for convergence in [Convergence::Instant, Convergence::Flooded] {
        let setup = Setup { until: Time::ZERO + Span::from_ms(8), ..changing(convergence) };
        let alone = lab::run(setup.clone());
        assert!(alone.packets.delivered > 10_000);
        for domains in 2..=4 {
            let division = Division { scatter: (domains == 3).then_some(7), ..Division::threads(domains) };
            let divided = lab::run(Setup { division, ..setup.clone() });
            lab::laws::same(&alone, &divided).unwrap_or_else(|why| panic!("{domains} threads: {why}"));
        }
    }
}
