//! Queue pairs: the two ends of a RoCE flow. Each flow is one message on its own queue pair: packets are sent at the
//! rate a law allows, answers report what has arrived, and losses are retransmitted. Must not depend on networks,
//! hosts or other flows.
//!
//! In reading order: [`settings`] (what a scenario can set), [`QueuePairs`] (what follows from it), [`QueueSender`]
//! and [`QueueReceiver`], driven as the ends of every stack are ([`weft_core::stack`]). Sequence numbers count bytes;
//! a retransmitted packet keeps its boundaries.

mod marker;
mod queue_pairs;
mod receiver;
mod sender;
pub mod settings;
mod stack;

pub use queue_pairs::QueuePairs;
pub use receiver::QueueReceiver;
pub use sender::QueueSender;
pub use stack::NotificationLimit;

/// The meaning of a segment's flags between queue pairs.
pub mod flags {
    use weft_core::segment::Flags;

    /// In payload: answer at once.
    pub const REQUEST: Flags = Flags::CWR;
    /// In payload: it ends a segment whose round trip is measured; in an answer: it answers such a packet.
    pub const MEASURED: Flags = Flags::DUPLICATE;
    /// In an answer: payload is missing. With a block: the block beyond the gap has arrived.
    pub const NEGATIVE: Flags = Flags::SYN;
    /// A congestion notification.
    pub const NOTIFICATION: Flags = Flags::ECE;
    pub use weft_tlt::flags::{ECHO, FORCED, FORCED_ECHO};
}

#[cfg(test)]
mod pair;
