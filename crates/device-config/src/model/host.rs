//! The settings of hosts: congestion control, ECN, buffers and notifications.

use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate, Span};

/// The settings of hosts.
#[derive(Debug, Default)]
pub struct HostConfig {
    /// Congestion control of TCP, such as `dctcp`.
    pub law: Option<Placed<String>>,
    /// `net.ipv4.tcp_ecn`: 0 never, 1 requests it, 2 only responds.
    pub ecn: Option<Placed<u8>>,
    /// The name of the transport in a scenario.
    pub transport: String,
    /// `net.ipv4.tcp_ecn_fallback`: 1 connects without ECN after a lost SYN, 0 does not.
    pub ecn_fallback: Option<Placed<u8>>,
    /// Maximum receive buffer.
    pub receive: Option<Placed<Bytes>>,
    /// Maximum send buffer.
    pub send: Option<Placed<Bytes>>,
    /// The least and the most of the receive buffer that becomes window, as shares from 0 to 1.
    pub window_share: (f64, f64),
    /// Where the file sets `net.ipv4.tcp_adv_win_scale`, which Linux ignores since 6.6.
    pub window_scale: Option<Spot>,
    /// Maximum burst that a host sends back to back.
    pub burst: Bytes,
    /// Line rate, if the file gives it.
    pub rate: Option<Rate>,
    /// Round trip without queueing, if the file gives it.
    pub rtt: Option<Span>,
    /// The classes in which they send payload, lowest first; empty if the file does not say.
    pub payload: Vec<u8>,
    /// The setting that makes them use marks, in the file's terms; `None` if none does.
    pub marks_by: Option<String>,
    /// The setting of the largest receive window, in the file's terms.
    pub window_by: String,
    /// Congestion notification packets, if the hosts send them and the file describes them.
    pub notifications: Option<Placed<Notifications>>,
    /// Whether the rate also depends on round trips or on reports of links, not only on pauses and marks.
    pub needs_no_marks: bool,
}

/// How congestion notifications return.
#[derive(Clone, Copy, Debug)]
pub struct Notifications {
    /// Their queue.
    pub queue: u8,
    /// Whether they wait behind payload.
    pub behind_payload: bool,
    /// The card's time to generate one.
    pub delay: Span,
}

impl HostConfig {
    /// Whether connections use DCTCP.
    #[must_use]
    pub fn is_dctcp(&self) -> bool {
        self.law.as_ref().is_some_and(|law| law.value == "dctcp")
    }

    /// Whether they ask for marks on every connection.
    #[must_use]
    pub fn asks_for_marks(&self) -> bool {
        self.is_dctcp() || self.ecn.as_ref().is_some_and(|ecn| matches!(ecn.value, 1 | 3 | 4))
    }
}
