//! The sending ends of TCP and of datagrams. Must not depend on the network or other flows.

mod datagram;
mod tcp;

pub(crate) use datagram::DatagramSender;
pub(crate) use tcp::TcpSender;
pub(crate) use weft_core::SenderReport;
