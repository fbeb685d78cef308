//! PDQ: preemptive distributed quick flow scheduling. A sender asks the switches on its path for a rate in every
//! packet. They let the most critical flows send at full rate and pause the others, which probe until they are
//! admitted.
//!
//! *Paper*: Hong, Caesar, Godfrey, Finishing flows quickly with preemptive scheduling, SIGCOMM 2012, sections 3.1 and
//! 3.2. `LIMITATIONS.md` lists omissions and assumptions.
//!
//! In reading order: [`settings`], [`packet`] (what the ends see of a packet), [`PdqSender`], [`PdqReceiver`],
//! [`PdqStack`] (the stack). Must not depend on switches: their part is the crate `arbiter`.

mod configuration;
pub mod packet;
mod receiver;
mod sender;
pub mod settings;
mod stack;

pub use configuration::PdqStack;
pub use receiver::PdqReceiver;
pub use sender::PdqSender;

#[cfg(test)]
mod tests;
