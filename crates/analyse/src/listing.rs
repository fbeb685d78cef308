//! Components and groups as JSON, for programs.

use serde_json::{Value, json};

use weft_core::{Component, SwitchId};
use weft_topology::quiver::Survey;
use weft_topology::quiver::pair::PathComponent;
use weft_topology::{Quiver, SwitchRoutes};

use super::subject::{AnalysedNetwork, Focus};
use super::words;

/// Maximum number of paths listed per component.
const MOST_PATHS: usize = 100;

/// The complete result.
pub(crate) fn json(
    subject: &AnalysedNetwork,
    quiver: &Quiver<'_>,
    (survey, place): (&Survey, &Focus),
) -> String {
    let (graph, census) = (&subject.graph, &survey.census);
    let down: Vec<String> = subject.state.down().map(|cable| graph.cable_name(cable)).collect();
    let mut whole = json!({
        "seed": subject.seed,
        "switches": graph.switches().len(),
        "leaves": graph.leaves().len(),
        "down": down,
        "compared": words::compared(subject),
        "used_by_balancer": subject.used,
    });
    if let Some(pair) = place.pair() {
        whole["pair"] = one_pair(subject, quiver, pair);
        return format!("{whole:#}");
    }
    let pairs = census.by_components.iter().map(|(n, pairs)| json!({ "components": n, "pairs": pairs }));
    whole["pairs"] = pairs.collect();
    whole["pairs_all_single"] = census.all_single.into();
    whole["pairs_without_path"] = census.unreachable.into();
    whole["tables"] = tables(subject, &survey.tables, place);
    format!("{whole:#}")
}

/// The requested tables: of the requested switches, towards the requested leaves.
fn tables(subject: &AnalysedNetwork, tables: &[SwitchRoutes], place: &Focus) -> Value {
    let tables = tables.iter().enumerate().map(|(switch, table)| (SwitchId(switch as u32), table));
    let asked = tables.filter(|(switch, _)| place.from.is_none_or(|from| from == *switch));
    let shown = |(switch, table)| json!({ "switch": subject.name(switch), "groups": groups(subject, (switch, table), place) });
    asked.map(shown).collect()
}

fn groups(
    subject: &AnalysedNetwork,
    (switch, table): (SwitchId, &SwitchRoutes),
    place: &Focus,
) -> Vec<Value> {
    let mut leaves: Vec<Vec<&str>> = vec![Vec::new(); table.groups.len()];
    for (leaf, own) in table.group_of_leaf.iter().enumerate() {
        if place.to.is_none_or(|to| to == leaf) && subject.graph.leaves()[leaf] != switch {
            leaves[own.index()].push(subject.leaf_name(leaf));
        }
    }
    let shown = |(group, leaves): (&weft_core::Group, Vec<&str>)| {
        let components = group.components.iter().map(|part| component(subject, switch, part));
        json!({ "leaves": leaves, "components": components.collect::<Vec<_>>() })
    };
    let used = table.groups.iter().zip(leaves).filter(|(_, leaves)| !leaves.is_empty());
    used.map(shown).collect()
}

fn component(subject: &AnalysedNetwork, switch: SwitchId, part: &Component) -> Value {
    let ports: Vec<u16> = part.ports.iter().map(|port| port.0).collect();
    json!({ "weight": part.weight, "ports": ports, "next": words::next(subject, switch, &part.ports) })
}

fn one_pair(subject: &AnalysedNetwork, quiver: &Quiver<'_>, (from, to): (SwitchId, usize)) -> Value {
    let pair = quiver.pair(from, to, MOST_PATHS);
    let shown = |part: &PathComponent| {
        let paths: Vec<String> = part.paths.iter().map(|path| words::shown(subject, path)).collect();
        json!({ "weight": part.weight.to_string(), "paths": part.count.to_string(), "first_paths": paths })
    };
    let components: Option<Vec<Value>> =
        pair.components.as_ref().map(|parts| parts.iter().map(shown).collect());
    let installed: Vec<Value> =
        pair.group.components.iter().map(|part| component(subject, from, part)).collect();
    let mut reasons = Vec::new();
    for (n, part) in pair.components.iter().flatten().enumerate().skip(1) {
        let first = &pair.components.as_ref().expect("there is one")[0].paths[0];
        if let Some(difference) = quiver.difference([first, &part.paths[0]], (from, to)) {
            let why = words::difference_in_words(subject, &difference).join(" ");
            reasons.push(json!({ "components": [1, n + 1], "hop": difference.hop + 1, "why": why }));
        }
    }
    json!({
        "from": subject.name(from),
        "to": subject.leaf_name(to),
        "components": components,
        "installed": installed,
        "reasons": reasons,
    })
}
