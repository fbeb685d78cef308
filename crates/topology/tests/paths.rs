//! Paths and their labels in fabrics whose paths can be counted by hand.

use std::collections::BTreeSet;

use weft_core::{Grouping, PortId, Rate};
use weft_topology::paths::{Path, paths};
use weft_topology::shapes::{fat_tree::FatTreeSettings, leaf_spine::LeafSpineSettings};
use weft_topology::{Graph, LinkSettings, LinkState, Routes, TopologySettings, Wiring, build};

fn between(graph: &Graph, down: &[&str], from: usize, to: usize) -> Vec<Path> {
    let mut state = LinkState::all_up(graph);
    down.iter().for_each(|name| state.set(graph.cable_named(name).expect("the cable exists"), false));
    paths(graph, &Routes::new(graph, &state, Grouping::Together), from, to).expect("labels have room")
}

fn distinct(paths: &[Path]) -> usize {
    paths.iter().map(|path| path.label).collect::<BTreeSet<_>>().len()
}

#[test]
fn a_leaf_spine_has_a_path_for_each_spine_and_parallel_link() {
    let settings = LeafSpineSettings { leaves: 3, spines: 4, hosts_per_leaf: 2, ..Default::default() };
    let graph = build(&TopologySettings::LeafSpine(settings.clone())).expect("valid");
    let single = between(&graph, &[], 0, 2);
    assert_eq!(single.len(), 4);
    // Hosts have ports 0 and 1; the spine has no choice.
    let ports: Vec<_> =
        single.iter().map(|path| path.label.port(1).expect("the leaf has a choice").0).collect();
    assert_eq!(ports, [2, 3, 4, 5]);
    assert!(single.iter().all(|path| path.label.port(2).is_none()));
    let double = build(&TopologySettings::LeafSpine(LeafSpineSettings { parallel: 2, ..settings })).unwrap();
    let all = between(&double, &[], 0, 2);
    assert_eq!((all.len(), distinct(&all)), (16, 16), "2 up and 2 down by each of 4 spines");
    assert_eq!(between(&graph, &["leaf0-spine1", "leaf2-spine3"], 0, 2).len(), 2);
    assert_eq!(between(&graph, &[], 1, 1), [Path { label: Default::default(), capacity: Rate(u64::MAX) }]);
}

#[test]
fn a_fat_tree_has_a_path_for_each_core() {
    let graph = build(&TopologySettings::FatTree(FatTreeSettings { k: 4, ..Default::default() })).unwrap();
    let (near, far) = (between(&graph, &[], 0, 1), between(&graph, &[], 0, 7));
    assert_eq!((near.len(), far.len(), distinct(&far)), (2, 4, 4));
    assert!(far.iter().all(|path| path.label.port(1).is_some() && path.label.port(2).is_some()));
    assert!(far.iter().all(|path| path.label.port(3).is_none()), "a core has one way down");
}

#[test]
fn the_slowest_link_is_the_capacity_of_a_path() {
    let mut wiring = Wiring::default();
    let gbps = |rate| LinkSettings::of(Rate::from_gbps(rate));
    let (leaves, spines) = (wiring.switches("leaf", 2), wiring.switches("spine", 2));
    leaves.iter().for_each(|leaf| wiring.hosts_on(*leaf, 1, &gbps(10)));
    for (leaf, spine, rate) in [(0, 0, 40), (0, 1, 10), (1, 0, 25), (1, 1, 100)] {
        wiring.cable(leaves[leaf], spines[spine], &gbps(rate));
    }
    let graph = wiring.finish().expect("valid");
    let rates: Vec<_> = between(&graph, &[], 0, 1).iter().map(|path| path.capacity).collect();
    assert_eq!(rates, [Rate::from_gbps(25), Rate::from_gbps(10)]);
    assert!(between(&graph, &["leaf0-spine0", "leaf0-spine1"], 0, 1).is_empty());
}

/// What WCMP, DRILL's components and its paper (`p.cap`) call the capacity of a path: the minimum over its bundles.
#[test]
fn parallel_cables_share_the_capacity_of_their_bundle() {
    let mut wiring = Wiring::default();
    let gbps = |rate| LinkSettings::of(Rate::from_gbps(rate));
    let (leaves, spines) = (wiring.switches("leaf", 2), wiring.switches("spine", 4));
    leaves.iter().for_each(|leaf| wiring.hosts_on(*leaf, 1, &gbps(10)));
    // up and down: 2 and 2 cables, 2 and 1, 1 and 1, 1 and cables of 30 and 10 Gbps
    let cables: [(usize, usize, &[u64]); 8] = [
        (0, 0, &[10, 10]),
        (0, 1, &[10, 10]),
        (0, 2, &[10]),
        (0, 3, &[20]),
        (1, 0, &[10, 10]),
        (1, 1, &[10]),
        (1, 2, &[10]),
        (1, 3, &[30, 10]),
    ];
    for (leaf, spine, rates) in cables {
        rates.iter().for_each(|rate| wiring.cable(leaves[leaf], spines[spine], &gbps(*rate)));
    }
    let graph = wiring.finish().expect("valid");
    let all = between(&graph, &[], 0, 1);
    let rates: Vec<_> = all.iter().map(|path| path.capacity.0 / 1_000_000_000).collect();
    assert_eq!(rates, [5, 5, 5, 5, 5, 5, 10, 15, 5]);
    let of_bundles = [20, 10, 10, 20];
    assert_eq!(rates.iter().sum::<u64>(), of_bundles.iter().sum());
}

/// The paper's figure 4a without the link of L0 and S0: all remaining paths from L3 to L1 have equal weights.
#[test]
fn a_failure_elsewhere_leaves_the_weights_of_other_pairs_equal() {
    let settings = LeafSpineSettings { leaves: 4, spines: 3, hosts_per_leaf: 2, ..Default::default() };
    let graph = build(&TopologySettings::LeafSpine(settings)).expect("valid");
    let rates = |from, to| -> Vec<_> {
        between(&graph, &["leaf0-spine0"], from, to).iter().map(|path| path.capacity).collect()
    };
    assert_eq!(rates(3, 1), [Rate::from_gbps(40); 3]);
    assert_eq!(rates(3, 0), [Rate::from_gbps(40); 2]);
}

#[test]
fn more_ports_than_a_label_can_name_are_refused() {
    let settings =
        |hosts| LeafSpineSettings { leaves: 2, spines: 2, hosts_per_leaf: hosts, ..Default::default() };
    let all = |hosts| {
        let graph = build(&TopologySettings::LeafSpine(settings(hosts))).expect("valid");
        let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
        paths(&graph, &routes, 0, 1)
    };
    assert_eq!(
        all(253).expect("port 254 is the last").last().and_then(|path| path.label.port(1)),
        Some(PortId(254))
    );
    assert_eq!(all(254), None);
}
