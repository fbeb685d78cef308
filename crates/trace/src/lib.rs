//! One flow followed through a run, for readers and for Wireshark: a [`table`] of every packet event, and a
//! [capture](pcapng) in the pcapng format with simulated time. Must not depend on engines, scenarios or files.

mod frame;
pub mod pcapng;
pub mod table;

/// The protocol of a flow's packets on a real wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireProtocol {
    /// TCP over IPv4 (RFC 9293).
    Tcp(TcpOnWire),
    /// RoCEv2: InfiniBand transport over UDP port 4791, reliable connection.
    Roce,
    /// UDP, whose payload represents a transport without a standard wire format.
    Udp,
}

/// What the ends of a TCP connection agree on when they open it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOnWire {
    /// Whether segments carry timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether acknowledgements are selective (RFC 2018).
    pub sack: bool,
    /// The largest receive window in bytes; absent: without limit.
    pub receive_window: Option<u64>,
}
