//! The files in the folder of a run, and the runs in a folder of results. Must not depend on statistics.

use crate::derived::CsvTables;
use crate::disk::{DiskError, read_json, read_text, write_json, write_text};
use crate::listing::Listing;
use crate::manifest::Manifest;
use crate::sweep::{Run, share_one_window};
use crate::tables;
use crate::variants::Variants;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use weft_store::in_place;
use weft_table::DataTable;
use weft_table::{csv, parquet};

/// Writes everything except the flows, whose tables are there already, and notes the sizes of all tables in the manifest.
pub(crate) fn fill(
    folder: &Path,
    run: &mut Run,
    tables: Vec<DataTable>,
    csv: CsvTables,
) -> Result<(), DiskError> {
    write_json(&folder.join("detail.json"), &run.detail)?;
    write_text(&folder.join(SCENARIO), &run.scenario)?;
    if !run.quiver.is_empty() {
        write_text(&folder.join(QUIVER), &run.quiver)?;
    }
    let tables = tables.into_iter().map(|table| tables::of_manifest(table, &run.manifest));
    tables.into_iter().try_for_each(|table| write_table(folder, &table, csv))?;
    run.manifest.files = sizes(folder)?;
    write_json(&folder.join("manifest.json"), &run.manifest)?;
    write_json(&folder.join("summary.json"), &run.summary)
}

/// The lengths of the visible files in a folder that are not JSON.
fn sizes(folder: &Path) -> Result<BTreeMap<String, u64>, DiskError> {
    let mut sizes = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(DiskError::io(folder))? {
        let entry = entry.map_err(DiskError::io(folder))?;
        let (name, about) = (entry.file_name().to_string_lossy().into_owned(), entry.metadata());
        let about = about.map_err(DiskError::io(&entry.path()))?;
        if about.is_file() && !name.starts_with('.') && !name.ends_with(".json") {
            sizes.insert(name, about.len());
        }
    }
    Ok(sizes)
}

/// Whether all files of a run are as long as its manifest says; one older than these sizes says nothing.
///
/// # Errors
/// The first file that is not, or is missing.
pub fn check_sizes(folder: &Path, manifest: &Manifest) -> Result<(), DiskError> {
    manifest.files.iter().try_for_each(|(name, written)| check_size(&folder.join(name), *written))
}

fn check_size(path: &Path, written: u64) -> Result<(), DiskError> {
    let found = fs::metadata(path).map_err(DiskError::io(path))?.len();
    if found == written { Ok(()) } else { Err(DiskError::Damaged { path: path.to_owned(), found, written }) }
}

/// Writes the table of a sweep, `sweep.parquet` and, if it belongs to `csv`, `sweep.csv`: one row per run.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_sweep(folder: &Path, runs: &[Run], csv: CsvTables) -> Result<(), DiskError> {
    fs::create_dir_all(folder).map_err(DiskError::io(folder))?;
    let table = tables::of_sweep(runs);
    if !csv.takes(table.rows() as u64) {
        remove_csv(folder, &table)?;
    }
    write_table(folder, &table, csv)
}

/// Removes the CSV of an earlier call, which would contradict the new table.
fn remove_csv(folder: &Path, table: &DataTable) -> Result<(), DiskError> {
    let path = csv_of(folder, table);
    match fs::remove_file(&path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(DiskError::io(&path)(cause)),
        _ => Ok(()),
    }
}

fn csv_of(folder: &Path, table: &DataTable) -> PathBuf {
    folder.join(format!("{}.csv", table.name))
}

fn write_table(folder: &Path, table: &DataTable, csv: CsvTables) -> Result<(), DiskError> {
    if csv.takes(table.rows() as u64) {
        let path = csv_of(folder, table);
        in_place(&path, |file| csv::write(table, file).map_err(DiskError::io(&path)))?;
    }
    let path = folder.join(format!("{}.parquet", table.name));
    in_place(&path, |file| parquet::write(table, file).map_err(DiskError::parquet(&path)))
}

/// Reads a run back, without its tables.
///
/// # Errors
/// The file that could not be read, and why.
pub fn read_run(folder: &Path) -> Result<Run, DiskError> {
    let (manifest, scenario): (Manifest, _) =
        (read_json(&folder.join("manifest.json"))?, folder.join(SCENARIO));
    manifest.files.get(SCENARIO).map_or(Ok(()), |written| check_size(&scenario, *written))?;
    Ok(Run {
        manifest,
        summary: read_json(&folder.join("summary.json"))?,
        detail: read_json(&folder.join("detail.json"))?,
        scenario: read_text(&scenario)?,
        link: String::new(),
        quiver: fs::read_to_string(folder.join(QUIVER)).unwrap_or_default(),
    })
}

/// The complete scenario of a run, in its folder.
const SCENARIO: &str = "scenario.toml";

/// The drawing of the components of a run's paths, in the folder of the run.
const QUIVER: &str = "quiver.svg";

/// Reads the runs of a folder: those listed in its `sweep.json` that exist, otherwise the run in it, otherwise all
/// runs below it, by name. Links are relative to the folder. An interrupted run has a folder of its own,
/// `seed-1.partial`, which is read only if the complete run does not exist. The first run of each case is read
/// completely; the others are [thin](Run::thin). Cases with equal labels and different scenarios get further labels
/// for the settings that differ.
///
/// # Errors
/// The file that could not be read, and why; or that the folder contains no run.
pub fn read_runs(folder: &Path) -> Result<Vec<Run>, DiskError> {
    let mut found = Vec::new();
    if let Some(listing) = Listing::read(folder)? {
        found.extend(listing.runs.iter().filter_map(|run| settled(&folder.join(run))));
    }
    // A sweep that has just begun lists runs that do not exist yet, while those of earlier calls are still there.
    if found.is_empty() {
        search(folder, DEPTH, &mut found)?;
    }
    if found.is_empty() {
        return Err(DiskError::NoRun { path: folder.to_owned() });
    }
    let mut variants = Variants::default();
    let mut read = |place: &PathBuf| {
        let run = Run { link: link(folder, place), ..read_run(place)? };
        let (number, is_first) = variants.add(&run);
        Ok((if is_first { run } else { run.thin() }, number))
    };
    let runs = found.iter().map(&mut read).collect::<Result<Vec<(Run, usize)>, DiskError>>()?;
    let mut runs = variants.labelled(runs);
    share_one_window(&mut runs);
    Ok(runs)
}

/// [`read_runs`] for a page on which they are compared.
///
/// # Errors
/// As there, and if the runs belong to several scenarios.
pub fn read_comparable(folder: &Path) -> Result<Vec<Run>, DiskError> {
    let runs = read_runs(folder)?;
    let names: BTreeSet<&str> = runs.iter().map(|run| run.manifest.name.as_str()).collect();
    if names.len() > 1 {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        return Err(DiskError::SeveralScenarios { path: folder.to_owned(), names });
    }
    Ok(runs)
}

/// The folder of an interrupted run, `seed-1.partial` beside `seed-1`.
#[must_use]
pub fn partial(folder: &Path) -> PathBuf {
    folder.with_extension("partial")
}

/// The folder of the complete run if it exists, otherwise that of the interrupted run.
fn settled(folder: &Path) -> Option<PathBuf> {
    [folder.to_owned(), partial(folder)].into_iter().find(|place| is_run(place))
}

fn is_run(folder: &Path) -> bool {
    folder.join("summary.json").exists()
}

/// The link to a run's page, or to its summary, relative to the folder of the report.
fn link(root: &Path, folder: &Path) -> String {
    let link = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned();
    let page = if folder.join("report.html").exists() { "report.html" } else { "summary.json" };
    if link.is_empty() { page.to_owned() } else { format!("{link}/{page}") }
}

fn is_partial(folder: &Path) -> bool {
    folder.extension().is_some_and(|extension| extension == "partial")
}

/// Maximum depth of runs below a folder of results: name, case and seed, below the folder of a reproduction.
const DEPTH: usize = 4;

/// Finds the runs in a folder and below it, without following links.
fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), DiskError> {
    if is_run(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let real = entries
        .map_err(DiskError::io(folder))?
        .into_iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = real.map(|entry| entry.path()).collect();
    folders.retain(|path| !path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.')));
    folders.retain(|path| !(is_partial(path) && is_run(&path.with_extension(""))));
    folders.sort();
    folders.iter().try_for_each(|path| search(path, depth - 1, found))
}
