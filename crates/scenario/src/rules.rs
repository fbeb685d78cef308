//! What settings must satisfy together. One rule is one function; [`RULES`] is the list.
//!
//! Two kinds of findings. *Impossible*: a case cannot run; reported if any case has it. *Idle*: a setting that was
//! written down has no effect; reported only if that is so in every case, because a sweep may compare a scheme that
//! uses a setting with one that does not.

use crate::decode::Provenance;
use crate::mistake::Mistake;
use crate::model::{Recorded, ScenarioSettings};
use crate::scenario::Case;
use crate::source::Place;
use crate::validate::unused;
use std::path::Path;
use weft_switch::share::SharingSettings;

/// A case, seen by a rule.
struct Facts<'a> {
    settings: &'a ScenarioSettings,
    said: &'a Provenance,
}

/// What a rule found: the path of a setting, and what is wrong with it.
struct Finding {
    path: String,
    message: String,
    idle: bool,
}

type Rule = fn(&Facts<'_>, &mut Vec<Finding>);

/// All rules on one case.
const RULES: &[Rule] = &[
    name_is_a_folder,
    seeds_are_distinct,
    warm_up_ends_before_the_run,
    queues_are_sampled_and_recorded,
    dynamic_sharing_has_a_buffer,
    infinite_sharing_has_none,
];

/// Checks all cases. `base` is given when the sweep is complete: then everything in the file must be of use to some
/// case. `folder` is where relative file names start.
pub(crate) fn check(cases: &[Case], folder: &Path, base: Option<&Provenance>) -> Vec<Mistake> {
    let _ = folder;
    let mut mistakes = Vec::new();
    let mut idle: Option<Vec<Finding>> = None;
    for case in cases {
        let facts = Facts { settings: &case.settings, said: &case.resolved.provenance };
        let mut found = Vec::new();
        RULES.iter().for_each(|rule| rule(&facts, &mut found));
        let (now_idle, impossible): (Vec<_>, Vec<_>) = found.into_iter().partition(|finding| finding.idle);
        mistakes.extend(impossible.iter().map(|finding| at_its_place(finding, case)));
        idle = Some(match idle {
            None => now_idle,
            Some(before) => common(before, &now_idle),
        });
    }
    if let Some(first) = cases.first() {
        mistakes.extend(idle.iter().flatten().map(|finding| at_its_place(finding, first)));
    }
    if let Some(base) = base {
        mistakes.extend(unused(base, cases).into_iter().map(|(path, place)| never_chosen(path, place)));
    }
    mistakes
}

fn common(before: Vec<Finding>, now: &[Finding]) -> Vec<Finding> {
    before.into_iter().filter(|finding| now.iter().any(|other| other.path == finding.path)).collect()
}

fn at_its_place(finding: &Finding, case: &Case) -> Mistake {
    let place = case.resolved.provenance.near(&finding.path).map_or(Place::default(), |said| said.place);
    let label = case.label();
    let when = if label.is_empty() || finding.idle { String::new() } else { format!(" (case {label})") };
    Mistake::new(place, &case.resolved.provenance.tagged(&finding.path), format!("{}{when}", finding.message))
}

fn never_chosen(path: &str, place: Place) -> Mistake {
    Mistake::new(place, path, format!("`{path}` has no effect: no case of the sweep uses it"))
}

fn impossible(path: impl Into<String>, message: impl Into<String>) -> Finding {
    Finding { path: path.into(), message: message.into(), idle: false }
}

impl Facts<'_> {
    /// Reports a setting without effect, if it was written down.
    fn idle(&self, path: &str, why: &str, found: &mut Vec<Finding>) {
        if self.said.mentions(path) {
            let message = format!("`{path}` has no effect: {why}");
            found.push(Finding { path: path.to_owned(), message, idle: true });
        }
    }
}

fn name_is_a_folder(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let name = &facts.settings.name;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || name.len() > 100 || !name.chars().all(good) {
        let message = format!("`{name}` cannot name a folder; use letters, digits, - _ and .");
        found.push(impossible("name", message));
    }
}

fn seeds_are_distinct(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let seeds = &facts.settings.seeds;
    if seeds.is_empty() {
        found.push(impossible("seeds", "no seed, no run: give at least one"));
    }
    for (index, seed) in seeds.iter().enumerate() {
        if seeds[..index].contains(seed) {
            found.push(impossible(format!("seeds[{index}]"), format!("seed {seed} is given twice")));
        }
    }
}

fn warm_up_ends_before_the_run(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let measure = &facts.settings.measure;
    if let Some(until) = measure.until.filter(|until| *until <= measure.warm_up) {
        let message = format!("the warm-up of {} lasts until the run ends at {until}", measure.warm_up);
        found.push(impossible("measure.warm_up", message));
    }
}

fn queues_are_sampled_and_recorded(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let measure = &facts.settings.measure;
    let recorded = measure.record.contains(&Recorded::Queues);
    match measure.queues_every {
        Some(_) if !recorded => {
            facts.idle("measure.queues_every", "\"queues\" is not in measure.record", found);
        }
        Some(every) if every.0 == 0 => {
            found.push(impossible("measure.queues_every", "queues cannot be sampled every 0 ps"));
        }
        None if recorded => {
            let message = "\"queues\" are recorded, but measure.queues_every does not say how often";
            found.push(impossible("measure.record", message));
        }
        _ => {}
    }
}

fn dynamic_sharing_has_a_buffer(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = &facts.settings.switch;
    if matches!(switch.sharing, SharingSettings::Dynamic(_)) && switch.buffer.is_none() {
        found.push(impossible("switch.sharing", "dynamic sharing needs switch.buffer: what is there to share?"));
    }
}

fn infinite_sharing_has_none(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = &facts.settings.switch;
    if matches!(switch.sharing, SharingSettings::Infinite(_)) && switch.buffer.is_some() {
        facts.idle("switch.buffer", "with infinite sharing nothing is ever refused", found);
    }
}

#[cfg(test)]
mod tests;
