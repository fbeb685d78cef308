//! The packets of a flow by number, for transports that acknowledge every packet: which are in flight, have arrived, or
//! must be sent again. Must not depend on windows, timers or headers.

mod arrivals;
mod sent;

pub use arrivals::ArrivedPackets;
pub use sent::SentPackets;
