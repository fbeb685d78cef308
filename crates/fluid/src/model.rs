//! The laws in the limit of infinitely small packets, one file for each.

pub mod dcqcn;
mod jitter;
pub mod marking;
pub mod timely;

pub use jitter::{Jitter, JitteredTrips};

use crate::dde::System;
use std::ops::Range;

/// Where in the state of a model its quantities stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateLayout {
    /// The rates of the flows.
    pub rates: Range<usize>,
    /// What each flow knows of congestion: DCQCN's estimate, TIMELY's gradient, the integrator of a host.
    pub estimates: Range<usize>,
}

/// A model of flows through one bottleneck; the queue is the first component of its state.
pub trait Model: System {
    /// Where rates and estimates stand.
    fn layout(&self) -> StateLayout;
    /// How many flows each rate stands for.
    fn counts(&self) -> Vec<f64>;
    /// The probability of a mark in this state; `None` for laws without marks.
    fn marking(&self, state: &[f64]) -> Option<f64>;
}

/// Which flows start when, and how: what all models share about a flow, or several that are alike in everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// How many flows are alike.
    pub count: f64,
    /// When they start, in seconds.
    pub at: f64,
    /// Their first rate in packets per second.
    pub rate: f64,
}

impl Default for Start {
    fn default() -> Start {
        Start { count: 1.0, at: 0.0, rate: 0.0 }
    }
}

/// Changes of the queue: it does not become shorter than empty.
pub(crate) fn queue_change(queue: f64, inflow: f64, capacity: f64) -> f64 {
    let change = inflow - capacity;
    if queue <= 0.0 { change.max(0.0) } else { change }
}

/// Puts a component back within its bounds; true when it was outside.
pub(crate) fn clip(value: &mut f64, low: f64, high: f64) -> bool {
    let inside = value.clamp(low, high);
    let outside = inside != *value;
    *value = inside;
    outside
}
