//! One run in numbers: the statistics of a record and its flows, and the names by which expectations, comparisons and
//! tables refer to them. Must not depend on files, sweeps or pages.
//!
//! In reading order: [`derived`] (values derived from single rows), [`rows`] (flows as rows that are sorted outside
//! memory), [`summary`] (the statistics of a run), [`survey`] (the statistics of its flows), `measures` (how the
//! others are computed), [`metric`] (their names).

pub mod derived;
mod lacking;
mod measures;
pub mod metric;
pub mod rows;
pub mod summary;
pub mod survey;
