//! A network without contention, on which jobs are tested.

use std::collections::BTreeSet;

use weft_core::record::JobRecord;
use weft_core::{HostId, Purpose, Random, Rate, Span, Time};
use weft_jobs::{Cluster, ClusterJob, JobPlan, Transfer};

pub(crate) const DELAY: Span = Span::from_us(50);
pub(crate) const LINE: Rate = Rate::from_gbps(10);

/// Every transfer takes its time at line rate plus a delay, whatever else is sent.
pub(crate) fn run(plan: JobPlan, cluster: Cluster) -> (JobRecord, Vec<Transfer>) {
    let mut job = ClusterJob::new(plan, cluster, (0, Time::ZERO), Random::new(1, Purpose::Stragglers, 0));
    let (mut flying, mut all) = (BTreeSet::new(), Vec::new());
    loop {
        let first = flying.first().copied();
        match first {
            Some((at, number)) if at <= job.due() => {
                flying.remove(&(at, number));
                job.delivered(at, number);
                launch(&mut job, at, &mut flying, &mut all);
            }
            _ if job.due() < Time::NEVER => {
                assert!(
                    job.is_expecting() || !flying.is_empty(),
                    "it goes on, so it must not be taken for stuck"
                );
                let now = job.due();
                job.wake(now);
                launch(&mut job, now, &mut flying, &mut all);
            }
            _ => return (job.record(), all),
        }
    }
}

fn launch(job: &mut ClusterJob, now: Time, flying: &mut BTreeSet<(Time, u32)>, all: &mut Vec<Transfer>) {
    for transfer in job.transfers() {
        flying.insert((now + DELAY + LINE.time_for(transfer.size), transfer.number));
        all.push(transfer);
    }
}

/// Host 0 is the master, 1 to 4 run tasks, 5 to 7 store files.
pub(crate) fn cluster() -> Cluster {
    let hosts = |range: std::ops::RangeInclusive<u32>| range.map(HostId).collect();
    Cluster { compute: hosts(1..=4), data: hosts(5..=7), master: HostId(0) }
}
