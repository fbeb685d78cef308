//! The probe: the packet engine runs the traffic beside the jobs, a stretch of their bulk transfers, and calls between all kinds
//! of host pairs before, beside and after that stretch. Yields how long calls take, lost packets and time-outs included.
//!
//! The three moments differ because queues remember: a queue that bulk transfers have moved from the hosts' cards to a port stays
//! there as long as the windows behind it are full.

use weft_core::record::FlowRecord;
use weft_core::{Bytes, Span, Time};
use weft_plan::{Engine, EngineProgress, Setup, Watch};
use weft_sim::Packets;
use weft_workload::Flow;

use crate::background::Background;
use crate::kinds::PairKinds;
use crate::moment::{Moment, ProbedCalls, SETTLE, WINDOW};
use crate::rehearsal::Rehearsal;

/// For which the last call may take; a connection that loses its first two packets opens after 3 s.
pub(crate) const PATIENCE: Span = Span::from_ms(3_200);
/// Calls of a moment, shared among the kinds of pairs as the jobs' calls are expected to be, and the bounds for a kind. They must
/// be few: where other traffic fills a port exactly, every call lengthens its queue.
const CALLS: f64 = 1_500.0;
const CALLS_OF_A_KIND: (usize, usize) = (6, 120);

/// Why there are no calls.
pub(crate) enum ProbeFailure {
    Interrupted,
    /// A flow of other traffic ended.
    Ended(String),
}

/// A call that the probe makes.
#[derive(Clone, Copy)]
struct ProbeCall {
    /// Moment and kind.
    place: (usize, usize),
    flow: Flow,
}

/// What the probe runs.
pub(crate) struct ProbePlan<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) background: &'a Background,
    pub(crate) kinds: &'a PairKinds,
    pub(crate) rehearsal: &'a Rehearsal,
    /// Size and traffic entry of calls.
    pub(crate) call: (Bytes, u16),
}

impl ProbePlan<'_> {
    fn began(&self) -> Time {
        self.background.starts().map_or(Time::ZERO, |(first, _)| first)
    }

    /// From the first flow of other traffic to the first call.
    pub(crate) fn settle(&self) -> Span {
        self.rehearsal.first.since(self.began()).clamp(SETTLE.0, SETTLE.1)
    }

    /// What decides when the moments begin.
    fn times(&self) -> (Span, Span) {
        (self.settle(), self.rehearsal.rest)
    }

    /// The moments that differ.
    fn moments(&self) -> &'static [Moment] {
        if self.rehearsal.bulk.is_empty() { &Moment::ALL[..1] } else { &Moment::ALL }
    }

    /// Other traffic and the stretch of bulk transfers, in the order of their starts.
    fn load(&self) -> Vec<Flow> {
        let began = self.began();
        let early = |flow: &Flow| Flow { start: Time::ZERO + flow.start.since(began), ..*flow };
        let stretch = self.settle() + WINDOW;
        let late = |flow: &Flow| Flow { start: flow.start + stretch, ..*flow };
        self.background.flows.iter().map(early).chain(self.rehearsal.bulk.iter().map(late)).collect()
    }

    /// The calls of all moments and kinds: those of a kind are spread evenly over the window of a moment.
    fn calls(&self) -> Vec<ProbeCall> {
        let (kinds, (size, tag), times) = (self.kinds, self.call, self.times());
        let mut calls = Vec::new();
        for at in 0..self.moments().len() {
            for (kind, (pairs, share)) in kinds.pairs.iter().zip(&kinds.shares).enumerate() {
                let count = ((CALLS * share) as usize).clamp(CALLS_OF_A_KIND.0, CALLS_OF_A_KIND.1);
                let apart = Span(WINDOW.0 / count as u64);
                // Kinds do not start together.
                let first =
                    Moment::ALL[at].begins(times) + Span(apart.0 / kinds.pairs.len() as u64 * kind as u64);
                for number in 0..count {
                    let start = first + apart * number as u64;
                    let flow = Flow::new(tag, start, pairs[number % pairs.len()], size);
                    calls.push(ProbeCall { place: (at, kind), flow });
                }
            }
        }
        calls
    }

    /// The flows of the probe by their numbers: what is probed, or nothing for the load.
    fn flows(&self) -> Vec<(Flow, Option<(usize, usize)>)> {
        let load = self.load().into_iter().map(|flow| (flow, None));
        let calls = self.calls().into_iter().map(|call| (call.flow, Some(call.place)));
        let mut flows: Vec<_> = load.chain(calls).collect();
        flows.sort_by_key(|(flow, _)| flow.start);
        flows
    }

    fn end(&self) -> Time {
        self.moments().last().map_or(Time::ZERO, |last| last.begins(self.times())) + WINDOW + PATIENCE
    }

    /// Runs it: calls by moment and kind.
    pub(crate) fn run(&self, watch: Watch<'_>) -> Result<Vec<Vec<ProbedCalls>>, ProbeFailure> {
        let flows = self.flows();
        let others = self.background.flows.len();
        let is_other = |flow: &FlowRecord| flow.flow.index() < others;
        let mut open = flows.iter().filter(|(_, place)| place.is_some()).count();
        let (mut records, mut ended) = (vec![None; flows.len()], None);
        let mut take = |record: &FlowRecord| {
            let is_call = flows[record.flow.index()].1.is_some();
            open -= usize::from(is_call);
            if is_other(record) && record.end.is_some() {
                ended = Some(record.clone());
            }
            records[record.flow.index()] = is_call.then(|| record.clone());
            ended.is_none() && open > 0
        };
        let mut interrupted = false;
        let mut look = |progress: &EngineProgress| {
            let told = EngineProgress { now: Time::ZERO, flows_done: 0, ..*progress };
            interrupted = !watch(&told);
            !interrupted
        };
        let _ = Packets.run(self.quiet(&flows), &mut take, &mut look);
        match ended {
            _ if interrupted => Err(ProbeFailure::Interrupted),
            Some(flow) => Err(ProbeFailure::Ended(crate::background::ends_early(self.setup, flow.tag))),
            None => Ok(self.sorted(&flows, &records)),
        }
    }

    /// The setup of the probe: nothing is recorded but flows.
    fn quiet(&self, flows: &[(Flow, Option<(usize, usize)>)]) -> Setup {
        Setup {
            flows: flows.iter().map(|(flow, _)| *flow).collect(),
            until: self.end(),
            warm_up: Time::ZERO,
            queues_every: None,
            series_bins: None,
            flow_waits: false,
            flow_samples: None,
            ..self.setup.clone()
        }
    }

    fn sorted(
        &self,
        flows: &[(Flow, Option<(usize, usize)>)],
        records: &[Option<FlowRecord>],
    ) -> Vec<Vec<ProbedCalls>> {
        let mut found =
            vec![vec![(ProbedCalls::default(), Vec::new()); self.kinds.pairs.len()]; self.moments().len()];
        for ((flow, place), record) in flows.iter().zip(records) {
            let Some((moment, kind)) = *place else { continue };
            let (probed, smooth) = &mut found[moment][kind];
            let record = record.clone().unwrap_or_default();
            let took = record.end.map(|end| end.since(flow.start));
            probed.durations.push(took.unwrap_or_else(|| self.end().since(flow.start)));
            probed.unfinished += usize::from(took.is_none());
            let late = record.timeouts > 0 || record.syn_timeouts > 0 || took.is_none();
            probed.with_time_outs += usize::from(late);
            smooth.extend(took.filter(|_| !late));
        }
        let whole = |(probed, smooth): (ProbedCalls, Vec<Span>)| {
            let mean = smooth.iter().map(|span| span.0).sum::<u64>() / smooth.len().max(1) as u64;
            ProbedCalls { smooth: Span(mean), ..probed }
        };
        found.into_iter().map(|kinds| kinds.into_iter().map(whole).collect()).collect()
    }
}
