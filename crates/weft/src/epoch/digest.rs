//! Runs the reference scenarios and computes digests of their results.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::{Digests, RunDigests, hexadecimal};
use crate::{Error, FluidOptions, PACKETS, RunOptions, fluid_numbers};

/// Keys of a summary about the cost of a run, which depends on clock, machine and engine, not on the scenario alone.
const COST: [&str; 3] = ["wall_s", "threads", "events"];

/// Runs every scenario of a folder and digests what each run writes: tables, summary and detail, without wall times; and
/// the numbers of its fluid model, where it has one, to nine digits. `known` names the values that digests of results
/// cover; `scratch` is an empty folder for the results.
///
/// # Errors
/// A scenario with mistakes, a run that fails, or a folder that cannot be read or written.
pub fn reference_digests(folder: &Path, known: &BTreeSet<String>, scratch: &Path) -> Result<Digests, Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut scenarios: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    scenarios.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    scenarios.sort();
    let mut digests = Digests::default();
    for scenario in &scenarios {
        of_scenario(scenario, known, scratch, &mut digests)?;
    }
    Ok(digests)
}

fn of_scenario(
    path: &Path,
    known: &BTreeSet<String>,
    scratch: &Path,
    digests: &mut Digests,
) -> Result<(), Error> {
    let root = run(path, scratch)?;
    for run in weft_report::read_runs(&root)? {
        let manifest = &run.manifest;
        let labels: Vec<&str> = manifest.labels.iter().map(|(_, value)| value.as_str()).collect();
        let name = format!("{}/{}/seed-{}", manifest.name, labels.join(", "), manifest.seed);
        let written = Written::read(&scratch.join(manifest.path()))?;
        let results = Some(hexadecimal(written.of(|value| known.contains(value)).as_bytes()));
        let all = hexadecimal(written.of(|_| true).as_bytes());
        digests.runs.insert(name, RunDigests { results, all, files: hexadecimal(&written.bytes) });
        digests.values.extend(written.values.into_iter().map(|(name, _)| name));
    }
    if let Some((name, numbers)) = of_fluid(path) {
        let digest = hexadecimal(numbers.as_bytes());
        let all = digest.clone();
        digests.runs.insert(name, RunDigests { results: Some(digest.clone()), all, files: digest });
    }
    Ok(())
}

/// Runs a scenario and names the folder of its results.
fn run(path: &Path, scratch: &Path) -> Result<PathBuf, Error> {
    let options = RunOptions {
        out: scratch.to_owned(),
        demo: false,
        seeds: None,
        set: vec!["measure.csv=all".to_owned()],
        jobs: 1,
        threads: None,
        engine: PACKETS,
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
        self.bytes.extend(file.as_bytes());
        self.bytes.extend(text.as_bytes());
        let mut lines = text.lines();
        let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let mut columns = vec![String::new(); heads.len()];
        for line in lines {
            for (column, cell) in columns.iter_mut().zip(line.split(',')) {
                column.push_str(match cell {
                    "true" => "1",
                    "false" => "0",
                    other => other,
                });
                column.push(',');
            }
        }
        self.values.extend(heads.iter().map(|head| format!("{file} {head}")).zip(columns));
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
fn of_fluid(path: &Path) -> Option<(String, String)> {
    let scenario = weft_prepare::read(path, &[], false).ok()?;
    let cases: Vec<usize> = (0..scenario.cases().len()).collect();
    let all = fluid_numbers(path, &FluidOptions::default(), &cases).ok()?;
    let number = |(name, value): (&&str, &f64)| format!("{name} {value:.8e}\n");
    let text = all.iter().flat_map(|numbers| numbers.iter().map(number)).collect();
    Some((format!("{}/fluid", scenario.settings.name), text))
}
