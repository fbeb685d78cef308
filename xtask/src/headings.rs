//! Headings in docstrings stand alone on their line: rustdoc renders all that follows `# Errors` on the same line as a
//! heading. Must not depend on what the docstrings say.

use crate::Verdict;
use crate::sources::{files, read, shown};
use std::path::Path;

/// The sections that docstrings have.
const HEADINGS: [&str; 4] = ["Errors", "Panics", "Safety", "Examples"];

/// Checks all sources.
pub(crate) fn check(root: &Path) -> Verdict {
    let (mut complaints, mut count) = (Vec::new(), 0);
    for path in ["crates", "xtask"].iter().flat_map(|folder| files(&root.join(folder), "rs")) {
        for (number, line) in read(&path)?.lines().enumerate() {
            let Some(rest) = heading(line) else { continue };
            count += 1;
            if !rest.is_empty() {
                complaints.push(format!("{}:{}: text in a heading: {rest}", shown(&path, root), number + 1));
            }
        }
    }
    if complaints.is_empty() { Ok(format!("{count} headings stand alone")) } else { Err(complaints) }
}

/// What follows a known heading of a docstring on its line.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let text =
        text.strip_prefix("///").or_else(|| text.strip_prefix("//!"))?.trim_start().strip_prefix("# ")?;
    HEADINGS.iter().find_map(|heading| text.strip_prefix(heading)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_behind_a_heading_is_found() {
        assert_eq!(heading("    /// # Errors"), Some(""));
        assert_eq!(heading("/// # Errors If there is none."), Some("If there is none."));
        assert_eq!(heading("//! # Safety: none"), Some(": none"));
        for line in [
            "/// Errors of the disk",
            "// # Errors no docstring",
            "let x = 1; /// # Errors",
            "/// # Other words",
        ] {
            assert_eq!(heading(line), None, "{line}");
        }
    }
}
