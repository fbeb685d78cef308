//! The jobs of a run together: they share the disks of their hosts. Containers and heartbeats are each job's own.
//! Must not depend on how transfers are carried.

use weft_core::record::JobRecord;
use weft_core::{HostId, Time};

use crate::disks::{Disks, HostDisks};
use crate::job::ClusterJob;

/// The jobs of a run.
#[derive(Clone, Debug)]
pub struct ClusterJobs {
    jobs: Vec<ClusterJob>,
    disks: HostDisks,
}

impl ClusterJobs {
    /// These jobs, before they have started. A host has the disks of the first job that uses it:
    /// [`ClusterJob::other_disks`] reports whether another job gives it others.
    #[must_use]
    pub fn new(jobs: Vec<ClusterJob>) -> ClusterJobs {
        let mut disks = HostDisks::new();
        for job in &jobs {
            for (host, own) in job.disks() {
                disks.entry(*host).or_insert_with(|| own.clone());
            }
        }
        ClusterJobs { jobs, disks }
    }

    /// When [`ClusterJobs::wake`] must be called next; never if all wait for transfers or are done.
    #[must_use]
    pub fn due(&self) -> Time {
        self.jobs.iter().map(ClusterJob::due).min().unwrap_or(Time::NEVER)
    }

    /// Whether any job would make progress even if nothing in flight arrived: see [`ClusterJob::is_expecting`].
    #[must_use]
    pub fn is_expecting(&self) -> bool {
        self.jobs.iter().any(ClusterJob::is_expecting)
    }

    /// Whether all are done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.jobs.iter().all(ClusterJob::is_done)
    }

    /// Whether the run ends when these jobs do, whatever other traffic remains (`ends_run` of any of them).
    #[must_use]
    pub fn ends_run(&self) -> bool {
        self.jobs.iter().any(ClusterJob::ends_run)
    }

    /// Handles everything due by now, job by job.
    pub fn wake(&mut self, now: Time) {
        for job in &mut self.jobs {
            job.with_disks(&mut self.disks, |job| job.wake(now));
        }
    }

    /// Called when a transfer of a job, given by its index, has arrived completely.
    pub fn delivered(&mut self, now: Time, job: usize, transfer: u32) {
        self.jobs[job].with_disks(&mut self.disks, |job| job.delivered(now, transfer));
    }

    /// The jobs in order, to take the transfers that start now.
    pub fn each(&mut self) -> impl Iterator<Item = &mut ClusterJob> {
        self.jobs.iter_mut()
    }

    /// Their records up to now.
    #[must_use]
    pub fn records(&self, now: Time) -> Vec<JobRecord> {
        self.jobs.iter().map(|job| job.record(now)).collect()
    }
}

impl ClusterJob {
    /// The first host to which this job and another give different disks, with the setting that differs.
    #[must_use]
    pub fn other_disks(&self, other: &ClusterJob) -> Option<(HostId, &'static str)> {
        let differs = |(host, own): (&HostId, &Disks)| Some((*host, own.differs(other.disks().get(host)?)?));
        self.disks().iter().find_map(differs)
    }

    /// Hosts on which both this job and another run tasks: each has its own containers there.
    pub fn both_compute<'a>(&'a self, other: &'a ClusterJob) -> impl Iterator<Item = HostId> + 'a {
        self.compute().iter().filter(|host| other.compute().contains(host)).copied()
    }
}
