//! Laws of the decomposition, on worked tables and on random networks against a reference that lists every path.

mod fabrics;

use fabrics::{doubled, leaf, leaf_spine, line, network, random, switch, three_stages, vl2, without};
use std::collections::{BTreeMap, BTreeSet};
use weft_core::quiver::{Labels, Score, SourceFactor};
use weft_core::{Grouping, Purpose, QuiverSettings, Random, SwitchId};
use weft_topology::quiver::pair::PathComponent;
use weft_topology::shapes::fat_tree::FatTreeSettings;
use weft_topology::{Graph, LinkState, Node, Quiver, Routes, TopologySettings, build};

const STRICT: QuiverSettings = QuiverSettings {
    labels: Labels::Multiset,
    score: Score::AllPairs,
    source_cf: SourceFactor::Inverse,
    valley_free: false,
};
const SET: QuiverSettings = QuiverSettings { labels: Labels::Set, ..STRICT };
const OWN: QuiverSettings = QuiverSettings { score: Score::OwnPair, ..STRICT };
const VALLEY_FREE: QuiverSettings = QuiverSettings { valley_free: true, ..STRICT };

/// Every choice of settings.
fn all_settings() -> Vec<QuiverSettings> {
    let mut all = Vec::new();
    for labels in [Labels::Multiset, Labels::Set] {
        for score in [Score::AllPairs, Score::OwnPair] {
            for source_cf in [SourceFactor::Inverse, SourceFactor::Constant] {
                all.extend([false, true].map(|valley_free| QuiverSettings {
                    labels,
                    score,
                    source_cf,
                    valley_free,
                }));
            }
        }
    }
    all
}

fn components(quiver: &Quiver<'_>, from: SwitchId, leaf: usize) -> Vec<PathComponent> {
    quiver.pair(from, leaf, usize::MAX).components.expect("few components")
}

fn switches(graph: &Graph) -> impl Iterator<Item = SwitchId> {
    (0..graph.switches().len() as u32).map(SwitchId)
}

/// (weight, names of the switches behind the first hop) of each group.
fn groups(graph: &Graph, quiver: &Quiver<'_>, from: &str, to: &str) -> Vec<(u64, Vec<String>)> {
    let from = switch(graph, from);
    let group = &quiver.groups(from)[leaf(graph, to)];
    let behind = |port| graph.name(graph.links()[graph.link_at(Node::Switch(from), port).index()].to);
    let shown =
        |part: &weft_core::Component| (part.weight, part.ports.iter().map(|port| behind(*port)).collect());
    group.components.iter().map(shown).collect()
}

fn named(groups: &[(u64, &[&str])]) -> Vec<(u64, Vec<String>)> {
    groups
        .iter()
        .map(|(weight, names)| (*weight, names.iter().map(|name| (*name).to_owned()).collect()))
        .collect()
}

#[test]
fn groups_of_vl2_hop_by_hop() {
    let graph = vl2();
    let state = without(&graph, &["A0-I0"]);
    let quiver = Quiver::new(&graph, &state, &STRICT);
    let rest: &[&str] = &["I1", "I2", "I3"];
    assert_eq!(groups(&graph, &quiver, "T8", "T15"), named(&[(1, &["A4", "A5"])]));
    assert_eq!(groups(&graph, &quiver, "A4", "T15"), named(&[(1, &["I0"]), (3, rest)]));
    assert_eq!(groups(&graph, &quiver, "T0", "T15"), named(&[(3, &["A0"]), (4, &["A1"])]));
    assert_eq!(groups(&graph, &quiver, "T8", "T0"), named(&[(1, &["A4", "A5"])]));
    assert_eq!(groups(&graph, &quiver, "A4", "T0"), named(&[(1, &["I0"]), (6, rest)]));
    let sets = Quiver::new(&graph, &state, &SET);
    for (from, to) in [("T8", "T15"), ("A4", "T15"), ("T0", "T15"), ("T8", "T0")] {
        assert_eq!(sets.pair(switch(&graph, from), leaf(&graph, to), 0).components.unwrap().len(), 1);
    }
}

#[test]
fn labels_of_figure_4() {
    let graph = leaf_spine(4, 3, |_, _| 40);
    let quiver = Quiver::new(&graph, &without(&graph, &["L0-S0"]), &SET);
    let labels = |from: &str, to: &str| {
        let link = (switch(&graph, from), switch(&graph, to));
        let list = quiver.labels(link, (link.0, 0));
        let name = |switch| graph.name(Node::Switch(switch));
        list.keys()
            .map(|l| format!("{}>{}", name(l.source), name(l.destination)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(labels("S0", "L1"), "L2>L1 L3>L1");
    assert_eq!(labels("S1", "L1"), "L0>L1 L2>L1 L3>L1");
    assert_eq!(labels("S2", "L1"), "L0>L1 L2>L1 L3>L1");
    assert_eq!(labels("L3", "S0"), "L3>L1 L3>L2");
    assert_eq!(labels("L3", "S1"), "L3>L0 L3>L1 L3>L2");
    assert_eq!(labels("S2", "L0"), "L1>L0 L2>L0 L3>L0");
}

#[test]
fn capacity_factors_of_unequal_links() {
    let fast = |leaf, spine| [(0, 0), (0, 1), (1, 0)].contains(&(leaf, spine));
    let graph = leaf_spine(4, 3, |leaf, spine| if fast(leaf, spine) { 40 } else { 10 });
    let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &STRICT);
    let factors = |spine: &str| {
        let link = (switch(&graph, spine), switch(&graph, "L1"));
        let list = quiver.labels(link, (link.0, 0));
        list.iter().map(|(label, count)| format!("{}x{count}", label.factor)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        [factors("S0"), factors("S1"), factors("S2")],
        ["1x1 1/4x1 1/4x1", "4x1 1x1 1x1", "1x1 1x1 1x1"]
    );
}

#[test]
fn own_pairs_of_figure_13() {
    let graph = doubled();
    let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &OWN);
    let shape = |to: &str| {
        let list = components(&quiver, switch(&graph, "L00"), leaf(&graph, to));
        list.iter().map(|part| (part.weight, part.paths.len())).collect::<Vec<_>>()
    };
    assert_eq!(shape("L08"), [(1, 2), (6, 12), (1, 2)]);
    assert_eq!(shape("L01"), [(1, 1), (2, 1), (1, 1), (13, 13)]);
}

#[test]
fn symmetric_networks_have_one_component_everywhere() {
    let tree = build(&TopologySettings::FatTree(FatTreeSettings { k: 6, ..Default::default() })).unwrap();
    for graph in [leaf_spine(5, 4, |_, _| 40), vl2(), three_stages(), tree] {
        let up = LinkState::all_up(&graph);
        for settings in all_settings() {
            let quiver = Quiver::new(&graph, &up, &settings);
            let census = quiver.census();
            let leaves = graph.leaves().len() as u64;
            assert_eq!(census.by_components, [(Some(1), leaves * (leaves - 1))].into(), "{settings:?}");
            let plain = Routes::new(&graph, &up, Grouping::Together);
            assert_eq!(Routes::new(&graph, &up, Grouping::Components(settings)), plain);
            assert_eq!(Routes::new(&graph, &up, Grouping::Weighted), plain);
        }
    }
}

#[test]
fn a_network_without_one_spine_is_symmetric_again() {
    let graph = leaf_spine(4, 3, |_, _| 40);
    let state = without(&graph, &["L0-S1", "L1-S1", "L2-S1", "L3-S1"]);
    assert_eq!(Quiver::new(&graph, &state, &STRICT).census().by_components, [(Some(1), 12)].into());
}

#[test]
fn one_failure_among_16_leaves_and_4_spines() {
    let graph = leaf_spine(16, 4, |_, _| 40);
    let quiver = Quiver::new(&graph, &without(&graph, &["L3-S2"]), &STRICT);
    assert_eq!(quiver.census().by_components, [(Some(1), 30), (Some(2), 210)].into());
    for (from, to) in [("L0", "L1"), ("L9", "L15")] {
        let list = components(&quiver, switch(&graph, from), leaf(&graph, to));
        let weights: BTreeSet<_> = list.iter().map(|part| part.weight).collect();
        assert_eq!(weights, [1, 3].into());
    }
}

/// 60 random draws of failures in 16 leaves and 4 spines; the published shares hold within three standard errors.
#[test]
fn components_of_random_failures_are_as_often_as_published() {
    let graph = leaf_spine(16, 4, |_, _| 40);
    let mut dice = Random::new(7, Purpose::Test, 0);
    for (failures, shares, all_single) in
        [(5, [2.8, 14.3, 40.1, 42.8], 85.0), (10, [5.8, 26.5, 44.2, 23.1], 99.7)]
    {
        let draws: Vec<Vec<f64>> = (0..60).map(|_| draw(&graph, failures, &mut dice)).collect();
        for (n, published) in shares.into_iter().chain([all_single]).enumerate() {
            let mean = draws.iter().map(|draw| draw[n]).sum::<f64>() / 60.0;
            let variance = draws.iter().map(|draw| (draw[n] - mean).powi(2)).sum::<f64>() / 59.0;
            // Both numbers are means of 60 draws.
            let error = (2.0 * variance / 60.0).sqrt() + 0.1;
            assert!(
                (mean - published).abs() < 3.0 * error,
                "{failures}: {n}: {mean} for {published}, +-{error}"
            );
        }
    }
}

/// Percentages of the pairs with 1, 2, 3, 4 components, and with single paths only.
fn draw(graph: &Graph, failures: usize, dice: &mut Random) -> Vec<f64> {
    loop {
        let mut cables = graph.fabric_cables();
        dice.shuffle(&mut cables);
        let mut state = LinkState::all_up(graph);
        cables[..failures].iter().for_each(|cable| state.set(*cable, false));
        let census = Quiver::new(graph, &state, &STRICT).census();
        if census.unreachable == 0 {
            let share = |count: u64| 100.0 * count as f64 / 240.0;
            let of = |n| share(census.by_components.get(&Some(n)).copied().unwrap_or(0));
            return vec![of(1), of(2), of(3), of(4), share(census.all_single)];
        }
    }
}

/// A path without valleys: L0 and L1 have no spine in common, and meet over L2 only.
#[test]
fn valley_free_paths_do_not_pass_through_a_third_leaf() {
    let graph = leaf_spine(3, 2, |_, _| 40);
    let state = without(&graph, &["L0-S1", "L1-S0"]);
    let [from, to] = [switch(&graph, "L0"), switch(&graph, "L1")];
    let at = leaf(&graph, "L1");
    let plain = Quiver::new(&graph, &state, &STRICT);
    let detour = ["L0", "S0", "L2", "S1", "L1"].map(|name| switch(&graph, name)).to_vec();
    assert_eq!(components(&plain, from, at)[0].paths, [detour]);
    let strict = Quiver::new(&graph, &state, &VALLEY_FREE);
    assert!(components(&strict, from, at).is_empty() && strict.groups(from)[at].components.is_empty());
    assert_eq!((strict.census().unreachable, plain.census().unreachable), (2, 0));
    let _ = to;
}

/// Two routes between A and B that differ only in how many paths share a link: from either end.
#[test]
fn multisets_count_the_paths_through_a_link() {
    let names = ["A", "W", "X0", "X1", "Y0", "Y1", "Y2", "B"].map(String::from);
    let pairs = [
        ("A", "W"),
        ("W", "X0"),
        ("W", "X1"),
        ("X0", "Y0"),
        ("X0", "Y1"),
        ("X1", "Y2"),
        ("Y0", "B"),
        ("Y1", "B"),
        ("Y2", "B"),
    ];
    let graph = network(&names, &['A', 'B'], &pairs.map(|(a, b)| line(a, b, 10)));
    let state = LinkState::all_up(&graph);
    for (from, to) in [("A", "B"), ("B", "A")] {
        let parts = |settings| {
            let quiver = Quiver::new(&graph, &state, settings);
            let list = components(&quiver, switch(&graph, from), leaf(&graph, to));
            list.iter().map(|part| part.count).collect::<Vec<_>>()
        };
        assert_eq!(parts(&STRICT), [2, 1], "{from}: two paths share X0-W, one passes X1-W");
        assert_eq!(parts(&SET), [3], "{from}: the same pairs on every link");
    }
}

/// The capacity on arrival is that of the narrowest link on the way, not of the widest: from B through X1 no more
/// than through X0.
#[test]
fn what_arrives_is_bounded_by_the_narrowest_link() {
    let names = ["A", "B", "C", "W", "V", "X0", "X1"].map(String::from);
    let lines = [
        line("A", "W", 10),
        line("B", "V", 10),
        line("W", "X0", 40),
        line("W", "X1", 40),
        line("V", "X0", 40),
        line("V", "X1", 20),
        line("X0", "C", 10),
        line("X1", "C", 10),
    ];
    let graph = network(&names, &['A', 'B', 'C'], &lines);
    let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &STRICT);
    let list = components(&quiver, switch(&graph, "A"), leaf(&graph, "C"));
    assert_eq!(list.iter().map(|part| part.count).collect::<Vec<_>>(), [2]);
}

/// Two paths may share all scores but not their bottleneck: labels are ratios, and other paths into the same links
/// may make them equal. From C, the last links see capacity factors of 4 and 1 behind A (40 and 10 over 10) as behind
/// B (160 and 40 over 40); C's own path is ten wide through A and forty through B, and each counts with its own
/// capacity.
#[test]
fn paths_with_equal_scores_keep_their_own_bottlenecks() {
    let names = ["L0", "L1", "C", "D", "A", "B"].map(str::to_owned);
    let cables = [
        ("L0", "C", 160),
        ("L0", "D", 160),
        ("C", "A", 40),
        ("C", "B", 40),
        ("D", "A", 10),
        ("D", "B", 160),
        ("A", "L1", 10),
        ("B", "L1", 40),
    ];
    let graph = network(&names, &['L'], &cables.map(|(a, b, gbps)| line(a, b, gbps)));
    for settings in [STRICT, SET] {
        let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &settings);
        let paths = components(&quiver, switch(&graph, "L0"), leaf(&graph, "L1"));
        let sizes: Vec<_> = paths.iter().map(|part| (part.weight, part.paths.len())).collect();
        assert_eq!(sizes, [(5, 2), (1, 1), (4, 1)], "both paths through C are one component");
        assert_eq!(groups(&graph, &quiver, "L0", "L1"), named(&[(1, &["C"]), (1, &["D"])]));
    }
}

// ---- the slow reference ------------------------------------------------------------------------------------------

type Path = Vec<u32>;

/// Live neighbours with the capacity of all parallel links together, in Gb/s.
fn neighbours(graph: &Graph, state: &LinkState) -> Vec<BTreeMap<u32, u64>> {
    let mut all = vec![BTreeMap::new(); graph.switches().len()];
    for cable in graph.fabric_cables().into_iter().filter(|cable| state.is_up(*cable)) {
        for link in graph.links_of_cable(cable).map(|link| &graph.links()[link.index()]) {
            let (Node::Switch(from), Node::Switch(to)) = (link.from, link.to) else { continue };
            *all[from.index()].entry(to.0).or_insert(0) += link.rate.0 / 1_000_000_000;
        }
    }
    all
}

/// All shortest paths, by breadth-first search over paths.
fn all_paths(neighbours: &[BTreeMap<u32, u64>], from: u32, to: u32) -> Vec<Path> {
    let mut front = vec![vec![from]];
    let mut seen: BTreeSet<u32> = [from].into();
    while !front.is_empty() && !front.iter().any(|path| path.last() == Some(&to)) {
        let grow = |path: &Path| {
            let last = *path.last().unwrap() as usize;
            neighbours[last]
                .keys()
                .filter(|next| !seen.contains(next))
                .map(|n| [&path[..], &[*n]].concat())
                .collect::<Vec<_>>()
        };
        front = front.iter().flat_map(grow).collect();
        seen.extend(front.iter().map(|path| *path.last().unwrap()));
    }
    front.retain(|path| path.last() == Some(&to));
    front
}

/// (numerator, denominator) of a capacity factor, not reduced: compared by cross multiplication through reduction by hand.
fn factor(neighbours: &[BTreeMap<u32, u64>], path: &[u32], hop: usize, constant: bool) -> (u64, u64) {
    let capacity = |hop: usize| neighbours[path[hop] as usize][&path[hop + 1]];
    let before = (0..hop).map(capacity).min();
    let (over, under) = match before {
        Some(before) => (before, capacity(hop)),
        None if constant => (1, 1),
        None => (1, capacity(hop)),
    };
    let divisor = (1..=over.max(under)).rev().find(|n| over % n == 0 && under % n == 0).unwrap();
    (over / divisor, under / divisor)
}

type Labelled = BTreeMap<(u32, u32), BTreeMap<(u32, u32, (u64, u64)), u64>>;

/// The components of a pair, as sets of paths with the sum of their capacities, found by listing everything.
fn reference(
    graph: &Graph,
    state: &LinkState,
    settings: &QuiverSettings,
    pair: (u32, u32),
) -> Vec<(Vec<Path>, u64)> {
    let neighbours = neighbours(graph, state);
    let leaves: Vec<u32> = graph.leaves().iter().map(|leaf| leaf.0).collect();
    let every = leaves.iter().flat_map(|s| leaves.iter().map(move |t| (*s, *t))).filter(|(s, t)| s != t);
    let pairs = if settings.score == Score::OwnPair { vec![pair] } else { every.collect() };
    let mut labels = Labelled::new();
    for (s, t) in pairs {
        for path in all_paths(&neighbours, s, t) {
            for hop in 0..path.len() - 1 {
                let factor = factor(&neighbours, &path, hop, settings.source_cf == SourceFactor::Constant);
                let list = labels.entry((path[hop], path[hop + 1])).or_default();
                let count = list.entry((s, t, factor)).or_insert(0);
                *count = if settings.labels == Labels::Set { 1 } else { *count + 1 };
            }
        }
    }
    let mut components: BTreeMap<Vec<_>, (Vec<Path>, u64)> = BTreeMap::new();
    let mut paths = all_paths(&neighbours, pair.0, pair.1);
    paths.sort();
    for path in paths {
        let links = path.windows(2).map(|link| (link[0], link[1]));
        let score: Vec<_> =
            links.clone().map(|link| labels.get(&link).cloned().unwrap_or_default()).collect();
        let capacity = links.map(|(a, b)| neighbours[a as usize][&b]).min().unwrap();
        let component = components.entry(score).or_default();
        component.0.push(path);
        component.1 += capacity;
    }
    let mut list: Vec<_> = components.into_values().collect();
    list.sort();
    list
}

/// Paths and weights equal those of the reference; weights have no common divisor.
#[test]
fn random_networks_fall_apart_as_the_reference_says() {
    let mut compared = 0;
    for seed in 0..40 {
        let (graph, state) = random(seed);
        for settings in all_settings().into_iter().filter(|settings| !settings.valley_free) {
            let quiver = Quiver::new(&graph, &state, &settings);
            let mut dice = Random::new(seed, Purpose::Test, 1);
            for _ in 0..6 {
                let from = dice.below(graph.switches().len() as u32);
                let to = dice.below(graph.leaves().len() as u32) as usize;
                let destination = graph.leaves()[to].0;
                if from == destination {
                    continue;
                }
                let expected = reference(&graph, &state, &settings, (from, destination));
                let list = components(&quiver, SwitchId(from), to);
                let paths = |part: &PathComponent| {
                    part.paths.iter().map(|p| p.iter().map(|s| s.0).collect()).collect()
                };
                let found: Vec<Vec<Path>> = list.iter().map(paths).collect();
                assert_eq!(
                    found,
                    expected.iter().map(|(paths, _)| paths.clone()).collect::<Vec<_>>(),
                    "{seed} {settings:?} {from} {destination}"
                );
                let unit = expected.first().map_or(1, |(_, sum)| *sum as u128)
                    / list.first().map_or(1, |part| part.weight);
                for (part, (_, sum)) in list.iter().zip(&expected) {
                    assert_eq!(part.weight * unit, u128::from(*sum), "{seed} {settings:?}");
                }
                compared += list.len();
            }
        }
    }
    assert!(compared > 2_000, "{compared} components compared");
}

/// What switches install follows from the components of every pair: equal first hops together, weights added.
#[test]
fn groups_are_the_components_seen_from_their_first_hop() {
    for seed in 0..60 {
        let (graph, state) = random(seed);
        for settings in all_settings() {
            let quiver = Quiver::new(&graph, &state, &settings);
            let routes = Routes::new(&graph, &state, Grouping::Components(settings));
            for from in switches(&graph) {
                for (to, destination) in graph.leaves().iter().enumerate().filter(|(_, leaf)| **leaf != from)
                {
                    let mut expected: BTreeMap<_, u128> = BTreeMap::new();
                    for part in components(&quiver, from, to) {
                        *expected.entry(part.ports).or_default() += part.weight;
                    }
                    let table = &routes.switches[from.index()];
                    let group = &table.groups[table.group_of_leaf[to].index()];
                    let ports: Vec<_> = group.components.iter().map(|part| &part.ports).collect();
                    assert_eq!(ports, expected.keys().collect::<Vec<_>>(), "{seed} {from} {destination}");
                    let ratio = |n: usize| {
                        (u128::from(group.components[n].weight), expected[&group.components[n].ports])
                    };
                    for n in 1..ports.len() {
                        let (a, b) = (ratio(0), ratio(n));
                        assert_eq!(a.0 * b.1, b.0 * a.1, "{seed} {from} {destination}");
                    }
                }
            }
        }
    }
}

/// The paths of components as sets of switch names, for comparison between networks.
fn partition(
    graph: &Graph,
    quiver: &Quiver<'_>,
    from: &str,
    to: &str,
) -> BTreeSet<(u128, BTreeSet<Vec<String>>)> {
    let name = |path: &Vec<SwitchId>| path.iter().map(|s| graph.name(Node::Switch(*s))).collect();
    let parts = components(quiver, switch(graph, from), leaf(graph, to));
    parts.iter().map(|part| (part.weight, part.paths.iter().map(name).collect())).collect()
}

/// Switches and cables in another order, and cables named from the other end, give the same components.
#[test]
fn names_and_order_do_not_matter() {
    let mut names: Vec<String> =
        (0..5).map(|n| format!("L{n}")).chain((0..3).map(|n| format!("S{n}"))).collect();
    let mut lines = Vec::new();
    for leaf in 0..5 {
        for spine in 0..3 {
            let rate = if (leaf + spine) % 4 == 0 { 40 } else { 10 };
            (0..1 + u32::from(leaf == 2))
                .for_each(|_| lines.push(line(format!("L{leaf}"), format!("S{spine}"), rate)));
        }
    }
    lines.remove(1);
    let first = network(&names, &['L'], &lines);
    let mut dice = Random::new(3, Purpose::Test, 0);
    dice.shuffle(&mut names);
    dice.shuffle(&mut lines);
    lines.iter_mut().step_by(2).for_each(|(a, b, _)| std::mem::swap(a, b));
    let second = network(&names, &['L'], &lines);
    for settings in all_settings() {
        let quivers = [&first, &second].map(|graph| Quiver::new(graph, &LinkState::all_up(graph), &settings));
        for (from, to) in [("L0", "L1"), ("L2", "L3"), ("L4", "L2"), ("S0", "L1"), ("L3", "L0")] {
            let [one, other] = [(&first, &quivers[0]), (&second, &quivers[1])];
            assert_eq!(
                partition(one.0, one.1, from, to),
                partition(other.0, other.1, from, to),
                "{from} {to}"
            );
        }
    }
}

/// Whether every component of `fine` lies within one of `coarse`.
fn refines(fine: &[PathComponent], coarse: &[PathComponent]) -> bool {
    let within = |part: &PathComponent| {
        coarse.iter().any(|whole| part.paths.iter().all(|path| whole.paths.contains(path)))
    };
    fine.iter().all(within)
}

#[test]
fn multisets_refine_sets_and_strict_labels_refine_own_pairs() {
    let mut finer = 0;
    for seed in 0..60 {
        let (graph, state) = random(seed);
        let quivers = [STRICT, SET, OWN].map(|settings| Quiver::new(&graph, &state, &settings));
        for from in graph.leaves() {
            for to in (0..graph.leaves().len()).filter(|to| graph.leaves()[*to] != *from) {
                let [strict, set, own] = [0, 1, 2].map(|n| components(&quivers[n], *from, to));
                assert!(refines(&strict, &set) && refines(&strict, &own), "{seed} {from} {to}");
                finer += usize::from(strict.len() > set.len()) + usize::from(strict.len() > own.len());
            }
        }
    }
    assert!(finer > 100, "{finer} pairs where it makes a difference");
}

/// The first hop in which two paths differ, and how.
#[test]
fn the_difference_of_two_paths_is_where_their_labels_part() {
    let graph = leaf_spine(4, 3, |_, _| 40);
    let quiver = Quiver::new(&graph, &without(&graph, &["L0-S0"]), &STRICT);
    let path = |spine: &str| ["L3", spine, "L1"].map(|name| switch(&graph, name)).to_vec();
    let pair = (switch(&graph, "L3"), leaf(&graph, "L1"));
    assert_eq!(quiver.difference([&path("S1"), &path("S2")], pair), None);
    let difference = quiver.difference([&path("S0"), &path("S1")], pair).expect("not symmetric");
    assert_eq!((difference.hop, difference.links[0]), (0, (pair.0, switch(&graph, "S0"))));
    let labels: Vec<_> =
        difference.labels.iter().map(|(label, counts)| (label.destination, *counts)).collect();
    assert_eq!(labels, [(switch(&graph, "L0"), [0, 1])]);
}

/// Two paths have a difference exactly if they are in different components.
#[test]
fn differences_agree_with_components() {
    for seed in 0..25 {
        let (graph, state) = random(seed);
        for settings in [STRICT, SET, OWN] {
            let quiver = Quiver::new(&graph, &state, &settings);
            let (from, to) = (graph.leaves()[0], graph.leaves().len() - 1);
            let parts = components(&quiver, from, to);
            let paths =
                parts.iter().enumerate().flat_map(|(n, part)| part.paths.iter().take(2).map(move |p| (n, p)));
            let paths: Vec<_> = paths.collect();
            for (n, one) in &paths {
                for (m, other) in &paths {
                    assert_eq!(
                        quiver.difference([one, other], (from, to)).is_none(),
                        n == m,
                        "{seed} {settings:?}"
                    );
                }
            }
        }
    }
}

/// Where every component is a single path, DRILL sends each hash value where weighted ports (WCMP) do.
#[test]
fn single_paths_are_weighted_ports() {
    let graph = leaf_spine(16, 4, |leaf, spine| if (leaf + spine) % 3 == 0 { 40 } else { 10 });
    let mut state = LinkState::all_up(&graph);
    let mut cables = graph.fabric_cables();
    Random::new(5, Purpose::Test, 0).shuffle(&mut cables);
    cables[..10].iter().for_each(|cable| state.set(*cable, false));
    let routes = |grouping| Routes::new(&graph, &state, grouping);
    let (drill, wcmp) = (routes(Grouping::Components(STRICT)), routes(Grouping::Weighted));
    let mut uneven = 0;
    for from in graph.leaves() {
        let [drill, wcmp] = [&drill, &wcmp].map(|routes| &routes.switches[from.index()]);
        for to in 0..graph.leaves().len() {
            let parts = &drill.groups[drill.group_of_leaf[to].index()].components;
            if parts.len() < 2 || parts.iter().any(|part| part.ports.len() > 1) {
                continue;
            }
            let weighted = &wcmp.groups[wcmp.group_of_leaf[to].index()].components[0];
            let by_part: Vec<_> = parts.iter().map(|part| (part.ports[0], part.weight)).collect();
            let by_port: Vec<_> =
                weighted.ports.iter().copied().zip(weighted.shares.iter().copied()).collect();
            assert_eq!(
                by_part, by_port,
                "{from} {to}: the same order and weights, so the same port for every hash"
            );
            uneven += usize::from(weighted.shares.iter().any(|share| *share != weighted.shares[0]));
        }
    }
    assert!(uneven > 50, "{uneven} pairs with unequal weights");
}

/// Weighted ports: the sum of the capacities of the paths by first hop, parallel links by rate.
#[test]
fn shares_of_ports_are_the_capacities_of_their_paths() {
    let mut uneven = 0;
    for seed in 0..60 {
        let (graph, state) = random(seed);
        let routes = Routes::new(&graph, &state, Grouping::Weighted);
        for from in switches(&graph) {
            for (to, leaf) in graph.leaves().iter().enumerate().filter(|(_, leaf)| **leaf != from) {
                let neighbours = neighbours(&graph, &state);
                let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
                for path in all_paths(&neighbours, from.0, leaf.0) {
                    let capacity = path.windows(2).map(|link| neighbours[link[0] as usize][&link[1]]).min();
                    *sums.entry(path[1]).or_default() += capacity.unwrap();
                }
                let table = &routes.switches[from.index()];
                let group = &table.groups[table.group_of_leaf[to].index()];
                let Some(component) = group.components.first() else { continue };
                let expected = |port| {
                    let link = &graph.links()[graph.link_at(Node::Switch(from), port).index()];
                    let Node::Switch(next) = link.to else { panic!("a port to a host") };
                    let whole = neighbours[from.index()][&next.0] as f64;
                    sums[&next.0] as f64 * (link.rate.0 / 1_000_000_000) as f64 / whole
                };
                let scale = expected(component.ports[0]) / component.shares[0] as f64;
                for (port, share) in component.ports.iter().zip(&component.shares) {
                    assert!((expected(*port) - *share as f64 * scale).abs() < 1e-9, "{seed} {from} {leaf}");
                }
                uneven += usize::from(component.shares.iter().any(|share| *share != component.shares[0]));
            }
        }
    }
    assert!(uneven > 100, "{uneven}");
}
