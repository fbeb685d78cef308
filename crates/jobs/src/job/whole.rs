//! The job itself as a task: submission, calls of the application master, history, commit.

use weft_core::{Bytes, Time};

use super::{ClusterJob, JOB};
use crate::disks::Access;
use crate::steps::Need;

impl ClusterJob {
    pub(super) fn phase_of_job(&mut self, now: Time, phase: u32) {
        match phase {
            0 => self.steps.step(now, JOB, "submit", &[Need::Delay(self.plan.settings.submit)]),
            1 => self.calls_of_job(now, "set up", self.plan.settings.job_calls.div_ceil(2)),
            2 => self.admit(now),
            3 => self.calls_of_job(now, "end calls", self.plan.settings.job_calls / 2),
            4 => self.write_history(now),
            5 => self.steps.step(now, JOB, "commit", &[Need::Delay(self.plan.settings.commit)]),
            _ => self.tasks[JOB as usize].end = Some(now),
        }
    }

    /// The application master, on the first host that computes, calls the master.
    fn calls_of_job(&mut self, now: Time, name: &'static str, calls: u32) {
        if calls == 0 {
            return self.advance(now, JOB);
        }
        let own = self.cluster.compute[0];
        self.steps.step(now, JOB, name, &[Need::Calls(own, self.cluster.master, calls)]);
    }

    /// The application master writes the history of the job to the first host that stores files.
    fn write_history(&mut self, now: Time) {
        let (size, at) = (self.plan.settings.history, self.cluster.data[0]);
        if size == Bytes::ZERO {
            return self.advance(now, JOB);
        }
        let needs = [Need::Transfer(self.cluster.compute[0], at, size), Need::Disk(at, Access::Write, size)];
        self.steps.step(now, JOB, "history", &needs);
    }
}
