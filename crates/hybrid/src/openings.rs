//! The opening of a transfer: the time from its start to the arrival of its first packet, or of all of it if it is
//! small, and the round trip of the packets that follow. Both are drawn from the probe, or are those of an unloaded
//! network.

use weft_core::{Bytes, Purpose, Random, Span, Time};
use weft_plan::{Alone, Setup};
use weft_workload::Flow;

use crate::kinds::PairKinds;
use crate::moment::{CallsByMoment, Moment, Probed, ProbedCalls};

/// The stream of draws, separate from those of paths.
const DRAWS: u64 = u64::MAX;

/// The result of the probe, and the instant from which it applies.
pub(crate) struct Load {
    pub(crate) from: Time,
    pub(crate) call: Bytes,
    pub(crate) kinds: PairKinds,
    /// Time from the first flow of other traffic to the first call.
    pub(crate) settle: Span,
    /// Number of bulk transfers that the probe repeated.
    pub(crate) bulk: usize,
    /// Time from their end to the calls after them.
    pub(crate) rest: Span,
    pub(crate) calls: Probed,
}

impl Load {
    /// Calls that begin in the same way as a flow.
    fn of(&self, flow: &Flow) -> &CallsByMoment {
        let is_open = flow.open_round_trip().is_some() && !self.calls.on_open.is_empty();
        if is_open { &self.calls.on_open } else { &self.calls.opening }
    }
}

fn at(calls: &CallsByMoment, moment: Moment) -> &[ProbedCalls] {
    &calls[(moment as usize).min(calls.len() - 1)]
}

/// How a transfer begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TransferStart {
    /// Time from its start until this much has arrived.
    pub(crate) takes: Span,
    /// Payload that has arrived by then: all of a small transfer, the first packet of a larger one.
    pub(crate) arrived: Bytes,
}

/// Draws how transfers begin.
pub(crate) struct Openings<'a> {
    setup: &'a Setup,
    alone: Alone<'a>,
    load: Option<Load>,
    random: Random,
}

impl<'a> Openings<'a> {
    pub(crate) fn new(setup: &'a Setup, load: Option<Load>) -> Openings<'a> {
        let random = Random::new(setup.seed, Purpose::Openings, DRAWS);
        Openings { setup, alone: Alone::new(setup), load, random }
    }

    /// The time that a flow would take alone.
    pub(crate) fn ideal(&mut self, flow: &Flow) -> Span {
        self.alone.completion(flow, flow.start)
    }

    /// The beginning of a transfer of a job.
    pub(crate) fn begin(&mut self, flow: &Flow, moment: Moment) -> TransferStart {
        let (first, _) = windows(self.setup, flow);
        let packet = Bytes(self.setup.sender(flow).mss());
        let arrived = if flow.size.0 as f64 <= first { flow.size } else { flow.size.min(packet) };
        let unloaded = self.of_size(flow, arrived);
        let draw = self.load.as_ref().filter(|load| load.from <= flow.start).and_then(|load| {
            let probed = load.of(flow);
            let calls = &at(probed, moment)[load.kinds.kind(flow.source, flow.destination)?].durations;
            Some((load.call, calls[self.random.below(calls.len() as u32) as usize]))
        });
        let Some((call, took)) = draw else { return TransferStart { takes: unloaded, arrived } };
        let takes = took + beyond(unloaded, self.of_size(flow, call));
        TransferStart { takes, arrived }
    }

    fn of_size(&mut self, flow: &Flow, size: Bytes) -> Span {
        self.alone.completion(&Flow { size, ..*flow }, flow.start)
    }

    /// Time from sending a full packet to its acknowledgement. A call crosses the network three times; the first two
    /// crossings open the connection.
    pub(crate) fn round_trip(&mut self, flow: &Flow, moment: Moment) -> Span {
        let transport = self.setup.sender(flow);
        let opens = transport.tcp().is_none_or(|tcp| tcp.handshake);
        let full = Bytes(transport.mss());
        let loaded = self.load.as_ref().filter(|load| load.from <= flow.start).and_then(|load| {
            let kind = load.kinds.kind(flow.source, flow.destination)?;
            let calls = at(&load.calls.opening, moment);
            let both = calls[kind].smooth + calls[load.kinds.reverse(kind)].smooth;
            Some((load.call, if opens { Span(both.0 / 3) } else { both }))
        });
        let full = self.of_size(flow, full);
        match loaded {
            Some((call, both)) => both + beyond(full, self.of_size(flow, call)),
            None if opens => beyond(full, Span(self.of_size(flow, Bytes(1)).0 / 3)),
            None => full + self.of_size(flow, Bytes(1)),
        }
    }
}

/// The amount by which one time exceeds another.
fn beyond(long: Span, short: Span) -> Span {
    Span(long.0.saturating_sub(short.0))
}

/// Initial window and receive window of a flow, in bytes. A window that tunes itself stays ahead of slow start up to its maximum.
pub(crate) fn windows(setup: &Setup, flow: &Flow) -> (f64, f64) {
    let (sender, receiver) = (setup.sender(flow), setup.receiver(flow));
    let packet = Bytes(sender.mss());
    let first = sender.tcp().map_or(packet, |tcp| tcp.initial_window.bytes(packet));
    let most =
        receiver.tcp().and_then(|tcp| tcp.receive_window.or(tcp.autotune.as_ref().map(|tuned| tuned.max)));
    let most = most.map_or(f64::INFINITY, |most| most.max(packet).0 as f64);
    (first.max(packet).0 as f64, most)
}
