//! TLT, timeout-less transport: a sender marks the few packets whose loss would leave it waiting for a time-out as important
//! (green) and all other payload as unimportant (red). Switches drop red packets early, so that green ones find room.
//!
//! *Paper*: Lim, Bai, Zhu, Jung and Han, Towards timeout-less transport in commodity datacenter networks, EuroSys 2021. What is
//! left out, and what is assumed, is in `LIMITATIONS.md`.
//!
//! In reading order: [`settings`], [`WindowMarker`] (senders that go by a window), [`RateMarker`] (senders that go by a rate),
//! [`Ranges`]. Both markers are state machines beside a transport, which sends and recovers as it always does; must not depend
//! on any transport. The drops are those of `weft_buffer::color`.

mod ranges;
mod rate;
pub mod settings;
mod window;

pub use ranges::Ranges;
pub use rate::RateMarker;
pub use window::{InFlight, WindowMarker};

use weft_core::PacketKind;

/// What the flags of a segment mean between ends that use TLT. Importance itself is the kind of the packet.
pub mod flags {
    use weft_core::segment::Flags;

    /// Of payload: sent although the window was closed.
    pub const FORCED: Flags = Flags::ECE;
    /// Of an acknowledgement: it answers an important packet.
    pub const ECHO: Flags = Flags::CWR;
    /// Of an acknowledgement: it answers a forced packet.
    pub const FORCED_ECHO: Flags = Flags::DATAGRAM;
}

/// The kind of a packet of payload.
#[must_use]
pub const fn kind(important: bool) -> PacketKind {
    if important { PacketKind::Data } else { PacketKind::Red }
}

#[cfg(test)]
mod tests;
