//! Rules on failures and routing.

use super::{Facts, Finding};
use weft_switch::BalancerSettings;
use weft_switch::balance::drill::Components;
use weft_topology::plan;
use weft_topology::timeline::Convergence;

/// Every seed draws its failures; each draw must succeed.
pub(super) fn failures_exist_in_the_network(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    for &seed in &facts.settings.seeds {
        if let Err(problems) = plan(graph, &facts.settings.failure, seed) {
            found.extend(problems.iter().map(Finding::from));
            return;
        }
    }
    for (index, _) in facts.settings.failure.iter().enumerate().filter(|(_, entry)| entry.random == 0) {
        let path = format!("failure[{index}].valley_free");
        facts.idle(&path, "it restricts random draws, and this entry draws nothing", found);
    }
}

/// Routing delays need a change during the run.
pub(super) fn routing_reacts_to_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let changes = |entry: &weft_topology::FailureSettings| entry.at.is_some() || entry.repair_at.is_some();
    if !facts.settings.failure.iter().any(changes) {
        facts.idle("routing", "no cable fails or is repaired during the run", found);
    } else if facts.settings.routing.convergence == Convergence::Instant {
        for delay in ["detection", "flooding", "spf_delay", "install"] {
            facts.idle(&format!("routing.{delay}"), "convergence is instant", found);
        }
    }
}

/// Without components nobody compares paths.
pub(super) fn paths_are_compared_for_components(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let BalancerSettings::Drill(drill) = &facts.settings.balance else { return };
    if drill.components == Components::None {
        for setting in ["labels", "score", "source_cf", "valley_free"] {
            facts.idle(&format!("balance.drill.{setting}"), "paths are not compared (components)", found);
        }
    }
}
