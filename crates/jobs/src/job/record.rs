//! The record of a job so far.

use weft_core::Time;
use weft_core::record::{JobRecord, TaskRecord};

use super::{ClusterJob, JOB, Task};
use crate::framework::Framework;

impl ClusterJob {
    /// The record of the job up to now.
    #[must_use]
    pub fn record(&self, now: Time) -> JobRecord {
        let host = |task: &Task| task.host.map(|host| self.cluster.compute[host]);
        let named = |(number, task): (usize, &Task)| TaskRecord {
            name: self.name(number as u32),
            host: host(task),
            end: task.end,
            fetches: task.of != JOB && !self.plan.stages[self.plan.place(task.of).0].reads_files(),
            copy: task.of != number as u32,
            killed: task.killed,
        };
        let settings = &self.plan.settings;
        let containers = match settings.framework {
            Framework::Spark => settings.map_containers,
            Framework::MapReduce | Framework::Tez => settings.map_containers + settings.reduce_containers,
        };
        let mut steps = self.steps.records_until(now);
        steps.sort_by_key(|step| (step.start, step.task));
        JobRecord {
            tag: self.tag,
            start: self.start,
            end: self.tasks[JOB as usize].end,
            tasks: self.tasks.iter().enumerate().map(named).collect(),
            steps,
            shuffled: self.stages.iter().map(|stage| stage.fetches.carried).sum(),
            transferred: self.steps.transferred,
            cores: self.steps.used.cores.clone(),
            disks: self.steps.used.disks.clone(),
            network: self.steps.used.network.clone(),
            core_count: self.cluster.compute.len() as u64 * u64::from(containers),
            disk_count: self.steps.disk_count(),
        }
    }

    /// `job`, `map 3`, `map 3 copy`.
    fn name(&self, number: u32) -> String {
        let of = self.tasks[number as usize].of;
        if of == JOB {
            return "job".to_owned();
        }
        let (stage, index) = self.plan.place(of);
        let copy = if of == number { "" } else { " copy" };
        format!("{} {index}{copy}", self.plan.stages[stage].stage.name)
    }
}
