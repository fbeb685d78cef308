//! The two ends of a flow: TCP under several congestion laws, RoCE under several rate laws (the queue pairs are in
//! [`roce`]), and datagrams at a constant rate.
//!
//! Both ends are plain state machines that must not depend on clocks or networks. A host passes them packets and the
//! time, and reads after each call what the end needs ([`Needs`]): it asks for packets when its card is free
//! ([`Sender::send`], [`Receiver::send`]), wakes the end when due, and drops it when it is done. In reading order:
//! [`settings`] and [`protocols`] (what a scenario can set, and the list of all transports), [`Transport`] (the
//! resulting configuration), [`Body`] (the part of a packet that the ends see), [`Sender`], [`Receiver`],
//! [`congestion`] (the size of the window), [`shim`], [`flowcells`] and [`gro`] (the layers below the receiving TCP).
//!
//! `examples/cost.rs` measures the cost of both ends.

#[macro_use]
mod list;
#[macro_use]
mod stacks;
pub mod congestion;
mod datagrams;
pub mod laws;
pub mod protocols;
mod receiver;
mod receiving;
mod rto;
mod sender;
mod sending;
pub mod settings;
pub mod tagging;
mod tcp;
mod transport;

pub use protocols::{AnyHost, Body, TransportSettings};
pub use receiving::Receiver;
pub use rto::RtoFloor;
pub use sending::Sender;
pub use transport::{Packetisation, Transport};
pub use weft_card as card;
pub use weft_core::segment::{self, Needs, Outgoing, Segment};
pub use weft_core::{FlowSite, ReceiverReport, SenderReport};
pub use weft_offload::{flowcells, gro, shim};
pub use weft_pfabric::settings::RankBy;
pub use weft_rate as rate;
pub use weft_roce as roce;
