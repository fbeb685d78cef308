//! The quiver as a drawing: the switches by tier, and the paths of one pair coloured by component.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use weft_core::{Grouping, SwitchId};
use weft_draw::tiers::{Drawing, TierLink, TierSwitch};
use weft_plan::Setup;
use weft_topology::quiver::pair::PathComponent;
use weft_topology::{Graph, LinkState, Node, Quiver, SwitchRoutes, Timeline};

use crate::words::paths;

/// Of networks with more switches, only those on the pair's paths are drawn.
const MOST_SWITCHES: usize = 60;
/// Maximum number of paths drawn per component.
const MOST_PATHS: usize = 200;
/// Maximum number of components drawn.
const MOST_COMPONENTS: usize = 8;

/// The first pair of leaves with the most components at its source.
pub(crate) fn most_divided(graph: &Graph, tables: &[SwitchRoutes]) -> Option<(SwitchId, usize)> {
    let leaves = graph.leaves();
    let pairs = leaves.iter().flat_map(|from| (0..leaves.len()).map(move |to| (*from, to)));
    let size = |(from, to): &(SwitchId, usize)| {
        let table = &tables[from.index()];
        table.groups[table.group_of_leaf[*to].index()].components.len()
    };
    pairs.filter(|(from, to)| leaves[*to] != *from).min_by_key(|pair| Reverse(size(pair)))
}

/// Links of the pair's paths with the components that use them.
type Used = BTreeMap<(u32, u32), BTreeSet<usize>>;

/// The drawing for one pair.
pub(crate) fn svg(
    (graph, state): (&Graph, &LinkState),
    quiver: &Quiver<'_>,
    pair: (SwitchId, usize),
) -> String {
    let components = quiver.pair(pair.0, pair.1, MOST_PATHS).components.unwrap_or_default();
    let mut used = Used::new();
    for (n, component) in components.iter().take(MOST_COMPONENTS).enumerate() {
        for link in component.paths.iter().flat_map(|path| path.windows(2)) {
            used.entry((link[0].0, link[1].0)).or_default().insert(n);
        }
    }
    let ends = [pair.0, graph.leaves()[pair.1]];
    let (places, index) = places(graph, &used, ends);
    let mut lines = others(graph, state, (&used, &index));
    for (&(from, to), components) in &used {
        let middle = components.len() as i32 - 1;
        lines.extend(components.iter().enumerate().map(|(n, component)| TierLink {
            from: index[&from],
            to: index[&to],
            colour: Some(*component),
            aside: 2 * n as i32 - middle,
            note: labels(graph, quiver, (SwitchId(from), SwitchId(to)), pair),
            ..TierLink::default()
        }));
    }
    let name = |switch: SwitchId| graph.name(Node::Switch(switch));
    let title =
        format!("From {} to {}: {} symmetric component(s)", name(ends[0]), name(ends[1]), components.len());
    Drawing { title, places, lines, legend: legend(&components) }.svg()
}

/// The switches to draw, and the index of each in the list.
fn places(graph: &Graph, used: &Used, ends: [SwitchId; 2]) -> (Vec<TierSwitch>, BTreeMap<u32, usize>) {
    let on_paths: BTreeSet<u32> =
        used.keys().flat_map(|(a, b)| [*a, *b]).chain(ends.map(|end| end.0)).collect();
    let all = graph.switches().len() <= MOST_SWITCHES;
    let shown = |switch: &u32| all || on_paths.contains(switch);
    let shown: Vec<u32> = (0..graph.switches().len() as u32).filter(shown).collect();
    let place = |switch: &u32| {
        let node = &graph.switches()[*switch as usize];
        TierSwitch { name: node.name.clone(), tier: node.tier, marked: ends.contains(&SwitchId(*switch)) }
    };
    (shown.iter().map(place).collect(), shown.iter().enumerate().map(|(n, switch)| (*switch, n)).collect())
}

/// Cables that the pair does not use, grey, or red if they are down.
fn others(graph: &Graph, state: &LinkState, (used, index): (&Used, &BTreeMap<u32, usize>)) -> Vec<TierLink> {
    let mut lines = Vec::new();
    for cable in graph.fabric_cables() {
        let (Node::Switch(a), Node::Switch(b)) = (graph.cables()[cable].a.node, graph.cables()[cable].b.node)
        else {
            continue;
        };
        let free = !used.contains_key(&(a.0, b.0)) && !used.contains_key(&(b.0, a.0));
        let down = !state.is_up(cable);
        if let (Some(from), Some(to), true) = (index.get(&a.0), index.get(&b.0), free || down) {
            let note = graph.cable_name(cable) + if down { ": down" } else { "" };
            lines.push(TierLink { from: *from, to: *to, down, note, ..TierLink::default() });
        }
    }
    lines
}

/// The first labels of a link.
fn labels(graph: &Graph, quiver: &Quiver<'_>, link: (SwitchId, SwitchId), pair: (SwitchId, usize)) -> String {
    let name = |switch| graph.name(Node::Switch(switch));
    let mut note = format!("{} to {}", name(link.0), name(link.1));
    if graph.switches().len() > MOST_SWITCHES {
        return note;
    }
    let labels = quiver.labels(link, pair);
    for (label, count) in labels.iter().take(12) {
        note += &format!(
            "\n{} to {}, factor {}, {count}x",
            name(label.source),
            name(label.destination),
            label.factor
        );
    }
    if labels.len() > 12 {
        note += &format!("\nand {} more labels", labels.len() - 12);
    }
    note
}

fn legend(components: &[PathComponent]) -> Vec<String> {
    let entry = |(n, part): (usize, &PathComponent)| {
        format!("component {}: weight {}, {}", n + 1, part.weight, paths(part.count))
    };
    let mut legend: Vec<String> = components.iter().take(MOST_COMPONENTS).enumerate().map(entry).collect();
    if let (Some(last), rest @ 1..) = (legend.last_mut(), components.len().saturating_sub(MOST_COMPONENTS)) {
        *last += &format!(" ({rest} more components are not drawn)");
    }
    legend
}

/// For the report of a run: a drawing of the first state of the network in which some pair has several components, if a
/// balancer of the run uses them.
#[must_use]
pub fn of_run(setup: &Setup) -> Option<String> {
    let settings = setup.balancers().find_map(|own| match own.grouping() {
        Grouping::Components(settings) => Some(settings),
        Grouping::Together | Grouping::Weighted => None,
    })?;
    let graph = &*setup.graph;
    states(&setup.timeline).iter().find_map(|state| {
        let quiver = Quiver::new(graph, state, &settings);
        let survey = quiver.survey();
        let divided = survey.census.by_components.keys().any(|components| *components != Some(1));
        let pair = most_divided(graph, &survey.tables).filter(|_| divided)?;
        Some(svg((graph, state), &quiver, pair))
    })
}

/// The cables at the start and after each instant of change.
fn states(timeline: &Timeline) -> Vec<LinkState> {
    let mut states = vec![timeline.initial.clone()];
    for changes in timeline.changes.chunk_by(|a, b| a.0 == b.0) {
        let mut state = states[states.len() - 1].clone();
        for (cable, up) in changes.iter().filter_map(|(_, change)| change.cable()) {
            state.set(cable, up);
        }
        if state != states[states.len() - 1] {
            states.push(state);
        }
    }
    states
}
