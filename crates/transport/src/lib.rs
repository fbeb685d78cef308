//! What the two ends of a flow do.

pub mod congestion;
pub mod gro;
pub mod shim;
