//! From traffic settings to the flows of a run. Must not depend on transports: the same seed gives the same flows for
//! any transport.

use crate::deadlines::DeadlineDistribution;
use crate::flow::Flow;
use crate::flows::{Draw, Flows, Merged};
use crate::pattern::{AnyPattern, Late, LeafDemand, PatternSettings};
use crate::site::{PatternSite, Shape};
use std::collections::BTreeSet;
use std::iter::Peekable;
use weft_core::Problem;
use weft_core::{Purpose, Span, Time};
use weft_jobs::ClusterJob;

weft_core::settings! {
    /// One source of flows; a scenario may have several.
    pub struct TrafficSettings {
        /// Name of the entry: it labels the flows in the results and names the entry in sweeps.
        tag: String,
        /// No flow starts before this instant.
        start: Span = Span::ZERO,
        /// No flow starts at or after this instant. Absent: flows start until the run stops accepting them.
        stop: Option<Span> = None,
        /// Deadline of each flow, counted from its start: `"5 ms"`, `"uniform(2 ms, 10 ms)"`, `"exponential(20 ms, 3
        /// ms)"` with the mean of the draws and the least deadline, to which shorter draws are raised. Absent: no
        /// deadlines, unless listed flows have their own.
        deadline: Option<String> = None,
        /// Priority class of its payload, and with TCP also of its acknowledgements. Absent: 0, with RoCE the
        /// transport's `class`.
        class: Option<u32> = None,
        /// Who sends to whom and when; `kind` names the pattern.
        pattern: PatternSettings = PatternSettings::default(),
    }
}

/// Where the list ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Flows from this instant on are measured.
    pub warm_up: Time,
    /// No more flows once this many are measured.
    pub measured_flows: Option<u64>,
    /// No flow starts at or after this instant.
    pub until: Option<Time>,
}

/// Maximum number of flows of a run: an engine's events have no room for larger numbers.
pub const MAX_FLOWS: usize = 1 << 29;

/// Everything wrong with the traffic; empty: [`generate`] will succeed.
#[must_use]
pub fn check(traffic: &[TrafficSettings], shape: &Shape<'_>, limits: &Limits) -> Vec<Problem> {
    open(traffic, shape, limits, 0).err().unwrap_or_default()
}

/// All settings of patterns that have no effect beside others; paths as in [`check`].
#[must_use]
pub fn without_effect(traffic: &[TrafficSettings]) -> Vec<Problem> {
    let of = |(index, entry): (usize, &TrafficSettings)| {
        let found = AnyPattern::new(&entry.pattern, ()).without_effect().into_iter();
        found.map(move |problem| problem.within(&format!("traffic[{index}]")))
    };
    traffic.iter().enumerate().flat_map(of).collect()
}

/// The flows in the order of (start, entry, source, destination, size). They are drawn once here, to count them.
///
/// # Errors
/// Settings that contradict each other or this network, unreadable files, and more than [`MAX_FLOWS`] flows;
/// paths are `traffic[i].…`.
pub fn generate(
    traffic: &[TrafficSettings],
    shape: &Shape<'_>,
    limits: &Limits,
    seed: u64,
) -> Result<Flows, Vec<Problem>> {
    let entries = open(traffic, shape, limits, seed)?;
    let merged = Merged::new(entries, limits.warm_up, limits.measured_flows.unwrap_or(u64::MAX));
    let stop = |entry: &TrafficSettings| entry.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
    let last_turn =
        |entry: &TrafficSettings| AnyPattern::new(&entry.pattern, ()).is_in_turn().then(|| stop(entry));
    let in_turn: Vec<Option<Time>> = traffic.iter().map(last_turn).collect();
    let jobs = jobs(traffic, shape, seed).into_iter().map(|(_, job)| job).collect();
    let begins = traffic.iter().map(|entry| Time(entry.start.0)).min().unwrap_or(Time::ZERO);
    Flows::counted(merged, MAX_FLOWS)
        .map(|flows| flows.beginning(begins).taking_turns(&in_turn).with_jobs(jobs))
        .ok_or_else(|| vec![Problem::new("traffic", format!("this makes more than {MAX_FLOWS} flows"))])
}

/// Remarks on the traffic that are not mistakes but worth reading, for example that hosts and not the fabric limit
/// the load, or that listed flows start after the end of the run.
#[must_use]
pub fn notes(traffic: &[TrafficSettings], shape: &Shape<'_>, until: Option<Time>) -> Vec<String> {
    let note = |(index, entry): (usize, &TrafficSettings)| {
        let site = site(index, entry, shape, 0);
        let own = AnyPattern::new(&entry.pattern, ()).note(&site);
        let notes = own.into_iter().chain(left_out(entry, &site, until));
        notes.map(|note| format!("traffic {}: {note}", entry.tag)).collect::<Vec<_>>()
    };
    let of_entries = traffic.iter().enumerate().flat_map(note);
    of_entries.chain(own_containers(traffic, &jobs(traffic, shape, 0))).collect()
}

/// What traffic with a load offers to the fabric: for every instant at which an entry starts, the sum over those that send
/// then. Only for traffic in which [`check`] finds no problem.
#[must_use]
pub fn demands(traffic: &[TrafficSettings], shape: &Shape<'_>) -> Vec<LeafDemand> {
    let of = |(index, entry): (usize, &TrafficSettings)| {
        AnyPattern::new(&entry.pattern, ()).demand(&site(index, entry, shape, 0))
    };
    let own: Vec<LeafDemand> = traffic.iter().enumerate().map(of).collect();
    let starts: BTreeSet<Span> = traffic.iter().map(|entry| entry.start).collect();
    let at = |now: Span| {
        let sends = |entry: &TrafficSettings| entry.start <= now && entry.stop.is_none_or(|stop| now < stop);
        let sending = traffic.iter().zip(&own).filter(|(entry, _)| sends(entry));
        let mut sum = LeafDemand::new();
        sending.flat_map(|(_, own)| own).for_each(|(pair, rate)| *sum.entry(*pair).or_default() += rate);
        sum
    };
    starts.into_iter().map(at).collect()
}

/// The jobs, each with the number of its entry.
fn jobs(traffic: &[TrafficSettings], shape: &Shape<'_>, seed: u64) -> Vec<(usize, ClusterJob)> {
    let job = |(index, entry): (usize, &TrafficSettings)| {
        Some((index, AnyPattern::new(&entry.pattern, ()).job(&site(index, entry, shape, seed))?))
    };
    traffic.iter().enumerate().filter_map(job).collect()
}

/// Pairs of jobs, the later first.
fn pairs(jobs: &[(usize, ClusterJob)]) -> impl Iterator<Item = (&(usize, ClusterJob), &(usize, ClusterJob))> {
    jobs.iter().enumerate().flat_map(|(number, job)| jobs[..number].iter().map(move |before| (job, before)))
}

/// Jobs that share the disks of a host give it the same disks.
fn other_disks(traffic: &[TrafficSettings], jobs: &[(usize, ClusterJob)]) -> Vec<Problem> {
    let differ = |((index, job), (before, other)): (&(usize, ClusterJob), &(usize, ClusterJob))| {
        let (host, setting) = job.other_disks(other)?;
        let message = format!(
            "host {} has other disks in the traffic entry `{}`: jobs share the disks of a host, so give both the same disks, disk_rate and seek",
            host.0, traffic[*before].tag
        );
        Some(Problem::new(format!("traffic[{index}].{setting}"), message))
    };
    pairs(jobs).filter_map(differ).collect()
}

/// Jobs that run tasks on one host do not share its containers.
fn own_containers(traffic: &[TrafficSettings], jobs: &[(usize, ClusterJob)]) -> Vec<String> {
    let note = |((index, job), (before, other)): (&(usize, ClusterJob), &(usize, ClusterJob))| {
        let hosts = job.both_compute(other).count();
        (hosts > 0).then(|| {
            format!(
                "traffic {}: {hosts} of its hosts run tasks of {} too; they share disks, but each job has its own containers, so that a \
                 host may run as many tasks at a time as both allow",
                traffic[*index].tag, traffic[*before].tag
            )
        })
    };
    pairs(jobs).filter_map(note).collect()
}

/// The number of flows of a list or of incasts that never start, because the entry stops or the run ends before.
fn left_out(entry: &TrafficSettings, site: &PatternSite<'_>, until: Option<Time>) -> Option<String> {
    let stop = entry.stop.map(|stop| Time::ZERO + stop);
    let end = stop.into_iter().chain(until).min()?;
    let Late { least, most, all } = AnyPattern::new(&entry.pattern, ()).late(site, end)?;
    let late = match least {
        least if least == most => least.to_string(),
        0 => format!("up to {most}"),
        least => format!("{least} to {most}"),
    };
    let why = if stop == Some(end) { "the entry stops" } else { "the run ends" };
    let end = end.since(Time::ZERO);
    (most > 0).then(|| format!("{late} of {all} flows start at {end} or later, when {why}, and are left out"))
}

type Entry = Peekable<Box<dyn Draw>>;

fn site<'a>(index: usize, entry: &TrafficSettings, shape: &'a Shape<'a>, seed: u64) -> PatternSite<'a> {
    PatternSite::new(shape, (index as u16, &entry.tag), Time(entry.start.0), seed)
}

fn open(
    traffic: &[TrafficSettings],
    shape: &Shape<'_>,
    limits: &Limits,
    seed: u64,
) -> Result<Vec<Entry>, Vec<Problem>> {
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    let mut tags = BTreeSet::new();
    if traffic.len() > usize::from(u16::MAX) {
        return Err(vec![Problem::new("traffic", "there are more than 65535 entries")]);
    }
    for (index, entry) in traffic.iter().enumerate() {
        let mut found = Vec::new();
        if !tags.insert(&entry.tag) {
            found.push(Problem::new("tag", format!("two entries have the tag `{}`", entry.tag)));
        }
        match open_entry(entry, &site(index, entry, shape, seed), limits) {
            Ok(entry) => entries.push(entry),
            Err(more) => found.extend(more),
        }
        problems.extend(found.into_iter().map(|problem| problem.within(&format!("traffic[{index}]"))));
    }
    if problems.is_empty() {
        problems = other_disks(traffic, &jobs(traffic, shape, seed));
    }
    if problems.is_empty() { Ok(entries) } else { Err(problems) }
}

/// The deadlines of an entry's flows, if it gives any.
fn deadlines(
    entry: &TrafficSettings,
    site: &PatternSite<'_>,
) -> Result<Option<DeadlineDistribution>, Vec<Problem>> {
    let Some(text) = &entry.deadline else { return Ok(None) };
    let problem = |message: String| vec![Problem::new("deadline", message)];
    if AnyPattern::new(&entry.pattern, ()).job(site).is_some() {
        return Err(problem("no effect: the transfers of a job have no deadlines".to_owned()));
    }
    DeadlineDistribution::read(text).map(Some).map_err(problem)
}

fn open_entry(
    entry: &TrafficSettings,
    site: &PatternSite<'_>,
    limits: &Limits,
) -> Result<Entry, Vec<Problem>> {
    let deadlines = deadlines(entry, site)?;
    let pattern = AnyPattern::new(&entry.pattern, ());
    let stream = pattern.flows(site)?;
    if entry.stop.is_some() && pattern.job(site).is_some() {
        let message = "no effect: a job ends with its last task; limit the run with `until` in [measure]";
        return Err(vec![Problem::new("stop", message)]);
    }
    let ends = [entry.stop.map(|stop| Time(stop.0)), limits.until];
    let end = ends.into_iter().flatten().min();
    if stream.endless && end.is_none() && limits.measured_flows.is_none() {
        let message =
            "this traffic never ends; give `stop`, or limit the run with `flows` or `until` in [measure]";
        return Err(vec![Problem::new("stop", message)]);
    }
    let end = end.unwrap_or(Time::NEVER);
    let flows = stream.flows.take_while(move |flow| flow.start < end);
    let Some(deadlines) = deadlines else { return Ok((Box::new(flows) as Box<dyn Draw>).peekable()) };
    let mut random = site.random(Purpose::Deadlines);
    let dated = flows.map(move |flow| {
        let drawn = deadlines.draw(&mut random);
        Flow { deadline: flow.own_deadline().unwrap_or(drawn), ..flow }
    });
    Ok((Box::new(dated) as Box<dyn Draw>).peekable())
}
