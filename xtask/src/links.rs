//! Links between documents: every relative link leads to a file and, with `#`, to a heading in it; every path of the
//! repository that a document names exists; every page of the book is in its table of contents. Addresses on the
//! network are not visited.

use crate::{Verdict, markdown, sources};
use std::path::{Path, PathBuf};

/// Code that begins like this is a path from the root of the repository.
const TREES: &[&str] = &["crates/", "docs/", "xtask/", "tests/", "scenarios/", "reproductions/"];

/// Checks all Markdown files of the repository.
pub(crate) fn check(root: &Path) -> Verdict {
    let pages = sources::files(root, "md");
    let mut complaints = Vec::new();
    let mut count = 0;
    for page in &pages {
        let text = sources::read(page)?;
        complaints.extend(
            missing_paths(&text, root).map(|(line, path)| {
                format!("{}:{line}: `{path}` does not exist", sources::shown(page, root))
            }),
        );
        for link in markdown::links(&text).iter().filter(|link| !link.target.contains("://")) {
            count += 1;
            let complaint = broken(page, link.target);
            complaints
                .extend(complaint.map(|why| format!("{}:{}: {why}", sources::shown(page, root), link.line)));
        }
    }
    complaints.extend(pages_outside_the_contents(root)?);
    if complaints.is_empty() {
        Ok(format!("{count} links in {} documents lead somewhere", pages.len()))
    } else {
        Err(complaints)
    }
}

/// Why a relative link leads nowhere, if it does.
fn broken(page: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let place = if file.is_empty() { page.to_path_buf() } else { page.with_file_name("").join(file) };
    if target.starts_with("mailto:") {
        return None;
    }
    if !place.exists() {
        return Some(format!("`{target}` leads to nothing"));
    }
    let text = std::fs::read_to_string(&place).unwrap_or_default();
    let found = anchor.is_empty() || markdown::anchors(&text).iter().any(|its| its == anchor);
    (!found).then(|| format!("`{file}` has no heading `#{anchor}`"))
}

/// Paths that a text names as code and that do not exist. Patterns (`crates/*/src`) are not looked up.
fn missing_paths<'a>(text: &'a str, root: &Path) -> impl Iterator<Item = (usize, &'a str)> {
    let is_path =
        |code: &str| TREES.iter().any(|tree| code.starts_with(tree)) && !code.contains(['*', '<', ' ']);
    markdown::code_spans(text).into_iter().filter(move |(_, code)| is_path(code) && !root.join(code).exists())
}

fn pages_outside_the_contents(root: &Path) -> Result<Vec<String>, Vec<String>> {
    let book = root.join("docs/src");
    let contents = book.join("SUMMARY.md");
    let text = sources::read(&contents)?;
    let listed: Vec<PathBuf> = markdown::links(&text).iter().map(|link| book.join(link.target)).collect();
    let pages = sources::files(&book, "md").into_iter().filter(|page| *page != contents);
    Ok(pages
        .filter(|page| !listed.contains(page))
        .map(|page| format!("{} does not stand in docs/src/SUMMARY.md", sources::shown(&page, root)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn a_path_that_moved_is_found_and_a_pattern_is_not_a_path() {
        let text = "See `crates/core/src/lib.rs`, `crates/*/src` and\n`crates/gone.rs`.";
        let missing: Vec<_> = missing_paths(text, &workspace::root()).collect();
        assert_eq!(missing, [(2, "crates/gone.rs")]);
    }

    #[test]
    fn a_link_to_a_file_a_heading_or_neither() {
        let page = workspace::root().join("README.md");
        assert_eq!(broken(&page, "Cargo.toml"), None);
        assert_eq!(broken(&page, "ARCHITECTURE.md#layers"), None);
        assert!(broken(&page, "absent.md").is_some_and(|why| why.contains("leads to nothing")));
        assert!(broken(&page, "ARCHITECTURE.md#absent").is_some_and(|why| why.contains("no heading")));
    }
}
