//! The results epoch: two programs with one epoch compute the same results, byte for byte. It is a hash over the
//! digests of the reference runs, small scenarios in `crates/weft/results` that together use every part. A change that
//! alters a result alters a digest; a test then demands that the list be rewritten, and the epoch changes with the
//! list. So results of an older epoch are never mistaken for current ones, whether or not the sources are a git
//! checkout.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use weft_core::Checksum;

use crate::{Error, FluidOptions, PACKETS, RunOptions, fluid_numbers};

/// The digests this program was built with.
const LIST: &str = include_str!("../results/digests.txt");

/// The list's file name, beside the scenarios.
const FILE: &str = "digests.txt";

/// The key of the line that changes the epoch by hand, for a change of results that no reference run reveals.
const REVISION: &str = "revision";

const HEAD: &str = "\
# Digests of the reference runs, one line each. The results epoch of Weft is a hash over this list.
# Never edit it by hand: `cargo xtask results --write` runs the scenarios and writes it; `cargo xtask results --raise`
# also raises the revision, for a change of results that no reference run shows.
";

/// The keys of a summary that depend on clock, machine or engine and not on the scenario alone.
const COST: [&str; 3] = ["wall_s", "threads", "events"];

/// Digests of runs by their names, `balancers/drill/seed-1`.
pub type Digests = BTreeMap<String, String>;

/// The reference digests with the revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsList {
    /// Raised by hand to change the epoch.
    pub revision: u64,
    /// The digest of every reference run.
    pub digests: Digests,
}

/// The results epoch of this program, twelve hexadecimal digits. Equal scenario, seed and epoch give equal results.
#[must_use]
pub fn epoch() -> &'static str {
    static EPOCH: LazyLock<String> = LazyLock::new(|| ResultsList::built_in().epoch());
    &EPOCH
}

impl ResultsList {
    /// The list this program was built with.
    #[must_use]
    pub fn built_in() -> ResultsList {
        ResultsList::parse(LIST)
    }

    /// The list in a folder of reference scenarios; empty if there is none.
    #[must_use]
    pub fn of(folder: &Path) -> ResultsList {
        ResultsList::parse(&fs::read_to_string(folder.join(FILE)).unwrap_or_default())
    }

    fn parse(text: &str) -> ResultsList {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut digests: Digests = lines
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect();
        let revision = digests.remove(REVISION).and_then(|number| number.parse().ok());
        ResultsList { revision: revision.unwrap_or_default(), digests }
    }

    fn body(&self) -> String {
        let lines = self.digests.iter().map(|(name, digest)| format!("{name} {digest}\n"));
        format!("{REVISION} {}\n{}", self.revision, lines.collect::<String>())
    }

    /// The epoch computed from the list.
    #[must_use]
    pub fn epoch(&self) -> String {
        hexadecimal(self.body().as_bytes())
    }

    /// Writes the list into a folder of reference scenarios.
    ///
    /// # Errors
    /// [`Error::Failed`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        weft_report::write_text(&folder.join(FILE), &format!("{HEAD}{}", self.body())).map_err(Error::from)
    }

    /// Names of the runs whose digests differ, are missing or are new.
    #[must_use]
    pub fn differences(&self, found: &Digests) -> Vec<String> {
        let names: std::collections::BTreeSet<&String> = self.digests.keys().chain(found.keys()).collect();
        names.into_iter().filter(|name| self.digests.get(*name) != found.get(*name)).cloned().collect()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    format!("{:016x}", Checksum::default().with(bytes).value())[..12].to_owned()
}

/// Runs every scenario of a folder and digests the output of each run: tables, summary and detail, without wall-clock
/// times; and to nine digits the numbers of its fluid model, if it has one. `scratch` is an empty folder for the
/// results.
///
/// # Errors
/// A scenario with mistakes, a run that fails, or a folder that cannot be read or written.
pub fn reference_digests(folder: &Path, scratch: &Path) -> Result<Digests, Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut scenarios: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    scenarios.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    scenarios.sort();
    let mut digests = Digests::new();
    for scenario in &scenarios {
        digests.append(&mut of_scenario(scenario, scratch)?);
    }
    Ok(digests)
}

fn of_scenario(path: &Path, scratch: &Path) -> Result<Digests, Error> {
    let options = RunOptions {
        out: scratch.to_owned(),
        demo: false,
        seeds: None,
        set: Vec::new(),
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
    let root = outcome.report.parent().unwrap_or(scratch);
    let mut digests = Digests::new();
    for run in weft_report::read_runs(root)? {
        let manifest = &run.manifest;
        let labels: Vec<&str> = manifest.labels.iter().map(|(_, value)| value.as_str()).collect();
        let name = format!("{}/{}/seed-{}", manifest.name, labels.join(", "), manifest.seed);
        digests.insert(name, hexadecimal(&result_bytes(&scratch.join(manifest.path()))?));
    }
    if let Some((name, numbers)) = of_fluid(path) {
        digests.insert(name, hexadecimal(numbers.as_bytes()));
    }
    Ok(digests)
}

/// The result of a run as bytes: its tables, plot data and statistics, without the cost of computing them.
fn result_bytes(folder: &Path) -> Result<Vec<u8>, Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut tables: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    tables.retain(|path| path.extension().is_some_and(|end| end == "csv"));
    tables.sort();
    let summary = fs::read_to_string(folder.join("summary.json")).map_err(failed)?;
    let summary = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&summary);
    let mut summary = summary.map_err(|cause| failed(cause.into()))?;
    COST.iter().for_each(|key| drop(summary.remove(*key)));
    let mut bytes = serde_json::Value::Object(summary).to_string().into_bytes();
    bytes.extend(fs::read(folder.join("detail.json")).map_err(failed)?);
    for table in &tables {
        bytes.extend(table.file_name().unwrap_or_default().as_encoded_bytes());
        bytes.extend(fs::read(table).map_err(failed)?);
    }
    Ok(bytes)
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
