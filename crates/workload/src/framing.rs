//! How payload becomes packets on the wire.

use weft_core::Bytes;

/// How payload becomes packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Maximum payload of a packet, at least one byte.
    pub mss: Bytes,
    /// What each packet adds on the wire: headers, frame check, preamble and gap.
    pub overhead: Bytes,
}

impl Framing {
    /// Bytes on the wire for a payload.
    #[must_use]
    pub fn wire(self, payload: Bytes) -> Bytes {
        payload + self.overhead * payload.0.div_ceil(self.mss.0)
    }
}
