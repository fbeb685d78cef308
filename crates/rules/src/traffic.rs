//! Rules on traffic.

use std::path::Path;

use crate::classes::is_mapped;
use crate::remarks::without_effect as without_effect_in;
use crate::transport::framing;
use crate::{Facts, Finding, Networks, impossible};
use weft_core::{Rate, Span, Time};
use weft_model::{Case, ScenarioSettings};
use weft_topology::split::equal_split;
use weft_topology::{Graph, Link, LinkState, plan};
use weft_workload::pattern::open_loop::LoadCounts;
use weft_workload::{
    Limits, PatternSettings, Problem, Shape, TrafficSettings, check, demands, notes, without_effect,
};

fn first_seed(settings: &ScenarioSettings) -> u64 {
    settings.seeds.first().copied().unwrap_or(1)
}

/// The links that work at the start, with the first seed's failures.
fn initial(settings: &ScenarioSettings, graph: &Graph) -> LinkState {
    match plan(graph, &settings.failure, first_seed(settings)) {
        Ok(plan) => plan.initial(graph),
        Err(_) => LinkState::all_up(graph),
    }
}

/// The facts about a network that the traffic crate needs: rates of hosts, then capacities of uplinks.
fn shape<'a>(
    settings: &'a ScenarioSettings,
    graph: &'a Graph,
    (folder, (host_rate, uplink_capacity)): (&'a Path, &'a (Vec<Rate>, Vec<Rate>)),
) -> Shape<'a> {
    Shape {
        leaf_of_host: graph.leaf_of_host(),
        host_rate,
        uplink_capacity,
        framing: framing(&settings.transport),
        folder,
        host_names: graph.host_names(),
    }
}

/// Remarks on cases without mistakes: the limit of a load, settings without effect, and cases that do not carry the same
/// flows.
#[must_use]
pub fn remarks(cases: &[Case], folder: &Path) -> Vec<String> {
    let mut networks = Networks { folder, last: None };
    let mut remarks: Vec<(String, usize)> = Vec::new();
    for case in cases {
        let settings = &case.settings;
        let (graph, _) = networks.of(&settings.topology, first_seed(settings));
        let Some(graph) = graph else { continue };
        let state = initial(settings, graph);
        let capacities = (graph.host_rates(&state), graph.uplink_capacity(&state));
        let until = settings.measure.until.map(|span| Time::ZERO + span);
        let shape = shape(settings, graph, (folder, &capacities));
        let of_patterns = notes(&settings.flows(), &shape, until);
        let more = overload(settings, (graph, &state), &shape);
        let idle = without_effect_in(case, graph, folder);
        for note in of_patterns.into_iter().chain(more).chain(idle) {
            match remarks.iter_mut().find(|(known, _)| *known == note) {
                Some((_, count)) => *count += 1,
                None => remarks.push((note, 1)),
            }
        }
    }
    let of_cases = |(note, count): (String, usize)| match count == cases.len() {
        true => format!("{note}."),
        false => format!("{note} ({count} of {} cases).", cases.len()),
    };
    remarks.into_iter().map(of_cases).chain(other_flows(cases)).collect()
}

/// Larger networks are not examined for overload, which takes a search of the network for every leaf.
const MOST_SWITCHES: usize = 128;

/// Without switches above the leaves, where results have no offered load: the link to which loads offer the most, if that is
/// more than it carries.
fn overload(
    settings: &ScenarioSettings,
    (graph, state): (&Graph, &LinkState),
    shape: &Shape<'_>,
) -> Option<String> {
    let above = graph.switches().iter().any(|switch| switch.tier > 1);
    if above || graph.switches().len() > MOST_SWITCHES {
        return None;
    }
    let demands = demands(&settings.flows(), shape);
    let offered =
        demands.iter().flat_map(|demand| graph.links().iter().zip(equal_split(graph, state, demand)));
    let shares = offered.map(|(link, rate)| (link, rate / link.rate.0 as f64));
    let (link, times): (&Link, f64) = shares.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (times >= 1.005).then(|| {
        format!(
            "the link from {} to {} is offered {times:.2} times its rate (flows split equally over shortest paths): `load` does not \
             limit single links where flows cross several of them",
            graph.name(link.from),
            graph.name(link.to)
        )
    })
}

/// Maximum number of cases that a warning names.
const MOST_NAMED: usize = 5;

/// A load on the wire counts headers, which differ by transport, so cases do not carry the same flows.
fn other_flows(cases: &[Case]) -> Option<String> {
    let first = cases.first()?;
    let drawn = |case: &Case| case.settings.flows().iter().any(draws_by_headers);
    let same = |case: &&Case| {
        let (one, other) = (&first.settings, &case.settings);
        one.flows() == other.flows() && one.topology == other.topology
    };
    let framed = |case: &Case| framing(&case.settings.transport);
    let others = cases.iter().filter(same).filter(|case| framed(case) != framed(first) && drawn(case));
    let names: Vec<String> = others.map(|case| format!("`{}`", case.label())).collect();
    let (few, more) = names.split_at(names.len().min(MOST_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    (!few.is_empty()).then(|| {
        format!(
            "The flows of {}{more} are not those of `{}`: the load counts headers, which are of another size there; \
             load_counts = \"payload\" gives all cases the same flows.",
            few.join(", "),
            first.label()
        )
    })
}

/// Whether arrivals depend on the size of headers.
fn draws_by_headers(entry: &TrafficSettings) -> bool {
    matches!(&entry.pattern, PatternSettings::OpenLoop(own) if own.load_counts == LoadCounts::Wire || own.whole_segments)
}

/// The traffic crate's checks in this network, with the first seed's failures.
pub(crate) fn traffic_fits_the_network(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let settings = facts.settings;
    let state = initial(settings, graph);
    if settings.traffic.is_empty() {
        found.push(impossible("traffic", "no traffic: give at least one [[traffic]]"));
    }
    let capacities = (graph.host_rates(&state), graph.uplink_capacity(&state));
    let shape = shape(settings, graph, (facts.folder, &capacities));
    let limits = Limits {
        warm_up: Time::ZERO + settings.measure.warm_up,
        measured_flows: settings.measure.flows,
        until: settings.measure.until.map(|span| Time::ZERO + span),
    };
    found.extend(check(&settings.flows(), &shape, &limits).iter().map(Finding::from));
    let idle = |problem: &Problem| Finding { idle: true, exact: true, ..Finding::from(problem) };
    found.extend(without_effect(&settings.flows()).iter().map(idle));
}

/// A class that an entry chooses has a queue of its own.
pub(crate) fn classes_have_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if facts.stacks.iter().any(|stack| stack.transport.stack().goes_by_classes()) {
        return;
    }
    let queues = facts.devices.iter().map(|device| device.switch.queues).max().unwrap_or(1);
    for (index, entry) in facts.settings.flows().iter().enumerate() {
        if let Some(class) = entry.class.filter(|class| *class >= queues && !is_mapped(facts, *class)) {
            let message = format!(
                "class {class} has no queue of its own: ports have {queues} (switch.queues), numbered from 0"
            );
            found.push(impossible(format!("traffic[{index}].class"), message));
        }
    }
}

/// An entry that stops before it starts, or starts after the run ends, sends nothing.
pub(crate) fn every_entry_sends_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    for (index, entry) in facts.settings.flows().iter().enumerate() {
        if let Some(stop) = entry.stop.filter(|stop| *stop <= entry.start) {
            let message = format!("stops at {stop}, before it starts at {}: it sends nothing", entry.start);
            found.push(impossible(format!("traffic[{index}].stop"), message));
        }
        if let Some(until) = facts.settings.measure.until.filter(|until| *until <= entry.start) {
            let message = format!("starts at {}, but the run ends at {until}: it sends nothing", entry.start);
            found.push(impossible(format!("traffic[{index}].start"), message));
        }
    }
}

/// One event has no next one.
pub(crate) fn periods_lie_between_events(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    for (index, entry) in facts.settings.traffic.iter().enumerate() {
        if let PatternSettings::Incast(incast) = &entry.flows.pattern
            && incast.count == 1
            && incast.jitter == Span::ZERO
        {
            facts.idle(&format!("traffic[{index}].period"), "there is a single event (count = 1)", found);
        }
    }
}
