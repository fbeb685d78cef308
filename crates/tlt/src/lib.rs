//! TLT, timeout-less transport: a sender marks the few packets whose loss would leave it waiting for a time-out as
//! important (green) and all other payload as unimportant (red). Switches drop red packets early, so that green ones
//! find room.
//!
//! *Paper*: Lim, Bai, Zhu, Jung and Han, Towards timeout-less transport in commodity datacenter networks, EuroSys 2021.
//! `LIMITATIONS.md` lists omissions and assumptions.
//!
//! In reading order: [`settings`], [`WindowMarker`] (window-based senders), [`RateMarker`] (rate-based senders),
//! [`Ranges`]. Both markers are state machines beside a transport, which sends and recovers as without them; they
//! must not depend on any transport. `weft_buffer::color` implements the drops.

mod ranges;
mod rate;
pub mod settings;
mod window;

pub use ranges::Ranges;
pub use rate::RateMarker;
pub use window::{InFlight, WindowMarker};

use weft_core::PacketKind;

/// The meaning of a segment's flags between ends that use TLT. Importance itself is the packet's kind.
pub mod flags {
    use weft_core::segment::Flags;

    /// Payload sent although the window was closed.
    pub const FORCED: Flags = Flags::ECE;
    /// An acknowledgement of an important packet.
    pub const ECHO: Flags = Flags::CWR;
    /// An acknowledgement of a forced packet.
    pub const FORCED_ECHO: Flags = Flags::DATAGRAM;
}

/// The kind of a payload packet.
#[must_use]
pub const fn kind(important: bool) -> PacketKind {
    if important { PacketKind::Data } else { PacketKind::Red }
}

#[cfg(test)]
mod tests;
