//! From records to statistics, files and pages. Must not depend on engines, scenarios or clocks.
//!
//! In reading order; each module may use those before it: [`statistics`] (percentiles and intervals), [`summary`] (one
//! run in
//! numbers), [`survey`] (statistics of its flows) and [`metric`] (names for these numbers), all from crates below;
//! [`detail`] (what plots need, thinned), [`sweep`] (many runs),
//! `disk`, [`listing`] (which runs belong together), [`tables`] and [`columns`] (their meaning), [`files`] and
//! [`recording`] (the folder of a run),
//! [`contrast`] (two cases, seed by seed), [`headline`] (the answer in a sentence), [`figures`], [`terminal`], [`page`]
//! and
//! [`html`] (the answer on a page) and [`mod@compare`] (two folders side by side).

pub mod columns;
pub mod compare;
pub mod contrast;
pub mod detail;
mod disk;
pub mod figures;
pub mod files;
pub mod headline;
pub mod html;
pub mod listing;
pub mod manifest;
pub mod page;
pub mod recording;
pub mod sweep;
pub mod tables;
pub mod terminal;

pub use compare::{Comparison, compare};
pub use disk::{DiskError, write_text};
pub use files::{read_run, read_runs, write_sweep};
pub use headline::Headline;
pub use html::write_report;

/// The file name of every report.
pub const REPORT: &str = "report.html";

pub use listing::{ExpectationVerdict, Listing};
pub use manifest::Manifest;
pub use page::Page;
pub use recording::{Recording, write_run};
pub use summary::{RunFacts, Summary};
pub use survey::FlowStatistics;
pub use sweep::{Run, Sweep, share_one_window};
pub use weft_draw::{figure, text};
pub use weft_statistics as statistics;
pub use weft_summary::derived::{CsvTables, IdealSchedule, IdealSchedules, Kept};
use weft_summary::{derived, rows};
pub use weft_summary::{metric, summary, survey};
