//! What the tests against theory share: networks and flows in a few words, and what one switch port saw.
//!
//! Knows no formula: each test states its own and says where it comes from.

pub mod lab;
pub mod port;
