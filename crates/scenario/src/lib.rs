//! Reads, checks and explains a scenario file: text in, [`Scenario`] out.

mod canonical;
mod decode;
pub mod diagnose;
pub mod mistake;
pub mod node;
mod overlay;
mod rows;
pub mod source;
