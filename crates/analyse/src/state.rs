//! The state that a scenario's balancers keep in its switches, in words: a cost that no result shows.

use std::path::Path;

use weft_core::Bytes;
use weft_scenario::{Scenario, ScenarioSettings};

use weft_switch::balance::Choices;
use weft_topology::{Graph, Node, Problem, SwitchRoutes, build_in, plan, timeline};

/// A sentence for each balancer among the cases, for the network of its first case at the start of the first seed. If
/// that cannot be built, the sentence says why.
#[must_use]
pub fn balancer_state(scenario: &Scenario, folder: &Path) -> String {
    let mut known = Vec::new();
    let mut text = String::new();
    for settings in scenario.cases().iter().map(|case| &case.settings) {
        if !known.contains(&&settings.balance) {
            known.push(&settings.balance);
            let unknown = |cause: String| {
                let cause = cause.lines().map(str::trim).collect::<Vec<_>>().join("; ");
                format!("State of {} in switches: unknown: {cause}\n", settings.balance.name())
            };
            text += &sentence(settings, folder).unwrap_or_else(unknown);
        }
    }
    text
}

fn told(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn sentence(settings: &ScenarioSettings, folder: &Path) -> Result<String, String> {
    let seed = settings.seeds.first().copied().unwrap_or_default();
    let graph = build_in(&settings.topology, folder, seed).map_err(|problems| told(&problems))?;
    let plan = plan(&graph, &settings.failure, seed).map_err(|problems| told(&problems))?;
    let timeline = timeline(&graph, &plan, &settings.routing, settings.balance.grouping());
    let kept = |(number, routes): (usize, &SwitchRoutes)| (kept(settings, &graph, routes), number);
    let all: Vec<(u64, usize)> = timeline.states[0].switches.iter().enumerate().map(kept).collect();
    let most = all.iter().copied().max_by_key(|(bytes, number)| (*bytes, usize::MAX - number));
    let (most, number) = most.ok_or("the network has no switches")?;
    let switch = graph.name(Node::Switch(weft_core::SwitchId(number as u32)));
    let name = settings.balance.name();
    let whole = Bytes(all.iter().map(|(bytes, _)| bytes).sum());
    let fixed = match most {
        0 => format!("State of {name} in switches: none"),
        _ => format!(
            "State of {name} in switches: up to {} each (as in {switch}), {whole} in total",
            Bytes(most)
        ),
    };
    let flow = settings.balance.state(Choices::default()).per_flow;
    Ok(match flow.0 {
        0 => format!("{fixed}.\n"),
        _ => format!("{fixed}, and {flow} in an engine for each flow it remembers.\n"),
    })
}

/// Bytes kept by a switch in all its engines.
fn kept(settings: &ScenarioSettings, graph: &Graph, routes: &SwitchRoutes) -> u64 {
    let choices = settings.balance.choices(routes.groups.iter().flat_map(|group| &group.components));
    let engines = u64::from(settings.switch.every.engines) * u64::from(choices.components > 0);
    let paths = routes.leaf.map_or(Bytes::ZERO, |_| {
        let ports = routes.groups.iter().flat_map(|group| &group.components).flat_map(|part| &part.ports);
        let uplinks = ports.collect::<std::collections::BTreeSet<_>>().len() as u64;
        settings.balance.state_of_paths(graph.leaves().len() as u64 - 1, uplinks)
    });
    engines * settings.balance.state(choices).fixed.0 + paths.0
}
