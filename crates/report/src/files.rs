//! The folder of a run on disk. Everything is written into a temporary sibling, put on the disk for good, and renamed at the
//! end, so that a folder is either complete or not there, whatever ends the process or the machine. Knows paths and formats,
//! not statistics.

use crate::disk::{Error, in_place, read_json, read_text, sibling, write_json, write_text};
use crate::listing::Listing;
use crate::sweep::Run;
use crate::tables;
use std::fs;
use std::path::{Path, PathBuf};
use weft_table::Table;
use weft_table::{csv, parquet};

/// Makes an empty hidden folder for what is to be at `folder`.
pub(crate) fn begin(folder: &Path) -> Result<PathBuf, Error> {
    let building = sibling(folder, "partial");
    clear(&building)?;
    fs::create_dir_all(&building).map_err(Error::io(&building))?;
    Ok(building)
}

/// Writes everything but the flows.
pub(crate) fn fill(folder: &Path, run: &Run, tables: &[Table]) -> Result<(), Error> {
    write_json(&folder.join("manifest.json"), &run.manifest)?;
    write_json(&folder.join("detail.json"), &run.detail)?;
    write_text(&folder.join("scenario.toml"), &run.scenario)?;
    tables.iter().try_for_each(|table| write_table(folder, table))?;
    write_json(&folder.join("summary.json"), &run.summary)
}

/// Puts a folder and the files in it on the disk for good. What is renamed before that may be empty after a power failure.
pub(crate) fn settle(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        synced(&entry.map_err(Error::io(folder))?.path())?;
    }
    synced(folder)
}

/// Where folders cannot be opened like files, the system sees to them itself.
fn synced(path: &Path) -> Result<(), Error> {
    if path.is_dir() && !cfg!(unix) {
        return Ok(());
    }
    fs::File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(path))
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
    in_place(&path, |file| csv::write(table, file).map_err(Error::io(&path)))?;
    let path = folder.join(format!("{}.parquet", table.name));
    in_place(&path, |file| parquet::write(table, file).map_err(Error::parquet(&path)))
}

fn clear(folder: &Path) -> Result<(), Error> {
    if folder.exists() { fs::remove_dir_all(folder).map_err(Error::io(folder)) } else { Ok(()) }
}

/// Puts the folder `built` in the place of `folder`.
pub(crate) fn replace(built: &Path, folder: &Path) -> Result<(), Error> {
    let old = sibling(folder, "old");
    clear(&old)?;
    if folder.exists() {
        fs::rename(folder, &old).map_err(Error::io(folder))?;
    }
    fs::rename(built, folder).map_err(Error::io(folder))?;
    synced(folder.parent().unwrap_or(folder))?;
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
        quiver: fs::read_to_string(folder.join(QUIVER)).unwrap_or_default(),
    })
}

/// The drawing of the components of a run's paths, in the folder of the run.
const QUIVER: &str = "quiver.svg";

/// Adds the drawing of its components to a run that has been written.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_quiver(folder: &Path, run: Run, svg: String) -> Result<Run, Error> {
    write_text(&folder.join(QUIVER), &svg)?;
    Ok(Run { quiver: svg, ..run })
}

/// Reads the runs that belong to a folder: those that its `sweep.json` lists as far as they are there, or else the run
/// in it, or else all runs below it by name. Links are relative to the folder. A run that was interrupted lies in a
/// folder of its own, `seed-1.partial`, and is taken only as long as the complete one is not there.
///
/// # Errors
/// The file that could not be read, and why; a folder without any run.
pub fn read_runs(folder: &Path) -> Result<Vec<Run>, Error> {
    let mut found = Vec::new();
    match Listing::read(folder)? {
        Some(listing) => found.extend(listing.runs.iter().filter_map(|run| settled(&folder.join(run)))),
        None => search(folder, &mut found)?,
    }
    if found.is_empty() {
        return Err(Error::NoRun { path: folder.to_owned() });
    }
    found.iter().map(|place| Ok(Run { link: link(folder, place), ..read_run(place)? })).collect()
}

/// Where an interrupted run lies as long as the complete one is not there: `seed-1.partial` beside `seed-1`.
#[must_use]
pub fn partial(folder: &Path) -> PathBuf {
    folder.with_extension("partial")
}

/// The folder of the complete run if it is there, or else that of the interrupted one if that is there.
fn settled(folder: &Path) -> Option<PathBuf> {
    [folder.to_owned(), partial(folder)].into_iter().find(|place| is_run(place))
}

fn is_run(folder: &Path) -> bool {
    folder.join("summary.json").exists()
}

/// The page of a run, or else its summary, relative to the folder of the report.
fn link(root: &Path, folder: &Path) -> String {
    let link = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned();
    let page = if folder.join("report.html").exists() { "report.html" } else { "summary.json" };
    if link.is_empty() { page.to_owned() } else { format!("{link}/{page}") }
}

fn is_partial(folder: &Path) -> bool {
    folder.extension().is_some_and(|extension| extension == "partial")
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    if is_run(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| {
        path.is_dir() && !path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'))
    });
    folders.retain(|path| !(is_partial(path) && is_run(&path.with_extension(""))));
    folders.sort();
    folders.iter().try_for_each(|path| search(path, found))
}
