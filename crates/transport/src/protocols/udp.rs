//! Datagrams at a constant rate: no acknowledgement, no retransmission, no congestion control. Only their settings;
//! `stacks/datagrams.rs` implements them.

use std::sync::Arc;

use weft_core::stack::Sizes;
use weft_core::{Bytes, Rate, settings};

use super::{AnyStack, Protocol};
use crate::datagrams::Datagrams;
use crate::gro::GroSettings;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "datagrams at a constant rate, never acknowledged or retransmitted";

settings! {
    /// Datagrams.
    pub struct UdpSettings {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP and UDP header.
        header: Bytes = Bytes(28),
        /// Payload rate of flows without their own; absent: as fast as the network card sends.
        rate: Option<Rate> = None,
    }
}

/// Datagrams.
#[derive(Clone, Debug)]
pub struct Udp(Arc<Datagrams>);

impl Udp {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &UdpSettings, _site: ()) -> Udp {
        let UdpSettings { mtu, header, framing, least_wire, rate } = *settings;
        let sizes = Sizes { mtu, header, framing, least_wire };
        Udp(Arc::new(Datagrams::new(sizes, rate, GroSettings::default())))
    }
}

impl Protocol for Udp {
    fn stack(&self) -> AnyStack {
        AnyStack::Datagram(Arc::clone(&self.0))
    }
}
