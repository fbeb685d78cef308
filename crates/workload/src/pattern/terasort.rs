//! TeraSort: a job whose tasks start flows when others have finished. It draws no flows in advance.

use super::{Pattern, Stream};
use crate::site::PatternSite;
use weft_core::{HostId, Problem, Purpose};
pub use weft_jobs::TeraSortSettings;
use weft_jobs::{Cluster, ClusterJob, FrameworkSettings, JobPlan};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "A TeraSort job on MapReduce, Tez or Spark: its tasks start flows when others have finished";

/// A TeraSort job.
pub struct TeraSort(TeraSortSettings);

impl TeraSort {
    /// The job of `settings`.
    #[must_use]
    pub fn new(settings: &TeraSortSettings, _site: ()) -> TeraSort {
        TeraSort(settings.clone())
    }
}

/// The hosts of a job; `problems` are those found without the network.
pub(super) fn cluster(
    runs: &FrameworkSettings,
    mut problems: Vec<Problem>,
    site: &PatternSite<'_>,
) -> Result<Cluster, Vec<Problem>> {
    let mut take = |found: Result<Vec<HostId>, Problem>| found.map_err(|problem| problems.push(problem)).ok();
    let master = take(site.host(runs.master, "master").map(|host| vec![host]));
    let listed = |numbers: &[u32], path| site.listed(numbers, path).map(|hosts| hosts.in_order());
    let compute = take(listed(&runs.compute, "compute"));
    let data = take(listed(&runs.data, "data"));
    let (Some(master), Some(mut compute), Some(data)) = (master, compute, data) else {
        return Err(problems);
    };
    if runs.compute.is_empty() {
        compute.retain(|host| *host != master[0]);
    }
    let data = if runs.data.is_empty() { compute.clone() } else { data };
    if compute.is_empty() {
        problems.push(Problem::new("compute", "no host but the master is left to run tasks"));
    }
    for (path, replicas) in [("replicas", runs.replicas), ("output_replicas", runs.output_replicas)] {
        if replicas as usize > data.len() {
            let message = format!("{replicas} replicas need as many hosts that store files: {}", data.len());
            problems.push(Problem::new(path, message));
        }
    }
    if problems.is_empty() { Ok(Cluster { compute, data, master: master[0] }) } else { Err(problems) }
}

/// The job of a plan, if its hosts were found.
pub(super) fn job_of(
    plan: impl FnOnce() -> JobPlan,
    cluster: Result<Cluster, Vec<Problem>>,
    site: &PatternSite<'_>,
) -> Option<ClusterJob> {
    let random = site.random(Purpose::Stragglers);
    Some(ClusterJob::new(plan(), cluster.ok()?, (site.tag, site.start), random))
}

/// A remark on settings without effect.
pub(super) fn note_on(
    runs: &FrameworkSettings,
    problems: Vec<Problem>,
    site: &PatternSite<'_>,
) -> Option<String> {
    runs.idle(cluster(runs, problems, site).ok()?.compute.len())
}

impl Pattern for TeraSort {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        cluster(&self.0.runs, self.0.problems(), site).map(|_| Stream::of(Vec::new()))
    }

    fn job(&self, site: &PatternSite<'_>) -> Option<ClusterJob> {
        job_of(|| self.0.plan(), cluster(&self.0.runs, self.0.problems(), site), site)
    }

    fn without_effect(&self) -> Vec<Problem> {
        self.0.runs.without_effect()
    }

    fn note(&self, site: &PatternSite<'_>) -> Option<String> {
        note_on(&self.0.runs, self.0.problems(), site)
    }
}
