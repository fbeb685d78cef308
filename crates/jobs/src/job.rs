//! A job on a cluster: hosts send heartbeats to the scheduler and get tasks for their free containers; maps read, sort
//! and spill;
//! reducers fetch, merge and write. A task passes through its stages one by one.
//!
//! Must not depend on how transfers are carried.

mod record;
mod whole;

use std::collections::VecDeque;

use weft_core::record::Resource;
use weft_core::{Bytes, HostId, Time};

use crate::shuffle::Fetches;
use crate::steps::{DiskKind, JobEvent, Need, Steps, Transfer};
use crate::terasort::{Framework, TeraSortSettings};

/// The hosts of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Hosts that run tasks; at least one.
    pub compute: Vec<HostId>,
    /// Hosts that store files; at least as many as replicas.
    pub data: Vec<HostId>,
    /// The scheduler and the name node.
    pub master: HostId,
}

/// The job itself as a task: submission and commit.
const JOB: u32 = 0;

#[derive(Clone, Debug, Default)]
struct Task {
    /// Index among the hosts that compute.
    host: Option<usize>,
    /// Stages started.
    stage: u32,
    end: Option<Time>,
}

/// Free containers of a host, and how many of them are running already.
#[derive(Clone, Debug)]
struct Containers {
    /// For each, the task that had it last; the job itself, if none had.
    free: VecDeque<u32>,
    held: u32,
}

/// A job in progress.
#[derive(Clone, Debug)]
pub struct ClusterJob {
    tag: u16,
    settings: TeraSortSettings,
    cluster: Cluster,
    steps: Steps,
    shuffle: Fetches,
    start: Time,
    tasks: Vec<Task>,
    maps: u32,
    /// Maps, then reducers without a container.
    waiting: [VecDeque<u32>; 2],
    /// For each compute host, its containers for maps and for reducers.
    containers: Vec<[Containers; 2]>,
    done: [u32; 2],
    /// The map whose end let reducers start.
    opening: u32,
}

impl ClusterJob {
    /// A job submitted at `start`; `tag` is its traffic entry.
    #[must_use]
    pub fn new(settings: &TeraSortSettings, cluster: Cluster, (tag, start): (u16, Time)) -> ClusterJob {
        let (maps, reducers) = (settings.maps() as u32, settings.reducers);
        let tasks = 1 + (maps + reducers) as usize;
        let kind = DiskKind { disks: settings.disks, rate: settings.disk_rate, seek: settings.seek };
        let mut hosts = [cluster.compute.as_slice(), &cluster.data].concat();
        hosts.sort_unstable();
        hosts.dedup();
        let free = |count: u32| Containers { free: (0..count).map(|_| JOB).collect(), held: 0 };
        let each = [free(settings.map_containers), free(settings.reduce_containers)];
        let mut steps = Steps::new(tasks, &hosts, kind, settings.call);
        steps.schedule(start, JobEvent::Submit);
        ClusterJob {
            tag,
            steps,
            shuffle: Fetches::new(cluster.compute.len(), reducers as usize, settings.fetchers),
            start,
            tasks: vec![Task::default(); tasks],
            maps,
            waiting: [(1..=maps).collect(), (maps + 1..tasks as u32).collect()],
            containers: vec![each; cluster.compute.len()],
            done: [0; 2],
            opening: JOB,
            settings: settings.clone(),
            cluster,
        }
    }

    /// The traffic entry.
    #[must_use]
    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// When [`ClusterJob::wake`] must be called next; never, if it waits for transfers or is done.
    #[must_use]
    pub fn due(&self) -> Time {
        self.steps.next_due()
    }

    /// Whether the last task is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.tasks[JOB as usize].end.is_some()
    }

    /// Whether the run ends with the job, whatever else is sent.
    #[must_use]
    pub fn ends_run(&self) -> bool {
        self.settings.ends_run
    }

    /// Handles everything due by now.
    pub fn wake(&mut self, now: Time) {
        while let Some(due) = self.steps.take_due(now) {
            self.happen(now, due);
        }
    }

    /// A transfer has arrived completely.
    pub fn delivered(&mut self, now: Time, transfer: u32) {
        if let Some(due) = self.steps.delivered(now, transfer) {
            self.happen(now, due);
        }
    }

    /// Takes the transfers that start now.
    pub fn transfers(&mut self) -> impl Iterator<Item = Transfer> + '_ {
        self.steps.out.drain(..)
    }

    fn happen(&mut self, now: Time, due: JobEvent) {
        match due {
            JobEvent::Submit => self.advance(now, JOB),
            JobEvent::Heartbeat(host) => self.heartbeat(now, host),
            JobEvent::Served(task, bound) => {
                if self.steps.served(now, task, bound) {
                    self.advance(now, task);
                }
            }
            JobEvent::Fetched(task, from) => self.fetched(now, task, from),
        }
    }

    /// A host reports and gets tasks; it reports again as long as tasks wait.
    fn heartbeat(&mut self, now: Time, host: usize) {
        self.fill(now, host, u32::MAX);
        if self.waiting.iter().any(|tasks| !tasks.is_empty()) {
            self.steps.schedule(now + self.settings.heartbeat, JobEvent::Heartbeat(host));
        }
    }

    /// Starts waiting tasks in the free containers of a host: maps as many as fit but at most `maps`, and one reducer.
    fn fill(&mut self, now: Time, host: usize, maps: u32) {
        for _ in 0..maps.min(self.containers[host][0].free.len() as u32) {
            let Some(map) = self.next_map(host) else { break };
            self.start(now, map, host);
        }
        let may_start = self.done[0] >= self.needed() && !self.containers[host][1].free.is_empty();
        if let Some(reducer) = self.waiting[1].pop_front_if(|_| may_start) {
            self.start(now, reducer, host);
        }
    }

    /// Maps that must be done before reducers start.
    fn needed(&self) -> u32 {
        (self.settings.slow_start.0 * f64::from(self.maps)).ceil() as u32
    }

    /// The first waiting map whose input is on this host, otherwise the first of all.
    fn next_map(&mut self, host: usize) -> Option<u32> {
        let own = self.cluster.compute[host];
        let local = self.waiting[0].iter().position(|map| self.replicas_of(map - 1).any(|at| at == own));
        self.waiting[0].remove(local.unwrap_or(0))
    }

    /// The hosts that store a block of the input.
    fn replicas_of(&self, block: u32) -> impl Iterator<Item = HostId> + '_ {
        let data = &self.cluster.data;
        let count = (self.settings.replicas as usize).min(data.len());
        (0..count).map(move |replica| data[(block as usize + replica) % data.len()])
    }

    fn kind(&self, task: u32) -> usize {
        usize::from(task > self.maps)
    }

    fn start(&mut self, now: Time, task: u32, host: usize) {
        let kind = self.kind(task);
        let before = self.containers[host][kind].free.pop_front().expect("a container is free");
        self.tasks[task as usize].host = Some(host);
        self.advance(now, task);
        let opening = if kind == 1 { self.opening } else { JOB };
        let end = |task: &u32| self.tasks[*task as usize].end;
        let after = [before, opening].into_iter().max_by_key(end).unwrap_or(JOB);
        self.steps.began_after(after);
    }

    /// Starts the next stage of a task; a stage without needs ends at once.
    fn advance(&mut self, now: Time, task: u32) {
        let stage = self.tasks[task as usize].stage;
        self.tasks[task as usize].stage += 1;
        match task {
            JOB => self.stage_of_job(now, stage),
            map if map <= self.maps => self.stage_of_map(now, map, stage),
            reducer => self.stage_of_reducer(now, reducer, stage),
        }
    }

    /// Starts the stages of a task that precede its computation: allocation, container start, calls to the master.
    fn prepare(&mut self, now: Time, task: u32, stage: u32) {
        let (host, kind) = (self.host_of(task), self.kind(task));
        let own = self.cluster.compute[host];
        match stage {
            0 => self.steps.step(now, task, "allocate", &[Need::Calls(self.cluster.master, own, 1)]),
            1 if self.containers[host][kind].held > 0 => {
                self.containers[host][kind].held -= 1;
                self.advance(now, task);
            }
            1 => self.steps.step(now, task, "start", &[Need::Delay(self.settings.container_start)]),
            _ => {
                let calls = Need::Calls(own, self.cluster.master, self.settings.calls);
                self.steps.step(now, task, "open", &[calls]);
            }
        }
    }

    fn stage_of_map(&mut self, now: Time, map: u32, stage: u32) {
        let own = self.cluster.compute[self.host_of(map)];
        let size = self.settings.split(u64::from(map - 1));
        match stage {
            0..=2 => self.prepare(now, map, stage),
            3 => {
                let nearest = self.replicas_of(map - 1).find(|at| *at == own);
                let from = nearest.or_else(|| self.replicas_of(map - 1).next()).expect("a block is stored");
                let core = Need::Core(self.settings.map_rate.time_for(size));
                let needs = [Need::Disk(from, size), Need::Transfer(from, own, size), core];
                self.steps.step(now, map, "map", &needs);
            }
            4 => self.write_locally(now, map, "spill", (self.settings.spills, size)),
            5 => self.report(now, map),
            _ => self.finish(now, map),
        }
    }

    fn stage_of_reducer(&mut self, now: Time, task: u32, stage: u32) {
        let size = self.input_of(task);
        match stage {
            0..=2 => self.prepare(now, task, stage),
            3 => {
                let early = self.done[0] < self.maps;
                self.steps.begin(now, task, if early { "fetch early" } else { "fetch" });
                self.fetch_more(now, task);
            }
            4 => self.write_locally(now, task, "merge", (self.settings.merges, size)),
            5 => {
                let mut needs = vec![Need::Core(self.settings.reduce_rate.time_for(size))];
                let mut from = self.cluster.compute[self.host_of(task)];
                for at in self.output_of(task) {
                    needs.extend([Need::Transfer(from, at, size), Need::Disk(at, size)]);
                    from = at;
                }
                self.steps.step(now, task, "reduce", &needs);
            }
            6 => self.report(now, task),
            _ => self.finish(now, task),
        }
    }

    fn host_of(&self, task: u32) -> usize {
        self.tasks[task as usize].host.expect("a task that runs has a host")
    }

    fn write_locally(&mut self, now: Time, task: u32, name: &'static str, (times, size): (u32, Bytes)) {
        if times == 0 {
            return self.advance(now, task);
        }
        let own = self.cluster.compute[self.host_of(task)];
        self.steps.step(now, task, name, &[Need::Disk(own, size * u64::from(times))]);
    }

    fn report(&mut self, now: Time, task: u32) {
        let own = self.cluster.compute[self.host_of(task)];
        self.steps.step(now, task, "report", &[Need::Calls(own, self.cluster.master, 1)]);
    }

    /// The total input of a reducer from all maps.
    fn input_of(&self, task: u32) -> Bytes {
        let reducer = (task - self.maps - 1) as usize;
        let part =
            |map| crate::shuffle::part(self.settings.split(map), reducer, self.settings.reducers as usize);
        (0..u64::from(self.maps)).map(part).sum()
    }

    /// The hosts that store a reducer's output, its own host first if that stores files.
    fn output_of(&self, task: u32) -> Vec<HostId> {
        let data = &self.cluster.data;
        let own = self.cluster.compute[self.host_of(task)];
        let first = data.iter().position(|at| *at == own).unwrap_or((task - self.maps - 1) as usize);
        let count = (self.settings.output_replicas as usize).min(data.len());
        (0..count).map(|replica| data[(first + replica) % data.len()]).collect()
    }

    /// Opens as many connections for a reducer as it may have.
    fn fetch_more(&mut self, now: Time, task: u32) {
        let own = self.cluster.compute[self.host_of(task)];
        while let Some(fetch) = self.shuffle.next((task - self.maps - 1) as usize) {
            let from = self.cluster.compute[fetch.host];
            self.steps.need(now, task, Need::Fetch(from, own, fetch.size, fetch.host));
        }
    }

    /// A fetch has arrived. When the reducer has all outputs, it continues.
    fn fetched(&mut self, now: Time, task: u32, from: usize) {
        let received = self.shuffle.arrived((task - self.maps - 1) as usize, from);
        self.steps.served(now, task, Resource::Network);
        self.fetch_more(now, task);
        if received == self.maps as usize && self.steps.served(now, task, Resource::Network) {
            self.advance(now, task);
        }
    }

    /// A task is done; its container is free.
    fn finish(&mut self, now: Time, task: u32) {
        let (host, kind) = (self.host_of(task), self.kind(task));
        self.tasks[task as usize].end = Some(now);
        self.containers[host][kind].free.push_back(task);
        self.done[kind] += 1;
        if kind == 0 && self.done[0] == self.needed() {
            self.opening = task;
        }
        let store = self.cluster.data[task as usize % self.cluster.data.len()];
        self.steps.send_unawaited(now, (self.cluster.compute[host], store), self.settings.log);
        if kind == 0 {
            self.map_done(now, task, host);
        }
        if self.done[1] == self.settings.reducers {
            self.advance(now, JOB);
            self.steps.began_after(task);
        }
        if self.settings.framework == Framework::Tez {
            self.containers[host][kind].held += 1;
            self.fill(now, host, 1);
        }
    }

    /// The output of a map becomes available to all running reducers.
    fn map_done(&mut self, now: Time, map: u32, host: usize) {
        self.shuffle.add(host, self.settings.split(u64::from(map - 1)));
        let last = self.done[0] == self.maps;
        for task in self.maps + 1..self.tasks.len() as u32 {
            if self.tasks[task as usize].stage == 4 {
                if last {
                    self.steps.rename(now, task, "fetch");
                    self.steps.began_after(map);
                }
                self.fetch_more(now, task);
            }
        }
    }
}
