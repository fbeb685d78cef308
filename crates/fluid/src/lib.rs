//! Rate control as differential equations, with a handful of variables in place of thousands of packets.
//!
//! One bottleneck, flows with delays, and the laws of DCQCN and TIMELY in the limit of infinitely small packets.
//! Computes solutions over time ([`dde`], [`model`]), fixed points, the open-loop response and its stability margins
//! ([`linear`]), and the discrete model of convergence ([`cycles`]). Must not depend on packets, switches
//! or files. Quantities are in packets, packets per second and seconds, because marking is a probability per
//! packet.

pub mod complex;
pub mod cycles;
pub mod dde;
pub mod linear;
pub mod model;
pub mod root;
pub mod series;

pub use complex::Complex;
pub use series::{FluidSeries, Steadiness, record};
