//! TCP of a run: its checked configuration, and the resulting packet sizes. Holds no per-flow state.

use weft_core::stack::{Frames, Side, Sizes};
use weft_core::{Bytes, FlowSite, Span};

use crate::congestion::newreno::NewRenoSettings;
use crate::congestion::{LawSite, MarkUse};
use crate::laws::{AnyLaw, LawSettings};
use crate::rto::RtoLimits;
use crate::segment::BlockCount;
use crate::settings::{EcnUse, LossDetection, Tcp};

/// How congestion marks are used on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionMarking {
    /// Not at all.
    Off,
    /// RFC 3168.
    Classic,
    /// Every packet capable, marks reported byte for byte (RFC 8257).
    Accurate,
}

/// The time stamp option with its padding (RFC 7323).
const TIMESTAMPS: u64 = 12;

/// TCP under one congestion law, shared by all its ends.
#[derive(Clone, Debug)]
pub struct TcpStack {
    law: LawSettings,
    pub(crate) tcp: Tcp,
    /// How its ends use marks if both agree.
    pub(crate) marking: ConnectionMarking,
    pub(crate) rto: RtoLimits,
    frames: Frames,
}

impl TcpStack {
    pub(crate) fn new(law: LawSettings, tcp: Tcp) -> TcpStack {
        let frames = Frames::from(tcp.sizes());
        let mut stack =
            TcpStack { law, rto: rto_limits(&tcp), marking: ConnectionMarking::Classic, tcp, frames };
        if stack.law().mark_use() != MarkUse::Classic {
            stack.marking = ConnectionMarking::Accurate;
        }
        stack
    }

    /// Whether a host asks for ECN on connections that it opens.
    pub(crate) fn asks_for_ecn(&self) -> bool {
        self.marking == ConnectionMarking::Accurate || self.tcp.ecn == EcnUse::On
    }

    /// Whether a host agrees to ECN on connections that another opens and asks for it.
    pub(crate) fn agrees_to_ecn(&self) -> bool {
        self.marking == ConnectionMarking::Accurate || self.tcp.ecn != EcnUse::Off
    }

    /// How an end uses marks at first: as both ends have agreed or, if SYN and SYN-ACK are still to tell, as if the other
    /// end were willing.
    pub(crate) fn first_marking(&self, site: &FlowSite, side: Side) -> ConnectionMarking {
        let opens = self.tcp.handshake && site.round_trip.is_none();
        let willing = match (side, site.ecn) {
            (Side::Sender, None) => self.asks_for_ecn(),
            (Side::Receiver, None) => self.agrees_to_ecn(),
            (Side::Sender, Some(ecn)) => ecn.sender && (opens || ecn.receiver),
            (Side::Receiver, Some(ecn)) => ecn.receiver && (opens || ecn.sender),
        };
        if willing { self.marking } else { ConnectionMarking::Off }
    }

    /// The settings that all laws share.
    #[must_use]
    pub fn settings(&self) -> &Tcp {
        &self.tcp
    }

    /// The name of its congestion law in scenarios.
    #[must_use]
    pub fn law_name(&self) -> &'static str {
        self.law.name()
    }

    /// A fresh law.
    pub(crate) fn law(&self) -> AnyLaw {
        AnyLaw::new(&self.law, self.law_site())
    }

    /// A fresh law for a connection that uses marks in this way. Without marks, a law that lives by them gives way to
    /// NewReno, as DCTCP does in Linux.
    pub(crate) fn law_under(&self, marking: ConnectionMarking) -> AnyLaw {
        match (self.marking, marking) {
            (ConnectionMarking::Accurate, ConnectionMarking::Off) => {
                AnyLaw::new(&LawSettings::NewReno(NewRenoSettings {}), self.law_site())
            }
            _ => self.law(),
        }
    }

    fn law_site(&self) -> LawSite {
        let limit =
            self.tcp.slow_start_limit.map_or(u64::MAX, |limit| u64::from(limit.max(1)) * self.frames.mss);
        LawSite { mss: self.frames.mss, slow_start_limit: limit }
    }

    pub(crate) fn mss(&self) -> u64 {
        self.frames.mss
    }

    /// Wire size of a packet with `payload` bytes.
    pub(crate) fn data_wire(&self, payload: u64) -> u16 {
        self.frames.wire(payload)
    }

    /// Wire size of an acknowledgement with this many blocks: 2 bytes and 8 per block, padded to whole words (RFC
    /// 2018).
    pub(crate) fn ack_wire(&self, blocks: BlockCount) -> u16 {
        self.frames.wire(if blocks == BlockCount::Zero { 0 } else { 4 + 8 * blocks.get() as u64 })
    }

    /// Wire size of SYN and SYN-ACK: options for segment size, window scale and selective acknowledgements, 12 bytes,
    /// in which time stamps, if used, fill the padding.
    pub(crate) fn syn_wire(&self) -> u16 {
        self.frames.wire(if self.tcp.timestamps { 8 } else { 12 })
    }

    /// Losses are detected by RACK.
    pub(crate) fn rack(&self) -> bool {
        self.tcp.sack && self.tcp.loss_detection == LossDetection::Rack
    }

    /// Tail loss probes are sent.
    pub(crate) fn tlp(&self) -> bool {
        self.tcp.tlp && self.rack()
    }

    pub(crate) fn initial_window(&self) -> u64 {
        let mss = self.frames.mss;
        self.tcp.initial_window.bytes(Bytes(mss)).0.max(mss)
    }

    /// The threshold at which the first slow start ends.
    pub(crate) fn initial_ssthresh(&self) -> u64 {
        let mss = self.frames.mss;
        self.tcp.initial_ssthresh.map_or(u64::MAX, |window| window.bytes(Bytes(mss)).0.max(mss))
    }
}

fn rto_limits(tcp: &Tcp) -> RtoLimits {
    let initial = tcp.initial_rto.max(Span::from_us(1));
    RtoLimits {
        floor: tcp.rto_floor,
        initial,
        after_lost_syn: RtoLimits::after_lost_syn(initial),
        least: tcp.min_rto,
        greatest: tcp.max_rto.max(Span::from_us(1)),
    }
}

impl Tcp {
    /// Payload beyond their in-order data that its receivers accept at the start of a connection; absent: no limit.
    #[must_use]
    pub fn first_receive_window(&self) -> Option<Bytes> {
        self.receive_window.or(self.autotune.as_ref().map(|autotune| autotune.initial))
    }

    /// The sizes of packets.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        let options = Bytes(if self.timestamps { TIMESTAMPS } else { 0 });
        let header = Bytes(self.header.0.saturating_add(options.0));
        Sizes { mtu: self.mtu, header, framing: self.framing, least_wire: self.least_wire }
    }
}
