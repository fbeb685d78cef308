//! PASE: endpoints, in-network priorities and arbitration together. A sender asks the links on its path for a reference
//! rate and a priority class, and sends by DCTCP around them.
//!
//! *Paper*: Munir, Baig, Irteza, Qazi, Liu, Dogar, Friends, not foes: synthesizing existing transport strategies for data
//! center networks, SIGCOMM 2014, sections 3.1 and 3.2. `LIMITATIONS.md` lists omissions and assumptions.
//!
//! In reading order: [`settings`], [`packet`] (what the ends see of a packet), `window` (DCTCP in packets),
//! [`PaseSender`], [`PaseReceiver`], [`PaseStack`] (the stack). Must not depend on switches: their part is the crate
//! `arbiter`.

mod ends;
pub mod packet;
mod receiver;
mod sender;
pub mod settings;
mod stack;
mod window;

pub use receiver::PaseReceiver;
pub use sender::PaseSender;
pub use stack::PaseStack;

#[cfg(test)]
mod tests;
