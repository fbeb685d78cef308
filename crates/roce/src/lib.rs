//! Queue pairs: what the two ends of a RoCE flow do. Each flow is one message on a queue pair of its own: packets go at
//! the rate that a law allows, answers say what has arrived, and what is lost is sent again. Must not depend on
//! networks, hosts or other flows.
//!
//! In reading order: [`settings`] (what a scenario can say), [`QueuePairs`] (what follows from it), [`QueueSender`] and
//! [`QueueReceiver`], driven as the ends of every stack are ([`weft_core::stack`]). Sequence numbers count bytes; a packet
//! sent again has the boundaries it had before.

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

/// What the flags of a segment mean between queue pairs.
pub mod flags {
    use weft_core::segment::Flags;

    /// Of payload: answer at once.
    pub const REQUEST: Flags = Flags::CWR;
    /// Of payload: it ends a segment whose round trip is measured; of an answer: it is to such a packet.
    pub const MEASURED: Flags = Flags::DUPLICATE;
    /// Of an answer: something is missing. With a block: what arrived nevertheless.
    pub const NEGATIVE: Flags = Flags::SYN;
    /// A congestion notification.
    pub const NOTIFICATION: Flags = Flags::ECE;
    pub use weft_tlt::flags::{ECHO, FORCED, FORCED_ECHO};
}

#[cfg(test)]
mod pair;
