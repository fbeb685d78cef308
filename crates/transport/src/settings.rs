//! The `[transport]` section: which congestion law, its own parameters, and the settings of TCP that all laws share.
//!
//! Each transport's table holds both. To add a transport for a new law: one line in the list at the end.

use weft_core::settings::{Amount, Kind, Setting, Value};
use weft_core::{Bytes, Rate, Span, choice, settings};

use crate::congestion::{LawSettings, cubic, dctcp, htcp, newreno};
use crate::{gro, shim};

choice! {
    /// How the window comes down in recovery.
    pub enum Reduction {
        /// Proportional rate reduction (RFC 6937), as Linux: in step with deliveries.
        Prr = "prr",
        /// At once (RFC 6675, RFC 3168): silence until enough has left the network.
        AtOnce = "at-once",
    }
}

choice! {
    /// How losses are found.
    pub enum LossDetection {
        /// By time (RACK, RFC 8985): a segment is lost if one sent sufficiently later was delivered.
        Rack = "rack",
        /// By count (RFC 6675): three segments above it were delivered.
        DupThresh = "dup-thresh",
    }
}

choice! {
    /// How the floor enters the retransmission time-out.
    pub enum RtoFloor {
        /// SRTT + max(4 RTTVAR, min_rto), as Linux.
        Linux = "linux",
        /// max(SRTT + 4 RTTVAR, min_rto), as RFC 6298.
        Rfc = "rfc",
    }
}

choice! {
    /// Use of congestion marks by laws that do not bring their own.
    pub enum EcnMode {
        /// Packets are not ECN-capable.
        Off = "off",
        /// Classic ECN (RFC 3168): a mark counts as a loss, once per window.
        Classic = "classic",
    }
}

settings! {
    /// TCP, whatever the law.
    pub struct Tcp {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// IP and TCP headers of a data packet; 52 B with time stamps.
        header: Bytes = Bytes(40),
        /// What the link adds to an IP packet: Ethernet header and FCS (18 B), preamble and gap (20 B).
        framing: Bytes = Bytes(38),
        /// Open with SYN and SYN-ACK before data flow.
        handshake: bool = true,
        /// Close with FIN after the last byte.
        close: bool = true,
        /// Window at the start (RFC 6928: 10 segments).
        initial_window: Amount = Amount::Packets(10),
        /// Window the receiver advertises; absent: no limit.
        receive_window: Option<Bytes> = None,
        /// Segments by which one acknowledgement may open the window in slow start (L of RFC 3465); absent: all it acknowledges, as Linux.
        slow_start_limit: Option<u32> = None,
        /// Selective acknowledgements (RFC 2018); without them recovery is NewReno's (RFC 6582).
        sack: bool = true,
        /// How losses are found.
        loss_detection: LossDetection = LossDetection::Rack,
        /// Tail loss probe (RFC 8985): probe after two round trips of silence instead of waiting for the time-out.
        tail_loss_probe: bool = true,
        /// Floor of the probe's timer; two jiffies of 1 ms in Linux.
        probe_floor: Span = Span::from_ms(2),
        /// Send new data on the first two duplicate acknowledgements (RFC 3042).
        limited_transmit: bool = true,
        /// How the window comes down in recovery.
        reduction: Reduction = Reduction::Prr,
        /// Retransmission time-out before the first round-trip sample (RFC 6298: 1 s).
        initial_rto: Span = Span::from_s(1),
        /// Least retransmission time-out (Linux: 200 ms; studies: 1 to 10 ms).
        min_rto: Span = Span::from_ms(200),
        /// Greatest retransmission time-out.
        max_rto: Span = Span::from_s(60),
        /// How the floor enters the time-out.
        rto_floor: RtoFloor = RtoFloor::Linux,
        /// Acknowledge every so many full segments; 1: each packet.
        ack_every: u32 [1, 64] = 1,
        /// Longest delay of an acknowledgement when `ack_every` is above 1 (Linux: 40 ms).
        ack_delay: Span = Span::from_ms(40),
        /// Acknowledge each of so many segments at the start, whatever `ack_every` (Linux: 16).
        quick_acks: u32 [0, 1000] = 16,
        /// Use of congestion marks; DCTCP brings its own.
        ecn: EcnMode = EcnMode::Off,
        /// Send in back-to-back bursts of up to this size, waiting until a burst is allowed (segmentation offload); absent: packet by packet.
        burst: Option<Bytes> = None,
        /// A burst is at most this part of the window (Linux tcp_tso_win_divisor).
        burst_divisor: u32 [1, 1000] = 3,
        /// Put packets in order before TCP sees them (Presto's and DRILL's receiver shim).
        reorder_shim: bool = false,
        /// The shim's limits.
        shim: shim::Settings = shim::Settings::default(),
        /// How the receive offload merges, for counting batches.
        gro: gro::Settings = gro::Settings::default(),
    }
}

settings! {
    /// Datagrams at a constant rate, nothing repeated.
    pub struct Udp {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// IP and UDP headers.
        header: Bytes = Bytes(28),
        /// What the link adds to an IP packet.
        framing: Bytes = Bytes(38),
        /// Payload rate of every flow that does not bring its own; absent: the rate of the host's card.
        rate: Option<Rate> = None,
    }
}

macro_rules! transports {
    ($($name:literal, $summary:literal => $variant:ident: $law:ident),+ $(,)?) => {
        $(
            settings! {
                /// A congestion law's own parameters and TCP's.
                pub struct $variant {
                    /// The law's parameters.
                    law: $law::Settings [flatten],
                    /// TCP.
                    tcp: Tcp [flatten],
                }
            }
        )+

        /// What carries the flows.
        #[derive(Clone, Debug, PartialEq)]
        pub enum TransportSettings {
            $(
                #[doc = $summary]
                $variant($variant),
            )+
            /// Datagrams at a constant rate.
            Udp(Udp),
        }

        impl TransportSettings {
            /// The members, for the parser, `weft list` and the reference pages.
            pub const FAMILY: weft_core::settings::Family = weft_core::settings::Family {
                name: "transport",
                members: &[
                    $(weft_core::settings::Member { name: $name, summary: $summary, table: &$variant::TABLE },)+
                    weft_core::settings::Member {
                        name: "udp",
                        summary: "datagrams at a constant rate, nothing repeated",
                        table: &Udp::TABLE,
                    },
                ],
            };

            /// The member's name in the file.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(TransportSettings::$variant(_) => $name,)+
                    TransportSettings::Udp(_) => "udp",
                }
            }

            /// The law and TCP's settings; `None` for datagrams.
            #[must_use]
            pub fn tcp(&self) -> Option<(LawSettings, &Tcp)> {
                match self {
                    $(TransportSettings::$variant(own) => Some((own.law.clone().into(), &own.tcp)),)+
                    TransportSettings::Udp(_) => None,
                }
            }
        }

        impl Setting for TransportSettings {
            const KIND: Kind = Kind::Family(&TransportSettings::FAMILY);
            fn from_value(value: &Value) -> Self {
                match value {
                    $(Value::Member($name, own) => TransportSettings::$variant(Setting::from_value(own)),)+
                    Value::Member("udp", own) => TransportSettings::Udp(Setting::from_value(own)),
                    _ => TransportSettings::default(),
                }
            }
            fn to_value(&self) -> Value {
                match self {
                    $(TransportSettings::$variant(own) => Value::Member($name, Box::new(own.to_value())),)+
                    TransportSettings::Udp(own) => Value::Member("udp", Box::new(own.to_value())),
                }
            }
        }

        $(
            impl From<$law::Settings> for LawSettings {
                fn from(settings: $law::Settings) -> LawSettings {
                    LawSettings::$variant(settings)
                }
            }
        )+
    };
}

impl Default for TransportSettings {
    fn default() -> Self {
        TransportSettings::NewReno(NewReno::default())
    }
}

transports! {
    "newreno", "TCP NewReno (RFC 5681): halves on loss, one segment more per round trip" => NewReno: newreno,
    "cubic", "TCP CUBIC (RFC 9438): a cubic function of the time since the last loss" => Cubic: cubic,
    "dctcp", "DCTCP (RFC 8257): falls in proportion to the share of marked bytes" => Dctcp: dctcp,
    "htcp", "H-TCP (Leith and Shorten): grows faster the longer no loss happened" => Htcp: htcp,
}
