//! Published claims, measured again. A reproduction is a folder of files: `claims.toml` says what a source claims, how each
//! claim is measured and in which band it counts as reproduced; scenario files say what is run. This crate runs what the
//! measures need, judges, and writes pages. A further source needs files only.
//!
//! In reading order: `source` (the file), `plan` (which cases they need), `search`
//! (bisection), `measure` (their values), `finding` (what is kept, and the verdict), `drawing` and `plot` (figures), `reproduce`
//! (one call), `page` and `assumption` (the book).
//!
//! It knows the facade and the report; it knows no engine and no command line.

mod assumption;
mod choice;
mod definition;
mod drawing;
mod finding;
mod folder;
mod form;
mod measure;
mod page;
mod place;
mod plan;
mod plot;
mod report;
mod reproduce;
mod search;
mod source;
mod terminal;
mod words;

pub use form::Form;
pub use page::{page, pictures};
pub use reproduce::{ReproduceOptions, ReproduceOutcome, reproduce};

use folder::Folder;
use source::PublishedSource;

/// The reproductions that the program has: name and title.
///
/// # Errors
/// A mistake in one of them: a defect of the program.
pub fn list() -> Result<Vec<(String, String)>, weft::Error> {
    Folder::all()
        .iter()
        .map(|folder| Ok((folder.name.clone(), PublishedSource::read(folder)?.title)))
        .collect()
}
