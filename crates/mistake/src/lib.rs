//! Mistakes in the user's texts: their positions, what was found, what is allowed, and how all mistakes of a file are
//! shown at once.
//!
//! In reading order: [`source`] (texts and positions in them), [`node`] (TOML as a tree with positions), [`mistake`]
//! (the facts), [`diagnose`] (underlined lines, one line each, JSON), [`reader`] (keys of tables), [`document`]
//! (whole files). Must not depend on what the texts mean.

pub mod diagnose;
pub mod document;
pub mod mistake;
pub mod node;
pub mod reader;
pub mod source;

pub use mistake::{Mistake, Mistakes};
pub use reader::TableReader;
pub use source::{LineColumn, Source, SourceSpan, Sources};
