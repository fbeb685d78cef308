//! What the two ends of a flow do.

pub mod congestion;
pub mod gro;
pub mod protocols;
mod recovery;
mod rto;
pub mod segment;
mod sender;
pub mod settings;
pub mod shim;
mod transport;

pub use protocols::TransportSettings;
pub use rto::RtoFloor;
pub use segment::{Outgoing, Segment};
pub use sender::{Sender, SenderReport, SenderState};
pub use transport::{FlowSite, Packetisation, Transport};
