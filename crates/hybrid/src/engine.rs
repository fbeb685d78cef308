//! The hybrid of fluid flows and packets behind the interface all engines share.

use std::collections::BTreeMap;

use weft_core::record::{Measured, RunRecord, Stop};
use weft_core::{Bytes, Span};
use weft_plan::{Engine, Finished, Setup, Sink, Watch};
use weft_workload::ClusterJob;

use crate::background::Background;
use crate::drive::Drive;
use crate::fitness::{misfits, of_jobs};
use crate::kinds::PairKinds;
use crate::moment::{CallsByMoment, Moment, Probed, ProbedCalls, STRETCH, WINDOW};
use crate::openings::{Load, windows};
use crate::probe::{PATIENCE, ProbeFailure, ProbePlan};
use crate::rehearsal::Rehearsal;

/// Runs jobs on fluid flows, with calls drawn from packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hybrid;

impl Hybrid {
    /// [`Engine::attempt`], with a plain error.
    fn measure(setup: &Setup, sink: Sink<'_>, watch: Watch<'_>) -> Result<Finished, String> {
        let misfits = misfits(setup);
        if !misfits.is_empty() {
            return Err(format!("the hybrid engine cannot run it: {}", misfits.join("; ")));
        }
        let background = Background::of(setup);
        let load = match load(setup, &background, watch) {
            Ok(load) => load,
            Err(ProbeFailure::Ended(why)) => return Err(why),
            Err(ProbeFailure::Interrupted) => {
                let record = RunRecord { stop: Stop::Interrupted, ..setup.record() };
                let record = RunRecord { measured: Measured::FLOWS, ..record };
                return Ok(Finished { record, threads: 1, facts: Vec::new() });
            }
        };
        let facts = facts(setup, load.as_ref());
        let driven = Drive::new(setup, background, load).run(sink, watch)?;
        let record = RunRecord {
            jobs: driven.jobs.records(driven.ended),
            events: driven.steps,
            ended: driven.ended,
            stop: driven.stop,
            measured: Measured::FLOWS,
            ..setup.record()
        };
        Ok(Finished { record, threads: 1, facts })
    }
}

/// The result of the probe, if there is other traffic.
fn load(setup: &Setup, background: &Background, watch: Watch<'_>) -> Result<Option<Load>, ProbeFailure> {
    let (Some((from, _)), Some(job)) = (background.starts(), setup.flows.jobs().first()) else {
        return Ok(None);
    };
    let rehearsal = Rehearsal::of(setup, background, watch).map_err(ProbeFailure::Ended)?;
    let kinds = PairKinds::of(setup, background);
    let call = (job.call().max(Bytes(1)), job.tag());
    let keeps = setup.flows.jobs().iter().any(ClusterJob::keeps_connections);
    let plan = ProbePlan { setup, background, kinds: &kinds, rehearsal: &rehearsal, call, keeps };
    let (calls, settle) = (plan.run(watch)?, plan.settle());
    Ok(Some(Load {
        from,
        call: call.0,
        kinds,
        calls,
        settle,
        bulk: rehearsal.bulk.len(),
        rest: rehearsal.rest,
    }))
}

/// Facts that the manifest records alongside the results.
fn facts<'a>(setup: &Setup, load: Option<&'a Load>) -> Vec<(String, String)> {
    let fact = |name: &str, words: String| (name.to_owned(), words);
    let threshold = of_jobs(setup).first().map_or(0, |flow| windows(setup, flow).0 as u64);
    let fluid = format!("transfers of more than {}, the initial window, are fluid", Bytes(threshold));
    let mut facts = vec![fact("fluid", fluid)];
    let Some(load) = load else {
        let words = "none: there is no other traffic, so openings are those of an unloaded network";
        facts.push(fact("probe", words.to_owned()));
        return facts;
    };
    let both = [("calls", &load.calls.opening), ("calls on open connections", &load.calls.on_open)];
    let calls: usize = load.calls.calls().map(|calls| calls.durations.len()).sum();
    let words = format!(
        "{calls} calls of {} in packets, from {} after the first flow of other traffic; at each moment they start within {WINDOW}, and \
         are followed for up to {PATIENCE}; {} bulk transfers of a stretch of {STRETCH} are repeated, and calls after them begin {} later",
        load.call,
        rough(load.settle),
        load.bulk,
        rough(load.rest)
    );
    facts.push(fact("probe", words));
    facts.extend(caution(&load.calls).map(|words| fact("caution", words)));
    let of_moments = |(what, calls): (&'static str, &'a CallsByMoment)| {
        Moment::ALL.into_iter().zip(calls).map(move |(moment, kinds)| (what, moment, kinds))
    };
    for (what, moment, kinds) in both.into_iter().flat_map(of_moments) {
        let mut by_switches: BTreeMap<String, Vec<&ProbedCalls>> = BTreeMap::new();
        for (kind, calls) in kinds.iter().enumerate() {
            by_switches.entry(load.kinds.switches(kind, setup)).or_default().push(calls);
        }
        let of_switches = |(name, calls): (String, Vec<&ProbedCalls>)| {
            fact(&format!("{what} {}, {name}", moment.words()), words_of(&calls))
        };
        facts.extend(by_switches.into_iter().map(of_switches));
    }
    facts
}

/// The run warns that losses are neglected once this share of the probe's bulk transfers, or of its calls, waits for
/// time-outs.
const LATE: f64 = 0.05;

/// Warning that bulk transfers wait for time-outs, which this engine neglects; `None` if hardly any do.
fn caution(probed: &Probed) -> Option<String> {
    let (bulk, ended) = (probed.bulk_late, probed.bulk_ended);
    let calls: usize = probed.calls().map(|calls| calls.durations.len()).sum();
    let late: usize = probed.calls().map(|calls| calls.with_time_outs).sum();
    let many = |part: usize, all: usize| part > 0 && part as f64 >= LATE * all as f64;
    (many(bulk, ended) || many(late, calls)).then(|| {
        format!(
            "In this scenario losses lead to time-outs, which the hybrid engine neglects for bulk transfers. The packet engine may \
             show jobs several times as long, and schemes in a different order: in the probe, {bulk} of {ended} bulk transfers and \
             {late} of {calls} calls waited for time-outs."
        )
    })
}

/// The calls between hosts of two switches: how long they took, over all and by kind of pair.
fn words_of(kinds: &[&ProbedCalls]) -> String {
    let sorted = |calls: &mut dyn Iterator<Item = Span>| {
        let mut all: Vec<Span> = calls.collect();
        all.sort_unstable();
        all
    };
    let all = sorted(&mut kinds.iter().flat_map(|calls| calls.durations.iter().copied()));
    let medians = sorted(&mut kinds.iter().map(|calls| {
        let own = sorted(&mut calls.durations.iter().copied());
        own[own.len() / 2]
    }));
    let at = |part: usize| rough(all[(all.len() - 1) * part / 100]);
    let late: usize = kinds.iter().map(|calls| calls.with_time_outs).sum();
    let mut words =
        format!("median {}, 99th percentile {}, {late} of {} with time-outs", at(50), at(99), all.len());
    if let [first, .., last] = medians.as_slice() {
        words += &format!(
            ", medians of {} kinds of pairs from {} to {}",
            medians.len(),
            rough(*first),
            rough(*last)
        );
    }
    let unfinished: usize = kinds.iter().map(|calls| calls.unfinished).sum();
    if unfinished > 0 {
        words += &format!(", {unfinished} unfinished when the probe ended");
    }
    words
}

/// Rounds a time up to whole microseconds.
fn rough(span: Span) -> Span {
    Span(span.0.div_ceil(1_000_000) * 1_000_000)
}

impl Engine for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn command(&self) -> String {
        "weft run --engine hybrid".to_owned()
    }

    fn misfits(&self, setup: &Setup) -> Vec<String> {
        misfits(setup)
    }

    fn attempt(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Result<Finished, String> {
        Hybrid::measure(&setup, sink, watch)
    }

    fn run(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Finished {
        Hybrid::measure(&setup, sink, watch).unwrap_or_else(|cause| panic!("{cause}"))
    }
}
