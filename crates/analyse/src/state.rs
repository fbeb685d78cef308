//! The state that a scenario's balancers keep in its switches, in words: a cost that no result shows.

use std::path::Path;

use weft_core::{Bytes, SwitchId};
use weft_scenario::{Device, Scenario, ScenarioSettings, devices};

use weft_switch::BalancerSettings;
use weft_switch::balance::Choices;
use weft_topology::{Graph, Node, Problem, SwitchRoutes, build_in, plan, timeline};

/// A sentence for each balancer among the cases and their kinds of switches, for the network of its first case at the start of
/// the first seed. If that cannot be built, the sentence says why.
#[must_use]
pub fn balancer_state(scenario: &Scenario, folder: &Path) -> String {
    let mut known: Vec<BalancerSettings> = Vec::new();
    let mut text = String::new();
    for settings in scenario.cases().iter().map(|case| &case.settings) {
        let graph = build_in(&settings.topology, folder, first_seed(settings));
        let kinds = graph.as_ref().map(|graph| devices(settings, graph)).unwrap_or_default();
        let mut all: Vec<&BalancerSettings> = kinds.iter().map(|kind| &kind.balance).collect();
        if all.is_empty() {
            all.push(&settings.balance);
        }
        for balance in all {
            if known.contains(balance) {
                continue;
            }
            known.push(balance.clone());
            let said = match &graph {
                Ok(graph) => sentence(settings, graph, (balance, &kinds)),
                Err(problems) => Err(told(problems)),
            };
            let unknown = |cause: String| {
                let cause = cause.lines().map(str::trim).collect::<Vec<_>>().join("; ");
                format!("State of {} in switches: unknown: {cause}\n", balance.name())
            };
            text += &said.unwrap_or_else(unknown);
        }
    }
    text
}

fn first_seed(settings: &ScenarioSettings) -> u64 {
    settings.seeds.first().copied().unwrap_or_default()
}

fn told(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// For the switches with this balancer.
fn sentence(
    settings: &ScenarioSettings,
    graph: &Graph,
    (balance, kinds): (&BalancerSettings, &[Device]),
) -> Result<String, String> {
    let plan = plan(graph, &settings.failure, first_seed(settings)).map_err(|problems| told(&problems))?;
    let timeline = timeline(graph, &plan, &settings.routing, balance.grouping());
    let own = kinds.iter().filter(|kind| kind.balance == *balance);
    let switches = own.flat_map(|kind| kind.switches.iter().map(move |switch| (*switch, kind)));
    let kept = |(switch, kind): (SwitchId, &Device)| {
        (kept(kind, graph, &timeline.states[0].switches[switch.index()]), switch.index())
    };
    let all: Vec<(u64, usize)> = switches.map(kept).collect();
    let most = all.iter().copied().max_by_key(|(bytes, number)| (*bytes, usize::MAX - number));
    let (most, number) = most.ok_or("the network has no switches")?;
    let switch = graph.name(Node::Switch(SwitchId(number as u32)));
    let name = match all.len() == graph.switches().len() {
        true => balance.name().to_owned(),
        false => format!("{} ({} of {} switches)", balance.name(), all.len(), graph.switches().len()),
    };
    let whole = Bytes(all.iter().map(|(bytes, _)| bytes).sum());
    let fixed = match most {
        0 => format!("State of {name} in switches: none"),
        _ => format!(
            "State of {name} in switches: up to {} each (as in {switch}), {whole} in total",
            Bytes(most)
        ),
    };
    let flow = balance.state(Choices::default()).per_flow;
    Ok(match flow.0 {
        0 => format!("{fixed}.\n"),
        _ => format!("{fixed}, and {flow} in an engine for each flow it remembers.\n"),
    })
}

/// Bytes kept by a switch in all its engines.
fn kept(kind: &Device, graph: &Graph, routes: &SwitchRoutes) -> u64 {
    let choices = kind.balance.choices(routes.groups.iter().flat_map(|group| &group.components));
    let engines = u64::from(kind.switch.engines) * u64::from(choices.components > 0);
    let paths = routes.leaf.map_or(Bytes::ZERO, |_| {
        let ports = routes.groups.iter().flat_map(|group| &group.components).flat_map(|part| &part.ports);
        let uplinks = ports.collect::<std::collections::BTreeSet<_>>().len() as u64;
        kind.balance.state_of_paths(graph.leaves().len() as u64 - 1, uplinks)
    });
    engines * kind.balance.state(choices).fixed.0 + paths.0
}
