//! Rate control as differential equations.

pub mod dde;
