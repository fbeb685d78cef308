//! A job on a cluster: hosts send heartbeats to the scheduler and get tasks for their free containers; tasks that read files
//! read, compute and spill; tasks that read other stages fetch, merge and write. A task passes through its phases one by one.
//!
//! `schedule` hands out tasks, `work` is the work of a task, `copies` speculates on stragglers, `whole` is the job
//! itself, `record` reports what has happened. Must not depend on how transfers are carried.

mod copies;
mod record;
mod schedule;
mod whole;
mod work;

use std::collections::VecDeque;

use weft_core::{Bytes, HostId, Random, Span, Time};

use crate::disks::{Disks, HostDisks};
use crate::framework::FrameworkSettings;
use crate::plan::JobPlan;
use crate::shuffle::Fetches;
use crate::steps::{JobEvent, Steps, Transfer};

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
    start: Time,
    /// Phases started.
    phase: u32,
    end: Option<Time>,
    /// The task of the plan whose work it does: itself, unless it is a copy.
    of: u32,
    /// Its copy.
    copy: Option<u32>,
    /// Whether the other of task and copy was first.
    killed: bool,
    /// Its cores are slow.
    slow: bool,
    /// Whether its copy's cores are slow.
    slow_copy: bool,
    /// Its number among those that fetch for its stage.
    reader: usize,
}

impl Task {
    fn runs(&self) -> bool {
        self.host.is_some() && self.end.is_none()
    }
}

/// Free containers of a host, and how many of them are already running.
#[derive(Clone, Debug)]
struct Containers {
    /// For each, the task that had it last; the job itself if none had.
    free: VecDeque<u32>,
    held: u32,
}

/// The progress of a stage.
#[derive(Clone, Debug)]
struct Progress {
    /// Tasks without a container.
    waiting: VecDeque<u32>,
    done: u32,
    /// The durations of the finished ones.
    took: Vec<Span>,
    /// The task whose end allowed it to start, once it may.
    opening: Option<u32>,
    /// Its fetches.
    fetches: Fetches,
}

/// A job in progress.
#[derive(Clone, Debug)]
pub struct ClusterJob {
    tag: u16,
    plan: JobPlan,
    cluster: Cluster,
    steps: Steps,
    start: Time,
    tasks: Vec<Task>,
    stages: Vec<Progress>,
    /// For each compute host, its containers for maps and for reducers.
    containers: Vec<[Containers; 2]>,
}

impl ClusterJob {
    /// A job submitted at `start`; `tag` is its traffic entry, and `random` draws its stragglers.
    #[must_use]
    pub fn new(plan: JobPlan, cluster: Cluster, (tag, start): (u16, Time), random: Random) -> ClusterJob {
        let settings = &plan.settings;
        let free = |count: u32| Containers { free: (0..count).map(|_| JOB).collect(), held: 0 };
        let each = [free(settings.map_containers), free(settings.reduce_containers)];
        let call = (settings.call, settings.persistent_calls);
        let mut steps = Steps::new(plan.tasks() as usize, disks(settings, &cluster), call);
        steps.schedule(start, JobEvent::Submit);
        let mut job = ClusterJob {
            tag,
            steps,
            start,
            tasks: tasks(&plan, random),
            stages: Vec::new(),
            containers: vec![each; cluster.compute.len()],
            plan,
            cluster,
        };
        job.stages = job.unstarted();
        for stage in 0..job.stages.len() {
            job.open_if_ready(stage, JOB);
        }
        job
    }

    fn unstarted(&self) -> Vec<Progress> {
        let hosts = self.cluster.compute.len();
        let progress = |stage: &crate::plan::PlannedStage| Progress {
            waiting: (stage.first..stage.first + stage.tasks()).collect(),
            done: 0,
            took: Vec::new(),
            opening: None,
            fetches: Fetches::new(
                hosts,
                if stage.reads_files() { 0 } else { stage.tasks() },
                self.plan.settings.fetchers(),
            ),
        };
        self.plan.stages.iter().map(progress).collect()
    }

    /// The traffic entry.
    #[must_use]
    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// Size of its remote procedure calls, each way.
    #[must_use]
    pub fn call(&self) -> Bytes {
        self.plan.settings.call
    }

    /// Whether calls that follow each other share a connection.
    #[must_use]
    pub fn keeps_connections(&self) -> bool {
        self.plan.settings.persistent_calls
    }

    /// Pairs of hosts between which it may transfer something, in order: calls to and from the master, blocks and outputs, fetches,
    /// and replicas of the output.
    #[must_use]
    pub fn pairs(&self) -> Vec<(HostId, HostId)> {
        let Cluster { compute, data, master } = &self.cluster;
        let stores: &[HostId] = if self.plan.settings.output_replicas > 1 { data } else { &[] };
        let partners = |own: HostId| compute.iter().chain(data).chain([master]).map(move |at| (own, *at));
        let both = compute.iter().flat_map(|own| partners(*own)).flat_map(|(a, b)| [(a, b), (b, a)]);
        let replicas = stores.iter().flat_map(|from| stores.iter().map(move |to| (*from, *to)));
        let mut all: Vec<_> = both.chain(replicas).filter(|(from, to)| from != to).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Pairs of hosts between which it makes calls, each with the expected number of calls, including answers: those
    /// of the application master, and those of tasks if every host runs equally many.
    #[must_use]
    pub fn expected_calls(&self) -> Vec<((HostId, HostId), f64)> {
        let Cluster { compute, master, .. } = &self.cluster;
        let settings = &self.plan.settings;
        // Allocation and report are one call each.
        let of_tasks = f64::from(self.plan.tasks()) * f64::from(settings.calls + 2) / compute.len() as f64;
        let calls = |(number, own): (usize, &HostId)| {
            let count = if number == 0 { of_tasks + f64::from(settings.job_calls) } else { of_tasks };
            [((*own, *master), count), ((*master, *own), count)]
        };
        let all = compute.iter().enumerate().flat_map(calls);
        all.filter(|((from, to), _)| from != to).collect()
    }

    /// Whether the job would make progress even if nothing in flight arrived. Heartbeats and searches that cannot
    /// start a task do not count, since they would recur forever.
    #[must_use]
    pub fn is_expecting(&self) -> bool {
        self.steps.due().any(|due| match due {
            JobEvent::Heartbeat(host) => self.can_start(host),
            JobEvent::Speculate => self.can_copy(),
            JobEvent::Submit | JobEvent::Served(..) | JobEvent::Fetched(..) => true,
        })
    }

    /// When [`ClusterJob::wake`] must be called next; never if it waits for transfers or is done.
    #[must_use]
    pub fn due(&self) -> Time {
        self.steps.next_due()
    }

    /// Whether the last task is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.tasks[JOB as usize].end.is_some()
    }

    /// Whether the run ends with the job, whatever other traffic remains.
    #[must_use]
    pub fn ends_run(&self) -> bool {
        self.plan.settings.ends_run
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

    /// Runs `handle` with the disks that it shares with other jobs.
    pub(crate) fn with_disks(&mut self, disks: &mut HostDisks, handle: impl FnOnce(&mut ClusterJob)) {
        std::mem::swap(&mut self.steps.disks, disks);
        handle(self);
        std::mem::swap(&mut self.steps.disks, disks);
    }

    /// The disks of its hosts, as its settings give them.
    pub(crate) fn disks(&self) -> &HostDisks {
        &self.steps.disks
    }

    /// The hosts that run its tasks.
    pub(crate) fn compute(&self) -> &[HostId] {
        &self.cluster.compute
    }

    /// Takes the transfers that start now.
    pub fn transfers(&mut self) -> impl Iterator<Item = Transfer> + '_ {
        self.steps.out.drain(..)
    }

    fn happen(&mut self, now: Time, due: JobEvent) {
        match due {
            JobEvent::Submit => self.advance(now, JOB),
            JobEvent::Heartbeat(host) => self.heartbeat(now, host),
            JobEvent::Speculate => self.speculate(now),
            JobEvent::Served(task, _) | JobEvent::Fetched(task, _) if self.tasks[task as usize].killed => {}
            JobEvent::Served(task, bound) => {
                if self.steps.served(now, task, bound) {
                    self.advance(now, task);
                }
            }
            JobEvent::Fetched(task, from) => self.fetched(now, task, from),
        }
    }

    /// The stage of a task or copy and its number there.
    fn place(&self, task: u32) -> (usize, u32) {
        self.plan.place(self.tasks[task as usize].of)
    }

    fn host_of(&self, task: u32) -> usize {
        self.tasks[task as usize].host.expect("a task that runs has a host")
    }

    /// Whether all tasks are done but the job itself is not.
    fn all_done(&self) -> bool {
        self.stages.iter().zip(&self.plan.stages).all(|(stage, plan)| stage.done == plan.tasks())
    }
}

/// The disks of all hosts of a cluster.
fn disks(settings: &FrameworkSettings, cluster: &Cluster) -> HostDisks {
    let data = cluster.data.iter().map(|host| (*host, Disks::new(settings.disks_of_data())));
    let compute = cluster.compute.iter().map(|host| (*host, Disks::new(settings.disks_of_compute())));
    data.chain(compute).collect()
}

/// The job itself and its tasks. Each draws for itself and for its copy, in the order of their numbers, so when and
/// where they start does not affect stragglers.
fn tasks(plan: &JobPlan, mut random: Random) -> Vec<Task> {
    let share = plan.settings.stragglers.0;
    let mut draw = || share > 0.0 && random.chance(share);
    let own = |of| Task {
        of,
        reader: plan.place(of).1 as usize,
        slow: draw(),
        slow_copy: draw(),
        ..Task::default()
    };
    std::iter::once(Task::default()).chain((JOB + 1..plan.tasks()).map(own)).collect()
}
