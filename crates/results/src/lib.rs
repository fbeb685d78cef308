//! The folder of a run: tables, statistics and data for plots, written and read; and many runs as one sweep. Must not
//! depend on pages, headlines, engines, scenarios or clocks.
//!
//! In reading order: [`detail`] (data for plots, thinned), [`sweep`] (many runs), [`copies`], [`disk`], [`listing`] (which runs
//! belong together), [`tables`] and [`columns`] (their meaning), [`files`] and [`recording`] (the folder of a run).

pub mod columns;
pub mod copies;
pub mod detail;
pub mod disk;
pub mod files;
pub mod listing;
pub mod manifest;
mod monitor;
pub mod recording;
mod run;
pub mod settings;
mod short_labels;
pub mod sweep;
pub mod tables;
mod variants;

use weft_draw::text;
pub use weft_statistics as statistics;
use weft_summary::{derived, metric, rows, summary, survey};
