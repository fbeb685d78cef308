//! Tables of cluster jobs: jobs, their phases, and the steps of their tasks.

use crate::derived::node;
use weft_core::Span;
use weft_core::record::{JobPhase, JobRecord, Resource, RunRecord, StepRecord};
use weft_table::{Cells, DataTable};

fn tag(record: &RunRecord, job: &JobRecord) -> String {
    record.tags.get(usize::from(job.tag)).cloned().unwrap_or_default()
}

/// A phase of a job, with its time on the critical path by resource.
struct PhaseRow<'a> {
    job: &'a JobRecord,
    phase: JobPhase,
    times: [Span; Resource::ALL.len()],
}

impl PhaseRow<'_> {
    /// Start of its first step and, if the phase is over, end of its last.
    fn extent(&self) -> Option<(u64, Option<u64>)> {
        let steps = || self.job.steps.iter().filter(|step| self.job.phase_of(step) == self.phase);
        let start = steps().map(|step| step.start.0).min()?;
        let end =
            steps().map(|step| step.end).collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max());
        Some((start, end.filter(|_| self.job.is_over(self.phase)).map(|end| end.0)))
    }

    /// The resource that took most of its critical path; `None` if no part of that path lies in the phase.
    fn bound(&self) -> String {
        let longest = Resource::ALL.iter().zip(&self.times).rev().max_by_key(|(_, time)| **time);
        longest
            .filter(|(_, time)| **time > Span::ZERO)
            .map_or_else(String::new, |(one, _)| one.name().to_owned())
    }
}

/// One row per job and phase.
pub(super) fn phases(record: &RunRecord) -> DataTable {
    let of = |job| {
        let times = JobRecord::path_times(job);
        JobPhase::ALL.into_iter().zip(times).map(move |(phase, times)| PhaseRow { job, phase, times })
    };
    let rows: Vec<PhaseRow<'_>> = record.jobs.iter().flat_map(of).collect();
    let extents: Vec<Option<(u64, Option<u64>)>> = rows.iter().map(PhaseRow::extent).collect();
    let start = extents.iter().map(|extent| extent.map(|(start, _)| start));
    let lasting = extents.iter().map(|extent| extent.and_then(|(start, end)| Some(end? - start)));
    let on_path = |at: usize| rows.iter().map(move |row| row.times[at].0);
    DataTable::new("phases")
        .texts("tag", rows.iter().map(|row| tag(record, row.job)))
        .texts("phase", rows.iter().map(|row| row.phase.name().to_owned()))
        .column("start_ps", "ps", Cells::Integers(start.collect()))
        .column("duration_ps", "ps", Cells::Integers(lasting.collect()))
        .texts("bound", rows.iter().map(PhaseRow::bound))
        .integers("path_ps", "ps", rows.iter().map(|row| row.times.iter().copied().sum::<Span>().0))
        .integers("path_fixed_ps", "ps", on_path(0))
        .integers("path_latency_ps", "ps", on_path(1))
        .integers("path_cpu_ps", "ps", on_path(2))
        .integers("path_disk_ps", "ps", on_path(3))
        .integers("path_network_ps", "ps", on_path(4))
}

/// One row per job.
pub(super) fn jobs(record: &RunRecord) -> DataTable {
    let column = |of: fn(&JobRecord) -> u64| record.jobs.iter().map(of);
    DataTable::new("jobs")
        .texts("tag", record.jobs.iter().map(|job| tag(record, job)))
        .integers("start_ps", "ps", column(|job| job.start.0))
        .column(
            "duration_ps",
            "ps",
            Cells::Integers(record.jobs.iter().map(|job| job.duration().map(|span| span.0)).collect()),
        )
        .integers("tasks", "", column(|job| job.own_tasks().len() as u64))
        .integers("unfinished_tasks", "", column(|job| job.open_tasks() as u64))
        .integers("shuffled_bytes", "B", column(|job| job.shuffled.0))
        .integers("transferred_bytes", "B", column(|job| job.transferred.0))
}

/// One row per step of a task, with what bounded it; the rows of a host form its Gantt chart.
pub(super) fn steps(record: &RunRecord) -> DataTable {
    let rows = || record.jobs.iter().flat_map(|job| job.steps.iter().map(move |step| (job, step)));
    let task = |(job, step): (&JobRecord, &StepRecord)| job.tasks[step.task as usize].clone();
    let host = |row| task(row).host.map_or_else(String::new, |host| node(record, host.0));
    let lasting = |step: &StepRecord| step.end.map(|end| end.since(step.start).0);
    DataTable::new("tasks")
        .texts("tag", rows().map(|(job, _)| tag(record, job)))
        .texts("task", rows().map(|row| task(row).name))
        .texts("host", rows().map(host))
        .texts("step", rows().map(|(_, step)| step.name.to_owned()))
        .integers("start_ps", "ps", rows().map(|(_, step)| step.start.0))
        .column("duration_ps", "ps", Cells::Integers(rows().map(|(_, step)| lasting(step)).collect()))
        .texts("bound", rows().map(|(_, step)| step.bound.name().to_owned()))
        .flags("killed", rows().map(|row| task(row).killed))
}
