//! Networks of the worked examples: built cable by cable, with the names of the examples.

use std::collections::BTreeMap;
use weft_core::{Purpose, Random, Rate, SwitchId};
use weft_topology::{Graph, LinkSettings, LinkState, Node, Wiring};

/// A cable: two switches and its rate in Gb/s.
pub(crate) type Line = (String, String, u64);

pub(crate) fn line(a: impl Into<String>, b: impl Into<String>, gbps: u64) -> Line {
    (a.into(), b.into(), gbps)
}

/// A network of these switches in order, a host on each whose name begins with one of `leaves`.
pub(crate) fn network(switches: &[String], leaves: &[char], lines: &[Line]) -> Graph {
    let mut wiring = Wiring::default();
    let nodes: BTreeMap<_, _> =
        switches.iter().map(|name| (name.clone(), wiring.switch(name.clone()))).collect();
    for name in switches.iter().filter(|name| leaves.contains(&name.chars().next().unwrap())) {
        wiring.hosts_on(nodes[name], 1, &LinkSettings::of(Rate::from_gbps(10)));
    }
    for (a, b, gbps) in lines {
        wiring.cable(nodes[a], nodes[b], &LinkSettings::of(Rate::from_gbps(*gbps)));
    }
    wiring.finish().expect("a connected network")
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n}")).collect()
}

/// Every leaf to every spine, rates by (leaf, spine).
pub(crate) fn leaf_spine(leaves: usize, spines: usize, rate: impl Fn(usize, usize) -> u64) -> Graph {
    let pairs = (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine)));
    let lines: Vec<_> = pairs.map(|(l, s)| line(format!("L{l}"), format!("S{s}"), rate(l, s))).collect();
    network(&[names("L", leaves), names("S", spines)].concat(), &['L'], &lines)
}

/// Three pods of two top-of-rack and two fabric switches, two planes of two spines (figure 5 of the paper).
pub(crate) fn three_stages() -> Graph {
    let mut lines = Vec::new();
    for pod in 0..3 {
        for plane in 0..2 {
            let fabric = format!("F{}", 2 * pod + plane);
            (0..2).for_each(|rack| lines.push(line(format!("R{}", 2 * pod + rack), fabric.clone(), 10)));
            (0..2).for_each(|spine| lines.push(line(fabric.clone(), format!("S{}", 2 * plane + spine), 10)));
        }
    }
    network(&[names("R", 6), names("F", 6), names("S", 4)].concat(), &['R'], &lines)
}

/// VL2: 16 top-of-rack, 8 aggregation and 4 intermediate switches.
pub(crate) fn vl2() -> Graph {
    let mut lines = Vec::new();
    for rack in 0..16 {
        (0..2).for_each(|n| lines.push(line(format!("T{rack}"), format!("A{}", 2 * (rack / 4) + n), 10)));
    }
    for aggregation in 0..8 {
        (0..4).for_each(|n| lines.push(line(format!("A{aggregation}"), format!("I{n}"), 10)));
    }
    network(&[names("T", 16), names("A", 8), names("I", 4)].concat(), &['T'], &lines)
}

/// Figure 13: leaf i has two cables to spines i and i+1, one to the others.
pub(crate) fn doubled() -> Graph {
    let two = |prefix: &str| (0..16).map(|n| format!("{prefix}{n:02}")).collect::<Vec<_>>();
    let mut lines = Vec::new();
    for leaf in 0..16 {
        for spine in 0..16 {
            let double = spine == leaf || spine == (leaf + 1) % 16;
            (0..1 + usize::from(double))
                .for_each(|_| lines.push(line(format!("L{leaf:02}"), format!("S{spine:02}"), 10)));
        }
    }
    network(&[two("L"), two("S")].concat(), &['L'], &lines)
}

/// A random network of three tiers, some cables double or faster, with some of them down.
#[allow(dead_code, reason = "each test file uses its part")]
pub(crate) fn random(seed: u64) -> (Graph, LinkState) {
    let mut dice = Random::new(seed, Purpose::Test, 0);
    let sizes = [3 + dice.below(4) as usize, 2 + dice.below(3) as usize, 1 + dice.below(3) as usize];
    let tiers = [names("L", sizes[0]), names("M", sizes[1]), names("S", sizes[2])];
    let mut lines = Vec::new();
    for (lower, upper) in [(0, 1), (1, 2), (0, 2)] {
        for a in &tiers[lower] {
            for b in tiers[upper].iter().filter(|_| (lower, upper) != (0, 2) || seed.is_multiple_of(4)) {
                let count = 1 + u32::from(dice.below(6) == 0);
                let rate = if dice.below(5) == 0 { 40 } else { 10 };
                (0..count).for_each(|_| lines.push(line(a.clone(), b.clone(), rate)));
            }
        }
    }
    let graph = network(&tiers.concat(), &['L'], &lines);
    let mut state = LinkState::all_up(&graph);
    for _ in 0..dice.below(5) {
        let fabric = graph.fabric_cables();
        state.set(fabric[dice.below(fabric.len() as u32) as usize], false);
    }
    (graph, state)
}

/// The network without these cables.
pub(crate) fn without(graph: &Graph, cables: &[&str]) -> LinkState {
    let mut state = LinkState::all_up(graph);
    for name in cables {
        for cable in graph.cables_named(name).expect("the cable exists") {
            state.set(cable, false);
        }
    }
    state
}

pub(crate) fn switch(graph: &Graph, name: &str) -> SwitchId {
    match graph.node_named(name) {
        Some(Node::Switch(switch)) => switch,
        _ => panic!("there is no switch {name}"),
    }
}

/// The index of a leaf.
pub(crate) fn leaf(graph: &Graph, name: &str) -> usize {
    let switch = switch(graph, name);
    graph.leaves().iter().position(|leaf| *leaf == switch).expect("a leaf")
}
