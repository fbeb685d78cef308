//! Speculation: a task that runs much longer than others of its stage gets a copy on another host. The first to end
//! counts, the other is killed.

use weft_core::{Span, Time};

use super::{ClusterJob, Task};
use crate::steps::JobEvent;

impl ClusterJob {
    /// Starts copies of tasks that take too long, as far as containers are free, and checks again later.
    pub(super) fn speculate(&mut self, now: Time) {
        for stage in 0..self.stages.len() {
            let Some(longest) = self.longest(stage) else { continue };
            let plan = &self.plan.stages[stage];
            let late = |task: &u32| {
                let own = &self.tasks[*task as usize];
                own.runs() && own.copy.is_none() && now.since(own.start) > longest
            };
            let late: Vec<u32> = (plan.first..plan.first + plan.tasks()).filter(late).collect();
            late.into_iter().for_each(|task| self.copy(now, task));
        }
        if !self.all_done() {
            self.steps.schedule(now + self.plan.settings.heartbeat, JobEvent::Speculate);
        }
    }

    /// How long a task of a stage may take before it gets a copy; `None` while too few are done to know.
    fn longest(&self, stage: usize) -> Option<Span> {
        let settings = &self.plan.settings;
        let progress = &self.stages[stage];
        let tasks = self.plan.stages[stage].tasks();
        let enough = f64::from(progress.done) >= settings.speculation_share.0 * f64::from(tasks);
        let mut took = progress.took.clone();
        took.sort_unstable();
        let median = took.get(took.len() / 2).filter(|_| enough && progress.done < tasks)?;
        Some(Span((median.0 as f64 * settings.speculation_factor) as u64))
    }

    /// Starts a copy of a task on the next host that has a free container, if there is one.
    fn copy(&mut self, now: Time, task: u32) {
        let ((stage, index), own) = (self.place(task), self.host_of(task));
        let (pool, hosts) = (self.plan.stages[stage].pool, self.cluster.compute.len());
        let free = |host: &usize| !self.containers[*host][pool].free.is_empty();
        let Some(host) = (1..hosts).map(|n| (own + n) % hosts).find(free) else { return };
        let reader = match self.plan.stages[stage].reads_files() {
            true => 0,
            false => self.stages[stage].fetches.read(index),
        };
        let copy = self.tasks.len() as u32;
        self.tasks.push(Task { of: task, reader, ..Task::default() });
        self.tasks[task as usize].copy = Some(copy);
        self.steps.grow();
        self.occupy(now, copy, host);
        self.steps.began_after(task);
    }

    /// Kills the copy of a task that has ended, or the task whose copy has; returns the host whose container that frees.
    pub(super) fn kill_other(&mut self, now: Time, task: u32) -> Option<usize> {
        let own = &self.tasks[task as usize];
        let other = if own.of == task { own.copy } else { Some(own.of) };
        let other = other.filter(|other| self.tasks[*other as usize].runs())?;
        (self.tasks[other as usize].end, self.tasks[other as usize].killed) = (Some(now), true);
        self.steps.close(now, other);
        self.release(other);
        self.tasks[other as usize].host
    }
}
