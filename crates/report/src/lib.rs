//! Records to statistics to files: reads what an engine recorded and knows no engine, no scenario and no clock.
//!
//! In reading order, each of them above those before it: [`statistics`] (percentiles and intervals), `derived` (what follows
//! from rows of a record), [`summary`] (one run in numbers), [`survey`] (what its flows amount to), `measures` (from both
//! to a summary), [`metric`] (names for these numbers), [`detail`] (what plots need, thinned), [`sweep`] (many runs),
//! `disk`, [`listing`] (which runs belong together), [`tables`], [`files`] and [`recording`] (the folder of a run),
//! [`contrast`] (two cases, seed by seed), [`headline`] (the answer in a sentence), [`figures`], [`terminal`], [`page`] and
//! [`html`] (the answer on a page) and [`mod@compare`] (two folders side by side).

pub mod compare;
pub mod contrast;
mod derived;
pub mod detail;
mod disk;
pub mod figures;
pub mod files;
pub mod headline;
pub mod html;
mod lacking;
pub mod listing;
pub mod manifest;
mod measures;
pub mod metric;
pub mod page;
pub mod recording;
mod rows;
pub mod summary;
pub mod survey;
pub mod sweep;
pub mod tables;
pub mod terminal;

pub use compare::{Comparison, compare};
pub use derived::Kept;
pub use disk::{Error, write_text};
pub use files::{read_run, read_runs, write_sweep};
pub use headline::Headline;
pub use html::write_report;

/// The file name of every report.
pub const REPORT: &str = "report.html";

pub use listing::{Listing, Verdict};
pub use manifest::Manifest;
pub use page::Page;
pub use recording::{Recording, write_run};
pub use summary::{RunFacts, Summary};
pub use survey::FlowStatistics;
pub use sweep::{Run, Sweep};
pub use weft_draw::{figure, text};
pub use weft_statistics as statistics;
