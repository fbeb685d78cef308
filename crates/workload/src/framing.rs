//! How payload becomes packets on the wire.

use weft_core::Bytes;
use weft_core::stack::Frames;

/// How payload becomes packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Maximum payload of a packet, at least one byte.
    pub mss: Bytes,
    /// Bytes that each packet adds on the wire: headers, frame check, preamble and gap.
    pub overhead: Bytes,
    /// Minimum size of a packet on the wire; shorter ones are padded.
    pub least: Bytes,
}

impl From<Frames> for Framing {
    fn from(frames: Frames) -> Framing {
        Framing { mss: Bytes(frames.mss), overhead: Bytes(frames.overhead), least: Bytes(frames.least_wire) }
    }
}

impl Framing {
    /// Bytes on the wire for a payload.
    #[must_use]
    pub fn wire(self, payload: Bytes) -> Bytes {
        let packets = payload.0.div_ceil(self.mss.0);
        let last = payload.0.saturating_sub(packets.saturating_sub(1) * self.mss.0) + self.overhead.0;
        payload
            + self.overhead * packets
            + Bytes(if packets > 0 { self.least.0.saturating_sub(last) } else { 0 })
    }
}
