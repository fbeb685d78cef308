//! The part of a packet that the ends of a pFabric flow see. Must not depend on state.

use weft_core::segment::Toll;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, Header, Time};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PfabricPacketKind {
    /// Payload.
    #[default]
    Data,
    /// A probe, sent after repeated time-outs.
    Probe,
    /// The packet with this number arrived, or a probe did.
    Ack,
    /// Everything arrived.
    Done,
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PfabricPacket {
    /// Its flow.
    pub flow: FlowId,
    /// The number of the data packet, carried or answered.
    pub number: u64,
    /// In answers, the number of the first packet that has not arrived.
    pub missing: u64,
    /// Payload in bytes.
    pub length: u16,
    /// Its kind.
    pub what: PfabricPacketKind,
    /// Whether it is a retransmission.
    pub again: bool,
    /// When it was sent; in an answer, when the answered packet was sent.
    pub sent: Time,
    /// Its toll under priority flow control.
    pub toll: Toll,
}

impl Layout for PfabricPacket {
    fn flow(&self) -> FlowId {
        self.flow
    }

    fn payload(&self) -> u64 {
        u64::from(self.length)
    }

    fn side(&self, _header: &Header) -> Side {
        match self.what {
            PfabricPacketKind::Data | PfabricPacketKind::Probe => Side::Receiver,
            PfabricPacketKind::Ack | PfabricPacketKind::Done => Side::Sender,
        }
    }

    fn toll(&self) -> Toll {
        self.toll
    }

    fn add_toll(&mut self, toll: Toll) {
        self.toll = self.toll.and(toll);
    }
}
