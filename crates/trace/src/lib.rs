//! One flow followed through a run, for readers and for Wireshark: a [`table`] of every packet event, and a
//! [capture](pcapng) in the pcapng format with simulated time. Must not depend on engines, scenarios or files.

mod frame;
pub mod pcapng;
pub mod table;

/// The protocol of a flow's packets on a real wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireProtocol {
    /// TCP over IPv4 (RFC 9293), with selective acknowledgements (RFC 2018).
    Tcp {
        /// Whether packets carry timestamps (RFC 7323).
        timestamps: bool,
    },
    /// RoCEv2: InfiniBand transport over UDP port 4791, reliable connection.
    Roce,
    /// UDP, whose payload represents a transport without a standard wire format.
    Udp,
}
