//! Whole files: read, parsed, and passed to the caller that interprets them. Must not depend on what they mean.

use std::path::Path;
use std::sync::Arc;

use weft_core::input::{LARGEST_FILE, read};

use crate::node::{Toml, parse_document};
use crate::{Mistake, Mistakes, SourceSpan, Sources};

/// Reads a file and passes its text and its name in messages to `parse`.
///
/// # Errors
/// The file cannot be read or is no text, or all mistakes that `parse` finds.
pub fn read_document<T>(
    path: &Path,
    parse: impl FnOnce(&str, &str) -> Result<T, Mistakes>,
) -> Result<T, Mistakes> {
    let name = path.display().to_string();
    let unreadable = |message: String| {
        let mistake = Mistake::new(SourceSpan::new(0, 0..0), "", message);
        Mistakes::new(Arc::new(Sources::of_file(&name, "")), vec![mistake])
    };
    let bytes =
        read(path, LARGEST_FILE).map_err(|error| unreadable(format!("cannot read `{name}`: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(format!("`{name}` is not UTF-8 text")))?;
    parse(&text, &name)
}

/// Parses a text; `name` is its name in messages. If it is TOML, `of` makes a value of it, complete only if `of` adds no mistakes.
///
/// # Errors
/// All mistakes of the text.
pub fn document_value<T>(
    (text, name): (&str, &str),
    of: impl FnOnce(&Toml, &mut Vec<Mistake>) -> Option<T>,
) -> Result<T, Mistakes> {
    let (document, mut mistakes) = parse_document(text);
    let value = if mistakes.is_empty() { of(&document, &mut mistakes) } else { None };
    match value {
        Some(value) if mistakes.is_empty() => Ok(value),
        _ => Err(Mistakes::new(Arc::new(Sources::of_file(name, text)), mistakes)),
    }
}
