//! The part of a packet that the ends of a PDQ flow see, besides its scheduling header. Must not depend on state.

use weft_core::segment::Toll;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, Header, Time};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PdqPacketKind {
    /// Payload.
    #[default]
    Data,
    /// Opens a flow, or asks again for a rate (SYN, PROBE).
    Probe,
    /// The flow is over (TERM).
    Leave,
    /// The flow gives up (TERM of Early Termination); repeated until it is answered.
    GiveUp,
    /// The packet with this number arrived, or a probe did.
    Ack,
    /// Everything arrived, or the receiver knows that the sender gave up.
    Done,
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PdqPacket {
    /// Its flow.
    pub flow: FlowId,
    /// The number of the data packet, carried or answered.
    pub number: u64,
    /// In answers, the number of the first packet that has not arrived.
    pub missing: u64,
    /// Payload in bytes.
    pub length: u16,
    /// Its kind.
    pub what: PdqPacketKind,
    /// Whether it is a retransmission.
    pub again: bool,
    /// When it was sent; in an answer, when the answered packet was sent.
    pub sent: Time,
    /// Its toll under priority flow control.
    pub toll: Toll,
}

impl Layout for PdqPacket {
    fn flow(&self) -> FlowId {
        self.flow
    }

    fn payload(&self) -> u64 {
        u64::from(self.length)
    }

    fn side(&self, _header: &Header) -> Side {
        match self.what {
            PdqPacketKind::Data | PdqPacketKind::Probe | PdqPacketKind::Leave | PdqPacketKind::GiveUp => {
                Side::Receiver
            }
            PdqPacketKind::Ack | PdqPacketKind::Done => Side::Sender,
        }
    }

    fn toll(&self) -> Toll {
        self.toll
    }

    fn add_toll(&mut self, toll: Toll) {
        self.toll = self.toll.and(toll);
    }
}
