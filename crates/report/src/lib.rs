//!
//! In reading order: [`statistics`] (percentiles and intervals), [`summary`] (one run in numbers), [`metric`] (names

pub mod csv;
pub mod detail;
pub mod files;
pub mod manifest;
pub mod metric;
pub mod parquet;
pub mod statistics;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod tables;
pub mod text;

pub use files::{Error, RunFolder, read_run, read_runs, write_run, write_sweep};
pub use manifest::Manifest;
pub use summary::{RunFacts, Summary};
pub use sweep::{Run, Sweep, SweepRun};
