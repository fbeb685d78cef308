//! Measures published claims again. A reproduction is a folder of files: `claims.toml` lists the claims of a source,
//! the measures of each claim and the band in which it counts as reproduced; scenario files describe the runs. This
//! crate runs the cases that the measures need, judges the claims, and writes pages. Another source needs only files.
//!
//! In reading order: `source` (the file), `plan` (the cases that measures need), `search` (bisection), `measure`
//! (values), `finding` (findings and verdicts), `score` (how many hold), `drawing` and `plot` (figures), `reproduce` (one
//! call), `page`, `overview`, `verdicts` and `assumption` (the book).
//!
//! Must not depend on engines or the command line.

mod assumption;
mod choice;
mod context;
mod definition;
mod drawing;
mod epoch;
mod finding;
mod folder;
mod form;
mod grid;
mod larger;
mod measure;
mod options;
mod overview;
mod page;
mod plan;
mod plot;
mod report;
mod reproduce;
mod score;
mod search;
mod side_by_side;
mod source;
mod terminal;
mod verdicts;
mod words;

pub use form::Form;
pub use options::ReproduceOptions;
pub use page::{page, pictures};
pub use reproduce::{ReproduceOutcome, reproduce};

use folder::Folder;
use source::PublishedSource;

/// Name and title of the embedded reproductions.
///
/// # Errors
/// A mistake in one of them: a defect of the program.
pub fn list() -> Result<Vec<(String, String)>, weft::Error> {
    Folder::all()
        .iter()
        .map(|folder| Ok((folder.name.clone(), PublishedSource::read(folder)?.title)))
        .collect()
}
