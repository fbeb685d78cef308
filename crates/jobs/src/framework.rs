//! Frameworks that run jobs, and the hosts they run on, as a scenario describes them. Must not depend on what a job
//! computes.

use weft_core::settings::Share;
use weft_core::{Bytes, Problem, Rate, Span};

use crate::disks::DiskKind;

weft_core::choice! {
    /// How a framework assigns containers to tasks.
    pub enum Framework {
        /// A new container for every task; hosts get tasks only at their heartbeats.
        MapReduce = "mapreduce",
        /// Containers are reused: the next task starts in them at once.
        Tez = "tez",
        /// Executors: containers for any task, kept for the whole job. The driver hands out tasks at once, and a
        /// stage starts when all stages that it reads are done.
        Spark = "spark",
    }
}

weft_core::settings! {
    /// How jobs run: framework, containers, disks, calls, and the hosts.
    pub struct FrameworkSettings {
        /// How tasks get their containers.
        framework: Framework = Framework::MapReduce,
        /// Maximum number of map tasks that run concurrently on a host; with `spark`, of tasks of any kind.
        map_containers: u32 [1, 1024] = 8,
        /// Maximum number of reducers that run concurrently on a host.
        reduce_containers: u32 [1, 1024] = 4,
        /// Disks of a host; a request occupies one of them.
        disks: u32 [1, 1000] = 12,
        /// Sequential rate of a disk.
        disk_rate: Rate = Rate::from_mbps(1_200),
        /// Sequential rate of a disk that writes; absent: `disk_rate`.
        disk_write_rate: Option<Rate> = None,
        /// Disks of a host that stores files and runs no tasks; absent: `disks`.
        data_disks: Option<u32> = None,
        /// Sequential rate of a disk of such a host; absent: `disk_rate`.
        data_disk_rate: Option<Rate> = None,
        /// Sequential rate of a disk of such a host that writes; absent: `data_disk_rate`, and without that, the rate at which
        /// other hosts write.
        data_disk_write_rate: Option<Rate> = None,
        /// Time of a disk before each request.
        seek: Span = Span::from_ms(8),
        /// Maximum number of hosts from which a reducer fetches concurrently; absent: 5 with `mapreduce`
        /// (`mapreduce.reduce.shuffle.parallelcopies`) and `spark`, 20 with `tez` (`tez.runtime.shuffle.parallel.copies`).
        fetchers: Option<u32> = None,
        /// Share of the maps that must be done before reducers start
        /// (`mapreduce.job.reduce.slowstart.completedmaps`).
        slow_start: Share [0.0, 1.0] = Share(0.05),
        /// Replicas of the input.
        replicas: u32 [1, 10] = 3,
        /// Replicas of the output, the first on the task's own host if it stores files, otherwise on the data hosts in turn;
        /// all are written at the same time.
        output_replicas: u32 [1, 10] = 1,
        /// Interval between a host's reports to the scheduler, at which it gets tasks; also the interval of the
        /// search for tasks to speculate on.
        heartbeat: Span = Span::from_s(1),
        /// Time from the allocation of a container to the first instruction of its task.
        container_start: Span = Span::from_s(2),
        /// Time from the submission of the job to its first request for containers.
        submit: Span = Span::from_s(10),
        /// Time from the end of the last task to the end of the job.
        commit: Span = Span::from_s(2),
        /// Remote procedure calls to the master, one after the other, before a task reads or writes its data.
        calls: u32 [0, 100000] = 2,
        /// Size of such a call, each way.
        call: Bytes = Bytes(512),
        /// Calls that a task or the application master makes one after the other share a connection, which the first of them
        /// opens; otherwise each way of each call opens one.
        persistent_calls: bool = false,
        /// Calls of the application master, on the first host that runs tasks, to the master, one after the other: half of
        /// them before it requests containers, half after the last task.
        job_calls: u32 [0, 1000000] = 0,
        /// Job history that the application master writes to the first host that stores files before the job ends.
        history: Bytes = Bytes::ZERO,
        /// Log of a task, written to a host that stores files when the task is done. No task waits for it.
        log: Bytes = Bytes::ZERO,
        /// Share of the tasks, drawn with the seed, that are stragglers: their cores are slower.
        stragglers: Share [0.0, 1.0] = Share(0.0),
        /// Factor by which a straggler's computation takes longer.
        straggler_slowdown: f64 [1.0, 1000.0] = 3.0,
        /// Tasks that run much longer than others of their stage get a copy on another host; the first to end counts.
        speculation: bool = false,
        /// Share of a stage's tasks that must be done before copies of the others start (`spark.speculation.quantile`).
        speculation_share: Share [0.0, 1.0] = Share(0.75),
        /// A task gets a copy when it has run this many times the median of those done (`spark.speculation.multiplier`).
        speculation_factor: f64 [1.0, 1000.0] = 1.5,
        /// The run ends with its jobs: flows of other traffic that are still open count as unfinished.
        ends_run: bool = false,
        /// Hosts that run tasks; absent: all but the master.
        compute: Vec<u32> = Vec::new(),
        /// Hosts that store the input and the output; absent: those that run tasks.
        data: Vec<u32> = Vec::new(),
        /// Host of the scheduler and the name node.
        master: u32 = 0,
    }
}

/// A problem unless a quantity is more than zero.
pub(crate) fn positive(path: &str, is: bool) -> Option<Problem> {
    (!is).then(|| Problem::new(path, "it must be more than zero"))
}

impl Framework {
    /// Maximum number of hosts from which a reader fetches concurrently, unless a scenario says otherwise: the defaults
    /// of `mapreduce.reduce.shuffle.parallelcopies`, of `tez.runtime.shuffle.parallel.copies`, and Spark's five
    /// requests in flight.
    #[must_use]
    pub fn usual_fetchers(self) -> u32 {
        match self {
            Framework::MapReduce | Framework::Spark => 5,
            Framework::Tez => 20,
        }
    }
}

impl FrameworkSettings {
    /// Maximum number of hosts from which a reader fetches concurrently.
    pub(crate) fn fetchers(&self) -> u32 {
        self.fetchers.unwrap_or_else(|| self.framework.usual_fetchers())
    }

    /// The disks of a host that runs tasks.
    pub(crate) fn disks_of_compute(&self) -> DiskKind {
        let write = self.disk_write_rate.unwrap_or(self.disk_rate);
        DiskKind { disks: self.disks, read: self.disk_rate, write, seek: self.seek }
    }

    /// The disks of a host that stores files and runs no tasks.
    pub(crate) fn disks_of_data(&self) -> DiskKind {
        let usual = self.disks_of_compute();
        DiskKind {
            disks: self.data_disks.unwrap_or(usual.disks),
            read: self.data_disk_rate.unwrap_or(usual.read),
            write: self.data_disk_write_rate.or(self.data_disk_rate).unwrap_or(usual.write),
            seek: usual.seek,
        }
    }

    /// Whether a host stores files and runs no tasks, whatever the network.
    fn has_data_hosts(&self) -> bool {
        let runs_tasks = |host: &u32| match self.compute.as_slice() {
            [] => *host != self.master,
            compute => compute.contains(host),
        };
        self.data.iter().any(|host| !runs_tasks(host))
    }

    /// Impossible disks, and those of hosts that do not exist.
    fn problems_of_disks(&self) -> Vec<Problem> {
        let given = [
            ("data_disks", self.data_disks.map(|disks| disks > 0)),
            ("data_disk_rate", self.data_disk_rate.map(|rate| rate > Rate(0))),
            ("data_disk_write_rate", self.data_disk_write_rate.map(|rate| rate > Rate(0))),
        ];
        let nowhere = |(path, given): &(&str, Option<bool>)| {
            let why = "every host that stores files runs tasks too";
            given.map(|_| Problem::new(*path, format!("`{path}` has no effect: {why}")))
        };
        let mut found: Vec<Problem> =
            given.iter().filter_map(|(path, given)| positive(path, given.unwrap_or(true))).collect();
        found.extend(positive("disk_rate", self.disk_rate > Rate(0)));
        found.extend(positive("disk_write_rate", self.disk_write_rate != Some(Rate(0))));
        if !self.has_data_hosts() {
            found.extend(given.iter().filter_map(nowhere));
        }
        found
    }

    /// Describes settings that have no effect on `hosts` compute hosts, though they may in another case of a sweep.
    #[must_use]
    pub fn idle(&self, hosts: usize) -> Option<String> {
        let all = self.speculation && self.speculation_share.0 >= 1.0;
        let alone = self.speculation && hosts < 2;
        let equal = self.stragglers.0 > 0.0 && self.straggler_slowdown == 1.0;
        let found = [
            (
                all,
                "no task ever gets a copy: with speculation_share = 1 all tasks of its stage must be done before",
            ),
            (alone, "no task ever gets a copy: copies run on another host, and only one runs tasks"),
            (equal, "stragglers are as fast as other tasks: straggler_slowdown is 1"),
        ];
        let words: Vec<&str> = found.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// All impossible settings, regardless of the network.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let twice = |path: &str, hosts: &[u32]| {
            let again = hosts.iter().enumerate().find(|(at, host)| hosts[..*at].contains(host));
            again.map(|(_, host)| Problem::new(path, format!("host {host} is given twice")))
        };
        let found = [
            twice("compute", &self.compute),
            twice("data", &self.data),
            positive("fetchers", self.fetchers != Some(0)),
            positive("heartbeat", self.heartbeat > Span::ZERO),
            positive("call", self.call > Bytes::ZERO),
        ];
        found.into_iter().flatten().chain(self.problems_of_disks()).collect()
    }

    /// All settings that differ from the default and have no effect.
    #[must_use]
    pub fn without_effect(&self) -> Vec<Problem> {
        let usual = FrameworkSettings::default();
        let spark = self.framework == Framework::Spark;
        let idle = |path: &str, set: bool, why: &str| {
            set.then(|| Problem::new(path, format!("`{path}` has no effect: {why}")))
        };
        let one_kind = "spark has one kind of container (map_containers)";
        let complete = "a stage of spark starts when all that it reads is done";
        let at_once = "spark assigns tasks immediately; this sets only the interval of speculation";
        let none = "there are no stragglers";
        let off = "speculation is off";
        let found = [
            idle("reduce_containers", spark && self.reduce_containers != usual.reduce_containers, one_kind),
            idle("slow_start", spark && self.slow_start != usual.slow_start, complete),
            idle("heartbeat", spark && !self.speculation && self.heartbeat != usual.heartbeat, at_once),
            idle(
                "straggler_slowdown",
                self.stragglers.0 == 0.0 && self.straggler_slowdown != usual.straggler_slowdown,
                none,
            ),
            idle(
                "speculation_share",
                !self.speculation && self.speculation_share != usual.speculation_share,
                off,
            ),
            idle(
                "speculation_factor",
                !self.speculation && self.speculation_factor != usual.speculation_factor,
                off,
            ),
        ];
        found.into_iter().flatten().collect()
    }
}
