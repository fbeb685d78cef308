//! TeraSort: a job whose tasks start flows when others have finished. It draws no flows in advance.

use super::{Pattern, Stream};
use crate::site::PatternSite;
use weft_core::{HostId, Problem};
pub use weft_jobs::TeraSortSettings;
use weft_jobs::{Cluster, ClusterJob};

/// One sentence for lists.
pub const SUMMARY: &str =
    "A TeraSort job on MapReduce or Tez: its tasks start flows when others have finished";

/// A TeraSort job.
pub struct TeraSort(TeraSortSettings);

impl TeraSort {
    /// The job of `settings`.
    #[must_use]
    pub fn new(settings: &TeraSortSettings, _site: ()) -> TeraSort {
        TeraSort(settings.clone())
    }

    fn cluster(&self, site: &PatternSite<'_>) -> Result<Cluster, Vec<Problem>> {
        let mut problems = self.0.problems();
        let mut take =
            |found: Result<Vec<HostId>, Problem>| found.map_err(|problem| problems.push(problem)).ok();
        let master = take(site.host(self.0.master, "master").map(|host| vec![host]));
        let listed = |numbers: &[u32], path| site.listed(numbers, path).map(|hosts| hosts.in_order());
        let compute = take(listed(&self.0.compute, "compute"));
        let data = take(listed(&self.0.data, "data"));
        let (Some(master), Some(mut compute), Some(data)) = (master, compute, data) else {
            return Err(problems);
        };
        if self.0.compute.is_empty() {
            compute.retain(|host| *host != master[0]);
        }
        let data = if self.0.data.is_empty() { compute.clone() } else { data };
        if compute.is_empty() {
            problems.push(Problem::new("compute", "no host but the master is left to run tasks"));
        }
        for (path, replicas) in [("replicas", self.0.replicas), ("output_replicas", self.0.output_replicas)] {
            if replicas as usize > data.len() {
                let message =
                    format!("{replicas} replicas need as many hosts that store files: {}", data.len());
                problems.push(Problem::new(path, message));
            }
        }
        if problems.is_empty() { Ok(Cluster { compute, data, master: master[0] }) } else { Err(problems) }
    }
}

impl Pattern for TeraSort {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        self.cluster(site).map(|_| Stream::of(Vec::new()))
    }

    fn job(&self, site: &PatternSite<'_>) -> Option<ClusterJob> {
        let cluster = self.cluster(site).ok()?;
        Some(ClusterJob::new(&self.0, cluster, (site.tag, site.start)))
    }
}
