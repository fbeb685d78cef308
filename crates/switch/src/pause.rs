//! Priority flow control at a switch: memory charged to ingress ports by class, and when a sender must stop. The frames
//! and headroom, which are independent of the switch, are in [`weft_pfc`].

mod arrivals;
mod ingress;
mod own;
mod reserve;

pub use weft_pfc::*;

pub use arrivals::{MemoryNeeds, needs};
pub(crate) use ingress::Ingress;
pub use own::set_aside;
pub(crate) use own::to_share;
pub use reserve::needed;
