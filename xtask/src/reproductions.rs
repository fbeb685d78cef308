//! The pages of the book about reproductions: each is made of the claims and the findings in a folder below
//! `reproductions/`. `check` compares with what is committed and runs nothing; `write` brings the pages up to date.

use crate::{Verdict, sources};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the claims lie.
const SOURCES: &str = "reproductions";
/// Where the pages lie.
const PAGES: &str = "docs/src/reproductions";
/// Where their pictures lie.
const PICTURES: &str = "docs/src/images/reproductions";

/// Fails if a page does not match claims and findings, or if findings are older than their claims.
pub(crate) fn check(root: &Path) -> Verdict {
    let pages = wanted(root)?;
    let differs = |(path, text): &&(PathBuf, String)| fs::read_to_string(path).ok().as_ref() != Some(text);
    let complaint = |(path, _): &(PathBuf, String)| {
        format!(
            "{} is not what claims and findings say; run `cargo xtask reproductions --write`",
            sources::shown(path, root)
        )
    };
    let complaints: Vec<String> = pages.iter().filter(differs).map(complaint).collect();
    if complaints.is_empty() { Ok(format!("{} pages are up to date", pages.len())) } else { Err(complaints) }
}

/// Writes all pages.
pub(crate) fn write(root: &Path) -> Verdict {
    let pages = wanted(root)?;
    let failed =
        |path: &Path, error: std::io::Error| vec![format!("{}: {error}", sources::shown(path, root))];
    for folder in [root.join(PAGES), root.join(PICTURES)] {
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    }
    for (path, text) in &pages {
        fs::write(path, text).map_err(|error| failed(path, error))?;
    }
    Ok(format!("wrote {} pages", pages.len()))
}

/// Path and text of every page and picture.
fn wanted(root: &Path) -> Result<Vec<(PathBuf, String)>, Vec<String>> {
    let folder = root.join(SOURCES);
    let entries = fs::read_dir(&folder).map_err(|error| vec![format!("{SOURCES}: {error}")])?;
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut pages = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = weft_reproduce::page(&folder).map_err(|error| vec![error.to_string()])?;
        pages.push((root.join(PAGES).join(format!("{name}.md")), text));
        let pictures = weft_reproduce::pictures(&folder).map_err(|error| vec![error.to_string()])?;
        pages.extend(pictures.into_iter().map(|(name, text)| (root.join(PICTURES).join(name), text)));
    }
    Ok(pages)
}
