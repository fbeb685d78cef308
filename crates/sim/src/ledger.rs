//! Combines the reports of both ends of a flow into its record as soon as it is done, and hands records on in an order
//! that does not depend on the partition into domains. A finished flow takes no memory here.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use weft_core::random::MixHasher;
use weft_core::record::{FlowPauses, FlowRecord, HopWaits};
use weft_core::{Bytes, FlowId, Time};
use weft_plan::{Alone, Sink};
use weft_transport::ReceiverReport;
use weft_workload::Flow;

use crate::ends::{Closed, Last};
use crate::plan::RunPlan;

/// Records collected before they are handed on.
const BATCH: usize = 256;

/// Makes the record of a flow from the reports of its two ends.
pub(crate) struct Ledger<'a> {
    alone: Alone<'a>,
    sink: Sink<'a>,
    /// Flows with one end closed. Must never be iterated over.
    half: HashMap<FlowId, Closed, BuildHasherDefault<MixHasher>>,
    /// Records of finished flows, with the time when each finished.
    done: Vec<(Time, FlowRecord)>,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(plan: &'a RunPlan, sink: Sink<'a>) -> Ledger<'a> {
        Ledger { alone: Alone::new(&plan.setup), sink, half: HashMap::default(), done: Vec::new() }
    }

    /// Adds the report of a closed end.
    pub(crate) fn add(&mut self, closed: Closed) {
        let Some(other) = self.half.remove(&closed.flow) else {
            self.half.insert(closed.flow, closed);
            return;
        };
        let at = closed.at.max(other.at);
        match (closed.last, other.last) {
            (Last::Sender { report: sent, at_host }, Last::Receiver { spec, report, met })
            | (Last::Receiver { spec, report, met }, Last::Sender { report: sent, at_host }) => {
                let record = FlowRecord {
                    acknowledged: sent.completed,
                    retransmitted: sent.retransmitted,
                    important: sent.important,
                    timeouts: sent.timeouts,
                    syn_timeouts: sent.syn_timeouts,
                    timeouts_in_a_row: sent.timeouts_in_a_row,
                    cnps: sent.notifications,
                    terminated: sent.terminated && report.completed.is_none(),
                    pauses: FlowPauses { at_host, ..met.pauses },
                    waits: met.waits,
                    ..self.record(closed.flow, &spec, &report)
                };
                self.done.push((at, record));
            }
            _ => unreachable!("a flow has one sender and one receiver"),
        }
    }

    /// Adds a flow that has not started.
    pub(crate) fn add_unsent(&mut self, at: Time, flow: FlowId, spec: &Flow) {
        let record = self.record(flow, spec, &ReceiverReport::default());
        self.done.push((at, record));
    }

    /// Hands on the flows done before `next`, the next event of any domain, in order of completion time, then number;
    /// waits if they are few. Returns `false` if the run must stop.
    pub(crate) fn pass_on(&mut self, next: Time) -> bool {
        self.done.len() < BATCH || self.pass_on_all(next)
    }

    /// [`Ledger::pass_on`] without waiting for more.
    pub(crate) fn pass_on_all(&mut self, next: Time) -> bool {
        self.done.sort_unstable_by_key(|(at, record)| (*at, record.flow));
        let ready = self.done.partition_point(|(at, _)| *at < next);
        self.done.drain(..ready).fold(true, |on, (_, record)| (self.sink)(&record) && on)
    }

    fn record(&mut self, flow: FlowId, spec: &Flow, received: &ReceiverReport) -> FlowRecord {
        FlowRecord {
            flow,
            listed: spec.listed_id(),
            tag: spec.tag,
            source: spec.source,
            destination: spec.destination,
            size: spec.size,
            start: spec.start,
            end: received.completed,
            deadline: spec.own_deadline(),
            terminated: false,
            acknowledged: None,
            ideal: self.alone.completion(spec, received.completed.unwrap_or(spec.start)),
            delivered: received.delivered,
            retransmitted: Bytes::ZERO,
            important: Bytes::ZERO,
            timeouts: 0,
            syn_timeouts: 0,
            timeouts_in_a_row: 0,
            dupacks: received.dupacks,
            dupacks_reorder: received.dupacks_reorder,
            out_of_order: received.out_of_order,
            displacement: received.displacement,
            displaced: received.displaced,
            gro_batches: received.gro_batches,
            ecn_marks: received.ecn_marks,
            cnps_sent: received.notifications,
            cnps: 0,
            nacks: received.nacks,
            pauses: FlowPauses::default(),
            waits: HopWaits::default(),
        }
    }
}
