//! A job of arbitrary stages: its tasks start flows when others have finished. It draws no flows in advance.

use super::terasort::{cluster, job_of, note_on};
use super::{Pattern, Stream};
use crate::site::PatternSite;
use weft_core::Problem;
use weft_jobs::ClusterJob;
pub use weft_jobs::DagSettings;

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "A job of stages that read files and each other's output, such as the plan of a query";

/// A job of arbitrary stages.
pub struct Dag(DagSettings);

impl Dag {
    /// The job of `settings`.
    #[must_use]
    pub fn new(settings: &DagSettings, _site: ()) -> Dag {
        Dag(settings.clone())
    }
}

impl Pattern for Dag {
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
