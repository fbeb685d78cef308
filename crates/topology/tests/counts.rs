//! Every topology has the published counts, numbers, names, capacities and path lengths.

use std::collections::BTreeSet;
use std::path::Path;
use weft_core::settings::Share;
use weft_core::{Grouping, HostId, LinkId, PortId, Rate, Span, SwitchId};
use weft_topology::shapes::{
    diamond::DiamondSettings,
    dumbbell::DumbbellSettings,
    explicit::{self, ExplicitSettings},
    fat_tree::FatTreeSettings,
    full_mesh::FullMeshSettings,
    leaf_spine::{self, LeafSpineSettings},
    parking_lot::ParkingLotSettings,
    pods_and_planes::PodsAndPlanesSettings,
    single_switch::SingleSwitchSettings,
    vl2::Vl2Settings,
};
use weft_topology::{Graph, LinkSettings, LinkState, Node, Routes, TopologySettings, build, build_in};

fn gbps(rate: u64) -> LinkSettings {
    LinkSettings::of(Rate::from_gbps(rate))
}

fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, fabric: u64) -> LeafSpineSettings {
    LeafSpineSettings { leaves, spines, hosts_per_leaf, fabric_link: gbps(fabric), ..Default::default() }
}

fn built(settings: LeafSpineSettings) -> Graph {
    build(&TopologySettings::LeafSpine(settings)).unwrap()
}

fn fat_tree(k: u32, oversubscription: u32) -> Graph {
    let settings = FatTreeSettings { k, oversubscription, ..Default::default() };
    build(&TopologySettings::FatTree(settings)).unwrap()
}

/// The heterogeneous network: leaf i has two cables to spines i and i+1.
fn doubled() -> LeafSpineSettings {
    let pair = |leaf, spine| leaf_spine::Unequal { leaf, spine, count: Some(2), ..Default::default() };
    let unequal = (0..16).flat_map(|leaf| [pair(leaf, leaf), pair(leaf, (leaf + 1) % 16)]).collect();
    LeafSpineSettings { unequal, ..leaf_spine(16, 16, 48, 10) }
}

fn fabric_and_host_cables(graph: &Graph) -> (usize, usize) {
    let fabric = graph.fabric_cables().len();
    (fabric, graph.cables().len() - fabric)
}

#[test]
fn the_networks_of_the_drill_paper_have_its_cables() {
    assert_eq!(fabric_and_host_cables(&built(leaf_spine(16, 4, 20, 40))), (64, 320));
    assert_eq!(fabric_and_host_cables(&built(leaf_spine(16, 16, 20, 10))), (256, 320));
    assert_eq!(fabric_and_host_cables(&built(leaf_spine(48, 48, 48, 10))), (2304, 2304));
    assert_eq!(fabric_and_host_cables(&built(doubled())), (288, 768));
}

#[test]
fn bisection_and_uplink_capacity() {
    let capacity = |settings| {
        let graph = built(settings);
        graph.uplink_capacity(&LinkState::all_up(&graph))
    };
    let half = |settings| capacity(settings)[..8].iter().copied().sum::<Rate>();
    assert_eq!(half(leaf_spine(16, 4, 20, 40)), Rate::from_gbps(1280));
    assert_eq!(half(leaf_spine(16, 20, 20, 10)), Rate::from_gbps(1600));
    assert_eq!(capacity(doubled()), vec![Rate::from_gbps(180); 16]);
}

#[test]
fn one_failure_leaves_63_of_64_of_the_capacity() {
    let graph = built(leaf_spine(16, 4, 20, 40));
    let mut state = LinkState::all_up(&graph);
    state.set(graph.cable_named("leaf5-spine2").unwrap(), false);
    let left: Rate = graph.uplink_capacity(&state).into_iter().sum();
    assert_eq!(left, Rate(2_560_000_000_000 / 64 * 63));
}

#[test]
fn every_spine_of_the_heterogeneous_network_has_18_ports() {
    let graph = built(doubled());
    for spine in 16..32 {
        assert_eq!(graph.links_of(Node::Switch(SwitchId(spine))).len(), 18);
    }
}

#[test]
fn leaf_spine_ports_are_hosts_then_uplinks_and_spine_ports_are_leaves() {
    let graph = built(LeafSpineSettings { parallel: 2, ..leaf_spine(3, 2, 4, 40) });
    let (leaf1, spine1) = (Node::Switch(SwitchId(1)), Node::Switch(SwitchId(4)));
    let to: Vec<String> = graph.links_of(leaf1).iter().map(|link| graph.name(link.to)).collect();
    assert_eq!(to, ["host4", "host5", "host6", "host7", "spine0", "spine0", "spine1", "spine1"]);
    let to: Vec<String> = graph.links_of(spine1).iter().map(|link| graph.name(link.to)).collect();
    assert_eq!(to, ["leaf0", "leaf0", "leaf1", "leaf1", "leaf2", "leaf2"]);
    let uplinks: Vec<LinkId> = graph.uplinks(SwitchId(1)).collect();
    assert_eq!(uplinks[0], graph.link_at(leaf1, PortId(4)));
    assert_eq!(uplinks.len(), 4);
}

#[test]
fn cables_have_names() {
    let graph = built(LeafSpineSettings { parallel: 2, ..leaf_spine(3, 2, 4, 40) });
    for cable in 0..graph.cables().len() {
        assert_eq!(graph.cable_named(&graph.cable_name(cable)), Some(cable));
    }
    assert_eq!(graph.cable_named("spine1-leaf0.1"), graph.cable_named("leaf0-spine1.1"));
    assert_eq!(graph.cables_named("leaf0-spine1").unwrap().len(), 2);
    assert_eq!(graph.cable_name(graph.cable_named("leaf0-host3").unwrap()), "host3-leaf0");
    assert_eq!(graph.cable_named("leaf0-spine1.2"), None);
    assert_eq!(graph.cable_named("leaf0-leaf1"), None);
}

#[test]
fn links_are_sorted_and_reverse_is_an_involution() {
    for graph in [built(doubled()), fat_tree(4, 2)] {
        let keys: Vec<_> = graph.links().iter().map(|link| (link.from, link.port)).collect();
        assert!(keys.is_sorted());
        for (index, link) in graph.links().iter().enumerate() {
            let id = LinkId(index as u32);
            let back = graph.reverse(id);
            assert_eq!(graph.reverse(back), id);
            assert_eq!(graph.links()[back.index()].from, link.to);
            assert!(graph.links_of_cable(link.cable).contains(&id));
            assert_eq!(graph.link_at(link.from, link.port), id);
        }
    }
}

/// The instance of the DRILL paper: 16 racks of 20 hosts, 8 aggregations, 4 intermediates; as much up as down.
#[test]
fn vl2_counts_and_paths() {
    let graph = build(&TopologySettings::Vl2(Vl2Settings::default())).unwrap();
    assert_eq!((graph.hosts(), graph.switches().len()), (320, 28));
    assert_eq!(fabric_and_host_cables(&graph), (64, 320));
    let capacity = graph.uplink_capacity(&LinkState::all_up(&graph));
    assert_eq!(capacity, vec![Rate::from_gbps(20); 16]);
    let above = |rack: u32| {
        let uplinks = graph.uplinks(SwitchId(rack));
        uplinks.map(|link| graph.name(graph.links()[link.index()].to)).collect::<Vec<_>>()
    };
    assert_eq!((above(0), above(3)), (above(1), above(2)));
    assert_eq!(
        (above(3), above(4)),
        (vec!["agg0".into(), "agg1".into()], vec!["agg2".into(), "agg3".into()])
    );
    let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
    let groups: BTreeSet<usize> = (0..16).map(|leaf| routes.ports(SwitchId(16), leaf).len()).collect();
    assert_eq!(groups, BTreeSet::from([1, 4]), "down by one port, across by all intermediates");
}

#[test]
fn pods_and_planes_counts_and_names() {
    let graph = build(&TopologySettings::PodsAndPlanes(PodsAndPlanesSettings::default())).unwrap();
    assert_eq!((graph.hosts(), graph.switches().len()), (24, 6 + 6 + 4));
    assert_eq!(fabric_and_host_cables(&graph), (12 + 12, 24));
    // plane 0 holds fabric0, 2, 4 and spines 0 and 1
    assert!(graph.cable_named("fabric4-spine0").is_some() && graph.cable_named("fabric4-spine2").is_none());
    assert!(graph.cable_named("fabric5-spine2").is_some() && graph.cable_named("tor5-fabric4").is_some());
    let facebook = PodsAndPlanesSettings {
        pods: 4,
        racks_per_pod: 48,
        planes: 4,
        spines_per_plane: 48,
        hosts_per_rack: 48,
        ..Default::default()
    };
    let graph = build(&TopologySettings::PodsAndPlanes(facebook)).unwrap();
    assert_eq!(fabric_and_host_cables(&graph), (4 * 48 * 4 + 4 * 4 * 48, 4 * 48 * 48));
    let capacity = graph.uplink_capacity(&LinkState::all_up(&graph));
    assert!(capacity.iter().all(|up| *up == Rate::from_gbps(160)), "3:1 against 48 hosts of 10 Gb/s");
}

/// Four in ten cables have a tenth of the rate; every leaf keeps one of full rate, and another draw slows others.
#[test]
fn slow_cables_are_drawn_with_their_probability() {
    let slowed = |share, draw| {
        let slow = leaf_spine::Slow { rate: Rate::from_gbps(1), share: Share(share), draw: Some(draw) };
        built(LeafSpineSettings { slow: Some(slow), ..leaf_spine(48, 48, 1, 10) })
    };
    let slow_of = |graph: &Graph, leaf: u32| {
        let uplinks = graph.uplinks(SwitchId(leaf));
        uplinks.map(|link| graph.links()[link.index()].rate == Rate::from_gbps(1)).collect::<Vec<_>>()
    };
    let all = |graph: &Graph| (0..48).flat_map(|leaf| slow_of(graph, leaf)).collect::<Vec<_>>();
    let (one, two) = (all(&slowed(0.4, 1)), all(&slowed(0.4, 2)));
    let count = one.iter().filter(|slow| **slow).count() as f64;
    let sigma = (2304.0 * 0.4 * 0.6_f64).sqrt();
    assert!((count - 921.6).abs() < 4.0 * sigma, "{count}");
    assert_ne!(one, two);
    assert_eq!(one, all(&slowed(0.4, 1)));
    let worst = slowed(1.0, 1);
    let kept: Vec<_> =
        (0..48).map(|leaf| slow_of(&worst, leaf).iter().position(|slow| !slow).unwrap()).collect();
    assert!((0..48).all(|leaf| slow_of(&worst, leaf).iter().filter(|slow| !**slow).count() == 1));
    assert!(kept.iter().collect::<BTreeSet<_>>().len() > 20, "not always the same spine: {kept:?}");
}

/// As random failures are: balancers can then be compared over several draws.
#[test]
fn slow_cables_are_drawn_with_the_seed_of_the_run() {
    let rates = |draw, seed| -> Vec<Rate> {
        let slow = leaf_spine::Slow { rate: Rate::from_gbps(1), share: Share(0.4), draw };
        let settings = LeafSpineSettings { slow: Some(slow), ..leaf_spine(8, 8, 1, 10) };
        let graph = build_in(&TopologySettings::LeafSpine(settings), Path::new(""), seed).unwrap();
        graph.links().iter().map(|link| link.rate).collect()
    };
    assert_ne!(rates(None, 1), rates(None, 2));
    assert_eq!(rates(None, 2), rates(Some(2), 1), "a fixed draw is that of the seed of this number");
    assert_eq!(rates(Some(2), 1), rates(Some(2), 7));
}

#[test]
fn what_would_slow_nothing_down_is_an_error() {
    let told = |rate, share| {
        let slow = leaf_spine::Slow { rate, share: Share(share), draw: None };
        let settings = LeafSpineSettings { slow: Some(slow), ..leaf_spine(4, 4, 1, 10) };
        build(&TopologySettings::LeafSpine(settings)).unwrap_err()[0].path.clone()
    };
    assert_eq!(told(Rate::from_gbps(10), 0.4), "topology.leaf-spine.slow.rate");
    assert_eq!(told(Rate(0), 0.4), "topology.leaf-spine.slow.rate");
    assert_eq!(told(Rate::from_gbps(1), 0.0), "topology.leaf-spine.slow.share");
    let slow = leaf_spine::Slow { rate: Rate::from_gbps(1), share: Share(1.0), draw: None };
    let settings = LeafSpineSettings { slow: Some(slow), ..leaf_spine(4, 1, 1, 10) };
    let alone = build(&TopologySettings::LeafSpine(settings)).unwrap_err();
    assert!(alone[0].message.contains("each has only one"), "{alone:?}");
}

#[test]
fn a_cable_on_which_flows_outlast_the_clock_is_an_error() {
    let mut settings = leaf_spine(2, 2, 1, 10);
    settings.host_link.rate = Rate(1);
    let problems = build(&TopologySettings::LeafSpine(settings)).unwrap_err();
    assert!(problems[0].message.contains("at least 1 kbps"), "{problems:?}");
}

#[test]
fn more_leaves_than_can_be_numbered_are_an_error() {
    let settings = Vl2Settings {
        aggregation_ports: 512,
        intermediate_ports: 514,
        hosts_per_rack: 1,
        ..Default::default()
    };
    let problems = build(&TopologySettings::Vl2(settings)).unwrap_err();
    assert!(problems[0].message.contains("65792 switches have hosts"), "{problems:?}");
}

#[test]
fn fat_tree_counts() {
    let graph = fat_tree(4, 1);
    assert_eq!((graph.hosts(), graph.switches().len(), graph.cables().len()), (16, 20, 48));
    let tiers: Vec<u8> = graph.switches().iter().map(|switch| switch.tier).collect();
    assert_eq!(tiers, [[1; 8].as_slice(), &[2; 8], &[3; 4]].concat());
    assert_eq!(fat_tree(6, 1).hosts(), 54);
    assert_eq!(fat_tree(4, 3).hosts(), 48);
    let graph = fat_tree(8, 1);
    // R2 of the benchmarks: host h under edge switch h/4
    assert_eq!(graph.switch_of_host(HostId(127)), SwitchId(31));
    // core c joins aggregation c/(k/2) of each pod
    for core in 0..16u32 {
        let links = graph.links_of(Node::Switch(SwitchId(64 + core)));
        let to: Vec<String> = links.iter().map(|link| graph.name(link.to)).collect();
        assert_eq!(to, (0..8).map(|pod| format!("agg{}", pod * 4 + core / 4)).collect::<Vec<_>>());
    }
}

/// Number of switches on each way from `switch` to a leaf, by following every port of every group.
fn path_lengths(
    graph: &Graph,
    routes: &Routes,
    (switch, leaf): (SwitchId, usize),
) -> (BTreeSet<usize>, usize) {
    if routes.switches[switch.index()].leaf == Some(leaf as u16) {
        return (BTreeSet::from([1]), 1);
    }
    let (mut lengths, mut paths) = (BTreeSet::new(), 0);
    for port in routes.ports(switch, leaf) {
        let Node::Switch(next) = graph.links_of(Node::Switch(switch))[usize::from(port.0)].to else {
            panic!("a route to another leaf ends at a host");
        };
        let (longer, more) = path_lengths(graph, routes, (next, leaf));
        lengths.extend(longer.iter().map(|length| length + 1));
        paths += more;
    }
    (lengths, paths)
}

fn lengths_between(graph: &Graph, a: usize, b: usize) -> (Vec<usize>, usize) {
    let routes = Routes::new(graph, &LinkState::all_up(graph), Grouping::Together);
    let (lengths, paths) = path_lengths(graph, &routes, (graph.leaves()[a], b));
    (lengths.into_iter().collect(), paths)
}

#[test]
fn path_lengths_and_numbers() {
    assert_eq!(lengths_between(&built(leaf_spine(16, 4, 20, 40)), 2, 9), (vec![3], 4));
    assert_eq!(lengths_between(&built(doubled()), 0, 1), (vec![3], 16 + 1 + 3 + 1));
    let tree = fat_tree(6, 1);
    assert_eq!(lengths_between(&tree, 0, 1), (vec![3], 3));
    assert_eq!(lengths_between(&tree, 0, 17), (vec![5], 9));
    assert_eq!(lengths_between(&tree, 4, 4), (vec![1], 1));
}

fn small_networks() -> Vec<(TopologySettings, [usize; 3])> {
    vec![
        (TopologySettings::Dumbbell(DumbbellSettings { hosts_per_side: 3, ..Default::default() }), [6, 2, 7]),
        (TopologySettings::ParkingLot(ParkingLotSettings { switches: 5, ..Default::default() }), [5, 5, 9]),
        (TopologySettings::SingleSwitch(SingleSwitchSettings { hosts: 8, ..Default::default() }), [8, 1, 8]),
        (TopologySettings::Diamond(DiamondSettings { hosts_per_leaf: 2, ..Default::default() }), [4, 4, 8]),
        (TopologySettings::FullMesh(FullMeshSettings { switches: 6, ..Default::default() }), [6, 6, 6 + 15]),
    ]
}

#[test]
fn small_networks_have_their_counts_and_reach_everybody() {
    for (settings, counts) in small_networks() {
        let graph = build(&settings).unwrap();
        assert_eq!(
            [graph.hosts() as usize, graph.switches().len(), graph.cables().len()],
            counts,
            "{settings:?}"
        );
        let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
        for (a, &leaf) in graph.leaves().iter().enumerate() {
            for b in 0..graph.leaves().len() {
                assert!(path_lengths(&graph, &routes, (leaf, b)).1 > 0, "{settings:?} {a} {b}");
            }
        }
        for host in 0..graph.hosts() {
            let port = routes.port_of_host[host as usize];
            let leaf = Node::Switch(graph.switch_of_host(HostId(host)));
            assert_eq!(graph.links_of(leaf)[usize::from(port.0)].to, Node::Host(HostId(host)));
        }
    }
}

#[test]
fn the_paths_of_a_diamond_keep_their_rates() {
    let settings = DiamondSettings { path_a: gbps(1), path_b: gbps(25), ..Default::default() };
    let graph = build(&TopologySettings::Diamond(settings)).unwrap();
    let rate = |cable: &str| graph.cables()[graph.cable_named(cable).unwrap()].rate;
    assert_eq!((rate("leaf0-spine0"), rate("leaf1-spine0")), (Rate::from_gbps(1), Rate::from_gbps(1)));
    assert_eq!((rate("leaf0-spine1"), rate("leaf1-spine1")), (Rate::from_gbps(25), Rate::from_gbps(25)));
}

/// 20 hosts at 10 Gbps and 4 spines: 3:1 needs uplinks of 200 / 12 Gbps, 1:1 of 50 Gbps.
#[test]
fn oversubscription_gives_the_rate_of_the_fabric() {
    let rate = |ratio: f64, parallel: u32| {
        let settings = LeafSpineSettings { oversubscription: Some(ratio), parallel, ..Default::default() };
        let graph = build(&TopologySettings::LeafSpine(settings)).unwrap();
        graph.cables()[graph.cable_named("leaf0-spine0").or(graph.cable_named("leaf0-spine0.0")).unwrap()]
            .rate
    };
    assert_eq!(rate(3.0, 1), Rate(16_666_666_666));
    assert_eq!(rate(1.0, 1), Rate::from_gbps(50));
    assert_eq!(rate(1.0, 2), Rate::from_gbps(25));
}

#[test]
fn settings_that_do_not_fit_are_named() {
    let message = |settings: TopologySettings| build(&settings).unwrap_err()[0].to_string();
    let odd = FatTreeSettings { k: 5, ..Default::default() };
    assert!(
        message(TopologySettings::FatTree(odd)).starts_with("topology.fat-tree.k: k is 5; it must be even")
    );
    let pair = leaf_spine::Unequal { leaf: 99, ..Default::default() };
    let unequal = LeafSpineSettings { unequal: vec![pair], ..Default::default() };
    let text = message(TopologySettings::LeafSpine(unequal));
    assert_eq!(text, "topology.leaf-spine.unequal[0].leaf: there is no leaf 99; they are numbered 0 to 15");
    let zero = LeafSpineSettings { fabric_link: gbps(0), ..Default::default() };
    assert!(message(TopologySettings::LeafSpine(zero)).starts_with("topology.leaf-spine.fabric_link.rate"));
    for ratio in [0.0, -1.0, f64::NAN] {
        let none = LeafSpineSettings { oversubscription: Some(ratio), ..Default::default() };
        assert!(
            message(TopologySettings::LeafSpine(none)).starts_with("topology.leaf-spine.oversubscription")
        );
    }
    let huge = leaf_spine(60_000, 60_000, 1, 1);
    assert!(message(TopologySettings::LeafSpine(huge)).contains("cables; at most"));
    let parts = LeafSpineSettings {
        unequal: (0..4)
            .map(|spine| leaf_spine::Unequal { spine, count: Some(0), ..Default::default() })
            .collect(),
        ..Default::default()
    };
    assert!(message(TopologySettings::LeafSpine(parts)).contains("is not connected to"));
    let ports = ParkingLotSettings { switches: 2, hosts_per_switch: 60_000, ..Default::default() };
    assert!(build(&TopologySettings::ParkingLot(ports)).is_ok());
    let ports = LeafSpineSettings { parallel: 1024, ..leaf_spine(2, 64, 10, 1) };
    assert!(message(TopologySettings::LeafSpine(ports)).contains("ports; at most 65535"));
}

fn link(from: &str, to: &str) -> explicit::LinkEntry {
    let (from, to, rate) = (from.to_owned(), to.to_owned(), Rate::from_gbps(10));
    explicit::LinkEntry { from, to, count: 1, rate, delay: Span::from_us(1), ..Default::default() }
}

fn explicit(hosts: u32, switches: &[&str], links: Vec<explicit::LinkEntry>) -> TopologySettings {
    let switches = switches.iter().map(|&name| name.to_owned()).collect();
    TopologySettings::Explicit(ExplicitSettings { hosts, switches, links, ..Default::default() })
}

#[test]
fn an_explicit_graph_is_what_its_links_say() {
    let twice = explicit::LinkEntry { count: 2, ..link("rack-a", "rack-b") };
    let links = vec![link("host0", "rack-a"), twice, link("host1", "rack-b")];
    let graph = build(&explicit(2, &["rack-a", "rack-b"], links)).unwrap();
    assert_eq!(graph.cables().len(), 4);
    assert_eq!(graph.cable_named("rack-a-rack-b.1"), Some(2));
    assert_eq!(lengths_between(&graph, 0, 1), (vec![2], 2));
}

#[test]
fn mistakes_in_an_explicit_graph_have_their_place() {
    let found = |settings| build(&settings).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
    let links = vec![link("host0", "rack"), link("host1", "rak")];
    let expected =
        "topology.graph.links[1].to: there is no host or switch called `rak`; did you mean `rack`?";
    assert_eq!(found(explicit(2, &["rack"], links)), [expected]);
    let links = vec![link("host0", "a"), link("host1", "b")];
    assert_eq!(found(explicit(2, &["a", "b"], links)), ["topology.graph: host1 is not connected to host0"]);
    let links = vec![link("host0", "a"), link("host0", "a")];
    assert_eq!(
        found(explicit(1, &["a"], links)),
        ["topology.graph: host0 has 2 cables; a host has exactly one, to a switch"]
    );
    assert_eq!(
        found(explicit(1, &["a"], vec![])),
        ["topology.graph: host0 has no cable; a host has exactly one, to a switch"]
    );
    let links = vec![link("host0", "host1")];
    assert_eq!(
        found(explicit(2, &[], links)),
        ["topology.graph: host0 and host1 are connected directly; a host must connect to a switch"]
    );
    assert!(found(explicit(1, &["host0"], vec![]))[0].contains("two nodes are called `host0`"));
    assert!(found(explicit(0, &["a"], vec![]))[0].contains("no hosts"));
}

#[test]
fn equal_port_sets_share_a_group() {
    let graph = built(leaf_spine(16, 4, 20, 40));
    let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
    // a leaf: its own (no ports) and all uplinks; a spine: one port per leaf
    assert_eq!(routes.switches[0].groups.len(), 2);
    assert_eq!(routes.switches[16].groups.len(), 16);
    let mut state = LinkState::all_up(&graph);
    state.set(graph.cable_named("leaf0-spine0").unwrap(), false);
    let routes = Routes::new(&graph, &state, Grouping::Together);
    // leaf 1 reaches leaf 0 by three spines and everybody else by four
    assert_eq!(routes.ports(SwitchId(1), 0), [PortId(21), PortId(22), PortId(23)]);
    assert_eq!(routes.ports(SwitchId(1), 2).len(), 4);
    assert_eq!(routes.switches[1].groups.len(), 3);
    // spine 0 has lost its port to leaf 0: it goes down to the other leaves and up again
    assert_eq!(routes.ports(SwitchId(16), 0).len(), 15);
}

#[test]
fn a_switch_without_a_way_has_a_group_without_ports() {
    let graph = built(leaf_spine(2, 1, 1, 40));
    let mut state = LinkState::all_up(&graph);
    state.set(graph.cable_named("leaf0-spine0").unwrap(), false);
    let routes = Routes::new(&graph, &state, Grouping::Together);
    assert!(routes.ports(SwitchId(1), 0).is_empty());
    assert!(routes.ports(SwitchId(2), 0).is_empty());
    assert_eq!(routes.ports(SwitchId(2), 1).len(), 1);
}

#[test]
fn a_fat_tree_of_8192_hosts_has_small_tables() {
    let graph = fat_tree(32, 1);
    assert_eq!((graph.hosts(), graph.switches().len()), (8192, 1280));
    let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
    // edge: itself, and up; aggregation: each of 16 edges of its pod, and up; core: each of 32 pods
    let groups: BTreeSet<usize> = routes.switches.iter().map(|table| table.groups.len()).collect();
    assert_eq!(groups, BTreeSet::from([2, 17, 32]));
}
