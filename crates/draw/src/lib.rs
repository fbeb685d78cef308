//! Numbers, text, tables and pictures for human readers, in a terminal and on a page.
//!
//! [`text`] (numbers with units), [`wrap`] (lines that fit a terminal), [`columns`] (tables), [`visible`] (foreign
//! text made harmless for a terminal), [`shell`] (words of commands to copy), [`figure`] (a plot as data),
//! [`mod@lines`] and [`tiers`] (plots and networks as SVG files, where the report's script is not available), [`svg`]
//! (what these files share). Must not depend on what the numbers mean.

pub mod columns;
pub mod figure;
pub mod lines;
pub mod shell;
pub mod svg;
pub mod text;
pub mod tiers;
pub mod visible;
pub mod wrap;

pub use columns::Columns;
pub use lines::lines;
pub use wrap::{WIDTH, indented, wrapped};
