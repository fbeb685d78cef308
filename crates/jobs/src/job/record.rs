//! What a job has done so far, as a record.

use weft_core::record::{JobRecord, TaskRecord};

use super::{ClusterJob, JOB, Task};

impl ClusterJob {
    /// The record of the job so far.
    #[must_use]
    pub fn record(&self) -> JobRecord {
        let host = |task: &Task| task.host.map(|host| self.cluster.compute[host]);
        let named = |(number, task): (usize, &Task)| TaskRecord {
            name: self.name(number as u32),
            host: host(task),
            end: task.end,
        };
        let containers = self.settings.map_containers + self.settings.reduce_containers;
        let mut steps = self.steps.records.clone();
        steps.sort_by_key(|step| (step.start, step.task));
        JobRecord {
            tag: self.tag,
            start: self.start,
            end: self.tasks[JOB as usize].end,
            tasks: self.tasks.iter().enumerate().map(named).collect(),
            steps,
            shuffled: self.shuffle.carried,
            transferred: self.steps.transferred,
            cores: self.steps.used.cores.clone(),
            disks: self.steps.used.disks.clone(),
            network: self.steps.used.network.clone(),
            core_count: self.cluster.compute.len() as u64 * u64::from(containers),
            disk_count: self.steps.disk_count(),
        }
    }

    fn name(&self, task: u32) -> String {
        match task {
            JOB => "job".to_owned(),
            map if map <= self.maps => format!("map {}", map - 1),
            reducer => format!("reduce {}", reducer - self.maps - 1),
        }
    }
}
