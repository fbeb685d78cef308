//! The TCP sender: what is in flight, what may leave next, what an acknowledgement means.
//!
//! Standards: RFC 5681, 6582, 6675, 6937, 6298, 3042, 3168, 8257, 8985; where Linux differs and matters, a setting says
//! so. The FIN rides on the last payload. The order of work on an acknowledgement is that of
//! [`TcpSender::on_packet`], top to bottom.

use std::sync::Arc;

use weft_core::{Bytes, Span, Time};

use super::SenderReport;
use super::probe::Probe;
use crate::congestion::{AckEvent, AnyLaw, Cause, CongestionEvent, Window};
use crate::recovery::board::{Board, Delivered};
use crate::recovery::prr::Reduction;
use crate::rto::RoundTrip;
use crate::segment::{Flags, Segment};
use crate::settings::{Recovery, Tcp};
use crate::transport::{FlowSite, Marking, Transport};

mod output;
mod timers;

/// What the connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was sent.
    Closed,
    /// The SYN is on its way.
    Opening,
    /// All is well.
    Open,
    /// The window is coming down after a mark.
    Reducing,
    /// Losses are being repaired.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

/// The sending end of a TCP connection.
pub struct TcpSender {
    transport: Arc<Transport>,
    site: FlowSite,
    law: AnyLaw,
    marking: Marking,
    window: Window,
    phase: Phase,
    /// First byte not acknowledged.
    una: u64,
    /// First byte not sent.
    next: u64,
    /// One past the last byte.
    end: u64,
    board: Board,
    /// The phase ends when this is acknowledged.
    recover: u64,
    reduction: Reduction,
    rtt: RoundTrip,
    /// When the retransmission timer expires.
    rto_at: Time,
    /// When the probe timer expires.
    probe_at: Time,
    probe: Probe,
    /// When a segment falls due that may only be late.
    reorder_at: Time,
    /// Reordering has been seen: losses wait for a quarter of the round trip.
    reordered: bool,
    /// Duplicate acknowledgements in a row, without selective ones.
    dupacks: u32,
    /// Tell the receiver that the window was reduced.
    tell_reduced: bool,
    /// The window was the limit when the last new segment left.
    limited: bool,
    /// Bytes that still belong to the present burst.
    burst_left: u64,
    /// New segments that duplicate acknowledgements have permitted (RFC 3042).
    permitted: u32,
    /// RFC 6675's rescue retransmission has been used in this recovery.
    rescued: bool,
    report: SenderReport,
}

impl TcpSender {
    pub(super) fn new(transport: &Arc<Transport>, site: &FlowSite) -> TcpSender {
        let (marking, mss) = (transport.marking, transport.tcp_mss());
        let opening = transport.tcp.handshake;
        TcpSender {
            law: transport.law(),
            marking,
            window: Window { cwnd: transport.initial_window(), ssthresh: u64::MAX, mss },
            phase: if opening { Phase::Closed } else { Phase::Open },
            una: 0,
            next: 0,
            end: site.size.0,
            board: Board::default(),
            recover: 0,
            reduction: Reduction::default(),
            rtt: RoundTrip::new(),
            rto_at: Time::NEVER,
            probe_at: Time::NEVER,
            probe: Probe::default(),
            reorder_at: Time::NEVER,
            reordered: false,
            dupacks: 0,
            tell_reduced: false,
            limited: false,
            burst_left: 0,
            permitted: 0,
            rescued: false,
            report: SenderReport::default(),
            transport: Arc::clone(transport),
            site: site.clone(),
        }
    }

    fn tcp(&self) -> &Tcp {
        &self.transport.tcp
    }

    /// An acknowledgement, or the answer to the SYN.
    pub(super) fn on_packet(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            return self.opened(now, segment);
        }
        if self.phase == Phase::Opening
            || segment.ack < self.una
            || segment.ack > self.next && segment.ack != Segment::EVERYTHING
        {
            return;
        }
        let segment = &Segment { ack: segment.ack.min(self.next), ..*segment };
        let in_flight = self.board.pipe();
        let delivered = self.take_in(segment);
        let rtt = self.sample(now, segment, &delivered);
        let acked = segment.ack - self.una;
        self.count_dupacks(segment, acked);
        self.una = segment.ack;
        let ack = AckEvent {
            now,
            acked: delivered.bytes,
            rtt,
            min_rtt: self.rtt.least(),
            srtt: self.rtt.smoothed(),
            in_flight,
            cwnd_limited: self.limited,
            marked: segment.flags.has(Flags::ECE) && self.marking != Marking::Off,
            una: self.una,
            next: self.next,
        };
        self.law.observe(&mut self.window, &ack);
        self.leave_phase();
        self.find_losses(now, acked);
        self.answer_probe(now, segment);
        self.enter_phase(now, &ack);
        self.move_window(&ack);
        self.arm_timers(now, acked > 0);
    }

    /// The connection is open: the answer to the SYN came.
    fn opened(&mut self, now: Time, segment: &Segment) {
        if self.phase != Phase::Opening {
            return;
        }
        self.phase = Phase::Open;
        self.rto_at = Time::NEVER;
        self.rtt = RoundTrip::new();
        self.rtt.sample(now.since(segment.echo));
    }

    /// What the acknowledgement delivered, cumulatively and selectively.
    fn take_in(&mut self, segment: &Segment) -> Delivered {
        let mut delivered = Delivered::default();
        if self.tcp().sack {
            for (start, end) in segment.sacked() {
                self.board.sack(start, end, &mut delivered);
            }
        }
        self.board.acknowledge(segment.ack, &mut delivered);
        self.reordered |= delivered.reordered;
        delivered
    }

    /// The round trip that the acknowledgement shows: the echo names the packet that caused it.
    fn sample(&mut self, now: Time, segment: &Segment, delivered: &Delivered) -> Option<Span> {
        if delivered.bytes == 0 || segment.flags.has(Flags::DUPLICATE) {
            return None;
        }
        let rtt = now.since(segment.echo);
        self.rtt.sample(rtt);
        self.rtt.forget_backoff();
        Some(rtt)
    }

    /// Duplicate acknowledgements stand for deliveries where there are no selective ones.
    fn count_dupacks(&mut self, segment: &Segment, acked: u64) {
        let duplicate = acked == 0 && self.board.outstanding() > 0 && !segment.flags.has(Flags::DUPLICATE);
        self.dupacks = if duplicate { self.dupacks + 1 } else { 0 };
        if duplicate
            && self.phase == Phase::Open
            && self.dupacks < self.tcp().dup_threshold
            && self.tcp().limited_transmit
        {
            self.permitted += 1;
        }
        if acked > 0 {
            self.permitted = 0;
        }
    }

    /// Recovery, reduction or loss is over when everything sent before it is acknowledged.
    fn leave_phase(&mut self) {
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Reducing | Phase::Loss);
        if !repairing || self.una < self.recover {
            return;
        }
        if self.phase != Phase::Loss {
            self.window.cwnd = self.window.ssthresh.max(self.window.mss);
        }
        self.phase = Phase::Open;
        self.rescued = false;
    }

    /// Decides which segments are lost.
    fn find_losses(&mut self, now: Time, acked: u64) {
        self.reorder_at = Time::NEVER;
        if !self.tcp().sack {
            return self.find_losses_without_sack(acked);
        }
        if !self.board.has_holes() && self.phase == Phase::Open {
            return;
        }
        if self.transport.rack() {
            let wait = self.reorder_wait();
            let due = self.board.lose_by_time(now, self.rtt.smoothed(), wait);
            self.reorder_at = due.unwrap_or(Time::NEVER);
        } else {
            self.board.lose_by_count(self.tcp().dup_threshold);
        }
    }

    /// How much later than expected a segment may come before it counts as lost (RFC 8985 section 6.2).
    fn reorder_wait(&self) -> Span {
        let sure = !self.reordered
            && (self.phase == Phase::Recovery || self.board.sacked_segments() >= self.tcp().dup_threshold);
        if sure { Span::ZERO } else { Span(self.rtt.least().0 / 4).min(self.rtt.smoothed()) }
    }

    /// RFC 6582: the third duplicate, and every partial acknowledgement in recovery, points at the next hole.
    fn find_losses_without_sack(&mut self, acked: u64) {
        let third = self.phase == Phase::Open && self.dupacks == self.tcp().dup_threshold;
        let partial = self.phase == Phase::Recovery && acked > 0;
        if third && self.una >= self.recover || partial {
            self.board.lose_first();
        }
    }

    /// A probe that repaired a loss is answered like a loss (RFC 8985 section 7.4).
    fn answer_probe(&mut self, now: Time, segment: &Segment) {
        let repaired = self.probe.acknowledged(segment.ack, segment.flags.has(Flags::DUPLICATE));
        if repaired && self.phase == Phase::Open {
            self.reduce(now, Cause::Loss);
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// A loss or a mark starts a new phase.
    fn enter_phase(&mut self, now: Time, ack: &AckEvent) {
        let calm = matches!(self.phase, Phase::Open | Phase::Reducing);
        if calm && self.board.to_resend() {
            self.start_recovery(now);
        } else if self.phase == Phase::Open && ack.marked && self.una > self.recover {
            self.reduce(now, Cause::Mark);
            self.phase = Phase::Reducing;
            self.tell_reduced = true;
            self.report.mark_reductions += 1;
        }
    }

    fn start_recovery(&mut self, now: Time) {
        self.reduce(now, Cause::Loss);
        self.phase = Phase::Recovery;
        self.probe.forget();
        self.report.recoveries += 1;
    }

    /// A congestion event: the threshold falls, and everything in flight belongs to it.
    fn reduce(&mut self, now: Time, cause: Cause) {
        let event =
            CongestionEvent { now, cause, in_flight: self.board.pipe(), line_rate: self.site.line_rate };
        self.window.ssthresh = self.law.reduce(&self.window, &event).max(self.window.mss);
        self.recover = self.next;
        self.reduction = Reduction::new(self.board.outstanding());
        self.burst_left = 0;
        if self.tcp().recovery == Recovery::Halve {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// The window after this acknowledgement.
    fn move_window(&mut self, ack: &AckEvent) {
        let reducing = matches!(self.phase, Phase::Recovery | Phase::Reducing);
        if !reducing {
            if ack.acked > 0 {
                self.law.grow(&mut self.window, ack);
            }
        } else if self.tcp().recovery == Recovery::Prr && self.tcp().sack {
            let (pipe, Window { ssthresh, mss, .. }) = (self.board.pipe(), self.window);
            let first = self.phase == Phase::Recovery && self.reduction.is_fresh();
            self.window.cwnd = self.reduction.window((ack.acked, pipe), ssthresh, mss, first);
        } else if reducing && !self.tcp().sack {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    pub(super) fn finished(&self) -> bool {
        self.una == self.end && self.phase != Phase::Closed && self.phase != Phase::Opening
    }

    pub(super) fn report(&self) -> SenderReport {
        SenderReport {
            cwnd: Bytes(self.window.cwnd),
            ssthresh: Bytes(self.window.ssthresh),
            srtt: self.rtt.smoothed(),
            acknowledged: Bytes(self.una.min(self.site.size.0)),
            in_flight: Bytes(self.board.pipe()),
            ..self.report.clone()
        }
    }
}
