//! The worked examples of the quiver: exact components and weights. The vectors were computed by a slow reference
//! that lists every path and every label.

mod fabrics;

use fabrics::{doubled, leaf, leaf_spine, switch, three_stages, vl2, without};
use serde_json::Value;
use weft_core::quiver::{Labels, Score, SourceFactor};
use weft_core::{QuiverSettings, SwitchId};
use weft_topology::{Graph, LinkState, Node, Quiver};

const SET: QuiverSettings = QuiverSettings { labels: Labels::Set, ..MULTISET };
const MULTISET: QuiverSettings = QuiverSettings {
    labels: Labels::Multiset,
    score: Score::AllPairs,
    source_cf: SourceFactor::Inverse,
    valley_free: false,
};

/// Components as (weight, paths), paths as in the vectors.
type Found = Vec<(u64, Vec<String>)>;

fn shown(graph: &Graph, path: &[SwitchId]) -> String {
    path.iter().map(|switch| graph.name(Node::Switch(*switch))).collect::<Vec<_>>().join("-")
}

fn found(quiver: &Quiver<'_>, graph: &Graph, from: &str, to: &str) -> Found {
    let pair = quiver.pair(switch(graph, from), leaf(graph, to), usize::MAX);
    let component = |part: &weft_topology::quiver::pair::PathComponent| {
        assert_eq!(part.count, part.paths.len() as u128);
        (part.weight as u64, part.paths.iter().map(|path| shown(graph, path)).collect())
    };
    pair.components.expect("few components").iter().map(component).collect()
}

fn expected(value: &Value) -> Found {
    let list = value.as_array().expect("a list of components");
    let text = |path: &Value| path.as_str().expect("a path").to_owned();
    let component = |part: &Value| {
        let paths = part["paths"].as_array().expect("paths");
        (part["weight"].as_u64().expect("a weight"), paths.iter().map(text).collect())
    };
    list.iter().map(component).collect()
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/quiver_vectors.json")).expect("valid JSON")
}

/// Compares all pairs of a vector; returns how many there were.
fn compare(name: &str, graph: &Graph, state: &LinkState, settings: &QuiverSettings) -> usize {
    let vectors = vectors();
    let pairs = vectors[name].as_object().unwrap_or_else(|| panic!("there is no vector {name}"));
    let quiver = Quiver::new(graph, state, settings);
    for (pair, components) in pairs {
        let (from, to) = pair.split_once("->").expect("a pair");
        assert_eq!(found(&quiver, graph, from, to), expected(components), "{name} {pair} {settings:?}");
    }
    pairs.len()
}

/// Every source factor with these labels.
fn compare_both(name: &str, graph: &Graph, cables: &[&str], labels: &[QuiverSettings]) -> usize {
    let state = without(graph, cables);
    let compared = labels.iter().flat_map(|settings| {
        let factors = [SourceFactor::Inverse, SourceFactor::Constant];
        factors.map(|source_cf| compare(name, graph, &state, &QuiverSettings { source_cf, ..*settings }))
    });
    compared.max().expect("at least one")
}

#[test]
fn leaf_spine_vectors() {
    let graph = leaf_spine(4, 3, |_, _| 40);
    let both = [SET, MULTISET];
    assert_eq!(compare_both("healthy_4x3", &graph, &[], &both), 2);
    assert_eq!(compare_both("fig4a_L0S0_down", &graph, &["L0-S0"], &both), 12);
    assert_eq!(compare_both("L0S0_L2S1_down", &graph, &["L0-S0", "L2-S1"], &both), 12);
}

#[test]
fn three_stage_vectors() {
    let graph = three_stages();
    assert_eq!(compare_both("fb_healthy", &graph, &[], &[SET, MULTISET]), 2);
    assert_eq!(compare_both("fig5_R0F0_down", &graph, &["R0-F0"], &[SET]), 9);
    assert_eq!(compare_both("fig5_R0F0_down_multi", &graph, &["R0-F0"], &[MULTISET]), 9);
    assert_eq!(compare_both("fb_F4S0_down_set", &graph, &["F4-S0"], &[SET]), 4);
    assert_eq!(compare_both("fb_F4S0_down_multi", &graph, &["F4-S0"], &[MULTISET]), 4);
    assert_eq!(compare_both("vl2_A0I0_down_multi", &vl2(), &["A0-I0"], &[MULTISET]), 8);
}

/// Links of 40 Gb/s among links of 10.
fn uneven(leaves: usize) -> Graph {
    let fast = |leaf, spine| [(0, 0), (0, 1), (1, 0)].contains(&(leaf, spine));
    leaf_spine(leaves, 3, move |leaf, spine| if fast(leaf, spine) { 40 } else { 10 })
}

#[test]
fn vectors_of_unequal_links() {
    let (graph, constant) = (uneven(4), SourceFactor::Constant);
    let up = LinkState::all_up(&graph);
    assert_eq!(compare("het_40_inv_multi", &graph, &up, &MULTISET), 4);
    assert_eq!(compare("het_40_inv_set", &graph, &up, &SET), 4);
    assert_eq!(
        compare("het_40_one_multi", &graph, &up, &QuiverSettings { source_cf: constant, ..MULTISET }),
        4
    );
    assert_eq!(compare("het_40_one_set", &graph, &up, &QuiverSettings { source_cf: constant, ..SET }), 4);
    let (graph, up) = (uneven(2), LinkState::all_up(&uneven(2)));
    assert_eq!(compare("het_two_leaf", &graph, &up, &MULTISET), 1);
    assert_eq!(
        compare("het_two_leaf_one", &graph, &up, &QuiverSettings { source_cf: constant, ..MULTISET }),
        1
    );
}

#[test]
fn vectors_of_parallel_links() {
    let graph = doubled();
    let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &MULTISET);
    for (name, to) in [("fig13_L00_L01", "L01"), ("fig13_L00_L08", "L08")] {
        assert_eq!(found(&quiver, &graph, "L00", to), expected(&vectors()[name]), "{name}");
    }
}

#[test]
fn no_vector_is_left_out() {
    assert_eq!(vectors().as_object().expect("named vectors").len(), 3 + 6 + 6 + 2);
}
