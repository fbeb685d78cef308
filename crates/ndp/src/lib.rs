//! NDP: flows that their receivers clock. A sender begins with a full window at line rate and knows nothing of the network;
//! where a queue is full, the switch cuts payload off and forwards the header ahead of everything, so that the receiver learns
//! at once of all that was sent. From then on each packet is asked for: the receiving host keeps one queue of *pulls* for all
//! its flows and sends them at the rate at which its own link can take what they bring.
//!
//! *Paper*: Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance, SIGCOMM'17,
//! section 3. What is left out, and what is assumed, is in `LIMITATIONS.md`.
//!
//! In reading order: [`settings`], [`packet`] (what the ends see of a packet), [`NdpSender`], [`NdpReceiver`], [`PullQueue`] (what
//! the flows of a receiving host share), [`NdpStack`] (all of it as a stack). Must not depend on switches or networks;
//! packets are counted from 0 and sent again with the boundaries they had before.

pub mod packet;
mod pulls;
mod receiver;
mod sender;
pub mod settings;
mod stack;

pub use pulls::PullQueue;
pub use receiver::NdpReceiver;
pub use sender::NdpSender;
pub use stack::NdpStack;

#[cfg(test)]
mod tests;
