//! Runs the reference scenarios and computes digests of their results.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::{Digests, RunDigests, hexadecimal};
use weft_plan::Engine;

use crate::{Error, FluidOptions, HYBRID, PACKETS, Reuse, RunOptions, fluid_numbers};

/// Keys of a summary about the cost of a run, which depends on clock, machine and engine, not on the scenario alone.
const COST: [&str; 3] = ["wall_s", "threads", "events"];

/// The column that names the folder of a case, whose name ends in a hash over these very digests.
const CASE: &str = "case";

/// The folder of scenarios for the engine of this name, in the folder of reference scenarios.
pub(super) const HYBRIDS: &str = "hybrid";

/// Runs every scenario of a folder, and those of the folder `hybrid` in it with that engine, and digests what each
/// run writes: tables, summary and detail, without wall times; and the numbers of its fluid model, where it has one,
/// to nine digits. `known` names the values that digests of results cover; `scratch` is an empty folder for the
/// results.
///
/// # Errors
/// A scenario with mistakes, a run that fails, or a folder that cannot be read or written.
pub fn reference_digests(folder: &Path, known: &BTreeSet<String>, scratch: &Path) -> Result<Digests, Error> {
    let mut digests = Digests::default();
    for scenario in scenarios(folder)? {
        of_scenario((&scenario, "", PACKETS), known, scratch, &mut digests)?;
    }
    for scenario in scenarios(&folder.join(HYBRIDS)).unwrap_or_default() {
        of_scenario((&scenario, "hybrid/", HYBRID), known, &scratch.join(HYBRIDS), &mut digests)?;
    }
    Ok(digests)
}

/// The scenarios in a folder, by name.
fn scenarios(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut scenarios: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    scenarios.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    scenarios.sort();
    Ok(scenarios)
}

fn of_scenario(
    (path, prefix, engine): (&Path, &str, &'static dyn Engine),
    known: &BTreeSet<String>,
    scratch: &Path,
    digests: &mut Digests,
) -> Result<(), Error> {
    let root = run(path, scratch, engine)?;
    for run in weft_report::read_runs(&root)? {
        let manifest = &run.manifest;
        let labels: Vec<&str> = manifest.labels.iter().map(|(_, value)| value.as_str()).collect();
        let name = format!("{prefix}{}/{}/seed-{}", manifest.name, labels.join(", "), manifest.seed);
        digests.add(name, Written::read(&scratch.join(manifest.path()))?, known);
    }
    if let Some((name, numbers)) = of_fluid(path).filter(|_| prefix.is_empty()) {
        digests.add(name, numbers, known);
    }
    Ok(())
}

impl Digests {
    fn add(&mut self, name: String, written: Written, known: &BTreeSet<String>) {
        let results = Some(hexadecimal(written.of(|value| known.contains(value)).as_bytes()));
        let all = hexadecimal(written.of(|_| true).as_bytes());
        self.runs.insert(name, RunDigests { results, all, files: hexadecimal(&written.bytes) });
        self.values.extend(written.values.into_iter().map(|(name, _)| name));
    }
}

/// Runs a scenario and names the folder of its results.
fn run(path: &Path, scratch: &Path, engine: &'static dyn Engine) -> Result<PathBuf, Error> {
    let options = RunOptions {
        out: scratch.to_owned(),
        demo: false,
        seeds: None,
        set: vec!["measure.csv=all".to_owned()],
        jobs: 1,
        reuse: Reuse::SameBuild,
        threads: None,
        engine,
        progress: Box::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let outcome = crate::run(path, &options)?;
    if outcome.failed_runs > 0 || outcome.reused > 0 {
        let why =
            format!("{}: {} runs failed, {} are old", path.display(), outcome.failed_runs, outcome.reused);
        return Err(Error::Failed(format!("{why}\n{}", outcome.terminal)));
    }
    Ok(outcome.report.parent().unwrap_or(scratch).to_owned())
}

/// The output of a run without the cost of computing it: its values by name, and all bytes.
struct Written {
    values: Vec<(String, String)>,
    bytes: Vec<u8>,
}

impl Written {
    fn read(folder: &Path) -> Result<Written, Error> {
        let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", folder.display()));
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut tables: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        tables.retain(|path| path.extension().is_some_and(|end| end == "csv"));
        tables.sort();
        let summary = fs::read_to_string(folder.join("summary.json")).map_err(failed)?;
        let mut summary: Value = serde_json::from_str(&summary).map_err(|cause| failed(cause.into()))?;
        if let Value::Object(entries) = &mut summary {
            COST.iter().for_each(|key| drop(entries.remove(*key)));
        }
        let mut written = Written { values: Vec::new(), bytes: summary.to_string().into_bytes() };
        written.leaves("summary.json ", &summary);
        written.bytes.extend(fs::read(folder.join("detail.json")).map_err(failed)?);
        for table in &tables {
            written.table(table).map_err(failed)?;
        }
        Ok(written)
    }

    /// Every number and text of a summary, named by its keys; elements of a list share a name.
    fn leaves(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(entries) => {
                entries.iter().for_each(|(key, inner)| self.leaves(&format!("{name}.{key}"), inner));
            }
            Value::Array(items) => items.iter().for_each(|item| self.leaves(name, item)),
            leaf => self.values.push((name.replacen(" .", " ", 1), leaf.to_string())),
        }
    }

    /// The columns of a table. A cell that is true or false counts as 1 or 0.
    fn table(&mut self, path: &Path) -> std::io::Result<()> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path)?;
        let mut lines = text.lines().map(|line| line.split(','));
        let heads: Vec<&str> = lines.next().into_iter().flatten().collect();
        let mut columns = vec![String::new(); heads.len()];
        for (column, cell) in lines.flat_map(|line| (0..heads.len()).zip(line)) {
            columns[column].push_str(match cell {
                "true" => "1",
                "false" => "0",
                other => other,
            });
            columns[column].push(',');
        }
        for (head, column) in heads.into_iter().zip(columns).filter(|(head, _)| *head != CASE) {
            self.bytes.extend(format!("{file} {head} {column}\n").as_bytes());
            self.values.push((format!("{file} {head}"), column));
        }
        Ok(())
    }

    /// The values whose names are `wanted`, in the order of their names.
    fn of(&self, wanted: impl Fn(&str) -> bool) -> String {
        let mut values: Vec<_> = self.values.iter().filter(|(name, _)| wanted(name)).collect();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        values.into_iter().map(|(name, value)| format!("{name} {value}\n")).collect()
    }
}

/// The fluid numbers of all cases, if all have a fluid model.
fn of_fluid(path: &Path) -> Option<(String, Written)> {
    let scenario = weft_prepare::read(path, &[], false).ok()?;
    let cases: Vec<usize> = (0..scenario.cases().len()).collect();
    let all = fluid_numbers(path, &FluidOptions::default(), &cases).ok()?;
    let number = |(name, value): (&&str, &f64)| (format!("fluid {name}"), format!("{value:.8e}"));
    let values = all.iter().flat_map(|numbers| numbers.iter().map(number)).collect();
    let mut written = Written { values, bytes: Vec::new() };
    written.bytes = written.of(|_| true).into_bytes();
    Some((format!("{}/fluid", scenario.settings.name), written))
}
