//! Speculation: a task that runs much longer than others of its stage gets a copy on another host. The first to end
//! counts, the other is killed.

use weft_core::{Span, Time};

use super::{ClusterJob, Task};
use crate::steps::JobEvent;

impl ClusterJob {
    /// Starts copies of tasks that take too long, while containers are free, and checks again later.
    pub(super) fn speculate(&mut self, now: Time) {
        for stage in 0..self.stages.len() {
            let Some(longest) = self.longest(stage) else { continue };
            let late = |task: &u32| now.since(self.tasks[*task as usize].start) > longest;
            let late: Vec<u32> = self.uncopied(stage).filter(late).collect();
            late.into_iter().for_each(|task| self.copy(now, task));
        }
        if !self.all_done() {
            self.steps.schedule(now + self.plan.settings.heartbeat, JobEvent::Speculate);
        }
    }

    /// Whether a task that runs would get a copy once it has taken too long.
    pub(super) fn can_copy(&self) -> bool {
        let judged = (0..self.stages.len()).filter(|stage| self.longest(*stage).is_some());
        judged.flat_map(|stage| self.uncopied(stage)).any(|task| self.room_for_copy(task).is_some())
    }

    /// Tasks of a stage that run and have no copy.
    fn uncopied(&self, stage: usize) -> impl Iterator<Item = u32> + '_ {
        let plan = &self.plan.stages[stage];
        let alone = |task: &u32| {
            let own = &self.tasks[*task as usize];
            own.runs() && own.copy.is_none()
        };
        (plan.first..plan.first + plan.tasks()).filter(alone)
    }

    /// The next host after that of a task that has a free container for its copy.
    fn room_for_copy(&self, task: u32) -> Option<usize> {
        let (pool, hosts) = (self.plan.stages[self.place(task).0].pool, self.cluster.compute.len());
        let own = self.host_of(task);
        let mut others = (1..hosts).map(|n| (own + n) % hosts);
        others.find(|host| !self.containers[*host][pool].free.is_empty())
    }

    /// How long a task of a stage may take before it gets a copy; `None` while too few are done to tell.
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
        let Some(host) = self.room_for_copy(task) else { return };
        let (stage, index) = self.place(task);
        let reader = match self.plan.stages[stage].reads_files() {
            true => 0,
            false => self.stages[stage].fetches.read(index),
        };
        let copy = self.tasks.len() as u32;
        let slow = self.tasks[task as usize].slow_copy;
        self.tasks.push(Task { of: task, reader, slow, ..Task::default() });
        self.tasks[task as usize].copy = Some(copy);
        self.steps.grow();
        self.occupy(now, copy, host);
        self.steps.began_after(task);
    }

    /// Kills the copy of a task that has ended, or the task whose copy has ended; returns the host whose container
    /// becomes free.
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
