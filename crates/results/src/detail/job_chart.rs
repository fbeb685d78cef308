//! The tasks of a job over time by host, its use of resources, and its critical path, thinned for a chart.

use crate::derived::node;
use crate::text::rounded;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use weft_core::record::{Activity, JobPhase, JobRecord, Resource, RunRecord, StepRecord};
use weft_core::{HostId, Span, Time};

/// The kinds of work of tasks in a chart, by index.
pub const JOB_WORK: [&str; 6] = ["wait and start", "map", "spill", "fetch", "merge", "reduce and write"];
/// Resources that can bound a step of the critical path, by index.
pub const JOB_BOUNDS: [&str; 5] = ["fixed delays", "calls", "cores", "disks", "the network"];
/// Maximum number of tasks drawn; further hosts are counted.
const MOST_TASKS: usize = 5_000;

/// A job over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobChart {
    /// The traffic entry.
    pub tag: String,
    /// When it was submitted, seconds from the start of the run.
    pub start_s: f64,
    /// Time from then until its end; absent: unfinished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The end of the job, or of the run.
    pub end_s: f64,
    /// The hosts that are drawn.
    pub hosts: Vec<String>,
    /// Rows of each host: concurrent tasks.
    pub lanes: Vec<usize>,
    /// Hosts left out.
    #[serde(default)]
    pub more_hosts: usize,
    /// What tasks do.
    pub bars: Vec<TaskBar>,
    /// The critical path in order.
    pub path: Vec<PathBar>,
    /// Time of the critical path by phase.
    pub phases: Vec<PhaseTimes>,
    /// Share of the cores in use over time.
    pub cores: UseCurve,
    /// Share of the disks in use over time.
    pub disks: UseCurve,
    /// Gigabits per second of the job's transfers.
    pub network: UseCurve,
}

/// A period in which a task does one kind of work: host and lane by index, work by index in [`JOB_WORK`], and
/// seconds from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskBar(pub usize, pub usize, pub usize, pub f64, pub f64);

/// A section of the critical path: what bounded it by index in [`JOB_BOUNDS`], and seconds from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathBar(pub usize, pub f64, pub f64);

/// Time of the critical path in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// The phase.
    pub phase: String,
    /// Seconds by resource, in the order of [`JOB_BOUNDS`].
    pub seconds: [f64; 5],
}

/// A quantity over time in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UseCurve {
    /// Width of a bin, seconds; the first begins with the run.
    pub bin_s: f64,
    /// Means over the bins.
    pub mean: Vec<f64>,
}

impl JobChart {
    /// The chart of a job in the record of its run.
    #[must_use]
    pub fn new(record: &RunRecord, job: &JobRecord) -> JobChart {
        let end = job.end.unwrap_or(record.ended);
        let hosts: BTreeSet<HostId> = job.tasks.iter().filter_map(|task| task.host).collect();
        let mut drawn = Vec::new();
        let mut tasks = 0;
        for host in &hosts {
            tasks += job.tasks.iter().filter(|task| task.host == Some(*host)).count();
            if drawn.is_empty() || tasks <= MOST_TASKS {
                drawn.push(*host);
            }
        }
        let (bars, lanes) = bars(job, &drawn, end);
        let section = |part: &weft_core::record::PathSection| {
            PathBar(bound(part.bound), seconds(part.start), seconds(part.end))
        };
        JobChart {
            tag: record.tags.get(usize::from(job.tag)).cloned().unwrap_or_default(),
            start_s: seconds(job.start),
            seconds: job.duration().map(|span| rounded(span.seconds())),
            end_s: seconds(end),
            hosts: drawn.iter().map(|host| node(record, host.0)).collect(),
            lanes,
            more_hosts: hosts.len() - drawn.len(),
            bars,
            path: job.critical_path().iter().map(section).collect(),
            phases: phases(job),
            cores: curve(&job.cores, end, 1.0 / job.core_count.max(1) as f64),
            disks: curve(&job.disks, end, 1.0 / job.disk_count.max(1) as f64),
            // bytes per picosecond are 8 * 10^12 bit/s
            network: curve(&job.network, end, 8_000.0),
        }
    }
}

fn seconds(at: Time) -> f64 {
    rounded(at.since(Time::ZERO).seconds())
}

fn bound(resource: Resource) -> usize {
    match resource {
        Resource::Fixed | Resource::Tasks => 0,
        Resource::Latency => 1,
        Resource::Cpu => 2,
        Resource::Disk => 3,
        Resource::Network => 4,
    }
}

fn work(step: &StepRecord) -> usize {
    match step.name {
        "map" => 1,
        "spill" => 2,
        "fetch" | "fetch early" => 3,
        "merge" => 4,
        "reduce" | "write" => 5,
        _ => 0,
    }
}

/// The mean of each bin per picosecond, times a scale.
fn curve(activity: &Activity, end: Time, scale: f64) -> UseCurve {
    let width = activity.width();
    let bins = activity.bins().iter().take(end.0.div_ceil(width.0) as usize);
    UseCurve {
        bin_s: width.seconds(),
        mean: bins.map(|amount| rounded(*amount as f64 / width.0 as f64 * scale)).collect(),
    }
}

fn phases(job: &JobRecord) -> Vec<PhaseTimes> {
    let of = |(phase, times): (&JobPhase, &[Span; Resource::ALL.len()])| {
        let mut seconds = [0.0; 5];
        for (resource, time) in Resource::ALL.iter().zip(times) {
            seconds[bound(*resource)] += time.seconds();
        }
        PhaseTimes { phase: phase.name().to_owned(), seconds: seconds.map(rounded) }
    };
    let times = job.path_times();
    let all = JobPhase::ALL.iter().zip(&times).map(of);
    all.filter(|phase| phase.seconds.iter().sum::<f64>() > 0.0).collect()
}

/// Bars of the tasks of these hosts, and the lanes of each host: a task takes the first that is free when it starts.
fn bars(job: &JobRecord, hosts: &[HostId], end: Time) -> (Vec<TaskBar>, Vec<usize>) {
    let mut steps: BTreeMap<u32, Vec<&StepRecord>> = BTreeMap::new();
    job.steps.iter().for_each(|step| steps.entry(step.task).or_default().push(step));
    let mut free: Vec<Vec<Time>> = vec![Vec::new(); hosts.len()];
    let mut bars = Vec::new();
    let mut tasks: Vec<(Time, u32)> = steps.iter().map(|(task, steps)| (steps[0].start, *task)).collect();
    tasks.sort_unstable();
    for (start, task) in tasks {
        let host = job.tasks[task as usize].host.and_then(|host| hosts.iter().position(|one| *one == host));
        let Some(host) = host else { continue };
        let ends = job.tasks[task as usize].end.unwrap_or(end);
        let own = &mut free[host];
        let lane = own.iter().position(|free| *free <= start).unwrap_or(own.len());
        own.resize(own.len().max(lane + 1), Time::ZERO);
        own[lane] = ends;
        for part in steps[&task].chunk_by(|a, b| work(a) == work(b)) {
            let last = part[part.len() - 1].end.unwrap_or(end);
            bars.push(TaskBar(host, lane, work(part[0]), seconds(part[0].start), seconds(last)));
        }
    }
    (bars, free.iter().map(Vec::len).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::TaskRecord;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn job() -> JobRecord {
        let task = |name: &str, host, end| TaskRecord {
            name: name.into(),
            host,
            end: Some(at(end)),
            ..TaskRecord::default()
        };
        let step = |task, name, from, to| StepRecord {
            task,
            name,
            start: at(from),
            end: Some(at(to)),
            bound: Resource::Cpu,
            after: None,
        };
        let host = Some(HostId(3));
        JobRecord {
            end: Some(at(1_000)),
            tasks: vec![
                task("job", None, 1_000),
                task("map 0", host, 400),
                task("map 1", host, 300),
                task("map 2", host, 900),
            ],
            steps: vec![
                step(1, "open", 0, 100),
                step(1, "map", 100, 400),
                step(2, "map", 0, 300),
                step(3, "allocate", 300, 310),
                step(3, "open", 310, 320),
                step(3, "map", 320, 900),
            ],
            ..JobRecord::default()
        }
    }

    #[test]
    fn tasks_share_the_lanes_of_their_host_and_like_steps_are_one_bar() {
        let (bars, lanes) = bars(&job(), &[HostId(3)], at(1_000));
        assert_eq!(lanes, [2], "map 2 follows map 1 in its lane");
        let expected = [
            TaskBar(0, 0, 0, 0.0, 0.1),
            TaskBar(0, 0, 1, 0.1, 0.4),
            TaskBar(0, 1, 1, 0.0, 0.3),
            TaskBar(0, 1, 0, 0.3, 0.32),
            TaskBar(0, 1, 1, 0.32, 0.9),
        ];
        assert_eq!(bars, expected);
    }

    /// A stage that reads files and is not read by another stage writes them; so does a reducer. Only what a task
    /// waits for is neither.
    #[test]
    fn writing_is_work_and_no_wait() {
        let mut job = job();
        job.steps.extend([(1, 300, 400), (2, 200, 300)].map(|(task, from, to)| StepRecord {
            task,
            name: "write",
            start: at(from),
            end: Some(at(to)),
            bound: Resource::Disk,
            after: None,
        }));
        job.steps
            .iter_mut()
            .filter(|step| step.name == "map" && step.task < 3)
            .for_each(|step| step.end = Some(at(step.start.0 / 1_000_000_000 + 200)));
        let (bars, _) = bars(&job, &[HostId(3)], at(1_000));
        let lasting =
            |kind: usize| bars.iter().filter(|bar| bar.2 == kind).map(|bar| bar.4 - bar.3).sum::<f64>();
        assert!(JOB_WORK[5].contains("write") && (lasting(5) - 0.2).abs() < 1e-9, "{bars:?}");
        assert!((lasting(0) - 0.12).abs() < 1e-9, "{bars:?}");
    }

    #[test]
    fn a_curve_is_a_mean_and_ends_with_the_job() {
        let mut activity = Activity::default();
        activity.add(at(0), at(2), 2_500_000);
        activity.add(at(2), at(9), 1_000);
        let curve = curve(&activity, at(2), 8_000.0);
        assert_eq!(curve.mean, [10.0, 10.0], "1.25 MB in 1 ms are 10 Gb/s");
    }
}
