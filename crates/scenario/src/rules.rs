//! What settings must satisfy together. One rule is one function; [`RULES`] is the list.
//!
//! Two kinds of findings. *Impossible*: a case cannot run; reported if any case has it. *Idle*: a setting that was
//! written down has no effect; reported only if that is so in every case, because a sweep may compare a scheme that
//! uses a setting with one that does not.

mod balance;
mod measure;
mod mmu;
mod network;
mod pause;
mod roce;
mod switch;
mod traffic;
mod transport;
mod trim;

pub use pause::switch_site;

use crate::decode::Provenance;
use crate::mistake::Mistake;
use crate::model::ScenarioSettings;
use crate::scenario::Case;
use crate::source::Place;
use crate::validate::unused;
use std::collections::BTreeSet;
use std::path::Path;
use weft_topology::{Graph, Problem, TopologySettings, build_in};

/// A case, seen by a rule.
struct Facts<'a> {
    settings: &'a ScenarioSettings,
    said: &'a Provenance,
    /// The network, if the topology could be built.
    graph: Option<&'a Graph>,
    /// Where relative file names start.
    folder: &'a Path,
}

/// What a rule found: the path of a setting, and what is wrong with it.
struct Finding {
    path: String,
    message: String,
    idle: bool,
}

/// A rule looks at one case and adds what it finds.
type Rule = fn(&Facts<'_>, &mut Vec<Finding>);

/// All rules on one case, with the sections that they look at.
const RULES: &[(Rule, &[&str])] = &[
    (measure::name_is_a_folder, &["name"]),
    (measure::seeds_are_distinct, &["seeds"]),
    (measure::warm_up_ends_before_the_run, &["measure"]),
    (measure::queues_are_sampled_and_recorded, &["measure"]),
    (measure::flows_are_sampled, &["measure"]),
    (network::failures_exist_in_the_network, &["topology", "failure", "seeds"]),
    (network::valley_free_components_leave_routes, &["topology", "failure", "seeds", "balance"]),
    (network::routing_reacts_to_something, &["failure", "routing"]),
    (traffic::traffic_fits_the_network, &["topology", "failure", "seeds", "transport", "traffic", "measure"]),
    (traffic::every_entry_sends_something, &["traffic", "measure"]),
    (traffic::classes_have_queues, &["traffic", "switch"]),
    (transport::packets_carry_payload, &["transport"]),
    (transport::time_outs_are_ordered, &["transport"]),
    (transport::probes_need_rack, &["transport"]),
    (transport::reordering_is_learnt_with_sack, &["transport"]),
    (transport::mechanisms_are_on_where_they_are_set, &["transport"]),
    (roce::queue_pairs_use_what_is_set, &["transport", "switch"]),
    (roce::dcqcn_is_one_variant, &["transport"]),
    (roce::round_trip_laws_have_room, &["transport"]),
    (transport::marks_are_set_and_read, &["transport", "switch"]),
    (switch::dynamic_sharing_has_a_buffer_for_its_minima, &["switch", "topology"]),
    (switch::infinite_sharing_has_no_buffer, &["switch"]),
    (mmu::minima_and_headroom_fit_the_buffer, &["switch", "topology", "transport"]),
    (mmu::pooled_headroom_serves_somebody, &["switch", "topology", "transport"]),
    (mmu::service_pools_divide_classes_and_memory, &["switch"]),
    (mmu::lossy_limits_have_lossy_classes, &["switch"]),
    (switch::several_queues_for_schedules_and_class_loads, &["switch"]),
    (switch::drr_weights_are_positive, &["switch"]),
    (switch::wrr_weights_are_positive, &["switch"]),
    (switch::red_thresholds_are_ordered, &["switch"]),
    (switch::controllers_are_whole, &["switch"]),
    (switch::packet_sizes_matter_to_packet_counts, &["switch"]),
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
    (network::paths_are_compared_for_components, &["balance"]),
    (balance::tables_of_flowlets_have_one_size, &["balance"]),
    (balance::paused_ports_exist, &["balance", "switch"]),
    (balance::estimates_decay_now_and_then, &["balance"]),
    (balance::tables_of_weights_hold_something, &["balance"]),
    (balance::flowcells_hold_payload, &["balance"]),
    (balance::labels_have_room_for_the_ports, &["topology", "balance"]),
];

/// What the cases belong to.
pub(crate) struct Scope<'a> {
    /// Where relative file names start.
    pub(crate) folder: &'a Path,
    /// What the file says before the sweep; given when the sweep is whole, because then everything in the file must
    /// be of use to some case.
    pub(crate) whole: Option<&'a Provenance>,
    /// Every default is written down: idle settings are no news.
    pub(crate) complete: bool,
    /// Sections with mistakes of their own: rules that look at them say nothing.
    pub(crate) damaged: &'a BTreeSet<String>,
}

/// Checks all cases.
pub(crate) fn check(cases: &[Case], scope: &Scope<'_>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut idle: Option<Vec<Finding>> = None;
    let mut networks = Networks { folder: scope.folder, last: None };
    let sound = |sections: &[&str]| !sections.iter().any(|section| scope.damaged.contains(*section));
    let rules: Vec<Rule> =
        RULES.iter().filter(|(_, sections)| sound(sections)).map(|(rule, _)| *rule).collect();
    for case in cases {
        let (graph, problems) = networks.of(&case.settings.topology);
        let facts =
            Facts { settings: &case.settings, said: &case.resolved.provenance, graph, folder: scope.folder };
        let mut found: Vec<Finding> = problems.iter().map(Finding::from).collect();
        rules.iter().for_each(|rule| rule(&facts, &mut found));
        let (now_idle, impossible): (Vec<_>, Vec<_>) = found.into_iter().partition(|finding| finding.idle);
        mistakes.extend(impossible.iter().map(|finding| at_its_place(finding, case)));
        idle = Some(match idle {
            None => now_idle,
            Some(before) => common(before, &now_idle),
        });
    }
    if scope.complete {
        return mistakes;
    }
    if let Some(first) = cases.first() {
        mistakes.extend(idle.iter().flatten().map(|finding| at_its_place(finding, first)));
    }
    if let Some(base) = scope.whole {
        mistakes.extend(unused(base, cases).into_iter().map(|(path, place)| never_chosen(path, place)));
    }
    mistakes
}

/// Builds networks, but each only once in a row.
struct Networks<'a> {
    folder: &'a Path,
    last: Option<(TopologySettings, Result<Graph, Vec<Problem>>)>,
}

impl Networks<'_> {
    fn of(&mut self, settings: &TopologySettings) -> (Option<&Graph>, &[Problem]) {
        if self.last.as_ref().is_none_or(|(known, _)| known != settings) {
            self.last = Some((settings.clone(), build_in(settings, self.folder)));
        }
        match &self.last {
            Some((_, Ok(graph))) => (Some(graph), &[]),
            Some((_, Err(problems))) => (None, problems),
            None => unreachable!("built above"),
        }
    }
}

/// Those that are idle here as well.
fn common(before: Vec<Finding>, now: &[Finding]) -> Vec<Finding> {
    before.into_iter().filter(|finding| now.iter().any(|other| other.path == finding.path)).collect()
}

fn at_its_place(finding: &Finding, case: &Case) -> Mistake {
    let said = &case.resolved.provenance;
    let place = said.near(&finding.path).map_or(Place::default(), |said| said.place);
    Mistake::new(place, &said.tagged(&finding.path), finding.message.clone())
}

fn never_chosen(path: &str, place: Place) -> Mistake {
    Mistake::new(place, path, format!("`{path}` has no effect: no case of the sweep uses it"))
}

/// Reports what cannot run.
fn impossible(path: impl Into<String>, message: impl Into<String>) -> Finding {
    Finding { path: path.into(), message: message.into(), idle: false }
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Finding {
        impossible(problem.path.clone(), problem.message.clone())
    }
}

impl Facts<'_> {
    /// Reports a setting without effect, if it was written down.
    fn idle(&self, path: &str, why: &str, found: &mut Vec<Finding>) {
        if self.said.mentions(&self.said.tagged(path)) {
            let message = format!("`{path}` has no effect: {why}");
            found.push(Finding { path: path.to_owned(), message, idle: true });
        }
    }
}
