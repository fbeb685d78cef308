//! The laws in the limit of infinitely small packets, one file for each.

pub mod dcqcn;
mod jitter;
pub mod marking;
pub mod timely;

pub use jitter::{Jitter, JitteredTrips};

use crate::dde::System;
use std::ops::Range;

/// The positions of a model's quantities in its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateLayout {
    /// The rates of the flows.
    pub rates: Range<usize>,
    /// Each flow's congestion state: DCQCN's estimate, TIMELY's gradient, or the integrator of a host.
    pub estimates: Range<usize>,
}

/// A model of flows through one bottleneck; the queue is the first component of its state.
pub trait Model: System {
    /// The positions of rates and estimates.
    fn layout(&self) -> StateLayout;
    /// The number of flows that each rate represents.
    fn counts(&self) -> Vec<f64>;
    /// The probability of a mark in this state; `None` for laws without marks.
    fn marking(&self, state: &[f64]) -> Option<f64>;
}

/// The start of a flow, or of several equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Number of equal flows.
    pub count: f64,
    /// When they start, in seconds.
    pub at: f64,
    /// Initial rate in packets per second.
    pub rate: f64,
}

impl Default for Start {
    fn default() -> Start {
        Start { count: 1.0, at: 0.0, rate: 0.0 }
    }
}

/// The derivative of the queue, which never becomes negative.
pub(crate) fn queue_change(queue: f64, inflow: f64, capacity: f64) -> f64 {
    let change = inflow - capacity;
    if queue <= 0.0 { change.max(0.0) } else { change }
}

/// Clips a component to its bounds; returns true if it was outside.
pub(crate) fn clip(value: &mut f64, low: f64, high: f64) -> bool {
    let inside = value.clamp(low, high);
    let outside = inside != *value;
    *value = inside;
    outside
}
