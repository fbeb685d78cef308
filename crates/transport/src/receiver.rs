//! The receiving ends of TCP and of datagrams. Must not depend on the network or other flows.

mod acks;
mod arrivals;
mod below;
mod datagram;
mod reading;
mod tcp;
mod window;

pub(crate) use datagram::DatagramReceiver;
pub(crate) use tcp::TcpReceiver;
pub(crate) use weft_core::ReceiverReport;
