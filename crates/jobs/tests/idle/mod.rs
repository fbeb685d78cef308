//! A network without contention, on which jobs are tested.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeSet;

use weft_core::record::JobRecord;
use weft_core::{HostId, Purpose, Random, Rate, Span, Time};
use weft_jobs::{Cluster, ClusterJob, ClusterJobs, JobPlan, Transfer};

pub(crate) const DELAY: Span = Span::from_us(50);
pub(crate) const LINE: Rate = Rate::from_gbps(10);

/// Every transfer takes its time at line rate plus a delay, whatever else is sent.
pub(crate) fn run(plan: JobPlan, cluster: Cluster) -> (JobRecord, Vec<Transfer>) {
    let (mut records, all) = run_all(vec![(plan, cluster, Time::ZERO)]);
    (records.remove(0), all)
}

/// The same of several jobs, each with the instant of its submission.
pub(crate) fn run_all(jobs: Vec<(JobPlan, Cluster, Time)>) -> (Vec<JobRecord>, Vec<Transfer>) {
    let random = || Random::new(1, Purpose::Stragglers, 0);
    let jobs =
        jobs.into_iter().map(|(plan, cluster, start)| ClusterJob::new(plan, cluster, (0, start), random()));
    let mut jobs = ClusterJobs::new(jobs.collect());
    let (mut flying, mut all) = (BTreeSet::new(), Vec::new());
    loop {
        match flying.first().copied() {
            Some((at, job, number)) if at <= jobs.due() => {
                flying.remove(&(at, job, number));
                jobs.delivered(at, job, number);
                launch(&mut jobs, at, &mut flying, &mut all);
            }
            _ if jobs.due() < Time::NEVER => {
                assert!(
                    jobs.is_expecting() || !flying.is_empty(),
                    "it goes on, so it must not be taken for stuck"
                );
                let now = jobs.due();
                jobs.wake(now);
                launch(&mut jobs, now, &mut flying, &mut all);
            }
            _ => return (jobs.records(Time::NEVER), all),
        }
    }
}

type Flying = BTreeSet<(Time, usize, u32)>;

fn launch(jobs: &mut ClusterJobs, now: Time, flying: &mut Flying, all: &mut Vec<Transfer>) {
    for (job, own) in jobs.each().enumerate() {
        for transfer in own.transfers() {
            flying.insert((now + DELAY + LINE.time_for(transfer.size), job, transfer.number));
            all.push(transfer);
        }
    }
}

/// Host 0 is the master, 1 to 4 run tasks, 5 to 7 store files.
pub(crate) fn cluster() -> Cluster {
    let hosts = |range: std::ops::RangeInclusive<u32>| range.map(HostId).collect();
    Cluster { compute: hosts(1..=4), data: hosts(5..=7), master: HostId(0) }
}
