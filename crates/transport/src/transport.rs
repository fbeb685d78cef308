//! The checked configuration that all ends of a run share, and the sizes of packets that follow from it. Knows no state of
//! any flow.

use std::sync::Arc;

use weft_core::{Bytes, Class, FlowSite, Rate, Span};
use weft_roce::QueuePairs;

use crate::congestion::{AnyLaw, LawSettings, LawSite, MarkUse};
use crate::protocols::{AnyProtocol, Plan, TransportSettings};
use crate::rto::RtoLimits;
use crate::segment::MAX_BLOCKS;
use crate::settings::{EcnUse, LossDetection, Tcp};

/// The packets of a flow when nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetisation {
    /// Data packets.
    pub count: u64,
    /// Wire size of each but the last.
    pub full_wire: Bytes,
    /// Wire size of the last.
    pub last_wire: Bytes,
    /// Wire sizes of SYN and SYN-ACK, if the connection is opened by them.
    pub handshake: Option<(Bytes, Bytes)>,
}

/// How congestion marks are used on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marking {
    /// Not at all.
    Off,
    /// RFC 3168.
    Classic,
    /// Every packet capable, marks reported byte for byte (RFC 8257).
    Accurate,
}

/// What carries the payload.
#[derive(Clone, Debug)]
enum Carrier {
    Tcp(LawSettings),
    Udp(Option<Rate>),
    Roce(Arc<QueuePairs>),
}

/// The transport of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct Transport {
    carrier: Carrier,
    pub(crate) tcp: Tcp,
    pub(crate) marking: Marking,
    pub(crate) rto: RtoLimits,
    mss: u64,
    /// Wire bytes of a data packet beyond its payload.
    overhead: u64,
    least_wire: u64,
    datagram_mss: u64,
    datagram_overhead: u64,
}

/// The largest packet on the wire: lengths have 16 bits.
const MAX_WIRE: u64 = u16::MAX as u64;
/// IP and UDP header.
const DATAGRAM_HEADER: u64 = 28;
/// The time stamp option with its padding (RFC 7323).
const TIMESTAMPS: u64 = 12;

impl Transport {
    /// From the settings. A scenario's checks refuse what does not fit; here it is brought within bounds.
    #[must_use]
    pub fn new(settings: &TransportSettings) -> Transport {
        match AnyProtocol::new(settings, ()).plan() {
            Plan::Tcp { law, tcp } => Transport::of(Carrier::Tcp(law), tcp, DATAGRAM_HEADER),
            Plan::Roce { law, notification, pairs } => {
                let frames = frames_of((pairs.mtu, pairs.framing, pairs.least_wire));
                let pairs = Arc::new(QueuePairs::new(law, notification, pairs));
                Transport::of(Carrier::Roce(pairs), frames, DATAGRAM_HEADER)
            }
            Plan::Udp(udp) => Transport::of(
                Carrier::Udp(udp.rate),
                frames_of((udp.mtu, udp.framing, udp.least_wire)),
                udp.header.0,
            ),
        }
    }

    fn of(carrier: Carrier, tcp: Tcp, datagram_header: u64) -> Transport {
        let framing = tcp.framing.0.min(MAX_WIRE - 1);
        let mtu = tcp.mtu.0.clamp(1, MAX_WIRE - framing);
        let header = tcp.header.0.saturating_add(if tcp.timestamps { TIMESTAMPS } else { 0 }).min(mtu - 1);
        let datagram_header = datagram_header.min(mtu - 1);
        let mut transport = Transport {
            marking: Marking::Off,
            rto: rto_limits(&tcp),
            mss: mtu - header,
            overhead: header + framing,
            least_wire: tcp.least_wire.0,
            datagram_mss: mtu - datagram_header,
            datagram_overhead: datagram_header + framing,
            carrier,
            tcp,
        };
        transport.marking = transport.marking_of_law();
        transport
    }

    fn marking_of_law(&self) -> Marking {
        match (self.law().mark_use(), self.tcp.ecn) {
            (MarkUse::Accurate | MarkUse::Immediate, _) => Marking::Accurate,
            (MarkUse::Classic, EcnUse::On) => Marking::Classic,
            (MarkUse::Classic, EcnUse::Off) => Marking::Off,
        }
    }

    /// A fresh law; of a transport without one, NewReno.
    pub(crate) fn law(&self) -> AnyLaw {
        let limit = self.tcp.slow_start_limit.map_or(u64::MAX, |limit| u64::from(limit.max(1)) * self.mss);
        let site = LawSite { mss: self.mss, slow_start_limit: limit };
        match &self.carrier {
            Carrier::Tcp(law) => AnyLaw::new(law, site),
            Carrier::Udp(_) | Carrier::Roce(_) => AnyLaw::new(&LawSettings::default(), site),
        }
    }

    /// Largest payload of a packet.
    #[must_use]
    pub fn mss(&self) -> u64 {
        match &self.carrier {
            Carrier::Tcp(_) => self.mss,
            Carrier::Udp(_) => self.datagram_mss,
            Carrier::Roce(pairs) => pairs.mss(),
        }
    }

    /// Wire bytes of a full-size data packet beyond its payload.
    #[must_use]
    pub fn overhead_wire(&self) -> u64 {
        match &self.carrier {
            Carrier::Tcp(_) => self.overhead,
            Carrier::Udp(_) => self.datagram_overhead,
            Carrier::Roce(pairs) => pairs.overhead_wire(),
        }
    }

    /// Wire bytes of a full-size data packet.
    #[must_use]
    pub fn full_wire(&self) -> u16 {
        self.padded(self.mss() + self.overhead_wire())
    }

    /// Wire bytes of the largest packet, datagrams of a constant rate included.
    #[must_use]
    pub fn largest_wire(&self) -> u16 {
        self.full_wire().max(self.datagrams(Bytes(u64::from(u16::MAX))).full_wire.0 as u16)
    }

    /// The packets of a flow of `size` that uses this transport, without losses.
    #[must_use]
    pub fn packetisation(&self, size: Bytes) -> Packetisation {
        match &self.carrier {
            Carrier::Roce(pairs) => self.packets(size, pairs.mss(), pairs.overhead_wire()),
            Carrier::Tcp(_) => {
                let opening = (Bytes(u64::from(self.syn_wire())), Bytes(u64::from(self.syn_wire())));
                let handshake = self.tcp.handshake.then_some(opening);
                Packetisation { handshake, ..self.packets(size, self.mss, self.overhead) }
            }
            Carrier::Udp(_) => self.datagrams(size),
        }
    }

    /// The packets of a flow of `size` with a rate of its own, which goes as datagrams whatever the transport.
    #[must_use]
    pub fn datagrams(&self, size: Bytes) -> Packetisation {
        self.packets(size, self.datagram_mss, self.datagram_overhead)
    }

    fn packets(&self, size: Bytes, mss: u64, overhead: u64) -> Packetisation {
        let size = size.0.max(1);
        let count = size.div_ceil(mss);
        let wire = |payload| Bytes(u64::from(self.padded(payload + overhead)));
        let last = size - (count - 1) * mss;
        Packetisation { count, full_wire: wire(mss), last_wire: wire(last), handshake: None }
    }

    /// The queue pairs of a transport over RoCE.
    #[must_use]
    pub fn roce(&self) -> Option<&Arc<QueuePairs>> {
        match &self.carrier {
            Carrier::Roce(pairs) => Some(pairs),
            Carrier::Tcp(_) | Carrier::Udp(_) => None,
        }
    }

    /// The priority classes of payload and of what answers it.
    #[must_use]
    pub fn classes(&self) -> (Class, Class) {
        self.roce().map_or((Class(0), Class(0)), |pairs| pairs.classes())
    }

    /// The payload rate of a flow as datagrams: `None` if it goes over TCP or RoCE.
    pub(crate) fn datagram_rate(&self, site: &FlowSite) -> Option<Rate> {
        match (&self.carrier, site.rate) {
            (_, Some(own)) => Some(own),
            (Carrier::Udp(rate), None) => Some(rate.unwrap_or(Rate(u64::MAX))),
            (Carrier::Tcp(_) | Carrier::Roce(_), None) => None,
        }
    }

    pub(crate) fn tcp_mss(&self) -> u64 {
        self.mss
    }

    /// Payload of a full datagram, bytes: what a constant rate is told in.
    #[must_use]
    pub fn datagram_mss(&self) -> u64 {
        self.datagram_mss
    }

    /// Wire size of a TCP packet with `payload` bytes.
    pub(crate) fn data_wire(&self, payload: u64) -> u16 {
        self.padded(payload + self.overhead)
    }

    pub(crate) fn datagram_wire(&self, payload: u64) -> u16 {
        self.padded(payload + self.datagram_overhead)
    }

    /// Wire size of an acknowledgement with so many blocks: 2 bytes and 8 per block, padded to whole words (RFC 2018).
    pub(crate) fn ack_wire(&self, blocks: usize) -> u16 {
        debug_assert!(blocks <= MAX_BLOCKS);
        self.padded(self.overhead + if blocks == 0 { 0 } else { 4 + 8 * blocks as u64 })
    }

    /// Wire size of SYN and SYN-ACK: options for segment size, window scale and selective acknowledgements, 12 bytes, of
    /// which the time stamps, when in use, fill the padding.
    pub(crate) fn syn_wire(&self) -> u16 {
        self.padded(self.overhead + if self.tcp.timestamps { 8 } else { 12 })
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
        self.tcp.initial_window.bytes(Bytes(self.mss)).0.max(self.mss)
    }

    /// Where slow start ends at first.
    pub(crate) fn initial_ssthresh(&self) -> u64 {
        self.tcp.initial_ssthresh.map_or(u64::MAX, |window| window.bytes(Bytes(self.mss)).0.max(self.mss))
    }

    /// Payload the receiver takes beyond what it acknowledged.
    pub(crate) fn receive_window(&self) -> u64 {
        self.tcp.receive_window.map_or(u64::MAX, |window| window.0.max(self.mss))
    }

    fn padded(&self, wire: u64) -> u16 {
        wire.max(self.least_wire).min(MAX_WIRE) as u16
    }
}

fn rto_limits(tcp: &Tcp) -> RtoLimits {
    RtoLimits {
        floor: tcp.rto_floor,
        initial: tcp.initial_rto.max(Span::from_us(1)),
        least: tcp.min_rto,
        greatest: tcp.max_rto.max(Span::from_us(1)),
    }
}

/// The frames of a transport that is not TCP, in TCP's words.
fn frames_of((mtu, framing, least_wire): (Bytes, Bytes, Bytes)) -> Tcp {
    Tcp { mtu, framing, least_wire, ..Tcp::default() }
}

#[cfg(test)]
mod tests;
