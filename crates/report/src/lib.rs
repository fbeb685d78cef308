//! Records to statistics to files: reads what an engine recorded and knows no engine, no scenario and no clock.
//!
//! In reading order: [`statistics`] (percentiles and intervals), [`summary`] (one run in numbers), [`survey`] (what its
//! flows amount to), [`metric`] (names for these numbers), [`detail`] (what plots need, thinned), [`recording`] and
//! [`files`] (the folder of a run), [`listing`] (which runs belong together), [`sweep`] (many runs), [`contrast`] (two cases, seed
//! by seed), [`headline`] (the
//! answer in a sentence), [`terminal`], [`page`] and [`html`] (the answer on a page) and [`mod@compare`] (two folders side
//! by side).

pub mod compare;
pub mod contrast;
pub mod detail;
pub mod figure;
pub mod figures;
pub mod files;
pub mod headline;
pub mod html;
pub mod listing;
pub mod manifest;
pub mod metric;
pub mod page;
pub mod recording;
mod rows;
pub mod summary;
pub mod survey;
pub mod svg;
pub mod sweep;
pub mod tables;
pub mod terminal;
pub mod text;

pub use compare::{Comparison, compare};
pub use files::{Error, RunFolder, read_run, read_runs, write_sweep, write_text};
pub use headline::Headline;
pub use html::write_report;
pub use listing::Listing;
pub use manifest::Manifest;
pub use page::{Page, Verdict};
pub use recording::{Recording, write_run};
pub use summary::{RunFacts, Summary};
pub use survey::FlowStatistics;
pub use sweep::{Run, Sweep, SweepRun};
pub use tables::Kept;
pub use weft_statistics as statistics;
