//! Rules on failures and routing.

use crate::{Facts, Finding, impossible};
use weft_core::{Grouping, QuiverSettings};
use weft_switch::BalancerSettings;
use weft_switch::balance::drill::Components;
use weft_topology::quiver::without_valley_free_path;
use weft_topology::timeline::Convergence;
use weft_topology::{FailureSettings, Graph, Node, TopologySettings, plan};

/// The rate of fabric cables is given or follows from the oversubscription, never both.
pub(crate) fn one_setting_gives_the_rate_of_fabric_cables(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let TopologySettings::LeafSpine(leaf_spine) = &facts.settings.topology else { return };
    let Some(rate) = leaf_spine.rate_by_oversubscription() else { return };
    let why = format!("topology.leaf-spine.oversubscription makes it {rate}; give only one of them");
    facts.idle("topology.leaf-spine.fabric_link.rate", &why, found);
}

/// Every seed draws its failures; each draw must succeed. Named failures must not partition the network for the whole
/// run.
pub(crate) fn failures_exist_in_the_network(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    for &seed in &facts.settings.seeds {
        match plan(graph, &facts.settings.failure, seed).map(|plan| plan.parted(graph)) {
            Ok(apart) if apart.is_empty() => {}
            Ok(apart) => return found.push(parted(facts, graph, &apart)),
            Err(problems) => return found.extend(problems.iter().map(Finding::from)),
        }
    }
    for (index, _) in facts.settings.failure.iter().enumerate().filter(|(_, entry)| entry.random == 0) {
        let path = format!("failure[{index}].valley_free");
        facts.idle(&path, "it restricts random failures, and this entry has none", found);
    }
}

/// With `valley_free` components a pair of leaves may be left without a route.
pub(crate) fn valley_free_components_leave_routes(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Grouping::Components(QuiverSettings { valley_free: true, .. }) = facts.balance.grouping() else {
        return;
    };
    let Some(graph) = facts.graph else { return };
    for &seed in &facts.settings.seeds {
        let Ok(plan) = plan(graph, &facts.settings.failure, seed) else { return };
        if let Some((from, to)) = without_valley_free_path(graph, &plan.for_good(graph)) {
            let message = format!(
                "with seed {seed} no path from {} to {} goes up, then down, so there is no route; turn this \
                 off, or let random failures keep such paths (`failure[i].valley_free`)",
                graph.name(Node::Switch(from)),
                graph.name(Node::Switch(to))
            );
            return found.push(impossible(facts.balancer("valley_free"), message));
        }
    }
}

/// Random draws never partition the network: the cause is named cables that are never repaired.
fn parted(facts: &Facts<'_>, graph: &Graph, apart: &[usize]) -> Finding {
    let whole = graph.leaves().len();
    let few: Vec<usize> = match apart.len() * 2 <= whole {
        true => apart.to_vec(),
        false => (0..whole).filter(|leaf| !apart.contains(leaf)).collect(),
    };
    let named = |leaf: &usize| graph.name(Node::Switch(graph.leaves()[*leaf]));
    let mut names: Vec<String> = few.iter().take(3).map(named).collect();
    if few.len() > 3 {
        names.push(format!("{} more", few.len() - 3));
    }
    let for_good =
        |entry: &FailureSettings| !entry.cables.is_empty() && entry.at.is_none() && entry.repair_at.is_none();
    let index = facts.settings.failure.iter().rposition(for_good).unwrap_or_default();
    let others = match whole - few.len() {
        1 => "the other leaf".to_owned(),
        more => format!("the other {more} leaves"),
    };
    let message = format!(
        "without these cables {} cannot reach {others} for the whole run: leave a path, or give \
         `repair_at`, or `at` for a failure during the run",
        names.join(", ")
    );
    impossible(format!("failure[{index}].cables"), message)
}

/// Routing delays need a change during the run.
pub(crate) fn routing_reacts_to_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let changes = |entry: &weft_topology::FailureSettings| entry.at.is_some() || entry.repair_at.is_some();
    if !facts.settings.failure.iter().any(changes) {
        let why = "no cable fails or is repaired during the run";
        facts.idle("routing", why, found);
        facts.idle("balance.presto.controller_delay", why, found);
    } else if facts.settings.routing.convergence == Convergence::Instant {
        for delay in ["detection", "flooding", "spf_delay", "install"] {
            facts.idle(&format!("routing.{delay}"), "convergence is instant", found);
        }
    }
}

/// Without components paths are not compared.
pub(crate) fn paths_are_compared_for_components(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let BalancerSettings::Drill(drill) = facts.balance else { return };
    if drill.components == Components::None {
        for setting in ["labels", "score", "source_cf", "valley_free"] {
            facts.idle(&format!("balance.drill.{setting}"), "paths are not compared (components)", found);
        }
    }
}
