//! The epoch of the cluster model: a hash over the figures of the small clusters in `results/`. Findings about
//! clusters carry it, so that a change of the model makes them stale. It is separate from the results epoch of
//! scenarios, which clusters do not affect.

use std::path::Path;
use std::sync::LazyLock;

use weft_core::Checksum;
use weft_mistake::Mistakes;

use crate::file::read_blueprint;
use crate::simulated::{figures, labels};

/// The figures this program was built with.
const LIST: &str = include_str!("../results/figures.txt");
/// The epoch with which the list began. Earlier measurements have none; they were made by the model of this epoch.
const FIRST: &str = "f9ac3a5fe1af";

/// The epoch of the cluster model of this program: twelve hexadecimal digits.
#[must_use]
pub fn model_epoch() -> &'static str {
    static EPOCH: LazyLock<String> = LazyLock::new(|| {
        let hash = Checksum::default().with(LIST.as_bytes()).value();
        format!("{hash:016x}")[..12].to_owned()
    });
    &EPOCH
}

/// Whether a finding with this epoch (empty for those older than the list) comes from another model than this
/// program's.
#[must_use]
pub fn is_of_another_model(noted: &str) -> bool {
    let noted = if noted.is_empty() { FIRST } else { noted };
    noted != model_epoch()
}

/// The figures of all descriptions in a folder under each of their traffics, with seed 1, as text: a line for each, to nine digits.
///
/// # Errors
/// All mistakes of the first description that has any.
pub fn reference_figures(folder: &Path) -> Result<String, Mistakes> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let mut text = String::new();
    for file in files {
        let blueprint = read_blueprint(&file)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for traffic in &blueprint.traffic {
            let words: Vec<String> = labels(traffic).into_iter().map(|(_, value)| value).collect();
            for (figure, value) in figures(&blueprint, traffic, 1) {
                text += &format!("{name} {}: {figure} {value:.8e}\n", words.join(" "));
            }
        }
    }
    Ok(text)
}
