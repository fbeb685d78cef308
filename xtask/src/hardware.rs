//! The page of the book about DRILL in hardware. It takes minutes to write, because everything is synthesised. The
//! check only compares the fingerprint of the page's inputs.

use crate::Verdict;
use std::fs;
use std::path::Path;
use weft_hardware::page::{PAGE, is_stale, write as page};
use weft_hardware::waves;

/// Reports whether the page or its picture must be made again.
pub(crate) fn check(root: &Path) -> Verdict {
    let text = fs::read_to_string(root.join(PAGE)).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    let picture = fs::read_to_string(root.join(waves::PICTURE)).unwrap_or_default();
    match is_stale(&text, root) {
        Ok(false) if picture == waves::draw() => Ok(format!("{PAGE} is up to date")),
        Ok(_) => Err(vec![format!("{PAGE} is not what would be written now: cargo xtask hardware --write")]),
        Err(error) => Err(vec![error.to_string()]),
    }
}

/// Synthesises the hardware and writes the page.
pub(crate) fn write(root: &Path) -> Verdict {
    let text = page(root, &root.join("target/hardware/synthesis"), |what| eprintln!("{what}"))
        .map_err(|error| vec![error])?;
    for (name, text) in [(PAGE, text), (waves::PICTURE, waves::draw())] {
        fs::write(root.join(name), text).map_err(|error| vec![format!("{name}: {error}")])?;
    }
    Ok(format!("{PAGE} is written"))
}
