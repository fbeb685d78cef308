//! Records of cluster jobs: their tasks step by step, and what bounded each step. Must not depend on a framework.

use crate::ids::HostId;
use crate::record::{Activity, RunRecord};
use crate::units::{Bytes, Span, Time};

/// What a step of a task waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Fixed delays: submission, heartbeats, the start of a container, commit.
    Fixed,
    /// Remote procedure calls.
    #[default]
    Latency,
    /// A core.
    Cpu,
    /// A disk, including its queue.
    Disk,
    /// Bulk data on the network.
    Network,
    /// Other tasks of the job.
    Tasks,
}

impl Resource {
    /// All resources, in the order in which [`Resource::name`] lists them.
    pub const ALL: [Resource; 6] = [
        Resource::Fixed,
        Resource::Latency,
        Resource::Cpu,
        Resource::Disk,
        Resource::Network,
        Resource::Tasks,
    ];

    /// `fixed`, `latency`, `cpu`, `disk`, `network`, `tasks`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Resource::Fixed => "fixed",
            Resource::Latency => "latency",
            Resource::Cpu => "cpu",
            Resource::Disk => "disk",
            Resource::Network => "network",
            Resource::Tasks => "tasks",
        }
    }
}

/// A phase of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobPhase {
    /// From the submission until the first task can start.
    Submission,
    /// Maps, from the wait for a container to the report.
    Map,
    /// Reducers that fetch.
    Shuffle,
    /// Reducers before and after that.
    Reduce,
    /// From the last reducer to the end.
    Commit,
}

impl JobPhase {
    /// All phases, in the order in which a job passes through them.
    pub const ALL: [JobPhase; 5] =
        [JobPhase::Submission, JobPhase::Map, JobPhase::Shuffle, JobPhase::Reduce, JobPhase::Commit];

    /// `submission`, `map`, `shuffle`, `reduce`, `commit`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            JobPhase::Submission => "submission",
            JobPhase::Map => "map",
            JobPhase::Shuffle => "shuffle",
            JobPhase::Reduce => "reduce",
            JobPhase::Commit => "commit",
        }
    }
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobRecord {
    /// Index of its traffic entry.
    pub tag: u16,
    /// When it was submitted.
    pub start: Time,
    /// When its last task was committed; `None`: unfinished.
    pub end: Option<Time>,
    /// Its tasks, ordered by name.
    pub tasks: Vec<TaskRecord>,
    /// The steps of all tasks, ordered by start, then task.
    pub steps: Vec<StepRecord>,
    /// Bytes of map output fetched by reducers, over the network or from their own host.
    pub shuffled: Bytes,
    /// Bytes of the transfers that have arrived, including remote procedure calls.
    pub transferred: Bytes,
    /// Time of cores over time.
    pub cores: Activity,
    /// Time of disks over time.
    pub disks: Activity,
    /// Bytes on the network over time: each transfer spread evenly from its start to its end.
    pub network: Activity,
    /// Containers of all hosts, each with a core.
    pub core_count: u64,
    /// Disks of all hosts.
    pub disk_count: u64,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskRecord {
    /// `job`, `map 17`, `reduce 3`, `reduce 3 copy`.
    pub name: String,
    /// Where it ran; `None`: it did not start.
    pub host: Option<HostId>,
    /// When it was done; `None`: unfinished.
    pub end: Option<Time>,
    /// Whether it fetches the output of other tasks, instead of reading files.
    pub fetches: bool,
    /// Whether it is the copy of a task that took too long.
    pub copy: bool,
    /// Whether its copy, or the task that it copies, was first.
    pub killed: bool,
}

/// A step of a task: a period in which it does one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// Index of the task.
    pub task: u32,
    /// `launch`, `read`, `spill`, `fetch` and so on.
    pub name: &'static str,
    /// When it began.
    pub start: Time,
    /// When it ended; `None`: the run ended first.
    pub end: Option<Time>,
    /// The resource that finished last, and thus bounded it; of an unfinished step, the one that it waits for.
    pub bound: Resource,
    /// The task whose end began it; `None`: the end of the previous step of its own task.
    pub after: Option<u32>,
}

impl JobRecord {
    /// From submission to commit.
    #[must_use]
    pub fn duration(&self) -> Option<Span> {
        self.end.map(|end| end.since(self.start))
    }

    /// Its tasks and their copies, without the first, which is the job itself.
    #[must_use]
    pub fn own_tasks(&self) -> &[TaskRecord] {
        self.tasks.get(1..).unwrap_or_default()
    }

    /// Number of its own tasks that are not done.
    #[must_use]
    pub fn open_tasks(&self) -> usize {
        self.own_tasks().iter().filter(|task| task.end.is_none()).count()
    }

    /// The names of tasks that are not done, and of the job if it is not.
    pub fn unfinished(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().filter(|task| task.end.is_none()).map(|task| task.name.as_str())
    }

    /// Task time bounded by a resource, over all finished steps.
    #[must_use]
    pub fn bounded_by(&self, resource: Resource) -> Span {
        let of = self.steps.iter().filter(|step| step.bound == resource);
        of.filter_map(|step| step.end.map(|end| end.since(step.start))).sum()
    }

    /// Whether no task is still in a phase, or has it ahead.
    #[must_use]
    pub fn is_over(&self, phase: JobPhase) -> bool {
        let reduces = |task: usize| {
            let own = |step: &&StepRecord| step.task as usize == task;
            self.steps.iter().filter(own).any(|step| self.phase_of(step) == JobPhase::Reduce)
        };
        let is_past =
            |task: usize| self.tasks[task].end.is_some() || phase == JobPhase::Shuffle && reduces(task);
        let all = |fetch: bool| {
            (1..self.tasks.len()).filter(|task| self.tasks[*task].fetches == fetch).all(is_past)
        };
        self.end.is_some()
            || match phase {
                JobPhase::Submission => self.own_tasks().iter().any(|task| task.host.is_some()),
                JobPhase::Map => all(false),
                JobPhase::Shuffle | JobPhase::Reduce => all(true),
                JobPhase::Commit => false,
            }
    }

    /// From the first start to the last end of the steps with this name.
    #[must_use]
    pub fn phase(&self, name: &str) -> Option<(Time, Time)> {
        self.range(|step| step.name == name)
    }

    /// The same for some steps.
    fn range(&self, is_meant: impl Fn(&StepRecord) -> bool) -> Option<(Time, Time)> {
        let of = || self.steps.iter().filter(|step| is_meant(step));
        let start = of().map(|step| step.start).min()?;
        Some((start, of().filter_map(|step| step.end).max()?))
    }

    /// From the first map's start of reading to the last map's last spill or write; later stages of a graph may spill as well.
    fn map_phase(&self) -> Option<(Time, Time)> {
        let mut is_map = vec![false; self.tasks.len()];
        for step in self.steps.iter().filter(|step| step.name == "map") {
            if let Some(task) = is_map.get_mut(step.task as usize) {
                *task = true;
            }
        }
        let of_map = |task: u32| is_map.get(task as usize).copied().unwrap_or(false);
        self.range(|step| step.name == "map" || (matches!(step.name, "spill" | "write") && of_map(step.task)))
    }
}

/// The numbers that summarise the jobs of a run: name, unit and meaning, in the order of [`RunRecord::job_measures`].
pub const JOB_MEASURES: [(&str, &str, &str); 17] = [
    ("seconds", "s", "from the submission of the first job to the end of the last"),
    ("map", "s", "from the first map's start of reading to the last map's last spill or write"),
    ("shuffle", "s", "from the first fetch to the last"),
    ("reduce", "s", "from the first merge or reduction to the last written output"),
    ("bound.fixed", "s", "task time bounded by fixed delays"),
    ("bound.latency", "s", "task time bounded by remote procedure calls"),
    ("bound.cpu", "s", "task time bounded by cores"),
    ("bound.disk", "s", "task time bounded by disks"),
    ("bound.network", "s", "task time bounded by bulk data on the network"),
    ("bound.tasks", "s", "time that reducers waited for maps"),
    ("path.fixed", "s", "time of the critical path bounded by fixed delays, heartbeats included"),
    ("path.latency", "s", "time of the critical path bounded by remote procedure calls"),
    ("path.cpu", "s", "time of the critical path bounded by cores"),
    ("path.disk", "s", "time of the critical path bounded by disks"),
    ("path.network", "s", "time of the critical path bounded by bulk data on the network"),
    ("unfinished", "", "tasks that are not done, jobs included"),
    ("copies", "", "copies of tasks that took too long"),
];

impl RunRecord {
    /// The numbers that summarise the jobs of the run: see [`JOB_MEASURES`]. `None` where there is nothing to measure.
    #[must_use]
    pub fn job_measures(&self) -> [Option<f64>; JOB_MEASURES.len()] {
        let start = self.jobs.iter().map(|job| job.start).min();
        let ends: Option<Vec<Time>> = self.jobs.iter().map(|job| job.end).collect();
        let end = ends.and_then(|ends| ends.into_iter().max());
        let lasting = |from: Option<Time>, to: Option<Time>| Some(to?.since(from?).seconds());
        let over_jobs = |phase: JobPhase, found: Vec<(Time, Time)>| {
            let over = self.jobs.iter().all(|job| job.is_over(phase));
            let from = found.iter().map(|(from, _)| *from).min().filter(|_| over);
            lasting(from, found.iter().map(|(_, to)| *to).max())
        };
        let phase = |phase: JobPhase, names: &[&str]| {
            let found = self.jobs.iter().flat_map(|job| names.iter().filter_map(|name| job.phase(name)));
            over_jobs(phase, found.collect())
        };
        let bound =
            |resource| Some(self.jobs.iter().map(|job| job.bounded_by(resource).seconds()).sum::<f64>());
        let bounds = Resource::ALL.map(bound);
        let paths: Vec<_> =
            self.jobs.iter().filter(|job| job.end.is_some()).map(JobRecord::path_times).collect();
        let on_path = |at: usize| {
            let of =
                |times: &[[Span; Resource::ALL.len()]; 5]| times.iter().map(|phase| phase[at]).sum::<Span>();
            (!paths.is_empty()).then(|| paths.iter().map(|times| of(times).seconds()).sum::<f64>())
        };
        let unfinished = self.jobs.iter().map(|job| job.unfinished().count()).sum::<usize>() as f64;
        let map = over_jobs(JobPhase::Map, self.jobs.iter().filter_map(JobRecord::map_phase).collect());
        let shuffle = phase(JobPhase::Shuffle, &["fetch early", "fetch"]);
        let reduce = phase(JobPhase::Reduce, &["merge", "reduce"]);
        let whole = lasting(start, end);
        let mut measures = [None; JOB_MEASURES.len()];
        measures[..4].copy_from_slice(&[whole, map, shuffle, reduce]);
        measures[4..10].copy_from_slice(&bounds);
        measures[10..15].copy_from_slice(&[0, 1, 2, 3, 4].map(on_path));
        measures[15] = Some(unfinished);
        let copies = self.jobs.iter().flat_map(|job| &job.tasks).filter(|task| task.copy).count();
        measures[16] = Some(copies as f64);
        measures
    }
}
