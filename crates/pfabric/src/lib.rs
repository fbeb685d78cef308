//! pFabric: flow scheduling in switch queues. Each packet carries a rank, usually its flow's remaining bytes; a
//! switch serves the smallest rank first and, when full, drops the largest. Rate control is minimal: a flow starts
//! with a window of one bandwidth-delay product, slows down only after time-outs, and probes with single packets when
//! time-outs persist.
//!
//! *Paper*: Alizadeh et al., pFabric: minimal near-optimal datacenter transport, SIGCOMM 2013, section 4.
//! `LIMITATIONS.md` lists omissions and assumptions.
//!
//! In reading order: [`settings`], [`packet`] (what the ends see of a packet), [`PfabricSender`], [`PfabricReceiver`],
//! [`PfabricStack`] (the stack). Must not depend on switches: their part is `weft_switch::order::ranked`.

mod configuration;
pub mod packet;
mod receiver;
mod sender;
pub mod settings;
mod stack;

pub use configuration::PfabricStack;
pub use receiver::PfabricReceiver;
pub use sender::PfabricSender;

#[cfg(test)]
mod tests;
