//! The queue lengths that the forwarding engines of a switch see: when a decision counts, and for whom.
//!
//! [`Visible`] for engines on one thread, [`SharedOutputs`] for engines on several; both show the same. Must not depend on
//! balancers or queues.

#![forbid(unsafe_code)]

mod shared;
mod single;

pub use shared::{LentCounts, SharedOutputs};
pub use single::{Insight, Visible};
