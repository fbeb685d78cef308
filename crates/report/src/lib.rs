//! From records to statistics, files and pages. Must not depend on engines, scenarios or clocks.
//!
//! In reading order; each module may use those before it: [`statistics`] (percentiles and intervals), [`summary`]
//! (one run in numbers), [`survey`] (statistics of its flows), [`metric`] (names for these numbers), [`detail`] (data
//! for plots) and [`sweep`] (many runs), all from crates below; [`contrast`] (two cases, seed by seed), `counts`
//! (what is a whole number), [`headline`] (the answer in a sentence), [`figures`], `job_words` (what bounded a job),
//! [`terminal`], [`page`] and [`html`] (the answer on a page) and [`mod@compare`] (two folders side by side).

mod by_traffic;
pub mod compare;
pub mod contrast;
mod counts;
mod fates;
pub mod figures;
pub mod headline;
pub mod html;
mod job_words;
pub mod page;
pub mod terminal;

pub use compare::{Comparison, compare};
pub use disk::{DiskError, write_text};
pub use files::{read_comparable, read_run, read_runs, write_sweep};
pub use headline::Headline;
pub use html::{PAGE_BEGIN, write_report};

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
pub use weft_results::{columns, detail, files, listing, manifest, recording, settings, sweep, tables};
use weft_results::{copies, disk};
pub use weft_statistics as statistics;
pub use weft_summary::derived::{CsvTables, IdealSchedule, IdealSchedules, Kept};
pub use weft_summary::{metric, summary, survey};
