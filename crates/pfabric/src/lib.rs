//! pFabric: flow scheduling in the queues of switches. Each packet carries a rank, usually the bytes that its flow has left;
//! a switch serves the smallest rank first and, when it is full, drops the largest. Rate control is next to nothing: a flow
//! starts with a window of one bandwidth-delay product, slows down only after time-outs, and probes with single packets when
//! time-outs persist.
//!
//! *Paper*: Alizadeh et al., pFabric: minimal near-optimal datacenter transport, SIGCOMM 2013, section 4. What is left out, and
//! what is assumed, is in `LIMITATIONS.md`.
//!
//! In reading order: [`settings`], [`packet`] (what the ends see of a packet), [`PfabricSender`], [`PfabricReceiver`],
//! [`PfabricStack`] (all of it as a stack). Must not depend on switches: their half is `weft_switch::order::ranked`.

pub mod packet;
mod receiver;
mod sender;
pub mod settings;
mod stack;

pub use receiver::PfabricReceiver;
pub use sender::PfabricSender;
pub use stack::PfabricStack;

#[cfg(test)]
mod tests;
