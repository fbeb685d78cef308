//! Whole files: read, parsed, and passed to the caller that interprets them. Must not depend on their meaning.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use weft_core::input::{LARGEST_FILE, read};
use weft_core::units::nearest;

use crate::node::{Toml, parse_document};
use crate::{Mistake, Mistakes, SourceSpan, Sources};

/// Reads a file and passes its text and its name in messages to `parse`.
///
/// # Errors
/// The file cannot be read or is not text, or all mistakes that `parse` finds.
pub fn read_document<T>(
    path: &Path,
    parse: impl FnOnce(&str, &str) -> Result<T, Mistakes>,
) -> Result<T, Mistakes> {
    let name = path.display().to_string();
    let bytes = read(path, LARGEST_FILE).map_err(|error| unreadable(path, &error, ""))?;
    let text =
        String::from_utf8(bytes).map_err(|_| whole(path, format!("`{name}` is not UTF-8 text"), None))?;
    parse(&text, &name)
}

/// A file that cannot be read, and why; for one that does not exist, the nearest name in its folder.
#[must_use]
pub fn unreadable(path: &Path, error: &io::Error, hint: &str) -> Mistakes {
    let name = path.display();
    if error.kind() == ErrorKind::NotFound {
        return whole(path, format!("`{name}` does not exist"), neighbour(path));
    }
    whole(path, format!("cannot read `{name}`: {error}{hint}"), None)
}

/// A mistake about a file as a whole.
fn whole(path: &Path, message: String, nearest: Option<String>) -> Mistakes {
    let mistake = Mistake { nearest, ..Mistake::new(SourceSpan::new(0, 0..0), "", message) };
    Mistakes::new(Arc::new(Sources::of_file(&path.display().to_string(), "")), vec![mistake])
}

/// The file in the same folder, with the same extension, whose name is nearest.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| PathBuf::from(entry.file_name()));
    let names = entries.filter(|name| name.extension() == path.extension());
    let names: Vec<String> = names.filter_map(|name| name.into_os_string().into_string().ok()).collect();
    let nearest = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(nearest).display().to_string())
}

/// Parses a text; `name` is its name in messages. If it is TOML, `of` turns it into a value, complete only if `of`
/// adds no mistakes.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &Path) -> Mistakes {
        read_document(path, |_, _| Ok(())).expect_err("it cannot be read")
    }

    #[test]
    fn a_file_that_is_not_there_is_one_sentence_with_the_nearest_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let wrong = folder.join("Crago.toml");
        let drawn = told(&wrong).to_string();
        let name = |path: &Path| path.display().to_string();
        let expected = format!("error: `{}` does not exist", name(&wrong));
        assert!(drawn.starts_with(&expected) && !drawn.contains(" --> "), "{drawn}");
        assert!(drawn.contains(&format!("did you mean `{}`?", name(&folder.join("Cargo.toml")))), "{drawn}");
        assert!(!told(&folder.join("nothing-like-it.toml")).to_string().contains("did you mean"));
        assert!(told(folder).to_string().starts_with("error: cannot read"), "a folder is no file");
    }
}
