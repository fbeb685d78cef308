//! Which task starts where and when: heartbeats, containers, stages that become ready.

use weft_core::{HostId, Time};

use super::{ClusterJob, JOB};
use crate::framework::Framework;
use crate::plan::TaskPhase;
use crate::steps::JobEvent;

impl ClusterJob {
    /// The first chance of every host to get tasks.
    pub(super) fn admit(&mut self, now: Time) {
        let hosts = self.cluster.compute.len();
        if self.plan.settings.speculation {
            self.steps.schedule(now + self.plan.settings.heartbeat, JobEvent::Speculate);
        }
        if self.plan.settings.framework == Framework::Spark {
            return self.fill_all(now);
        }
        for host in 0..hosts {
            let late = self.plan.settings.heartbeat * host as u64 / hosts as u64;
            self.steps.schedule(now + late, JobEvent::Heartbeat(host));
        }
    }

    /// A host reports and gets tasks; it reports again while tasks wait.
    pub(super) fn heartbeat(&mut self, now: Time, host: usize) {
        self.fill(now, host, u32::MAX);
        if self.stages.iter().any(|stage| !stage.waiting.is_empty()) {
            self.steps.schedule(now + self.plan.settings.heartbeat, JobEvent::Heartbeat(host));
        }
    }

    /// Starts waiting tasks on all hosts, one on each in turn, until none fits.
    fn fill_all(&mut self, now: Time) {
        let hosts = self.cluster.compute.len();
        while (0..hosts).map(|host| self.fill(now, host, 1)).sum::<u32>() > 0 {}
    }

    /// Starts waiting tasks in the free containers of a host: maps as many as fit but at most `maps`, and one reducer. Returns
    /// how many have started.
    pub(super) fn fill(&mut self, now: Time, host: usize, maps: u32) -> u32 {
        let mut started = 0;
        for (pool, most) in [(0, maps), (1, 1)] {
            for _ in 0..most.min(self.containers[host][pool].free.len() as u32) {
                let Some(task) = self.next_task(host, pool) else { break };
                self.start(now, task, host);
                started += 1;
            }
        }
        started
    }

    /// Whether a task waits for a container that is free on a host.
    pub(super) fn can_start(&self, host: usize) -> bool {
        let containers = self.containers[host].iter().enumerate();
        containers.into_iter().any(|(pool, own)| !own.free.is_empty() && self.startable(pool).is_some())
    }

    /// The first stage that may start and has waiting tasks for such a container.
    fn startable(&self, pool: usize) -> Option<usize> {
        (0..self.stages.len()).find(|stage| {
            let own = &self.stages[*stage];
            self.plan.stages[*stage].pool == pool && own.opening.is_some() && !own.waiting.is_empty()
        })
    }

    /// The next waiting task for such a container of a host: of the first stage that may start.
    fn next_task(&mut self, host: usize, pool: usize) -> Option<u32> {
        let stage = self.startable(pool)?;
        if !self.plan.stages[stage].reads_files() {
            return self.stages[stage].waiting.pop_front();
        }
        let own = self.cluster.compute[host];
        let first = self.plan.stages[stage].first;
        let is_local = |map: &u32| self.replicas_of(*map - first).any(|at| at == own);
        let local = self.stages[stage].waiting.iter().position(is_local);
        self.stages[stage].waiting.remove(local.unwrap_or(0))
    }

    /// The hosts that store a block of the input.
    pub(super) fn replicas_of(&self, block: u32) -> impl Iterator<Item = HostId> + '_ {
        let data = &self.cluster.data;
        let count = (self.plan.settings.replicas as usize).min(data.len());
        (0..count).map(move |replica| data[(block as usize + replica) % data.len()])
    }

    fn start(&mut self, now: Time, task: u32, host: usize) {
        let (stage, _) = self.place(task);
        let before = self.occupy(now, task, host);
        let opening = self.stages[stage].opening.unwrap_or(JOB);
        let end = |task: &u32| self.tasks[*task as usize].end;
        let after = [before, opening].into_iter().max_by_key(end).unwrap_or(JOB);
        self.steps.began_after(after);
    }

    /// Gives a task a container and starts it; returns the task that had the container before.
    pub(super) fn occupy(&mut self, now: Time, task: u32, host: usize) -> u32 {
        let pool = self.plan.stages[self.place(task).0].pool;
        let before = self.containers[host][pool].free.pop_front().expect("a container is free");
        let own = &mut self.tasks[task as usize];
        (own.host, own.start) = (Some(host), now);
        self.advance(now, task);
        before
    }

    /// Lets a stage start if enough of its input is done; `by` is the task whose end may have been the last one
    /// needed.
    pub(super) fn open_if_ready(&mut self, stage: usize, by: u32) -> bool {
        let share = match self.plan.settings.framework {
            Framework::Spark => 1.0,
            Framework::MapReduce | Framework::Tez => self.plan.settings.slow_start.0,
        };
        let enough =
            |parent: usize| self.stages[parent].done >= needed(share, self.plan.stages[parent].tasks());
        let ready = self.plan.stages[stage].parents.iter().all(|(parent, _)| enough(*parent));
        let opens = ready && self.stages[stage].opening.is_none();
        if opens {
            self.stages[stage].opening = Some(by);
        }
        opens
    }

    /// Called when a task is done: its container is free, and its output is available to others.
    pub(super) fn finish(&mut self, now: Time, task: u32) {
        let (stage, host) = (self.place(task).0, self.host_of(task));
        let freed = self.kill_other(now, task);
        self.tasks[task as usize].end = Some(now);
        self.release(task);
        let took = now.since(self.tasks[task as usize].start);
        self.stages[stage].took.push(took);
        self.stages[stage].done += 1;
        let readers = self.plan.stages[stage].readers.clone();
        let opened = readers.iter().fold(false, |any, (reader, _)| self.open_if_ready(*reader, task) || any);
        let store = self.cluster.data[task as usize % self.cluster.data.len()];
        self.steps.send_unawaited(now, (self.cluster.compute[host], store), self.plan.settings.log);
        for (reader, spread) in readers {
            self.output_for(now, task, reader, spread);
        }
        if self.all_done() {
            self.advance(now, JOB);
            self.steps.began_after(task);
        }
        match self.plan.settings.framework {
            Framework::MapReduce => {}
            Framework::Spark if opened => self.fill_all(now),
            Framework::Tez | Framework::Spark => {
                [Some(host), freed].into_iter().flatten().for_each(|host| _ = self.fill(now, host, 1));
            }
        }
    }

    /// Frees the container of a task. The container must start again if each task has a new one, or if the task was
    /// killed before its start.
    pub(super) fn release(&mut self, task: u32) {
        let (stage, host) = (&self.plan.stages[self.place(task).0], self.host_of(task));
        let pool = stage.pool;
        let mut begun = stage.phases.iter().take(self.tasks[task as usize].phase as usize);
        let runs = begun.any(|phase| *phase == TaskPhase::Open);
        let containers = &mut self.containers[host][pool];
        containers.free.push_back(task);
        containers.held += u32::from(runs && self.plan.settings.framework != Framework::MapReduce);
    }
}

/// How many of `tasks` are a share of them, rounded up; a product that misses a whole number by rounding is that number.
fn needed(share: f64, tasks: u32) -> u32 {
    let product = share * f64::from(tasks);
    let whole = product.round();
    if (product - whole).abs() < 1e-6 { whole as u32 } else { product.ceil() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_tasks_is_exact() {
        for tasks in 1..=500u32 {
            for hundredths in 0..=100 {
                let exact = (hundredths * tasks).div_ceil(100);
                assert_eq!(needed(f64::from(hundredths) / 100.0, tasks), exact, "{hundredths} % of {tasks}");
            }
        }
    }
}
