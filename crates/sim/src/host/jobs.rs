//! Jobs that start flows when others have finished. A run with jobs has one domain: a job reads the ends of all flows.

use std::collections::BTreeMap;

use weft_core::record::JobRecord;
use weft_core::{FlowId, Time};
use weft_workload::{ClusterJobs, Flow, Flows};

use super::Hosts;
use crate::context::Context;
use crate::event::Event;

/// The jobs of a run, and the flows they have started.
pub(crate) struct Jobs {
    jobs: ClusterJobs,
    /// The earliest pending event of any job; later ones are stale.
    wake_at: Time,
    /// Flows in flight: the job, and the job's number of the transfer.
    open: BTreeMap<FlowId, (usize, u32)>,
    /// Flows that are scheduled but have not started.
    called: BTreeMap<FlowId, Flow>,
    /// The number of the next flow.
    next: u32,
}

impl Jobs {
    /// `None` if the run has no jobs. Their flows are numbered after those drawn in advance.
    pub(crate) fn new(flows: &Flows) -> Option<Box<Jobs>> {
        let (jobs, none) = (ClusterJobs::new(flows.jobs().to_vec()), flows.jobs().is_empty());
        let (open, called, next) = (BTreeMap::new(), BTreeMap::new(), flows.len() as u32);
        (!none).then(|| Box::new(Jobs { jobs, wake_at: Time::NEVER, open, called, next }))
    }

    /// Takes a flow that starts.
    pub(crate) fn take(&mut self, flow: FlowId) -> Option<Flow> {
        self.called.remove(&flow)
    }

    /// Takes any flow that has not started.
    pub(crate) fn next_left(&mut self) -> Option<(FlowId, Flow)> {
        self.called.pop_first()
    }

    /// Whether any job has something to do even if no flow in flight arrives.
    pub(crate) fn is_expecting(&self) -> bool {
        !self.called.is_empty() || self.jobs.is_expecting()
    }

    /// Whether all jobs are done, and one of them ends the run.
    fn end_run(&self) -> bool {
        self.jobs.is_done() && self.jobs.ends_run()
    }

    /// Schedules the flows that jobs have asked for, and their next event.
    fn follow_up(&mut self, cx: &mut Context) {
        for (number, job) in self.jobs.each().enumerate() {
            let tag = job.tag();
            for transfer in job.transfers() {
                let flow = FlowId(self.next);
                self.next += 1;
                let spec = Flow::of_transfer(tag, cx.now, &transfer);
                self.open.insert(flow, (number, transfer.number));
                self.called.insert(flow, spec);
                cx.schedule(cx.now, Event::FlowStart(flow));
            }
        }
        let due = self.jobs.due();
        if due < self.wake_at {
            self.wake_at = due;
            cx.schedule(due, Event::Job);
        }
    }
}

impl Hosts {
    /// Schedules the first event of jobs.
    pub(crate) fn schedule_jobs(&mut self, cx: &mut Context) {
        if let Some(jobs) = &mut self.jobs {
            jobs.follow_up(cx);
        }
    }

    /// Something is due at a job.
    pub(crate) fn job_due(&mut self, cx: &mut Context) {
        let Some(jobs) = self.jobs.as_mut().filter(|jobs| jobs.wake_at == cx.now) else { return };
        jobs.wake_at = Time::NEVER;
        jobs.jobs.wake(cx.now);
        jobs.follow_up(cx);
        self.end_if_done(cx);
    }

    /// A flow has completed: the job that started it continues.
    pub(super) fn tell_job(&mut self, cx: &mut Context, flow: FlowId) {
        let Some(jobs) = &mut self.jobs else { return };
        if let Some((job, transfer)) = jobs.open.remove(&flow) {
            jobs.jobs.delivered(cx.now, job, transfer);
            jobs.follow_up(cx);
        }
    }

    /// Flows to be completed before the run is over: those drawn in advance and those added so far, and one more while
    /// a job may add others. Zero once a job has ended the run.
    pub(crate) fn flows_wanted(&self, drawn: usize) -> usize {
        match &self.jobs {
            Some(jobs) if jobs.end_run() => self.ends.completed,
            Some(jobs) => jobs.next as usize + usize::from(!jobs.jobs.is_done()),
            None => drawn,
        }
    }

    /// What the jobs have done.
    pub(crate) fn job_records(&self, now: Time) -> Vec<JobRecord> {
        self.jobs.as_ref().map_or_else(Vec::new, |jobs| jobs.jobs.records(now))
    }
}
