//! Measures the cost of decomposing a large network: `cargo run --release -p weft-topology --example quiver_cost`.
//!
//! For each network: how far equal switches fold together, how many components there are, and the time from the failure
//! to the tables of all switches. Times are of this machine; the counts beside them are the same everywhere.
#![allow(clippy::disallowed_methods, reason = "it shows how long the decomposition takes")]

use std::time::Instant;
use weft_core::{Grouping, Purpose, QuiverSettings, Random};
use weft_topology::shapes::{fat_tree::FatTreeSettings, leaf_spine::LeafSpineSettings};
use weft_topology::{Graph, LinkState, Quiver, Routes, TopologySettings, build};

fn main() {
    println!(
        "network                  failed  switches  bundles  cells  edges  components  tables_s  equal_cost_s  weighted_s"
    );
    let two_tiers = |leaves, spines, hosts_per_leaf| {
        TopologySettings::LeafSpine(LeafSpineSettings {
            leaves,
            spines,
            hosts_per_leaf,
            ..Default::default()
        })
    };
    let tree = TopologySettings::FatTree(FatTreeSettings { k: 40, ..Default::default() });
    for (name, topology) in [
        ("48 x 48 leaf-spine", two_tiers(48, 48, 48)),
        ("fat tree, k = 40", tree),
        ("1900 x 100 leaf-spine", two_tiers(1900, 100, 1)),
        ("1000 x 1000 leaf-spine", two_tiers(1000, 1000, 1)),
    ] {
        let graph = build(&topology).expect("a good topology");
        for failures in [0, 1, 10, 100] {
            measure(name, &graph, failures);
        }
    }
}

fn measure(name: &str, graph: &Graph, failures: usize) {
    let state = &failed(graph, failures);
    let settings = QuiverSettings::default();
    let seconds = |grouping| {
        let start = Instant::now();
        assert_eq!(Routes::new(graph, state, grouping).switches.len(), graph.switches().len());
        start.elapsed().as_secs_f64()
    };
    let tables = seconds(Grouping::Components(settings));
    let [equal, weighted] = [Grouping::Together, Grouping::Weighted].map(seconds);
    let quiver = Quiver::new(graph, state, &settings);
    let (census, size) = (quiver.census(), quiver.size());
    let most = census.by_components.keys().flatten().max().copied().unwrap_or(0);
    let switches = graph.switches().len();
    println!(
        "{name:<24} {failures:>6} {switches:>9} {:>8} {:>6} {:>6} {:>11} {tables:>9.3} {equal:>13.3} {weighted:>11.3}",
        size.bundles,
        size.cells,
        size.edges,
        format!("1 to {most}")
    );
}

/// Random cables between switches, the same everywhere.
fn failed(graph: &Graph, failures: usize) -> LinkState {
    let mut cables = graph.fabric_cables();
    Random::new(1, Purpose::Test, 0).shuffle(&mut cables);
    let mut state = LinkState::all_up(graph);
    cables[..failures].iter().for_each(|cable| state.set(*cable, false));
    state
}
