//! TCP's sending end: its state. Acknowledgements are in `tcp/ack.rs`, losses and the window in `tcp/losses.rs`, the choice
//! of the next packet in `tcp/send.rs`, the answer to SYN in `tcp/opening.rs`, bursts and pacing in `tcp/pace.rs`, timers in `tcp/timer.rs`, TLT in `tcp/tlt.rs`.

mod ack;
mod losses;
mod opening;
mod pace;
mod send;
mod timer;
mod tlt;

use std::sync::Arc;

use weft_core::record::FlowState;
use weft_core::stack::{End, Sending, Side};
use weft_core::{Bytes, Class, Ecn, FlowId, Header, Rate, Span, Time};
use weft_tlt::WindowMarker;

use super::SenderReport;
use crate::FlowSite;
use crate::congestion::Window;
use crate::laws::AnyLaw;
use crate::rto::RoundTrip;
use crate::segment::{Flags, Needs, Segment, ports};
use crate::tagging::Tagger;
use crate::tcp::{ConnectionMarking, TcpStack};
use weft_recovery::prr::Reduction;
use weft_recovery::rack::Rack;
use weft_recovery::reordering::{Patience, Undo};
use weft_recovery::scoreboard::Scoreboard;

use self::pace::Pace;
use self::send::What;
use self::timer::{Probe, Streak};

/// The phase of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// SYN must be sent, or was sent.
    Opening,
    /// Payload is sent and acknowledged.
    Open,
    /// Everything is acknowledged; the other side's FIN must be acknowledged.
    Closing,
    /// Nothing is left to do.
    Done,
}

/// The packet that the next poll must send regardless of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    /// The opening segment.
    syn: bool,
    /// The first lost segment.
    lost: bool,
    /// A tail loss probe.
    probe: bool,
    /// Report of the reduction, on the next new segment (CWR).
    cwr: bool,
}

/// Whether the window was the limit, judged once per window of data, as in Linux.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    limited: bool,
    /// Peak payload in flight in this window of data.
    most: u64,
    /// This window of data ends here.
    until: u64,
}

/// State kept only by flows that have met loss or reordering.
#[derive(Clone, Debug)]
struct Trouble {
    board: Scoreboard,
    rack: Rack,
    patience: Patience,
    /// The last recovery, if it may prove spurious.
    undo: Option<Undo>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retransmitted: u64,
    timeouts: u32,
    syn_timeouts: u32,
    timeouts_in_a_row: u32,
    recoveries: u32,
    reductions: u32,
    probes: u32,
}

/// State of PIAS and TLT, which write into packets.
#[derive(Clone, Debug)]
struct Labels {
    tagger: Tagger,
    tlt: WindowMarker,
    /// Payload sent in important packets.
    important: u64,
}

impl Labels {
    /// `None` if neither is in use.
    fn new(transport: &TcpStack) -> Option<Box<Labels>> {
        let wanted = transport.tcp.pias.is_on() || transport.tcp.tlt.is_some();
        wanted.then(|| Box::new(Labels { tagger: Tagger::new(), tlt: WindowMarker::new(), important: 0 }))
    }
}

/// The transport's settings needed for each packet.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Payload the receiver accepts beyond what it acknowledged.
    receive_window: u64,
    /// Wire size of a full segment.
    full_wire: u16,
    /// For data: whether switches may mark first transmissions, and retransmissions.
    ecn: Ecn,
    ecn_again: Ecn,
    marks: bool,
    sack: bool,
    timestamps: bool,
    close: bool,
    /// Whether payload is sent in bursts or paced.
    bursts: bool,
    /// Whether payload goes in bursts, paced or coloured.
    special: bool,
    /// Payload is coloured.
    tlt: bool,
    tso: bool,
    pacing: bool,
    tlp: bool,
    class: Class,
}

impl Rules {
    fn new(transport: &TcpStack, site: &FlowSite, marking: ConnectionMarking) -> Rules {
        let capable = |yes: bool| if yes { Ecn::Capable } else { Ecn::NotCapable };
        Rules {
            receive_window: site.receive_window.map_or(u64::MAX, |window| window.0.max(transport.mss())),
            full_wire: transport.data_wire(transport.mss()),
            ecn: capable(marking != ConnectionMarking::Off),
            ecn_again: capable(marking == ConnectionMarking::Accurate),
            marks: marking != ConnectionMarking::Off,
            sack: transport.tcp.sack,
            timestamps: transport.tcp.timestamps,
            close: transport.tcp.close,
            bursts: transport.tcp.tso || transport.tcp.pacing,
            special: transport.tcp.tso || transport.tcp.pacing || transport.tcp.tlt.is_some(),
            tlt: transport.tcp.tlt.is_some(),
            tso: transport.tcp.tso,
            pacing: transport.tcp.pacing,
            tlp: transport.tlp(),
            class: site.class.unwrap_or(Class(0)),
        }
    }
}

/// TCP's sending end. The fields every packet needs come first.
#[repr(C)]
pub struct TcpSender {
    phase: Phase,
    state: FlowState,
    owed: Owed,
    /// The result of the next poll; recomputed whenever anything changes.
    choice: What,
    size: u64,
    /// The first unacknowledged byte (SND.UNA).
    una: u64,
    /// The first byte never sent (SND.NXT; it never goes back).
    next: u64,
    window: Window,
    rules: Rules,
    usage: Usage,
    retransmit_at: Time,
    probe_at: Time,
    verdict_at: Time,
    /// When the next burst may start, until the host has asked.
    pace_at: Time,
    /// When new data was last sent or, once all of it is acknowledged, when that happened.
    newest: Time,
    /// Consecutive duplicate acknowledgements. Without selective acknowledgements, each counts for one segment that has
    /// arrived.
    dupacks: u32,
    /// Whether the recovery's rescue retransmission was made (RescueRxt).
    rescued: bool,
    /// Whether a partial acknowledgement has restarted the timer.
    restarted: bool,
    trouble: Option<Box<Trouble>>,
    probe: Option<Probe>,
    flow: FlowId,
    ports: u32,
    trip: RoundTrip,
    transport: Arc<TcpStack>,
    reduction: Reduction,
    law: AnyLaw,
    /// The current event ends when this is acknowledged (RecoveryPoint).
    recover: u64,
    pace: Pace,
    /// Present under PIAS or TLT.
    labels: Option<Box<Labels>>,
    line_rate: Rate,
    streak: Streak,
    counts: Counts,
}

impl TcpSender {
    pub(crate) fn new(transport: &Arc<TcpStack>, site: &FlowSite) -> TcpSender {
        let handshake = transport.tcp.handshake && site.round_trip.is_none();
        let marking = transport.first_marking(site, Side::Sender);
        let mut sender = TcpSender {
            phase: if handshake { Phase::Opening } else { Phase::Open },
            state: FlowState::Open,
            owed: Owed { syn: handshake, ..Owed::default() },
            choice: What::Nothing,
            size: site.size.0.max(1),
            una: 0,
            next: 0,
            window: Window {
                cwnd: transport.initial_window(),
                ssthresh: transport.initial_ssthresh(),
                mss: transport.mss(),
            },
            rules: Rules::new(transport, site, marking),
            usage: Usage::default(),
            retransmit_at: Time::NEVER,
            probe_at: Time::NEVER,
            verdict_at: Time::NEVER,
            pace_at: Time::NEVER,
            newest: Time::ZERO,
            dupacks: 0,
            trouble: None,
            probe: None,
            flow: site.flow,
            ports: ports(site.flow),
            trip: RoundTrip::of_open(site.round_trip),
            transport: Arc::clone(transport),
            reduction: Reduction::new(0),
            law: transport.law_under(marking),
            recover: 0,
            pace: Pace::default(),
            labels: Labels::new(transport),
            rescued: false,
            restarted: false,
            line_rate: site.line_rate,
            streak: Streak::default(),
            counts: Counts::default(),
        };
        sender.look_ahead(Time::ZERO);
        sender
    }

    #[inline(always)]
    pub(crate) fn on_packet(&mut self, now: Time, segment: &Segment) {
        if self.phase == Phase::Open && !segment.flags.has(Flags::SYN) {
            if !self.rules.tlt {
                self.acknowledged(now, segment);
            } else {
                self.acknowledged_under_tlt(now, segment);
            }
        } else if self.phase == Phase::Opening && segment.flags.has(Flags::SYN.with(Flags::ACK)) {
            self.established(now, segment);
        }
        self.look_ahead(now);
    }

    /// Whether it has a packet.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.choice != What::Nothing
    }

    #[inline]
    pub(crate) fn needs(&self) -> Needs {
        Needs {
            wake: self.retransmit_at.min(self.probe_at).min(self.verdict_at).min(self.pace_at),
            ready: self.is_ready(),
            complete: matches!(self.phase, Phase::Closing | Phase::Done),
            done: self.phase == Phase::Done,
            asks: false,
        }
    }

    /// Takes the round trip from an echo; for a packet sent more than once, only if time stamps show which copy it
    /// acknowledges (Karn's rule).
    #[inline]
    fn measure(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        if segment.flags.has(Flags::AGAIN) && !self.rules.timestamps {
            return None;
        }
        let rtt = now.since(segment.echo);
        self.trip.sample(rtt);
        Some(rtt)
    }

    /// Payload sent and not acknowledged.
    fn outstanding(&self) -> u64 {
        self.next - self.una
    }

    /// Payload in the network, as estimated (pipe).
    #[inline]
    fn pipe(&self) -> u64 {
        if self.trouble.is_none() && self.dupacks == 0 { self.outstanding() } else { self.troubled_pipe() }
    }

    fn troubled_pipe(&self) -> u64 {
        let outstanding = self.outstanding();
        let pipe = self.trouble.as_ref().map_or(outstanding, |trouble| trouble.board.pipe(outstanding));
        if self.rules.sack {
            return pipe;
        }
        pipe.saturating_sub(u64::from(self.dupacks) * self.window.mss)
    }

    /// The scoreboard and RACK's state, created when first needed.
    fn trouble(&mut self) -> &mut Trouble {
        let (una, tcp) = (self.una, &self.transport.tcp);
        self.trouble.get_or_insert_with(|| {
            let mut board = Scoreboard::default();
            board.advance(una);
            let patience = Patience::new(tcp.dup_threshold, tcp.max_reordering);
            Box::new(Trouble { board, rack: Rack::new(), patience, undo: None })
        })
    }

    /// Whether nothing is known to be missing.
    fn nothing_missing(&self) -> bool {
        self.dupacks == 0 && self.trouble.as_ref().is_none_or(|trouble| trouble.board.sacked() == 0)
    }
}

impl End for TcpSender {
    type Body = Segment;
    type Host = ();

    #[inline]
    fn needs(&self) -> Needs {
        self.needs()
    }

    fn on_packet(&mut self, now: Time, _header: &Header, body: &Segment) {
        self.on_packet(now, body);
    }

    fn send(&mut self, now: Time, header: &mut Header, body: &mut Segment) {
        self.send(now, header, body);
    }

    fn on_wakeup(&mut self, now: Time) {
        self.on_wakeup(now);
    }

    fn burst(&self) -> u64 {
        self.pace.burst
    }
}

impl Sending for TcpSender {
    fn report(&self) -> SenderReport {
        SenderReport {
            retransmitted: Bytes(self.counts.retransmitted),
            important: Bytes(self.labels.as_ref().map_or(0, |labels| labels.important)),
            timeouts: self.counts.timeouts,
            timeouts_in_a_row: self.counts.timeouts_in_a_row,
            syn_timeouts: self.counts.syn_timeouts,
            completed: matches!(self.phase, Phase::Closing | Phase::Done).then_some(self.newest),
            recoveries: self.counts.recoveries,
            reductions: self.counts.reductions,
            probes: self.counts.probes,
            acknowledged: Bytes(self.una),
            in_flight: Bytes(self.pipe()),
            cwnd: Bytes(self.window.cwnd),
            ssthresh: Bytes(self.window.ssthresh),
            srtt: self.trip.smoothed(),
            rto: self.trip.timeout(&self.transport.rto),
            state: self.state,
            ..SenderReport::default()
        }
    }
}
