//! What is needed to look at generated reports in a real browser: a browser that is driven over its debugging pipe,
//! and records of a network that was never simulated. Must not depend on the simulator.

pub mod browser;
pub mod synthetic;
