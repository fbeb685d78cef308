//! Rate control as differential equations: what thousands of packets amount to, in a handful of numbers.
//!
//! One bottleneck, flows with delays, and the laws of DCQCN and TIMELY in the limit of infinitely small packets. From
//! them: runs over time ([`dde`], [`model`]), fixed points, the response of the opened loop and how far it is from
//! instability ([`linear`]), and the discrete model of convergence ([`cycles`]). Must not depend on packets, switches
//! or files. Inside, quantities are in packets, packets per second and seconds, because marking is a probability per
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
