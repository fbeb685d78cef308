//! The critical path of a job: the chain of steps that decided when it ended, and what bounded each.
//! Must not depend on a framework.

use crate::record::job::{JobPhase, JobRecord, Resource, StepRecord};
use crate::units::{Span, Time};

/// A part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSection {
    /// Index of the task.
    pub task: u32,
    /// The phase of the job.
    pub phase: JobPhase,
    /// What the task waited for.
    pub bound: Resource,
    /// Where the section begins.
    pub start: Time,
    /// The instant at which it ends and the next begins.
    pub end: Time,
}

impl JobRecord {
    /// The phase to which a step belongs.
    #[must_use]
    pub fn phase_of(&self, step: &StepRecord) -> JobPhase {
        let fetches = self.tasks[step.task as usize].fetches;
        match step.name {
            "history" | "end calls" | "commit" => JobPhase::Commit,
            _ if step.task == 0 => JobPhase::Submission,
            _ if !fetches => JobPhase::Map,
            "fetch" | "fetch early" => JobPhase::Shuffle,
            _ => JobPhase::Reduce,
        }
    }

    /// The critical path, from the submission to the end of the job without a gap; empty if the job is unfinished.
    ///
    /// Traces back from the last step: a step began because the previous step of its task ended or because another
    /// task did ([`StepRecord::after`]). In between, a task waits for a heartbeat. A copy begins while the task that
    /// it copies is in a step: until then the path is that step.
    #[must_use]
    pub fn critical_path(&self) -> Vec<PathSection> {
        let Some(end) = self.end else { return Vec::new() };
        let (mut path, mut until, mut at) = (Vec::new(), end, self.last_of(0, end, self.steps.len()));
        while let Some(number) = at {
            let step = &self.steps[number];
            let mut add = |bound, start, end| {
                let section = PathSection { task: step.task, phase: self.phase_of(step), bound, start, end };
                path.extend((end > start).then_some(section));
            };
            add(step.bound, step.start, until);
            at = match step.after {
                Some(task) => self
                    .step_at(task, step.start)
                    .or_else(|| self.last_of(task, step.start, self.steps.len())),
                None => self.last_of(step.task, step.start, number),
            };
            let before = at.and_then(|before| self.steps[before].end).unwrap_or(self.start).min(step.start);
            add(Resource::Fixed, before, step.start);
            until = before;
        }
        path.reverse();
        path
    }

    /// The step in which a task is at an instant: begun before it and not yet over.
    fn step_at(&self, task: u32, at: Time) -> Option<usize> {
        self.steps
            .iter()
            .position(|step| step.task == task && step.start < at && step.end.is_none_or(|end| end > at))
    }

    /// The last step of a task that ended by an instant, among the first `count` steps.
    fn last_of(&self, task: u32, by: Time, count: usize) -> Option<usize> {
        let own = |step: &&StepRecord| step.task == task && step.end.is_some_and(|end| end <= by);
        let of_task = || self.steps[..count].iter().filter(own);
        let end = of_task().filter_map(|step| step.end).max()?;
        (0..count).rev().find(|number| {
            let step = &self.steps[*number];
            step.task == task && step.end == Some(end)
        })
    }

    /// Time of the critical path by phase and resource, in the orders of [`JobPhase::ALL`] and [`Resource::ALL`].
    #[must_use]
    pub fn path_times(&self) -> [[Span; Resource::ALL.len()]; JobPhase::ALL.len()] {
        let mut times = [[Span::ZERO; Resource::ALL.len()]; JobPhase::ALL.len()];
        for section in self.critical_path() {
            let phase = JobPhase::ALL.iter().position(|phase| *phase == section.phase);
            let bound = Resource::ALL.iter().position(|resource| *resource == section.bound);
            if let (Some(phase), Some(bound)) = (phase, bound) {
                times[phase][bound] += section.end.since(section.start);
            }
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TaskRecord;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn step(task: u32, name: &'static str, (start, end): (u64, u64), bound: Resource) -> StepRecord {
        StepRecord { task, name, start: at(start), end: Some(at(end)), bound, after: None }
    }

    /// Two maps, the second later because of a heartbeat; the reducer fetches what the second leaves.
    fn job() -> JobRecord {
        let named = |name: &str| TaskRecord {
            name: name.to_owned(),
            fetches: name.starts_with("reduce"),
            ..TaskRecord::default()
        };
        let after = |step: StepRecord, task| StepRecord { after: Some(task), ..step };
        JobRecord {
            end: Some(at(100)),
            tasks: ["job", "map 0", "map 1", "reduce 0"].map(named).to_vec(),
            steps: vec![
                step(0, "submit", (0, 10), Resource::Fixed),
                after(step(1, "map", (10, 30), Resource::Cpu), 0),
                after(step(2, "map", (15, 40), Resource::Disk), 0),
                after(step(3, "start", (20, 25), Resource::Fixed), 0),
                step(3, "fetch early", (25, 40), Resource::Tasks),
                after(step(3, "fetch", (40, 55), Resource::Network), 2),
                step(3, "reduce", (55, 90), Resource::Cpu),
                after(step(0, "commit", (90, 100), Resource::Fixed), 3),
            ],
            ..JobRecord::default()
        }
    }

    #[test]
    fn the_critical_path_leads_from_the_end_to_the_submission_without_a_gap() {
        let path = job().critical_path();
        let found: Vec<(u32, &str, Time)> =
            path.iter().map(|part| (part.task, part.bound.name(), part.end)).collect();
        let expected = [
            (0, "fixed", at(10)),
            (2, "fixed", at(15)),
            (2, "disk", at(40)),
            (3, "network", at(55)),
            (3, "cpu", at(90)),
            (0, "fixed", at(100)),
        ];
        assert_eq!(found, expected);
        assert!(path.windows(2).all(|two| two[0].end == two[1].start) && path[0].start == Time::ZERO);
    }

    /// The copy of a map begins at 40 ms, while the map is on its core from 12 ms on.
    #[test]
    fn until_a_copy_begins_the_path_is_what_its_original_was_doing() {
        let named = |name: &str| TaskRecord { name: name.to_owned(), ..TaskRecord::default() };
        let after = |step: StepRecord, task| StepRecord { after: Some(task), ..step };
        let job = JobRecord {
            end: Some(at(60)),
            tasks: ["job", "map 0", "map 0 copy"].map(named).to_vec(),
            steps: vec![
                step(0, "submit", (0, 10), Resource::Fixed),
                after(step(1, "open", (10, 12), Resource::Latency), 0),
                step(1, "map", (12, 55), Resource::Cpu),
                after(step(2, "map", (40, 55), Resource::Disk), 1),
                after(step(0, "commit", (55, 60), Resource::Fixed), 2),
            ],
            ..JobRecord::default()
        };
        let times = job.path_times();
        assert_eq!(times[1], [0, 2, 28, 15, 0, 0].map(Span::from_ms));
        assert_eq!(times.iter().flatten().copied().sum::<Span>(), Span::from_ms(60));
    }

    #[test]
    fn times_by_phase_add_up_to_the_job_and_an_unfinished_one_has_none() {
        let times = job().path_times();
        assert_eq!(times.iter().flatten().copied().sum::<Span>(), Span::from_ms(100));
        assert_eq!(times[1], [5, 0, 0, 25, 0, 0].map(Span::from_ms), "the map waits 5 ms for a heartbeat");
        assert!(JobRecord { end: None, ..job() }.critical_path().is_empty());
    }
}
