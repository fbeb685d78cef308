//! NDP: receiver-clocked flows. A sender starts with a full window at line rate and assumes nothing about the
//! network; where a queue is full, the switch trims the payload and forwards the header ahead of everything, so that
//! the receiver learns at once what was sent. From then on each packet is pulled: the receiving host keeps one queue
//! of *pulls* for all its flows and paces them so that its own link can carry the packets they trigger.
//!
//! *Paper*: Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance,
//! SIGCOMM'17, section 3. `LIMITATIONS.md` lists omissions and assumptions.
//!
//! In reading order: [`settings`], [`packet`] (what the ends see of a packet), [`NdpSender`], [`NdpReceiver`],
//! [`PullQueue`] (what the flows of a receiving host share), [`NdpStack`] (the stack). Must not depend on
//! switches or networks. Packets are counted from 0; retransmissions keep their boundaries.

mod configuration;
pub mod packet;
mod pulls;
mod receiver;
mod sender;
pub mod settings;
mod stack;

pub use configuration::NdpStack;
pub use pulls::PullQueue;
pub use receiver::NdpReceiver;
pub use sender::NdpSender;

#[cfg(test)]
mod tests;
