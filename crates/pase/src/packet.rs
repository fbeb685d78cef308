//! The part of a packet that the ends of a PASE flow see, besides its scheduling header. Must not depend on state.

use weft_core::segment::Toll;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, Header, Time};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PasePacketKind {
    /// Payload.
    #[default]
    Data,
    /// A request without payload.
    Ask,
    /// The flow is over.
    Leave,
    /// The packet with this number arrived, or a request did.
    Ack,
    /// Everything arrived.
    Done,
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasePacket {
    /// Its flow.
    pub flow: FlowId,
    /// The number of the data packet, carried or answered.
    pub number: u64,
    /// In answers, the number of the first packet that has not arrived.
    pub missing: u64,
    /// Payload in bytes.
    pub length: u16,
    /// Its kind.
    pub what: PasePacketKind,
    /// Whether it is a retransmission.
    pub again: bool,
    /// In answers: the packet arrived with a congestion mark.
    pub marked: bool,
    /// When it was sent; in an answer, when the answered packet was sent.
    pub sent: Time,
    /// Its toll under priority flow control.
    pub toll: Toll,
}

impl Layout for PasePacket {
    fn flow(&self) -> FlowId {
        self.flow
    }

    fn payload(&self) -> u64 {
        u64::from(self.length)
    }

    fn side(&self, _header: &Header) -> Side {
        match self.what {
            PasePacketKind::Data | PasePacketKind::Ask | PasePacketKind::Leave => Side::Receiver,
            PasePacketKind::Ack | PasePacketKind::Done => Side::Sender,
        }
    }

    fn toll(&self) -> Toll {
        self.toll
    }

    fn add_toll(&mut self, toll: Toll) {
        self.toll = self.toll.and(toll);
    }
}
