//! Rules on names, seeds and measurement.

use crate::{Facts, Finding, impossible};
use weft_model::Recorded;
use weft_workload::PatternSettings;

/// The name becomes a folder, so it must be a valid folder name, and two names must be two folders.
pub(crate) fn name_is_a_folder(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let name = &facts.settings.name;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let edges = ['-', '.'];
    let is_whole = !name.starts_with(edges) && !name.ends_with(edges);
    if name.is_empty() || !is_whole || name.len() > 100 || !name.chars().all(good) {
        let message = format!(
            "`{name}` is not a valid folder name; use up to 100 letters, digits, - _ and ., with no - or . at either end"
        );
        found.push(impossible("name", message));
    }
}

/// Flows that the index of an event can tell apart.
const MOST_FLOWS: u64 = 1 << 29;

/// More seeds than this are assumed to be a typing error.
pub(crate) const MOST_SEEDS: usize = 100_000;

/// A duplicate seed would count one run twice.
pub(crate) fn seeds_are_distinct(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let seeds = &facts.settings.seeds;
    if seeds.is_empty() {
        found.push(impossible("seeds", "without a seed nothing runs: give at least one"));
    }
    if seeds.len() > MOST_SEEDS {
        let message = format!("{} seeds are too many: at most {MOST_SEEDS}", seeds.len());
        found.push(impossible("seeds", message));
        return;
    }
    let mut known = std::collections::BTreeSet::new();
    for (index, seed) in seeds.iter().enumerate() {
        if !known.insert(seed) {
            found.push(impossible(format!("seeds[{index}]"), format!("seed {seed} is given twice")));
        }
    }
}

/// A failure after the end never happens.
pub(crate) fn failures_come_before_the_end(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(until) = facts.settings.measure.until else { return };
    for (index, entry) in facts.settings.failure.iter().enumerate() {
        if let Some(at) = entry.at.filter(|at| *at >= until) {
            let message = format!("a failure at {at} has no effect: the run ends at {until} (measure.until)");
            found.push(impossible(format!("failure[{index}].at"), message));
        }
    }
}

/// A warm-up until the end leaves nothing to measure.
pub(crate) fn warm_up_ends_before_the_run(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let measure = &facts.settings.measure;
    if let Some(until) = measure.until.filter(|until| *until <= measure.warm_up) {
        let message =
            format!("the warm-up of {} does not end before the run does, at {until}", measure.warm_up);
        found.push(impossible("measure.warm_up", message));
    }
    if measure.flows.is_some_and(|flows| flows > MOST_FLOWS) {
        found.push(impossible("measure.flows", format!("more than a run can count: at most {MOST_FLOWS}")));
    }
    if measure.flows == Some(0) {
        found.push(impossible(
            "measure.flows",
            "without a flow there is nothing to measure: give at least 1, or false for no limit",
        ));
    }
}

/// A number of flows ends arrivals; flows of jobs do not count as arrivals.
pub(crate) fn counted_flows_arrive(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let is_job =
        |pattern: &PatternSettings| matches!(pattern, PatternSettings::TeraSort(_) | PatternSettings::Dag(_));
    let flows = facts.settings.flows();
    if !flows.is_empty() && flows.iter().all(|entry| is_job(&entry.pattern)) {
        let why = "all flows are those of jobs, and the run ends with the jobs";
        facts.idle("measure.flows", why, found);
    }
}

/// Sampling needs an interval, and an interval needs sampling.
pub(crate) fn queues_are_sampled_and_recorded(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let measure = &facts.settings.measure;
    let recorded = measure.record.contains(&Recorded::Queues);
    match measure.queues_every {
        Some(every) if every.0 == 0 => {
            found.push(impossible("measure.queues_every", "queues cannot be sampled every 0 ps"));
        }
        Some(_) if !recorded => {
            facts.idle("measure.queues_every", "\"queues\" is not in measure.record", found);
        }
        None if recorded => {
            let message = "\"queues\" are recorded; give the sampling interval measure.queues_every";
            found.push(impossible("measure.record", message));
        }
        _ => {}
    }
    if measure.queues_every.is_none() {
        facts.idle("measure.queues_values", "measure.queues_every is not given", found);
        facts.idle("measure.queues_above", "measure.queues_every is not given", found);
    }
    queues_are_averaged_over_whole_samples(facts, found);
    for (index, item) in measure.record.iter().enumerate() {
        if measure.record[..index].contains(item) {
            found.push(impossible(format!("measure.record[{index}]"), "this is listed twice"));
        }
    }
}

/// A mean covers at least two samples and a whole number of them.
fn queues_are_averaged_over_whole_samples(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let measure = &facts.settings.measure;
    match (measure.queues_mean_over, measure.queues_every) {
        (Some(over), Some(every)) if every.0 > 0 && (over <= every || !over.0.is_multiple_of(every.0)) => {
            let message =
                format!("{over} cannot average samples every {every}: give 2, 3, 4, ... times as long");
            found.push(impossible("measure.queues_mean_over", message));
        }
        (Some(_), None) => facts.idle("measure.queues_mean_over", "measure.queues_every is not given", found),
        _ => {}
    }
}

/// Sampling flows needs an interval.
pub(crate) fn flows_are_sampled(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    match facts.settings.measure.flows_every {
        Some(every) if every.0 == 0 => {
            found.push(impossible("measure.flows_every", "flows cannot be sampled every 0 ps"));
        }
        Some(_) => {}
        None => facts.idle("measure.flows_sampled", "measure.flows_every is not given", found),
    }
}
