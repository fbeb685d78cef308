//! The folder of a run on disk. Everything is written into a temporary sibling that is renamed at the end, so that a
//! folder is either complete or not there. Knows paths and formats, not statistics.

use crate::detail::Detail;
use crate::manifest::Manifest;
use crate::summary::{RunFacts, Summary};
use crate::sweep::Run;
use crate::table::Table;
use crate::{csv, parquet, tables};
use std::fs;
use std::path::{Path, PathBuf};
use weft_core::record::RunRecord;

/// A run as it was read back from its folder.
pub type RunFolder = Run;

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        cause: std::io::Error,
    },
    /// The Parquet writer refused.
    #[error("{path}: {cause}", path = .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the writer said.
        cause: ::parquet::errors::ParquetError,
    },
    /// The file is not what this version writes.
    #[error("{path}: {cause}; was it written by another version?", path = .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        cause: serde_json::Error,
    },
    /// There is no finished run in the folder.
    #[error("{path}: no finished run here (no summary.json in it or below it)", path = .path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
        |cause| Error::Io { path: path.to_owned(), cause }
    }

    fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Error + '_ {
        |cause| Error::Json { path: path.to_owned(), cause }
    }
}

/// Writes everything about a run: `manifest.json`, `scenario.toml`, `summary.json`, `detail.json` and the tables as
/// `.parquet` and `.csv`. A folder that is already there is replaced. Gives back what was written.
///
/// # Errors
/// The file that could not be written, and why. The folder is then as it was before.
pub fn write_run(
    folder: &Path,
    record: &RunRecord,
    manifest: &Manifest,
    scenario: &str,
) -> Result<Run, Error> {
    let facts = RunFacts { wall_s: manifest.wall_s, threads: manifest.threads };
    let run = Run {
        manifest: manifest.clone(),
        summary: Summary::new(record, &facts),
        detail: Detail::new(record),
        scenario: scenario.to_owned(),
        link: String::new(),
    };
    let building = sibling(folder, "partial");
    clear(&building)?;
    fs::create_dir_all(&building).map_err(Error::io(&building))?;
    fill(&building, &run, &tables::of_run(record))?;
    replace(&building, folder)?;
    Ok(run)
}

fn fill(folder: &Path, run: &Run, tables: &[Table]) -> Result<(), Error> {
    write_json(&folder.join("manifest.json"), &run.manifest)?;
    write_json(&folder.join("detail.json"), &run.detail)?;
    write_text(&folder.join("scenario.toml"), &run.scenario)?;
    tables.iter().try_for_each(|table| write_table(folder, table))?;
    write_json(&folder.join("summary.json"), &run.summary)
}

/// Writes the table of a sweep, `sweep.parquet` and `sweep.csv`: one row per run.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_sweep(folder: &Path, runs: &[Run]) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    write_table(folder, &tables::of_sweep(runs))
}

fn write_table(folder: &Path, table: &Table) -> Result<(), Error> {
    let path = folder.join(format!("{}.csv", table.name));
    let file = fs::File::create(&path).map_err(Error::io(&path))?;
    csv::write(table, file).map_err(Error::io(&path))?;
    let path = folder.join(format!("{}.parquet", table.name));
    let file = fs::File::create(&path).map_err(Error::io(&path))?;
    parquet::write(table, file).map_err(|cause| Error::Parquet { path, cause })
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let mut text = serde_json::to_string_pretty(value).map_err(Error::json(path))?;
    text.push('\n');
    fs::write(path, text).map_err(Error::io(path))
}

/// Writes a text file so that it is either complete or as it was before.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    let building = sibling(path, "partial");
    fs::write(&building, text).map_err(Error::io(&building))?;
    fs::rename(&building, path).map_err(Error::io(path))
}

/// A hidden path beside `path`, on the same file system.
fn sibling(path: &Path, word: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{word}"))
}

fn clear(folder: &Path) -> Result<(), Error> {
    if folder.exists() { fs::remove_dir_all(folder).map_err(Error::io(folder)) } else { Ok(()) }
}

/// Puts the folder `built` in the place of `folder`.
fn replace(built: &Path, folder: &Path) -> Result<(), Error> {
    let old = sibling(folder, "old");
    clear(&old)?;
    if folder.exists() {
        fs::rename(folder, &old).map_err(Error::io(folder))?;
    }
    fs::rename(built, folder).map_err(Error::io(folder))?;
    clear(&old)
}

/// Reads a run back, without its tables.
///
/// # Errors
/// The file that could not be read, and why.
pub fn read_run(folder: &Path) -> Result<Run, Error> {
    Ok(Run {
        manifest: read_json(&folder.join("manifest.json"))?,
        summary: read_json(&folder.join("summary.json"))?,
        detail: read_json(&folder.join("detail.json"))?,
        scenario: read_text(&folder.join("scenario.toml"))?,
        link: String::new(),
    })
}

/// Reads the run in a folder, or all runs below it in the order of case and seed; links are relative to the folder.
/// The order of cases is that of the sweep's axes if a `sweep.csv` lies there, and else that of the folder names.
///
/// # Errors
/// The file that could not be read, and why; a folder without any run.
pub fn read_runs(folder: &Path) -> Result<Vec<Run>, Error> {
    let mut found = Vec::new();
    search(folder, folder, &mut found)?;
    if found.is_empty() {
        return Err(Error::NoRun { path: folder.to_owned() });
    }
    let order = read_text(&folder.join("sweep.csv")).unwrap_or_default();
    let place =
        |run: &Run| order.lines().position(|line| line.starts_with(&row_start(run))).unwrap_or(usize::MAX);
    found.sort_by_cached_key(|run| (place(run), run.link.clone()));
    Ok(found)
}

/// How the row of a run begins in `sweep.csv`.
fn row_start(run: &Run) -> String {
    let labels = run.manifest.labels.iter().map(|(_, value)| csv::quoted(value));
    labels.chain([run.manifest.seed.to_string(), String::new()]).collect::<Vec<_>>().join(",")
}

fn search(root: &Path, folder: &Path, found: &mut Vec<Run>) -> Result<(), Error> {
    if folder.join("summary.json").exists() {
        let link = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned();
        let page = if folder.join("report.html").exists() { "report.html" } else { "summary.json" };
        let link = if link.is_empty() { page.to_owned() } else { format!("{link}/{page}") };
        found.push(Run { link, ..read_run(folder)? });
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| {
        path.is_dir() && !path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'))
    });
    folders.sort();
    folders.iter().try_for_each(|path| search(root, path, found))
}

fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io(path))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    serde_json::from_str(&read_text(path)?).map_err(Error::json(path))
}
