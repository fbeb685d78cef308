//! What the two ends of a flow do: TCP with a choice of congestion laws, and datagrams at a constant rate.
//!
//! Both ends are plain state machines: they own no clock, no socket and no thread, and know nothing of switches. In
//! reading order: [`segment`] (what the ends tell each other), [`sender`] and its `tcp` (what leaves next, what an
//! acknowledgement means), `recovery` (losses), [`congestion`] (the laws, one file each), [`receiver`], [`shim`] and
//! [`gro`] (below the receiver), [`settings`] and [`protocols`] (what a scenario can say).

pub mod congestion;
pub mod gro;
pub mod protocols;
pub mod receiver;
mod recovery;
mod rto;
pub mod segment;
pub mod sender;
pub mod settings;
pub mod shim;
mod transport;

pub use protocols::TransportSettings;
pub use receiver::{Receiver, ReceiverReport, reply_after_close};
pub use rto::RtoFloor;
pub use segment::{Outgoing, Segment};
pub use sender::{Sender, SenderReport};
pub use transport::{FlowSite, Packetisation, Transport};
