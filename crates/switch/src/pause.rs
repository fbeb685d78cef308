//! Priority flow control at a switch: what came in by each port, in each class, and when its sender must stop. What pauses are,
//! whatever the switch, is [`weft_pfc`].

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
