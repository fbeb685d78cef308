//! One run in numbers: what a record and its flows amount to, and the names by which expectations, comparisons and tables ask
//! for it. Knows records; knows no file, no sweep and no page.
//!
//! In reading order: [`derived`] (what follows from single rows), [`rows`] (flows as rows that are sorted outside memory),
//! [`summary`] (the statistics of a run), [`survey`] (those of its flows), `measures` (how the others are computed),
//! [`metric`] (their names).

pub mod derived;
mod lacking;
mod measures;
pub mod metric;
pub mod rows;
pub mod summary;
pub mod survey;
