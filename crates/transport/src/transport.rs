//! The checked configuration that all ends of a run share.

use weft_core::settings::Amount;
use weft_core::{Bytes, FlowId, Rate};

use crate::congestion::{AnyLaw, LawSettings, LawSite, MarkUse};
use crate::settings::{EcnMode, Tcp, TransportSettings, Udp};

/// Smallest Ethernet frame with preamble and gap.
const LEAST_WIRE: u64 = 84;

/// What all ends of a run share.
#[derive(Clone, Debug)]
pub struct Transport {
    /// TCP's settings; those of datagrams live in the defaults.
    pub(crate) tcp: Tcp,
    pub(crate) law: LawSettings,
    pub(crate) udp: Option<Udp>,
    mss: u64,
    overhead: u64,
}

/// What an end must know about its flow.
#[derive(Clone, Debug, Default)]
pub struct FlowSite {
    /// Its number.
    pub flow: FlowId,
    /// Payload to carry.
    pub size: Bytes,
    /// Rate of the host's card.
    pub line_rate: Rate,
    /// Constant payload rate; `None`: as the transport decides.
    pub rate: Option<Rate>,
}

/// How a flow is cut into packets, in wire bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetisation {
    /// Data packets.
    pub count: u64,
    /// Every packet but the last.
    pub full_wire: Bytes,
    /// The last packet.
    pub last_wire: Bytes,
    /// SYN and SYN-ACK, if the transport opens connections.
    pub handshake: Option<(Bytes, Bytes)>,
}

impl Transport {
    /// From the settings of a scenario.
    #[must_use]
    pub fn new(settings: &TransportSettings) -> Transport {
        let (law, tcp, udp) = match (settings.tcp(), settings) {
            (Some((law, tcp)), _) => (law, tcp.clone(), None),
            (None, TransportSettings::Udp(udp)) => {
                (LawSettings::default(), Tcp::default(), Some(udp.clone()))
            }
            (None, _) => unreachable!("every transport but udp is TCP"),
        };
        let (mtu, header, framing) = match &udp {
            Some(udp) => (udp.mtu, udp.header, udp.framing),
            None => (tcp.mtu, tcp.header, tcp.framing),
        };
        let mss = mtu.0.saturating_sub(header.0).max(1);
        Transport { tcp, law, udp, mss, overhead: header.0 + framing.0 }
    }

    /// Largest payload of a packet.
    #[must_use]
    pub fn mss(&self) -> Bytes {
        Bytes(self.mss)
    }

    /// What a data packet has on the wire beside its payload.
    #[must_use]
    pub fn overhead_wire(&self) -> Bytes {
        Bytes(self.overhead)
    }

    /// Wire bytes of a full-size data packet.
    #[must_use]
    pub fn full_wire(&self) -> u16 {
        self.wire(self.mss)
    }

    /// How a flow of `size` is cut.
    #[must_use]
    pub fn packetisation(&self, size: Bytes) -> Packetisation {
        let count = size.0.div_ceil(self.mss).max(1);
        let last = size.0 - (count - 1) * self.mss;
        let control = Bytes(u64::from(self.wire(0)));
        Packetisation {
            count,
            full_wire: Bytes(u64::from(self.full_wire())),
            last_wire: Bytes(u64::from(self.wire(last))),
            handshake: (self.udp.is_none() && self.tcp.handshake).then_some((control, control)),
        }
    }

    /// Wire bytes of a packet with `payload` bytes.
    pub(crate) fn wire(&self, payload: u64) -> u16 {
        (payload + self.overhead).max(LEAST_WIRE).min(u64::from(u16::MAX)) as u16
    }

    pub(crate) fn initial_window(&self) -> u64 {
        match self.tcp.initial_window {
            Amount::Bytes(bytes) => bytes.0.max(self.mss),
            Amount::Packets(n) => n.max(1).saturating_mul(self.mss),
        }
    }

    pub(crate) fn build_law(&self) -> AnyLaw {
        let limit = self.tcp.slow_start_limit;
        let slow_start_limit = limit.map_or(u64::MAX, |segments| u64::from(segments) * self.mss);
        AnyLaw::new(&self.law, LawSite { mss: self.mss, slow_start_limit })
    }

    /// How marks are used by connections of this configuration.
    pub(crate) fn marks(&self, law: &AnyLaw) -> Marking {
        match (law.mark_use(), self.tcp.ecn) {
            (MarkUse::Accurate, _) => Marking::Accurate,
            (MarkUse::Classic, EcnMode::Classic) => Marking::Classic,
            (MarkUse::Classic, EcnMode::Off) => Marking::Off,
        }
    }
}

/// What both ends do about marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marking {
    /// Nothing: packets are not ECN-capable.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257.
    Accurate,
}
