//! DRILL in hardware: test vectors for `hdl/drill`, with decisions by the simulator's own engine, and the results of
//! synthesis.
//!
//! Must not depend on scenarios, the event loop or results. The engine, the forwarding table and the rule on visibility
//! come from the switch; this crate adds the hardware around them: shift registers, a pipeline, a clock.

pub mod compare;
pub mod cost;
mod fingerprint;
pub mod lfsr;
pub mod page;
pub mod pipeline;
pub mod reference;
pub mod set;
pub mod slotted;
pub mod traffic;
pub mod vectors;
pub mod waves;

mod line;
