//! Finds settings instead of guessing them: thresholds of PIAS for a distribution of flow sizes and loads, by an
//! objective ([`model`]), with their value on one link ([`link`]), and by a search over simulations
//! ([`search`](mod@search)) that shows how far they are from the optimum; ECN thresholds by simulation.
//!
//! Must not depend on the command line: it returns text and numbers.

mod case;
mod demand;
mod ecn;
pub mod link;
pub mod model;
mod pias;
pub mod search;
mod trials;

pub use demand::FlowDemand;
pub use ecn::{EcnAdvice, EcnOptions, MarkingShape, tune_ecn};
pub use pias::{LoadAdvice, PiasAdvice, PiasOptions, tune_pias};
pub use trials::{PiasTrials, Simulated};
