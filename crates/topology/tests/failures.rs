//! Failures are drawn by the rule, and switches learn of them when the protocol lets them.

use std::collections::BTreeSet;
use weft_core::{Grouping, PortId, Span, SwitchId, Time};
use weft_topology::shapes::leaf_spine::LeafSpineSettings;
use weft_topology::timeline::Convergence;
use weft_topology::{
    Change, FailureSettings, Graph, LinkState, Node, Outage, Routes, RoutingSettings, Timeline,
    TopologySettings, build, plan, timeline,
};

fn network(leaves: u32, spines: u32, parallel: u32) -> Graph {
    let settings = LeafSpineSettings { leaves, spines, parallel, hosts_per_leaf: 2, ..Default::default() };
    build(&TopologySettings::LeafSpine(settings)).unwrap()
}

fn random(n: u32) -> FailureSettings {
    FailureSettings { random: n, ..Default::default() }
}

fn named(name: &str, at: Option<Span>, repair_at: Option<Span>) -> FailureSettings {
    FailureSettings { cables: vec![name.to_owned()], at, repair_at, ..Default::default() }
}

fn drawn(graph: &Graph, settings: FailureSettings, seed: u64) -> Vec<usize> {
    plan(graph, &[settings], seed).unwrap().cables()
}

/// Whether every leaf can reach every other.
fn connected(graph: &Graph, state: &LinkState) -> bool {
    let routes = Routes::new(graph, state, Grouping::Together);
    let leaves = graph.leaves();
    let reaches = |a: &SwitchId, b: usize| *a == leaves[b] || !routes.ports(*a, b).is_empty();
    leaves.iter().all(|leaf| (0..leaves.len()).all(|other| reaches(leaf, other)))
}

#[test]
fn a_draw_takes_different_fabric_cables_and_depends_on_the_seed_only() {
    let graph = network(16, 4, 1);
    let fabric: BTreeSet<usize> = graph.fabric_cables().into_iter().collect();
    for n in [1, 5, 10] {
        let cables = drawn(&graph, random(n), 7);
        assert_eq!(cables.len(), n as usize);
        assert_eq!(cables.iter().collect::<BTreeSet<_>>().len(), n as usize);
        assert!(cables.iter().all(|cable| fabric.contains(cable)));
        assert_eq!(cables, drawn(&graph, random(n), 7));
    }
    let draws: BTreeSet<Vec<usize>> = (0..20).map(|seed| drawn(&graph, random(5), seed)).collect();
    assert!(draws.len() > 18);
}

#[test]
fn every_cable_is_drawn_equally_often() {
    let graph = network(4, 4, 1);
    let mut counts = vec![0.0f64; graph.cables().len()];
    for seed in 0..8000 {
        counts[drawn(&graph, random(1), seed)[0]] += 1.0;
    }
    let chi2: f64 = graph.fabric_cables().iter().map(|&cable| (counts[cable] - 500.0).powi(2) / 500.0).sum();
    assert!(chi2 < 37.70, "chi-square {chi2} with 15 degrees of freedom, 0.1 % point 37.70");
}

#[test]
fn draws_that_cut_a_leaf_off_are_rejected_and_valley_free_ones_keep_a_common_spine() {
    let graph = network(4, 2, 1);
    let mut detours = 0;
    for seed in 0..200 {
        let settings = FailureSettings { valley_free: seed % 2 == 0, ..random(3) };
        let state = plan(&graph, std::slice::from_ref(&settings), seed).unwrap().initial(&graph);
        assert!(connected(&graph, &state), "seed {seed}");
        let routes = Routes::new(&graph, &state, Grouping::Together);
        let leaves = graph.leaves();
        let common = |a: usize, b: usize| {
            let hop = |port: &PortId| graph.links_of(Node::Switch(leaves[a]))[usize::from(port.0)].to;
            routes.ports(leaves[a], b).iter().map(hop).any(|spine| {
                graph.cables_between(spine, Node::Switch(leaves[b])).iter().any(|&c| state.is_up(c))
            })
        };
        let all = (0..4).all(|a| (0..4).all(|b| a == b || common(a, b)));
        assert!(all || !settings.valley_free, "seed {seed}");
        detours += u32::from(!all);
    }
    assert!(detours > 10, "{detours}");
}

#[test]
fn what_cannot_fail_is_named() {
    let graph = network(4, 2, 2);
    let message = |entries: &[FailureSettings]| plan(&graph, entries, 1).unwrap_err()[0].to_string();
    let wrong = message(&[named("leaf0-spin1.0", None, None)]);
    assert!(wrong.starts_with(
        "failure[0].cables[0]: there is no cable called `leaf0-spin1.0`; did you mean `leaf0-spine1.0`?"
    ));
    assert!(
        message(&[named("leaf0-spine1", None, None)])
            .contains("is 2 cables; name `leaf0-spine1.0` to `leaf0-spine1.1`")
    );
    assert!(message(&[random(17)]).starts_with("failure[0].random: there are only 16 cables"));
    assert!(message(&[random(16)]).contains("none of 10000 random choices of 16 cables"));
    assert!(message(&[FailureSettings::default()]).contains("nothing fails here"));
    let twice = [named("leaf0-spine1.0", None, None), named("spine1-leaf0.0", None, None)];
    assert_eq!(
        message(&twice),
        "failure[1].cables[0]: `spine1-leaf0.0` is down from the start by this entry (failure[1]) and from the start \
         by failure[0]; a cable can fail again only after its repair: make `repair_at` of one no later than `at` of the \
         other, or list it in only one of them"
    );
    let cables = vec!["leaf0-spine1.0".to_owned(), "leaf0-spine1.*".to_owned()];
    let here = FailureSettings { cables, ..Default::default() };
    assert!(message(&[here]).starts_with("failure[0].cables[1]: `leaf0-spine1.*` is listed twice"));
    let early = named("leaf0-spine1.0", Some(Span::from_ms(2)), Some(Span::from_ms(1)));
    assert!(message(&[early]).starts_with("failure[0].repair_at"));
    let both = plan(&graph, &[named("leaf0-spine1.*", None, None)], 1).unwrap();
    assert_eq!(both.cables().len(), 2);
}

/// In any order and with every seed: a seed never decides whether a scenario is valid.
#[test]
fn random_draws_do_not_take_named_cables_whatever_the_order() {
    let graph = network(4, 2, 1);
    let all = |entries: &[FailureSettings], seed| plan(&graph, entries, seed).unwrap().cables();
    let named = || named("leaf0-spine0", None, None);
    for seed in 0..50 {
        for entries in [[named(), random(3)], [random(3), named()]] {
            assert_eq!(all(&entries, seed).len(), 4, "seed {seed}");
        }
        let both = FailureSettings { random: 3, ..named() };
        assert_eq!(all(&[both], seed).len(), 4, "seed {seed}");
        let two = [random(1), random(1), named()];
        assert_eq!(all(&two, seed).len(), 3, "seed {seed}");
    }
}

#[test]
fn a_draw_of_more_cables_than_are_left_says_how_many_are() {
    let graph = network(4, 2, 1);
    let named = named("leaf0-spine0", None, None);
    for seed in 0..10 {
        for entries in [[random(8), named.clone()], [named.clone(), random(8)]] {
            let problems = plan(&graph, &entries, seed).unwrap_err();
            let says = "only 7 cables between switches are left to choose from: other entries take 1 of 8";
            assert_eq!(problems.len(), 1);
            assert!(problems[0].to_string().ends_with(says), "{}", problems[0]);
        }
    }
    let cut = FailureSettings { cables: vec!["leaf0-spine0".into(), "leaf0-spine1".into()], ..random(1) };
    let problem = plan(&graph, &[cut], 1).unwrap_err()[0].to_string();
    assert!(problem.contains("those of other entries already separate leaves"), "{problem}");
}

/// Draws of single entries are as they were when this was written: studies refer to them.
#[test]
fn a_draw_without_named_cables_stays_what_it_was() {
    let graph = network(4, 4, 1);
    let names = |seed| {
        let plan = plan(&graph, &[random(2), random(1)], seed).unwrap();
        plan.outages
            .iter()
            .flat_map(|outage| &outage.cables)
            .map(|c| graph.cable_name(*c))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(1), ["leaf0-spine0", "leaf3-spine3", "leaf1-spine1"]);
    assert_eq!(names(2), ["leaf2-spine2", "leaf1-spine0", "leaf2-spine1"]);
}

#[test]
fn a_cable_fails_again_after_its_repair_and_not_before() {
    let graph = network(4, 2, 1);
    let ms = |n| Some(Span::from_ms(n));
    let outage = |at, repair| named("leaf0-spine0", at, repair);
    let overlaps = |entries: &[FailureSettings]| plan(&graph, entries, 1).is_err();
    let cases = [
        ([outage(ms(1), ms(2)), outage(ms(3), ms(4))], false),
        ([outage(ms(3), ms(4)), outage(ms(1), ms(2))], false),
        ([outage(ms(1), ms(2)), outage(ms(2), None)], false),
        ([outage(None, ms(2)), outage(ms(2), ms(3))], false),
        ([outage(None, ms(2)), outage(ms(0), ms(1))], true),
        ([outage(ms(1), ms(4)), outage(ms(2), ms(3))], true),
        ([outage(ms(1), None), outage(ms(2), ms(3))], true),
        ([outage(None, None), outage(ms(2), ms(3))], true),
        ([outage(ms(1), ms(3)), outage(ms(2), ms(4))], true),
    ];
    for (entries, wrong) in cases {
        assert_eq!(overlaps(&entries), wrong, "{entries:?}");
    }
    let three = [outage(ms(1), ms(2)), outage(ms(5), ms(7)), outage(ms(6), ms(8))];
    let message = plan(&graph, &three, 1).unwrap_err()[0].to_string();
    assert!(
        message.starts_with("failure[2].cables[0]: `leaf0-spine0` is down from 6 ms to 8 ms by this entry")
    );
    assert!(message.contains("from 5 ms to 7 ms by failure[1]"), "{message}");
}

/// Each failure and each repair is a separate event, whatever the order of the entries.
#[test]
fn a_flapping_cable_goes_down_and_up_each_time() {
    let graph = network(4, 2, 1);
    let cable = graph.cable_named("leaf0-spine0").unwrap();
    let outage = |at, repair| named("leaf0-spine0", Some(Span::from_ms(at)), Some(Span::from_ms(repair)));
    let routing = RoutingSettings { spf_delay: Span::from_us(100), ..RoutingSettings::default() };
    let timeline = play(&graph, &[outage(3, 4), outage(1, 2)], &routing);
    let of_cable = |&(at, change): &(Time, Change)| match change {
        Change::CableDown(_) | Change::CableUp(_) => Some((at.0 / 1_000_000_000, change)),
        _ => None,
    };
    let events: Vec<(u64, Change)> = timeline.changes.iter().filter_map(of_cable).collect();
    let (down, up) = (Change::CableDown(cable), Change::CableUp(cable));
    assert_eq!(events, [(1, down), (2, up), (3, down), (4, up)]);
    let whole = &timeline.states[0];
    let without = &timeline.states[1];
    assert_ne!(whole, without);
    assert_eq!(timeline.states, [whole, without, whole, without, whole].map(Clone::clone));
    for switch in 0..graph.switches().len() as u32 {
        let own = |(_, change): &(Time, Change)| match change {
            Change::Install { switch: at, state } if at.0 == switch => Some(*state),
            _ => None,
        };
        let installed: Vec<usize> = timeline.changes.iter().filter_map(own).collect();
        assert_eq!(installed, [1, 2, 3, 4], "switch {switch} learns of each");
    }
}

/// The second failure comes while the computation for the first is pending, and is part of its result; a repair in
/// that time leaves nothing to change.
#[test]
fn a_computation_takes_all_that_was_heard_before_it() {
    let graph = network(2, 3, 1);
    let routing = RoutingSettings { spf_delay: Span::from_ms(50), ..RoutingSettings::default() };
    let installed = |failures: &[FailureSettings], switch: u32| -> Vec<(u64, usize)> {
        let timeline = play(&graph, failures, &routing);
        let own = |(time, change): &(Time, Change)| match change {
            Change::Install { switch: at, state } if at.0 == switch => Some((time.0 / 1_000_000_000, *state)),
            _ => None,
        };
        timeline.changes.iter().filter_map(own).collect()
    };
    let ms = |at| Some(Span::from_ms(at));
    let two = [named("leaf1-spine0", ms(2), None), named("leaf1-spine1", ms(40), None)];
    assert_eq!(installed(&two, 0), [(52, 2)], "one installation, of the state after both");
    let late = [named("leaf1-spine0", ms(2), None), named("leaf1-spine1", ms(60), None)];
    assert_eq!(installed(&late, 0), [(52, 1), (110, 2)]);
    let flap = [named("leaf1-spine0", ms(2), ms(6))];
    assert_eq!(installed(&flap, 0), [(52, 2)], "the state with all cables");
}

#[test]
fn outages_that_touch_are_one() {
    let graph = network(4, 2, 1);
    let outage =
        |at: Option<u64>, repair| named("leaf0-spine0", at.map(Span::from_ms), Some(Span::from_ms(repair)));
    let routing = RoutingSettings::default();
    for start in [None, Some(1)] {
        let one = play(&graph, &[outage(start, 4)], &routing);
        assert_eq!(play(&graph, &[outage(start, 2), outage(Some(2), 4)], &routing), one);
        assert_eq!(play(&graph, &[outage(Some(2), 4), outage(start, 2)], &routing), one);
    }
}

fn play(graph: &Graph, failures: &[FailureSettings], routing: &RoutingSettings) -> Timeline {
    timeline(graph, &plan(graph, failures, 1).unwrap(), routing, Grouping::Together)
}

fn micros(us: u64) -> Time {
    Time(us * 1_000_000)
}

#[test]
fn failures_before_the_run_are_already_routed_around() {
    let graph = network(4, 2, 1);
    let timeline = play(&graph, &[named("leaf0-spine0", None, None)], &RoutingSettings::default());
    assert!(timeline.changes.is_empty());
    assert_eq!(timeline.states.len(), 1);
    assert_eq!(timeline.initial.down().collect::<Vec<_>>(), [graph.cable_named("leaf0-spine0").unwrap()]);
    assert_eq!(timeline.states[0], Routes::new(&graph, &timeline.initial, Grouping::Together));
    // leaf 1 goes to leaf 0 by spine 1 only
    assert_eq!(timeline.states[0].ports(SwitchId(1), 0), [PortId(3)]);
}

#[test]
fn the_news_travels_hop_by_hop() {
    // 0.5 us and 10 us of processing per hop, 50 ms until shortest paths are computed
    let graph = network(4, 2, 1);
    let timeline =
        play(&graph, &[named("leaf0-spine0", Some(Span::from_ms(1)), None)], &RoutingSettings::default());
    let cable = graph.cable_named("leaf0-spine0").unwrap();
    let at = |nanos: u64| Time((1_000_000 + nanos) * 1000);
    let wait = 50_000_000;
    let install = |hops: u64, switch: u32| {
        (at(wait + hops * 10_500), Change::Install { switch: SwitchId(switch), state: 1 })
    };
    let expected = [
        (at(0), Change::CableDown(cable)),
        (at(0), Change::LocalDown { switch: SwitchId(0), port: PortId(2) }),
        (at(0), Change::LocalDown { switch: SwitchId(4), port: PortId(0) }),
        install(0, 0),
        install(0, 4),
        // spine 1 hears from leaf 0, the other leaves from spine 0
        install(1, 1),
        install(1, 2),
        install(1, 3),
        install(1, 5),
    ];
    assert_eq!(timeline.changes, expected);
    let mut state = timeline.initial.clone();
    state.set(cable, false);
    assert_eq!(timeline.states[1], Routes::new(&graph, &state, Grouping::Together));
}

#[test]
fn a_repair_brings_the_first_routes_back() {
    let graph = network(4, 2, 1);
    let routing =
        RoutingSettings { detection: Span::from_us(30), install: Span::from_us(7), ..Default::default() };
    let failure = named("leaf0-spine0", Some(Span::from_ms(1)), Some(Span::from_ms(200)));
    let timeline = play(&graph, &[failure], &routing);
    assert_eq!(timeline.states[2], timeline.states[0]);
    let ups: Vec<_> =
        timeline.changes.iter().filter(|(_, change)| matches!(change, Change::LocalUp { .. })).collect();
    assert_eq!(ups.len(), 2);
    assert!(ups.iter().all(|(at, _)| *at == micros(200_030)));
    let last = timeline.changes.last().unwrap();
    assert_eq!(last.0, Time(micros(200_030 + 50_007).0 + 10_500_000));
    assert_eq!(
        timeline.changes.iter().filter(|(_, change)| matches!(change, Change::Install { .. })).count(),
        12
    );
}

#[test]
fn ideal_knowledge_is_instant_and_everywhere() {
    let graph = network(4, 2, 1);
    let routing = RoutingSettings { convergence: Convergence::Instant, ..Default::default() };
    let timeline = play(&graph, &[named("leaf0-spine0", Some(Span::from_ms(1)), None)], &routing);
    assert!(timeline.changes.iter().all(|(at, _)| *at == micros(1000)));
    assert_eq!(timeline.changes.len(), 3 + 6);
}

#[test]
fn a_switch_that_is_cut_off_keeps_what_it_knows_and_the_rest_goes_on() {
    let graph = network(3, 1, 1);
    let cables = ["leaf0-spine0", "leaf1-spine0"].map(str::to_owned).to_vec();
    let failure = FailureSettings { cables, at: Some(Span::from_ms(1)), ..Default::default() };
    let timeline = play(&graph, &[failure], &RoutingSettings::default());
    let installs: Vec<u32> = timeline
        .changes
        .iter()
        .filter_map(
            |(_, change)| if let Change::Install { switch, .. } = change { Some(switch.0) } else { None },
        )
        .collect();
    // leaf 0 and leaf 1 know of their own cable only, but each computes; the spine and leaf 2 hear of both
    assert_eq!(installs, [0, 1, 3, 2]);
    assert!(timeline.states[1].ports(SwitchId(3), 0).is_empty());
}

#[test]
fn a_later_state_is_never_replaced_by_an_earlier_one() {
    let graph = network(4, 2, 1);
    let failures = [
        named("leaf0-spine0", Some(Span::from_ms(1)), None),
        named("leaf3-spine1", Some(Span::from_us(1005)), None),
    ];
    let timeline = play(&graph, &failures, &RoutingSettings::default());
    assert!(timeline.changes.is_sorted());
    for switch in 0..6 {
        let own = |(_, change): &(Time, Change)| match change {
            Change::Install { switch: at, state } if at.0 == switch => Some(*state),
            _ => None,
        };
        let states: Vec<usize> = timeline.changes.iter().filter_map(own).collect();
        assert!(states.is_sorted() && states.last() == Some(&2), "switch {switch}: {states:?}");
    }
}

#[test]
fn an_outage_is_plain_data() {
    let graph = network(2, 2, 1);
    let plan = plan(&graph, &[named("leaf1-spine1", Some(Span::from_us(3)), None)], 1).unwrap();
    let cables = vec![graph.cable_named("leaf1-spine1").unwrap()];
    assert_eq!(plan.outages, [Outage { cables, at: Some(micros(3)), repair: None }]);
    assert_eq!(plan.initial(&graph), LinkState::all_up(&graph));
}

#[test]
fn cables_are_down_from_failures_to_repairs() {
    let graph = network(2, 3, 1);
    let at = |us| Time::ZERO + Span::from_us(us);
    let first = named("leaf0-spine0", None, Some(Span::from_us(5)));
    let again = named("leaf0-spine0", Some(Span::from_us(7)), Some(Span::from_us(9)));
    let last = named("leaf1-spine2", Some(Span::from_us(8)), None);
    let plan = plan(&graph, &[first, again, last], 1).expect("cables of the network");
    let timeline = timeline(&graph, &plan, &RoutingSettings::default(), Grouping::Together);
    let down: Vec<Vec<(Time, Time)>> =
        timeline.downtimes(graph.cables().len()).into_iter().filter(|down| !down.is_empty()).collect();
    assert_eq!(down, [vec![(at(0), at(5)), (at(7), at(9))], vec![(at(8), Time::NEVER)]]);
}
