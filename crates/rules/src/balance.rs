//! Rules on balancers.

use crate::{Facts, Finding, impossible};
use weft_core::{Bytes, Grouping, Span};
use weft_switch::BalancerSettings;
use weft_switch::flowlet::FlowletSettings;
use weft_topology::paths::paths;
use weft_topology::{LinkState, Routes};

/// The flowlets of the chosen balancer, if it has any.
fn flowlets<'a>(facts: &'a Facts<'_>) -> Option<&'a FlowletSettings> {
    match facts.balance {
        BalancerSettings::LetFlow(own) => Some(&own.flowlets),
        BalancerSettings::Conga(own) => Some(&own.flowlets),
        BalancerSettings::Ecmp(_)
        | BalancerSettings::Wcmp(_)
        | BalancerSettings::PerPacketRandom(_)
        | BalancerSettings::RoundRobin(_)
        | BalancerSettings::Drill(_)
        | BalancerSettings::FlowDrill(_)
        | BalancerSettings::Presto(_) => None,
    }
}

impl Facts<'_> {
    /// The path of a setting of the chosen balancer.
    pub(crate) fn balancer(&self, setting: &str) -> String {
        format!("balance.{}.{setting}", self.balance.name())
    }
}

/// A table with an entry per flow has no size.
pub(crate) fn tables_of_flowlets_have_one_size(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if flowlets(facts).is_some_and(|flowlets| flowlets.exact) {
        facts.idle(&facts.balancer("table_size"), "every flow has its own entry (exact)", found);
    }
}

/// Ports are paused only where classes pause.
pub(crate) fn paused_ports_exist(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if !facts.switch.pfc.is_on() {
        facts.idle(&facts.balancer("exclude_paused"), "no class pauses (switch.pfc.classes)", found);
    }
}

/// An estimate that decays continuously is always zero.
pub(crate) fn estimates_decay_now_and_then(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let BalancerSettings::Conga(conga) = facts.balance else { return };
    if conga.congestion.dre_period == Span::ZERO {
        let message = "an estimate that decays continuously is always zero";
        found.push(impossible(facts.balancer("dre_period"), message));
    }
    if !conga.congestion.feedback {
        let why = "feedback is off";
        ["age_out", "ce_at_leaf"].iter().for_each(|name| facts.idle(&facts.balancer(name), why, found));
    }
}

/// A flowcell holds payload.
pub(crate) fn flowcells_hold_payload(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let BalancerSettings::Presto(presto) = facts.balance else { return };
    if presto.cell == Bytes::ZERO {
        let message = "a flowcell of 0 B is empty: give at least 1 B, which changes the path with every burst of \
            packets, or \"64 KiB\" as in the paper";
        found.push(impossible(facts.balancer("cell"), message));
    }
}

/// Labels name a port by eight bits.
pub(crate) fn labels_have_room_for_the_ports(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (BalancerSettings::Presto(_), Some(graph)) = (facts.balance, facts.graph) else { return };
    let routes = Routes::new(graph, &LinkState::all_up(graph), Grouping::Together);
    let named = |from: usize, to: usize| paths(graph, &routes, from, to).is_some();
    let (last, source) = (graph.leaves().len().saturating_sub(1), 0..graph.leaves().len());
    if !source.clone().all(|from| from == last || named(from, last)) || last > 0 && !named(last, 0) {
        let message = "a label can name ports below 255 at the first and second switch and below 63 at the third: \
            some switch with several paths has more";
        found.push(impossible("balance", message));
    }
}

/// A table without entries holds no port.
pub(crate) fn tables_of_weights_hold_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let BalancerSettings::Wcmp(wcmp) = facts.balance else { return };
    if wcmp.table_size == Some(0) {
        found.push(impossible(facts.balancer("table_size"), "weights that sum to zero leave no port"));
    }
}

/// Without equal paths there is nothing to balance: where the cables between switches form a tree, there is one path. ECMP, the
/// default, may be named anywhere.
pub(crate) fn balancers_have_a_choice(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph.filter(|_| !matches!(facts.balance, BalancerSettings::Ecmp(_))) else {
        return;
    };
    if graph.fabric_cables().len() + 1 == graph.switches().len() {
        facts.idle("balance", "every switch has a single port towards each host", found);
    }
}
