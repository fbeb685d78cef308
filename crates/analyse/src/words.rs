//! Components and groups in words, for a terminal of 80 columns.

use std::collections::BTreeMap;
use std::path::Path;

use weft_core::settings::{Setting, Value};
use weft_core::{Component, Group, PortId, SwitchId};
use weft_draw::{WIDTH, wrapped};
use weft_topology::quiver::Census;
use weft_topology::quiver::listing::{Difference, Label};
use weft_topology::quiver::pair::{PathComponent, SwitchPath};
use weft_topology::{Node, Quiver, SwitchRoutes};

use super::subject::AnalysedNetwork;

/// Maximum number of names listed; the rest are counted.
const MOST_NAMES: usize = 8;
/// Maximum number of switches described; the rest are counted.
const MOST_SWITCHES: usize = 12;
/// Maximum number of paths of a component listed; the rest are counted.
const MOST_PATHS: usize = 8;
/// Maximum number of components compared with the first one.
const MOST_REASONS: usize = 5;

/// The network and how paths are compared.
pub(crate) fn opening(path: &Path, subject: &AnalysedNetwork) -> String {
    let graph = &subject.graph;
    let down: Vec<String> = subject.state.down().map(|cable| graph.cable_name(cable)).collect();
    let failed = match down.len() {
        0 => "none down".to_owned(),
        count => format!("{count} down: {}", few(&down)),
    };
    let mut text = format!(
        "{}: {} switches, {} of them with hosts; {} cables between switches, {failed}.",
        path.display(),
        graph.switches().len(),
        graph.leaves().len(),
        graph.fabric_cables().len()
    );
    if !subject.changes.is_empty() {
        let times: Vec<String> = subject.changes.iter().map(ToString::to_string).collect();
        let more = times.len().saturating_sub(MOST_NAMES);
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        let times = times[..times.len() - more].join(", ");
        text += &format!(" Cables change during the run, at {times}{others}; --at selects another time.");
    }
    let whose = if subject.used {
        "as in the scenario's balancer"
    } else {
        "the scenario's balancer does not use components"
    };
    paragraph(&text) + &paragraph(&format!("{} ({whose}).", compared(subject)))
}

/// How paths are compared.
pub(crate) fn compared(subject: &AnalysedNetwork) -> String {
    let Value::Table(fields) = subject.settings.to_value() else { return String::new() };
    let shown = |(name, value): &(&str, Value)| match value {
        Value::Text(word) => format!("{name} {word}"),
        Value::Flag(on) => format!("{name} {on}"),
        _ => (*name).to_owned(),
    };
    format!("Paths compared by {}", fields.iter().map(shown).collect::<Vec<_>>().join(", "))
}

/// The number of pairs of leaves by number of components.
pub(crate) fn census(census: &Census) -> String {
    let pairs: u64 = census.by_components.values().sum::<u64>() + census.unreachable;
    let share = |count: u64| format!("{count:>10} {:>7.1} %", 100.0 * count as f64 / pairs.max(1) as f64);
    let mut text = "\n  components    pairs of leaves\n".to_owned();
    for (components, count) in &census.by_components {
        let name = components.map_or("over 10000".to_owned(), |n| n.to_string());
        text += &format!("  {name:>10} {}\n", share(*count));
    }
    if census.unreachable > 0 {
        text += &format!("  {:>10} {}\n", "no path", share(census.unreachable));
    }
    if census.all_single > 0 {
        text += &format!("  {:>10} {}\n", "all single", share(census.all_single));
        text += "  (all single: every component is one path; packets are not spread there)\n";
    }
    text
}

/// What every switch installs, with equal switches grouped.
pub(crate) fn switches(subject: &AnalysedNetwork, tables: &[SwitchRoutes]) -> String {
    let mut alike: Vec<(BTreeMap<String, usize>, Vec<String>)> = Vec::new();
    let (mut place, mut plain) = (BTreeMap::new(), 0);
    for (switch, table) in tables.iter().enumerate() {
        let switch = SwitchId(switch as u32);
        if table.groups.iter().all(|group| group.components.len() < 2) {
            plain += 1;
            continue;
        }
        let leaves = by_group(subject, switch, table).into_iter().map(|leaves| leaves.len());
        let counted = table.groups.iter().zip(leaves).filter(|(_, leaves)| *leaves > 0);
        let rows: BTreeMap<String, usize> =
            counted.map(|(own, leaves)| (group(subject, switch, own), leaves)).collect();
        let at = *place.entry(rows.clone()).or_insert(alike.len());
        if at == alike.len() {
            alike.push((rows, Vec::new()));
        }
        alike[at].1.push(subject.name(switch).to_owned());
    }
    let mut text =
        format!("\n{plain} of {} switches have one component everywhere.\n", subject.graph.switches().len());
    for (rows, names) in alike.iter().take(MOST_SWITCHES) {
        text += &format!("\n{}\n", wrapped(&few(names), WIDTH).join("\n"));
        let counted = |(shown, leaves): (&String, &usize)| row(&plural(*leaves, "leaf", "leaves"), shown);
        text += &rows.iter().map(counted).collect::<String>();
    }
    let rest: usize = alike.iter().skip(MOST_SWITCHES).map(|(_, names)| names.len()).sum();
    if rest > 0 {
        text += &format!("\n{rest} more switches; name one with --from.\n");
    }
    text + "\nWeights precede the next switches. --from and --to show a pair in detail.\n"
}

/// What one switch installs.
pub(crate) fn switch(subject: &AnalysedNetwork, tables: &[SwitchRoutes], from: SwitchId) -> String {
    let mut text = format!("\n{}\n", subject.name(from));
    let table = &tables[from.index()];
    let leaves = table.groups.iter().zip(by_group(subject, from, table));
    for (own, leaves) in leaves.filter(|(_, leaves)| !leaves.is_empty()) {
        let names: Vec<String> = leaves.iter().map(|leaf| subject.leaf_name(*leaf).to_owned()).collect();
        text += &row(&few(&names), &group(subject, from, own));
    }
    text + "\nWeights precede the next switches. --to shows one pair in detail.\n"
}

/// What all switches install towards one leaf.
pub(crate) fn leaf(subject: &AnalysedNetwork, tables: &[SwitchRoutes], to: usize) -> String {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (switch, table) in tables.iter().enumerate() {
        let switch = SwitchId(switch as u32);
        if switch != subject.graph.leaves()[to] {
            let shown = group(subject, switch, &table.groups[table.group_of_leaf[to].index()]);
            rows.entry(shown).or_default().push(subject.name(switch).to_owned());
        }
    }
    let mut text = format!("\nTowards {}, from\n", subject.leaf_name(to));
    for (shown, switches) in rows {
        text += &row(&few(&switches), &shown);
    }
    text
}

/// Components of a pair, their paths, and why they differ.
pub(crate) fn pair(subject: &AnalysedNetwork, quiver: &Quiver<'_>, (from, to): (SwitchId, usize)) -> String {
    let pair = quiver.pair(from, to, MOST_PATHS);
    let title = format!("{} -> {}", subject.name(from), subject.leaf_name(to));
    let Some(components) = &pair.components else {
        return format!(
            "\n{title}: more than 10000 components\n{}",
            row("installed", &group(subject, from, &pair.group))
        );
    };
    let mut text = match components.len() {
        0 => format!("\n{title}: no path\n"),
        n => format!("\n{title}: {}\n", plural(n, "component", "components")),
    };
    for (n, component) in components.iter().enumerate() {
        text += &described(subject, n, component);
    }
    if components.len() > 1 {
        text += &format!(
            "\nInstalled at {} once routing has converged:\n{}",
            subject.name(from),
            row("", &group(subject, from, &pair.group))
        );
        text += &reasons(subject, quiver, (from, to), components);
    }
    text
}

/// A number of paths, which may exceed what a counter holds.
pub(crate) fn paths(count: u128) -> String {
    usize::try_from(count).map_or_else(|_| format!("{count} paths"), |count| plural(count, "path", "paths"))
}

fn described(subject: &AnalysedNetwork, n: usize, component: &PathComponent) -> String {
    let mut text = format!("\n  {}: weight {}, {}\n", n + 1, component.weight, paths(component.count));
    for path in &component.paths {
        text += &format!("     {}\n", shown(subject, path));
    }
    let rest = component.count - component.paths.len() as u128;
    if rest > 0 { text + &format!("     and {rest} more\n") } else { text }
}

/// Why other components differ from the first one.
fn reasons(
    subject: &AnalysedNetwork,
    quiver: &Quiver<'_>,
    pair: (SwitchId, usize),
    components: &[PathComponent],
) -> String {
    let mut text = String::new();
    for (n, other) in components.iter().enumerate().skip(1).take(MOST_REASONS) {
        let paths = [&components[0].paths[0], &other.paths[0]];
        if let Some(difference) = quiver.difference(paths, pair) {
            text += &format!("\nWhy 1 and {} are not symmetric:\n", n + 1);
            for sentence in difference_in_words(subject, &difference) {
                text += &paragraph(&sentence);
            }
        }
    }
    match components.len().saturating_sub(1 + MOST_REASONS) {
        0 => text,
        rest => text + &format!("\n{rest} more components are not compared here.\n"),
    }
}

/// The labels of a pair of leaves on either of two links, with their multiplicities.
type Sides = [Vec<(Label, u128)>; 2];

/// The hop and the labels in which two paths differ.
pub(crate) fn difference_in_words(subject: &AnalysedNetwork, difference: &Difference) -> Vec<String> {
    let link = |(a, b): (SwitchId, SwitchId)| format!("{}->{}", subject.name(a), subject.name(b));
    let links = difference.links.map(link);
    let mut pairs: BTreeMap<(SwitchId, SwitchId), Sides> = BTreeMap::new();
    for (label, counts) in &difference.labels {
        let sides = pairs.entry((label.source, label.destination)).or_default();
        for side in 0..2 {
            if counts[side] > 0 {
                sides[side].push((*label, counts[side]));
            }
        }
    }
    let count = pairs.len();
    let mut sentences = vec![format!(
        "At hop {} they take {} and {}, which carry different traffic.",
        difference.hop + 1,
        links[0],
        links[1]
    )];
    for ((from, to), sides) in pairs.into_iter().take(3) {
        let pair = format!("from {} to {}", subject.name(from), subject.name(to));
        sentences.push(sentence(&pair, &sides, &links));
    }
    if count > 3 {
        sentences.push(format!("{} more pairs of leaves differ.", count - 3));
    }
    sentences
}

/// One pair of leaves on two links.
fn sentence(pair: &str, [one, other]: &[Vec<(Label, u128)>; 2], links: &[String; 2]) -> String {
    let ways = |labels: &[(Label, u128)]| labels.iter().map(|(_, count)| count).sum::<u128>();
    let factors = |labels: &[(Label, u128)]| {
        labels.iter().map(|(label, _)| label.factor.to_string()).collect::<Vec<_>>().join(" and ")
    };
    match (one.is_empty(), other.is_empty()) {
        (true, _) => format!("Packets {pair} go over {}, not over {}.", links[1], links[0]),
        (_, true) => format!("Packets {pair} go over {}, not over {}.", links[0], links[1]),
        _ if factors(one) != factors(other) => format!(
            "Packets {pair} have the capacity factor {} on {} and {} on {}.",
            factors(one),
            links[0],
            factors(other),
            links[1]
        ),
        _ => format!(
            "Of the paths {pair}, {} go over {} and {} over {}.",
            ways(one),
            links[0],
            ways(other),
            links[1]
        ),
    }
}

/// For each group of a switch, the other leaves that it leads to.
fn by_group(subject: &AnalysedNetwork, switch: SwitchId, table: &SwitchRoutes) -> Vec<Vec<usize>> {
    let mut leaves = vec![Vec::new(); table.groups.len()];
    for (leaf, own) in table.group_of_leaf.iter().enumerate() {
        if subject.graph.leaves()[leaf] != switch {
            leaves[own.index()].push(leaf);
        }
    }
    leaves
}

/// `1 {spine0}  3 {spine1 spine2}`.
fn group(subject: &AnalysedNetwork, switch: SwitchId, group: &Group) -> String {
    let shown = |part: &Component| {
        let next = neighbours(subject, switch, &part.ports);
        let first: Vec<String> = next.iter().take(MOST_NAMES).map(|next| named(subject, next)).collect();
        format!("{} {{{}}}", part.weight, and_more(&first, next.len()))
    };
    let parts: Vec<String> = group.components.iter().map(shown).collect();
    if parts.is_empty() { "no route".to_owned() } else { parts.join("  ") }
}

/// The next switches behind ports; parallel ports are counted.
pub(crate) fn next(subject: &AnalysedNetwork, switch: SwitchId, ports: &[PortId]) -> Vec<String> {
    neighbours(subject, switch, ports).iter().map(|next| named(subject, next)).collect()
}

/// The nodes behind ports in the order of their first port, each with the number of its ports.
fn neighbours(subject: &AnalysedNetwork, switch: SwitchId, ports: &[PortId]) -> Vec<(Node, usize)> {
    let mut found: Vec<(Node, usize)> = Vec::new();
    let mut known = BTreeMap::new();
    for port in ports {
        let link = &subject.graph.links()[subject.graph.link_at(Node::Switch(switch), *port).index()];
        let place = *known.entry(link.to).or_insert(found.len());
        if place == found.len() {
            found.push((link.to, 0));
        }
        found[place].1 += 1;
    }
    found
}

fn named(subject: &AnalysedNetwork, (node, ports): &(Node, usize)) -> String {
    let name = subject.graph.name(*node);
    if *ports == 1 { name } else { format!("{name} x{ports}") }
}

pub(crate) fn shown(subject: &AnalysedNetwork, path: &SwitchPath) -> String {
    path.iter().map(|switch| subject.name(*switch)).collect::<Vec<_>>().join("-")
}

/// A list; the end of a long one is counted.
fn few(names: &[String]) -> String {
    and_more(&names[..names.len().min(MOST_NAMES)], names.len())
}

/// The first names, and the number of others.
fn and_more(first: &[String], all: usize) -> String {
    match all - first.len() {
        0 => first.join(" "),
        rest => format!("{} and {rest} more", first.join(" ")),
    }
}

fn row(left: &str, right: &str) -> String {
    if left.is_empty() {
        return format!("  {right}\n");
    }
    format!("  {left}\n      {right}\n")
}

fn plural(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

fn paragraph(text: &str) -> String {
    wrapped(text, WIDTH).join("\n") + "\n"
}
