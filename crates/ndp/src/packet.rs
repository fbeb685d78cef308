//! The part of a packet that the ends of an NDP flow see. Holds no state.

use weft_core::segment::Toll;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, Header, PacketKind, Time};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NdpPacketKind {
    /// Payload, or its trimmed header.
    #[default]
    Data,
    /// The packet with this number arrived.
    Ack,
    /// Only the header of the packet with this number arrived: retransmit it when pulled.
    Nack,
    /// The number of packets the receiver has pulled so far.
    Pull,
    /// Everything arrived.
    Done,
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NdpPacket {
    /// Its flow.
    pub flow: FlowId,
    /// The number of the data packet, carried or answered; in a pull, how many were pulled since the flow started.
    pub number: u64,
    /// Payload in bytes; for a trimmed packet, its original payload.
    pub length: u16,
    /// Its kind.
    pub what: NdpPacketKind,
    /// Whether it is a retransmission.
    pub again: bool,
    /// Whether the sender has a packet to send that the receiver does not know of: its header was returned, or pulls
    /// were lost.
    pub short: bool,
    /// In answers, the number of trimmed headers received so far: a lost negative acknowledgement is revealed by the
    /// next answer.
    pub headers: u32,
    /// When it was sent; in an answer, when the answered packet was sent.
    pub sent: Time,
    /// Its toll under priority flow control.
    pub toll: Toll,
}

impl Layout for NdpPacket {
    fn flow(&self) -> FlowId {
        self.flow
    }

    fn payload(&self) -> u64 {
        u64::from(self.length)
    }

    /// A returned header goes to the sender, as all answers do.
    fn side(&self, header: &Header) -> Side {
        let back = self.what != NdpPacketKind::Data || header.kind == PacketKind::Returned;
        if back { Side::Sender } else { Side::Receiver }
    }

    fn toll(&self) -> Toll {
        self.toll
    }

    fn add_toll(&mut self, toll: Toll) {
        self.toll = self.toll.and(toll);
    }
}
