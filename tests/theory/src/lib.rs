//! What the tests against theory share: networks and flows in a few words, and what one switch port saw.
//!
//! Contains no formula: each test states its own and its source.

pub mod lab;
pub mod port;
