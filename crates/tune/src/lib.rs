//! Finds settings instead of guessing them: thresholds of PIAS for a distribution of flow sizes and loads, by a
//! queueing model ([`model`]),
//! and by a search over simulations ([`search`](mod@search)) that shows how far the model is from the optimum.
//!
//! Must not depend on the command line: it returns text and numbers.

mod case;
mod ecn;
pub mod model;
mod pias;
pub mod search;

pub use ecn::{EcnAdvice, EcnOptions, MarkingShape, tune_ecn};
pub use pias::{PiasAdvice, PiasOptions, PiasTrials, Simulated, tune_pias};
