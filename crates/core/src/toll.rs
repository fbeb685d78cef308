//! Delays that pauses add to a payload packet on its way. Must not depend on the layout of packets.

use crate::units::Span;

/// The toll of a payload packet: what priority flow control has done to it so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Toll {
    /// How long it waited in queues paused by the far end.
    pub held: Span,
    /// Whether it has left a queue that made a switch pause others.
    pub congested: bool,
}

impl Toll {
    /// Nothing.
    pub const NONE: Toll = Toll { held: Span::ZERO, congested: false };

    /// The sum of this toll and a later one.
    #[must_use]
    pub fn and(self, later: Toll) -> Toll {
        Toll { held: self.held + later.held, congested: self.congested || later.congested }
    }
}
