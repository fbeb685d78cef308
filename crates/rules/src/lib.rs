//! Rules on combinations of settings. One rule is one function; `RULES` is the list.
//!
//! There are two kinds of findings. *Impossible*: a case cannot run; reported if any case has it. *Idle*: a setting
//! given by the user has no effect; reported only if that holds in every case that gives it, because a sweep may
//! compare a scheme that uses a setting with one that does not.

mod arbiter;
mod balance;
mod card;
mod classes;
mod levels;
mod measure;
mod mmu;
mod network;
mod pause;
mod ports;
mod precedence;
mod remarks;
mod roce;
mod switch;
mod tlt;
mod traffic;
mod transport;
mod trim;
mod voq;

pub use pause::switch_site;
pub use traffic::remarks;

use std::collections::BTreeSet;
use std::path::Path;
use weft_codec::Provenance;
use weft_core::settings::Value;
use weft_mistake::Mistake;
use weft_mistake::SourceSpan;
use weft_model::Case;
use weft_model::ScenarioSettings;
use weft_model::{Device, devices_by_port};
use weft_model::{TransportInUse, stacks};
use weft_switch::{BalancerSettings, SwitchSettings};
use weft_topology::{Graph, Problem, TopologySettings, build_in};
use weft_transport::TransportSettings;

/// A case as seen by a rule, with one kind of its switches. Paths of settings are those of `[switch]` and
/// `[balance]`, whatever level gave the value; its origin is determined afterwards.
struct Facts<'a> {
    settings: &'a ScenarioSettings,
    said: &'a Provenance,
    /// The network, if the topology could be built.
    graph: Option<&'a Graph>,
    /// The switches in question.
    device: &'a Device,
    /// Their settings.
    switch: &'a SwitchSettings,
    /// Their balancer.
    balance: &'a BalancerSettings,
    /// The transport of flows: what their two ends do.
    stack: &'a TransportSettings,
    /// The transport, with the levels it comes from.
    stack_of: &'a TransportInUse,
    /// All transports in use.
    stacks: &'a [TransportInUse],
    /// All switches.
    devices: &'a [Device],
    /// The value that the settings were read from.
    value: &'a Value,
    /// Where relative file names start.
    folder: &'a Path,
}

/// A finding of a rule.
#[derive(Clone)]
struct Finding {
    path: String,
    message: String,
    idle: bool,
    /// Whether the path includes its level; otherwise it is a path of `[switch]` or `[balance]`, whichever level gave
    /// the value.
    exact: bool,
}

/// A rule examines one case and adds its findings.
type Rule = fn(&Facts<'_>, &mut Vec<Finding>);

/// All rules on one case, with the sections they depend on.
const RULES: &[(Rule, &[&str])] = &[
    (measure::name_is_a_folder, &["name"]),
    (measure::seeds_are_distinct, &["seeds"]),
    (measure::warm_up_ends_before_the_run, &["measure"]),
    (measure::counted_flows_arrive, &["measure", "traffic"]),
    (measure::failures_come_before_the_end, &["measure", "failure"]),
    (network::one_setting_gives_the_rate_of_fabric_cables, &["topology"]),
    (measure::queues_are_sampled_and_recorded, &["measure"]),
    (measure::flows_are_sampled, &["measure"]),
    (levels::levels_concern_switches, &["switch", "topology"]),
    (precedence::shapers_hold_their_ports_back, &["switch", "topology"]),
    (ports::limits_and_shapers_are_in_force, &["switch", "topology"]),
    (ports::queue_limits_hold_a_packet, &["switch", "transport"]),
    (levels::neighbours_pause_each_other_alike, &["switch", "topology"]),
    (levels::pauses_end_as_the_whole_network_says, &["switch", "measure"]),
    (levels::balancers_that_cooperate_are_everywhere, &["switch", "balance", "topology"]),
    (levels::levels_change_something, &["switch", "balance", "topology"]),
    (levels::groups_of_hosts_say_something, &["hosts", "topology"]),
    (levels::stacks_change_something, &["hosts", "traffic", "transport", "topology"]),
    (levels::cards_change_something, &["hosts", "card", "topology"]),
    (card::queues_of_cards_hold_what_comes, &["card", "hosts", "switch", "transport", "topology"]),
    (card::marks_of_cards_are_read, &["card", "hosts", "traffic", "transport", "topology"]),
    (levels::ends_of_one_transport_agree, &["hosts", "traffic", "transport", "topology"]),
    (network::failures_exist_in_the_network, &["topology", "failure", "seeds"]),
    (network::valley_free_components_leave_routes, &["topology", "failure", "seeds", "balance"]),
    (network::routing_reacts_to_something, &["failure", "routing"]),
    (traffic::traffic_fits_the_network, &["topology", "failure", "seeds", "transport", "traffic", "measure"]),
    (traffic::every_entry_sends_something, &["traffic", "measure"]),
    (classes::maps_name_queues, &["switch"]),
    (classes::priority_groups_share_limits, &["switch"]),
    (classes::maps_keep_the_order_of_classes, &["switch", "transport", "traffic", "hosts", "topology"]),
    (traffic::classes_have_queues, &["traffic", "switch"]),
    (transport::packets_carry_payload, &["transport"]),
    (transport::flows_age, &["transport"]),
    (transport::back_offs_adapt, &["transport"]),
    (transport::windows_and_clocks_start, &["transport"]),
    (transport::time_outs_are_ordered, &["transport"]),
    (transport::probes_need_rack, &["transport"]),
    (transport::reordering_is_learnt_with_sack, &["transport"]),
    (transport::receive_windows_are_constant_or_tuned, &["transport"]),
    (transport::windows_hold_a_packet, &["transport", "hosts", "traffic"]),
    (transport::mechanisms_are_on_where_they_are_set, &["transport", "hosts", "traffic"]),
    (roce::queue_pairs_use_what_is_set, &["transport", "switch"]),
    (roce::flows_start_at_some_rate, &["transport"]),
    (roce::dcqcn_is_one_variant, &["transport", "hosts", "traffic", "topology"]),
    (roce::rates_have_room, &["transport", "hosts", "traffic", "topology"]),
    (roce::round_trip_laws_have_room, &["transport"]),
    (transport::ticks_are_counted, &["transport"]),
    (transport::slow_start_ends_early_where_set, &["transport"]),
    (transport::flows_at_constant_rates_need_no_transport, &["transport", "traffic", "hosts"]),
    (transport::marks_are_set_and_read, &["transport", "switch"]),
    (switch::dynamic_sharing_has_a_buffer_for_its_minima, &["switch", "topology"]),
    (switch::cells_hold_parts_of_packets, &["switch"]),
    (switch::infinite_sharing_has_no_buffer, &["switch"]),
    (switch::memory_holds_a_packet, &["switch", "transport", "hosts", "traffic"]),
    (mmu::minima_and_headroom_fit_the_buffer, &["switch", "topology", "transport"]),
    (mmu::pooled_headroom_serves_somebody, &["switch", "topology", "transport"]),
    (mmu::service_pools_divide_classes_and_memory, &["switch"]),
    (mmu::lossy_limits_have_lossy_classes, &["switch"]),
    (switch::several_queues_for_schedules_and_class_loads, &["switch"]),
    (switch::drr_weights_are_positive, &["switch"]),
    (switch::wrr_weights_are_positive, &["switch"]),
    (switch::queues_behind_strict_ones_are_served, &["switch"]),
    (switch::red_thresholds_are_ordered, &["switch"]),
    (switch::controllers_are_whole, &["switch"]),
    (switch::packet_sizes_matter_to_packet_counts, &["switch"]),
    (precedence::flows_fall_through_queues, &["switch", "transport"]),
    (precedence::classes_of_transports_have_queues, &["switch", "transport"]),
    (
        precedence::ranks_are_written_and_read,
        &["switch", "transport", "balance", "traffic", "hosts", "topology"],
    ),
    (arbiter::arbiters_are_asked, &["switch", "transport"]),
    (arbiter::lists_have_bounds, &["switch"]),
    (arbiter::classes_are_served, &["switch", "transport"]),
    (arbiter::time_outs_outlast_a_round_trip, &["switch", "transport", "topology"]),
    (arbiter::leaves_share_what_is_delegated, &["switch", "topology"]),
    (tlt::transports_mark_for_switches_that_drop, &["switch", "transport", "hosts", "traffic"]),
    (tlt::markers_learn_what_arrives, &["transport"]),
    (tlt::red_thresholds_let_a_packet_pass, &["switch", "transport", "hosts", "traffic", "topology"]),
    (tlt::red_thresholds_are_within_reach, &["switch", "transport", "hosts", "traffic", "topology"]),
    (trim::trimming_serves_somebody, &["switch", "transport"]),
    (trim::headers_have_a_queue_of_their_own, &["switch", "transport", "traffic"]),
    (trim::trimming_leaves_less, &["switch", "transport"]),
    (trim::pulls_are_waited_for, &["transport"]),
    (pause::pauses_are_on_where_they_are_set, &["switch", "pause_storm"]),
    (pause::lossless_classes_have_queues, &["switch"]),
    (pause::headroom_fits_the_memory, &["switch", "topology", "transport"]),
    (pause::pauses_end_and_last, &["switch", "transport"]),
    (pause::storms_come_from_hosts, &["topology", "pause_storm", "measure"]),
    (switch::visibility_matters_to_load_aware_balancers, &["switch", "balance"]),
    (switch::marks_count_one_queue_or_several, &["switch"]),
    (balance::balancers_have_a_choice, &["balance", "topology"]),
    (ports::queue_limits_come_before_those_of_ports, &["switch"]),
    (traffic::periods_lie_between_events, &["traffic"]),
    (network::paths_are_compared_for_components, &["balance"]),
    (voq::virtual_output_queues_stand_alone, &["switch"]),
    (voq::virtual_output_queues_hold_and_send, &["switch", "topology"]),
    (voq::memory_of_virtual_output_queues_holds_a_packet, &["switch", "transport", "hosts", "traffic"]),
    (balance::tables_of_flowlets_have_one_size, &["balance"]),
    (balance::paused_ports_exist, &["balance", "switch"]),
    (balance::estimates_decay_now_and_then, &["balance"]),
    (balance::tables_of_weights_hold_something, &["balance"]),
    (balance::flowcells_hold_payload, &["balance"]),
    (balance::labels_have_room_for_the_ports, &["topology", "balance"]),
];

/// What the rules know in addition to the cases.
pub struct CaseScope<'a> {
    /// Where relative file names start.
    pub folder: &'a Path,
    /// The file's own settings, before the sweep; given if the sweep is complete, because then everything in the file
    /// must matter to some case.
    pub whole: Option<&'a Provenance>,
    /// Every default is filled in, so idle settings are not reported.
    pub complete: bool,
    /// Only some cases of the sweep were chosen: settings of the file may matter to others, so only idle settings of
    /// the command line are reported.
    pub partial: bool,
    /// Sections with mistakes: rules that depend on them are skipped.
    pub damaged: &'a BTreeSet<String>,
}

/// Checks all cases.
pub fn check(cases: &[Case], scope: &CaseScope<'_>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut idle: Vec<Vec<Finding>> = Vec::new();
    let mut networks = Networks { folder: scope.folder, last: None };
    let sound = |sections: &[&str]| !sections.iter().any(|section| scope.damaged.contains(*section));
    let rules: Vec<_> = RULES.iter().filter(|(_, sections)| sound(sections)).collect();
    for case in cases {
        let (graph, problems) =
            networks.of(&case.settings.topology, case.settings.seeds.first().copied().unwrap_or(1));
        mistakes.extend(problems.iter().map(|problem| at_its_place(&Finding::from(problem), case)));
        let (now_idle, impossible) = findings(case, graph, (scope.folder, &rules));
        mistakes.extend(impossible.iter().map(|finding| at_its_place(finding, case)));
        idle.push(now_idle);
    }
    if scope.complete {
        return mistakes;
    }
    for (case, finding) in idle_wherever_given(cases, &idle) {
        let said = &case.resolved.provenance;
        if !scope.partial || said.is_argument(&said.tagged(&finding.path)) {
            mistakes.push(at_its_place(finding, case));
        }
    }
    if let Some(base) = scope.whole {
        mistakes.extend(unused(base, cases).into_iter().map(|(path, place)| never_chosen(path, place)));
    }
    mistakes
}

/// The findings of the rules in a case: settings without effect, then impossible ones. Each is reported at its
/// origin.
fn findings(
    case: &Case,
    graph: Option<&Graph>,
    (folder, rules): (&Path, &[&(Rule, &[&str])]),
) -> (Vec<Finding>, Vec<Finding>) {
    let settings = &case.settings;
    let devices =
        graph.map_or_else(|| vec![Device::of_all(settings)], |graph| devices_by_port(settings, graph));
    let stacks =
        graph.map_or_else(|| vec![TransportInUse::of_all(settings)], |graph| stacks(settings, graph).all);
    let pairs = devices.iter().flat_map(|device| stacks.iter().map(move |stack| (device, stack)));
    let views: Vec<Facts<'_>> = pairs
        .map(|(device, stack)| Facts {
            settings,
            said: &case.resolved.provenance,
            value: &case.resolved.value,
            graph,
            device,
            switch: &device.switch,
            balance: &device.balance,
            stack: &stack.transport,
            stack_of: stack,
            stacks: &stacks,
            devices: &devices,
            folder,
        })
        .collect();
    let mut found: Vec<Vec<Finding>> = vec![Vec::new(); views.len()];
    for (rule, sections) in rules {
        let differs = sections.iter().any(|section| matches!(*section, "switch" | "balance" | "transport"));
        let mut once = Vec::new();
        rule(&views[0], &mut once);
        for (view, found) in views.iter().zip(&mut found).skip(1) {
            if differs { rule(view, found) } else { found.extend(once.iter().cloned()) }
        }
        found[0].append(&mut once);
    }
    let (mut idle, mut impossible) = (Vec::new(), Vec::new());
    for (view, finding) in
        views.iter().zip(&found).flat_map(|(view, found)| found.iter().map(move |f| (view, f)))
    {
        let placed = Finding { path: view.place_of(finding), ..finding.clone() };
        // A value shared by several kinds of switches must be idle in all of them.
        let same = |(other, found): (&Facts<'_>, &Vec<Finding>)| {
            finding.exact
                || other.place_of(finding) != placed.path
                || found.iter().any(|other| other.idle && other.path == finding.path)
        };
        match finding.idle {
            false => impossible.push(placed),
            true if views.iter().zip(&found).all(same) => idle.push(placed),
            true => {}
        }
    }
    (idle, impossible)
}

/// Builds networks; reuses the last one if the next case has an equal topology.
pub(crate) struct Networks<'a> {
    folder: &'a Path,
    last: Option<BuiltNetwork>,
}

/// A network, or the reason why there is none, with the settings it was built from.
struct BuiltNetwork {
    settings: TopologySettings,
    seed: u64,
    graph: Result<Graph, Vec<Problem>>,
}

impl Networks<'_> {
    fn of(&mut self, settings: &TopologySettings, seed: u64) -> (Option<&Graph>, &[Problem]) {
        let last = self.last.take().filter(|last| last.settings == *settings && last.seed == seed);
        let build = || {
            let graph = build_in(settings, self.folder, seed);
            BuiltNetwork { settings: settings.clone(), seed, graph }
        };
        match &self.last.insert(last.unwrap_or_else(build)).graph {
            Ok(graph) => (Some(graph), &[]),
            Err(problems) => (None, problems),
        }
    }
}

/// The settings that are idle in every case that gives them, each with the first of these.
fn idle_wherever_given<'a>(cases: &'a [Case], idle: &'a [Vec<Finding>]) -> Vec<(&'a Case, &'a Finding)> {
    let gives = |case: &Case, path: &str| {
        let said = &case.resolved.provenance;
        said.mentions(&said.tagged(path))
    };
    let mut seen = BTreeSet::new();
    let all =
        cases.iter().zip(idle).flat_map(|(case, found)| found.iter().map(move |finding| (case, finding)));
    let first = all.filter(|(_, finding)| seen.insert(&finding.path));
    // What has no effect in a whole table, has none in its settings.
    let covers = |other: &Finding, path: &str| {
        path.strip_prefix(other.path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let everywhere = |finding: &Finding| {
        let mut others = cases.iter().zip(idle);
        others.all(|(case, found)| {
            found.iter().any(|other| covers(other, &finding.path)) || !gives(case, &finding.path)
        })
    };
    first.filter(|(_, finding)| everywhere(finding)).collect()
}

fn at_its_place(finding: &Finding, case: &Case) -> Mistake {
    let said = &case.resolved.provenance;
    let place = said.near(&finding.path).map_or(SourceSpan::default(), |said| said.place);
    Mistake::new(place, &said.tagged(&finding.path), finding.message.clone())
}

/// Paths of the file that no case of the sweep uses: a family member that is configured but never chosen.
fn unused<'a>(base: &'a Provenance, cases: &[Case]) -> Vec<(&'a str, SourceSpan)> {
    let used = |path: &str| cases.iter().any(|case| case.resolved.provenance.at(path).is_some());
    // numbered entries depend on the length of a swept list
    base.written().filter(|(path, _)| !path.contains('[') && !used(path)).collect()
}

fn never_chosen(path: &str, place: SourceSpan) -> Mistake {
    Mistake::new(place, path, format!("`{path}` has no effect: no case of the sweep uses it"))
}

/// A finding that a case cannot run.
fn impossible(path: impl Into<String>, message: impl Into<String>) -> Finding {
    Finding { path: path.into(), message: message.into(), idle: false, exact: false }
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Finding {
        impossible(problem.path.clone(), problem.message.clone())
    }
}

impl Facts<'_> {
    /// Reports a setting without effect, if the user gave it.
    fn idle(&self, path: &str, why: &str, found: &mut Vec<Finding>) {
        if let Some(source) = self.said_at(path) {
            let message = format!("`{source}` has no effect: {why}");
            found.push(Finding { path: path.to_owned(), message, idle: true, exact: false });
        }
    }

    /// Where the user set a path for these switches.
    fn said_at(&self, path: &str) -> Option<String> {
        if path != "transport" && !path.starts_with("transport.") {
            return self.device.said_at(self.said, path);
        }
        self.stack_of.said_at(self.said, path)
    }

    /// The path to which a finding applies.
    fn place_of(&self, finding: &Finding) -> String {
        let said = if finding.exact { None } else { self.said_at(&finding.path) };
        said.unwrap_or_else(|| finding.path.clone())
    }
}
