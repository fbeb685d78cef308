//! The probe: the packet engine runs the traffic beside the jobs, a stretch of their bulk transfers, and calls
//! between all kinds of host pairs before, beside and after that stretch. Yields how long calls take, lost packets
//! and time-outs included.
//!
//! The three moments differ because queues remember: a queue that bulk transfers have moved from the hosts' cards to
//! a port stays there while the windows behind it are full.

use weft_core::record::FlowRecord;
use weft_core::{Bytes, Span, Time};
use weft_plan::{Engine, EngineProgress, Setup, Watch};
use weft_sim::Packets;
use weft_workload::Flow;

use crate::background::Background;
use crate::kinds::PairKinds;
use crate::moment::{CallsByMoment, Moment, Probed, ProbedCalls, SETTLE, WINDOW};
use crate::rehearsal::Rehearsal;

/// How long the last call may take: a connection that loses its first two packets opens after 3 s.
pub(crate) const PATIENCE: Span = Span::from_ms(3_200);
/// Number of calls of a moment, shared among the kinds of pairs in proportion to the jobs' expected calls, and the
/// bounds for a kind. They must be few: where other traffic fills a port exactly, every call lengthens its queue.
const CALLS: f64 = 1_500.0;
const CALLS_OF_A_KIND: (usize, usize) = (6, 120);
/// The last round trip that an open connection has seen. Without a loss, a call on it times out only if it takes
/// longer than this plus the minimum time-out.
const OPEN_ROUND_TRIP: Span = Span::from_ms(10);

/// Why there are no calls.
pub(crate) enum ProbeFailure {
    Interrupted,
    /// A flow of other traffic ended.
    Ended(String),
}

/// A flow of the probe; for a call, its moment and kind.
type ProbeFlow = (Flow, Option<(usize, usize)>);

/// A call that the probe makes.
#[derive(Clone, Copy)]
struct ProbeCall {
    /// Moment and kind.
    place: (usize, usize),
    flow: Flow,
}

/// The inputs of a probe.
pub(crate) struct ProbePlan<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) background: &'a Background,
    pub(crate) kinds: &'a PairKinds,
    pub(crate) rehearsal: &'a Rehearsal,
    /// Size and traffic entry of calls.
    pub(crate) call: (Bytes, u16),
    /// Whether the jobs keep connections; every second call then uses an open one.
    pub(crate) keeps: bool,
}

impl ProbePlan<'_> {
    fn began(&self) -> Time {
        self.background.starts().map_or(Time::ZERO, |(first, _)| first)
    }

    /// Time from the first flow of other traffic to the first call.
    pub(crate) fn settle(&self) -> Span {
        self.rehearsal.first.since(self.began()).clamp(SETTLE.0, SETTLE.1)
    }

    /// The times that decide when the moments begin.
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
                // Kinds do not start simultaneously.
                let first =
                    Moment::ALL[at].begins(times) + Span(apart.0 / kinds.pairs.len() as u64 * kind as u64);
                for number in 0..count {
                    let start = first + apart * number as u64;
                    let (turn, round_trip) = match (self.keeps, number % 2) {
                        (false, _) => (number, Span::ZERO),
                        (true, 0) => (number / 2, Span::ZERO),
                        (true, _) => (number / 2, OPEN_ROUND_TRIP),
                    };
                    let new = Flow::new(tag, start, pairs[turn % pairs.len()], size);
                    let flow = Flow { round_trip, ..new };
                    calls.push(ProbeCall { place: (at, kind), flow });
                }
            }
        }
        calls
    }

    /// The flows of the probe by number: what is probed, or `None` for the load.
    fn flows(&self) -> Vec<ProbeFlow> {
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
    pub(crate) fn run(&self, watch: Watch<'_>) -> Result<Probed, ProbeFailure> {
        let flows = self.flows();
        let others = self.background.flows.len();
        let is_other = |flow: &FlowRecord| flow.flow.index() < others;
        let mut open = flows.iter().filter(|(_, place)| place.is_some()).count();
        let (mut records, mut ended) = (vec![None; flows.len()], None);
        let (mut bulk_ended, mut bulk_late) = (0, 0);
        let mut take = |record: &FlowRecord| {
            let is_call = flows[record.flow.index()].1.is_some();
            open -= usize::from(is_call);
            let is_bulk = !is_call && !is_other(record) && record.end.is_some();
            bulk_ended += usize::from(is_bulk);
            bulk_late += usize::from(is_bulk && waited(record));
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
            None => Ok(Probed { bulk_ended, bulk_late, ..self.sorted(&flows, &records) }),
        }
    }

    /// The setup of the probe, which records only flows.
    fn quiet(&self, flows: &[ProbeFlow]) -> Setup {
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

    /// Flows and records by what was probed.
    fn sorted(&self, flows: &[ProbeFlow], records: &[Option<FlowRecord>]) -> Probed {
        let mut probed = Probed { opening: self.empty(), ..Probed::default() };
        if self.keeps {
            probed.on_open = self.empty();
        }
        for ((flow, place), record) in flows.iter().zip(records) {
            let Some((moment, kind)) = *place else { continue };
            let is_open = flow.open_round_trip().is_some();
            let calls = if is_open { &mut probed.on_open } else { &mut probed.opening };
            self.add(&mut calls[moment][kind], flow, record.as_ref());
        }
        let calls = probed.opening.iter_mut().chain(&mut probed.on_open).flatten();
        calls.for_each(|calls| calls.smooth = Span(calls.smooth.0 / calls.without_time_outs().max(1)));
        probed
    }

    fn empty(&self) -> CallsByMoment {
        vec![vec![ProbedCalls::default(); self.kinds.pairs.len()]; self.moments().len()]
    }

    /// Adds a call; `smooth` is a sum until all have been added.
    fn add(&self, calls: &mut ProbedCalls, flow: &Flow, record: Option<&FlowRecord>) {
        let took = record.and_then(|record| record.end).map(|end| end.since(flow.start));
        let late = took.is_none() || record.is_some_and(waited);
        calls.durations.push(took.unwrap_or_else(|| self.end().since(flow.start)));
        calls.unfinished += usize::from(took.is_none());
        calls.with_time_outs += usize::from(late);
        calls.smooth += took.filter(|_| !late).unwrap_or_default();
    }
}

/// Whether a flow waited for a time-out.
fn waited(flow: &FlowRecord) -> bool {
    flow.timeouts > 0 || flow.syn_timeouts > 0
}
