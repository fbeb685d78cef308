//! The scenario file as typed, and the overrides of the command line.
//!
//! Depends on TOML and paths only; [`validate`](crate::validate) checks combinations of settings.

use crate::overlay::Edit;
use crate::sweep::SWEPT;
use crate::syntax::without_wrong_lines;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use weft_core::input::{LARGEST_SCENARIO, read};
use weft_mistake::document;
use weft_mistake::node::{Toml, parse_argument, parse_document, parse_values};
use weft_mistake::{Mistake, Mistakes};
use weft_mistake::{SourceSpan, Sources};

/// Advice about a scenario that is too long.
const LONG_LISTS: &str = "; a long list of flows belongs in a file of its own, named by `file` of a traffic entry of kind \"list\", \
    long lists of links in files named by the topology";

/// A valid TOML file, not yet checked.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    pub(crate) sources: Arc<Sources>,
    pub(crate) document: Toml,
    pub(crate) folder: PathBuf,
    pub(crate) arguments: Vec<Edit>,
    /// Lines and arguments of the command line that cannot be read.
    pub(crate) unreadable: Vec<Mistake>,
    pub(crate) demo: bool,
}

impl ScenarioFile {
    /// Reads a file, applies `path=value` changes of the command line and, for a `demo`, takes its reduced form.
    /// Other file names in it are relative to its folder.
    ///
    /// # Errors
    /// The file cannot be read, is not UTF-8, or is not TOML (all syntax errors).
    pub fn read(path: &Path, set: &[String], demo: bool) -> Result<ScenarioFile, Mistakes> {
        let name = path.display().to_string();
        let bytes = match read(path, LARGEST_SCENARIO) {
            Ok(bytes) => bytes,
            Err(error) => {
                let hint = if error.kind() == ErrorKind::FileTooLarge { LONG_LISTS } else { "" };
                return Err(document::unreadable(path, &error, hint));
            }
        };
        let mut file = ScenarioFile::parse_bytes(&bytes, &name)?;
        file = file.in_folder(path.parent().unwrap_or(Path::new("")));
        file.demo = demo;
        Ok(set.iter().fold(file, |file, change| file.set(change)))
    }

    /// Reads a text; `name` is its name in messages. Other file names in it are relative to the current folder.
    ///
    /// # Errors
    /// It is not TOML: all syntax errors. Those in the values of single lines are reported with the other mistakes.
    pub fn parse(text: &str, name: &str) -> Result<ScenarioFile, Mistakes> {
        let sources = Arc::new(Sources::of_file(name, text));
        let (document, mistakes) = match parse_document(text) {
            (document, none) if none.is_empty() => (document, none),
            (_, errors) => match without_wrong_lines(text, &errors) {
                Some(rest) => rest,
                None => return Err(Mistakes::new(sources, errors)),
            },
        };
        let (folder, arguments, unreadable) = (PathBuf::new(), Vec::new(), mistakes);
        Ok(ScenarioFile { sources, document, folder, arguments, unreadable, demo: false })
    }

    /// Other file names in it are relative to this folder.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> ScenarioFile {
        ScenarioFile { folder: folder.to_owned(), ..self }
    }

    /// Reads bytes that may not be text.
    ///
    /// # Errors
    /// They are not UTF-8, or not TOML.
    pub fn parse_bytes(bytes: &[u8], name: &str) -> Result<ScenarioFile, Mistakes> {
        match std::str::from_utf8(bytes) {
            Ok(text) => ScenarioFile::parse(text, name),
            Err(error) => {
                let good = String::from_utf8_lossy(bytes);
                Err(no_text(name, &good, error.valid_up_to()))
            }
        }
    }

    /// Applies a `path=value` of the command line; it overrides the file, the sweep and the demo. The value is TOML,
    /// or a string without quotes: `balance=drill`, `traffic.trace.load=[0.3, 0.5]`, `switch.buffer=12 MiB`. A path
    /// that starts with `sweep.` adds an axis, `sweep.balance=ecmp,drill`, or chooses a value of one, `sweep.balance=drill`.
    /// Mistakes in it are reported with those of the file.
    #[must_use]
    pub fn set(mut self, argument: &str) -> ScenarioFile {
        let mut sources = Sources::clone(&self.sources);
        let source = sources.add("--set", argument);
        self.sources = Arc::new(sources);
        match assignment(source, argument) {
            Ok(edit) => self.arguments.push(edit),
            Err(mistake) => self.unreadable.push(mistake),
        }
        self
    }

    /// The reduced form that the file's `[demo]` table describes.
    #[must_use]
    pub fn reduced(self) -> ScenarioFile {
        ScenarioFile { demo: true, ..self }
    }

    /// The text, exactly as typed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.sources.file_text()
    }
}

/// A `path=value` of the command line. Whether the path exists is checked later.
fn assignment(source: usize, argument: &str) -> Result<Edit, Mistake> {
    let Some((path, _)) = argument.split_once('=') else {
        let place = SourceSpan::new(source, 0..argument.len());
        let mistake = Mistake::new(place, argument, format!("`{argument}` is not an assignment"));
        return Err(mistake.allowing("path=value, as in balance=drill"));
    };
    let (within, place) = (path.len() + 1..argument.len(), SourceSpan::new(source, 0..path.len()));
    let path = path.trim().to_owned();
    let value = match path.starts_with(SWEPT) {
        true => parse_values(source, argument, within),
        false => parse_argument(source, argument, within),
    };
    match value {
        Ok(value) => Ok(Edit { path, place, value }),
        Err(mistake) => Err(Mistake { path, ..mistake }),
    }
}

fn no_text(name: &str, text: &str, at: usize) -> Mistakes {
    let (place, message) = (SourceSpan::new(0, at..at), format!("`{name}` is not UTF-8 text"));
    Mistakes::new(Arc::new(Sources::of_file(name, text)), vec![Mistake::new(place, "", message)])
}
