//! The facts known about a run before it starts: program, inputs and command.

use std::collections::BTreeSet;
use std::path::Path;

use weft_draw::shell::{file, quoted, word};
use weft_plan::Engine;
use weft_report::Manifest;
use weft_scenario::{Case, Scenario};

use crate::epoch::{epoch, layout};
use crate::{Error, PACKETS, RunOptions};

/// Version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Hash over the sources of the program.
pub(crate) const SOURCES: &str = env!("WEFT_SOURCES");

/// The part of a request that decides what is computed.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) path: &'a Path,
    pub(crate) demo: bool,
    pub(crate) set: &'a [String],
    pub(crate) seeds: Option<&'a [u64]>,
    pub(crate) engine: &'a dyn Engine,
}

impl<'a> Request<'a> {
    /// The request of a call of `run`.
    pub(crate) fn of(path: &'a Path, options: &'a RunOptions) -> Request<'a> {
        Request {
            path,
            demo: options.demo,
            set: &options.set,
            seeds: options.seeds.as_deref(),
            engine: options.engine,
        }
    }
}

/// All cases with all seeds, in order.
pub(crate) fn all<'a>(
    request: &Request<'_>,
    scenario: &'a Scenario,
) -> Result<Vec<(&'a Case, Manifest)>, Error> {
    let seeds = request.seeds.unwrap_or(&scenario.settings.seeds);
    distinct(seeds)?;
    let all = &command(request);
    let of_seeds = &request.seeds.map_or(String::new(), |seeds| format!(" --seed {}", listed(seeds)));
    let source = &(request.path.display().to_string(), scenario.text_hash());
    let who = (request.demo, request.engine);
    let with_seed = move |case: &'a Case, seed: u64| {
        let inputs = std::iter::once(source).chain(case.inputs()).cloned().collect();
        let command = format!("{all}{} --seed {seed}", chosen(case));
        let command_of_all = all.clone() + of_seeds;
        (case, Manifest { inputs, command, command_of_all, ..of_run(case, seed, who) })
    };
    Ok(scenario
        .cases()
        .iter()
        .flat_map(|case| seeds.iter().map(move |seed| with_seed(case, *seed)))
        .collect())
}

/// Version and commit of this program: `0.1.0 3dca5ce`.
#[must_use]
pub fn program() -> String {
    format!("{VERSION} {}", env!("WEFT_COMMIT")).trim_end().to_owned()
}

/// A duplicate seed would count one run twice.
fn distinct(seeds: &[u64]) -> Result<(), Error> {
    let mut known = BTreeSet::new();
    let twice = seeds.iter().find(|seed| !known.insert(**seed));
    twice.map_or(Ok(()), |seed| Err(Error::BadInput(format!("--seed: {seed} is given twice"))))
}

fn of_run(case: &Case, seed: u64, (demo, engine): (bool, &dyn Engine)) -> Manifest {
    let demo = if demo { "-demo" } else { "" };
    // Results of another engine differ and must not be mistaken for packet results.
    let is_measurement = !engine.is_deterministic();
    let (engine, computes) = match engine.name() {
        name if name == PACKETS.name() => (String::new(), layout().to_owned()),
        name => (name.to_owned(), format!("{} {name} {}", layout(), engine.command())),
    };
    let other = if engine.is_empty() || is_measurement { String::new() } else { format!("-{engine}") };
    Manifest {
        version: VERSION.to_owned(),
        commit: env!("WEFT_COMMIT").to_owned(),
        epoch: epoch().to_owned(),
        sources: SOURCES.to_owned(),
        name: format!("{}{demo}{other}", case.settings.name),
        about: case.settings.about.clone(),
        labels: case.labels.clone(),
        seed,
        hash: format!("{:016x}", case.content_hash(&computes)),
        engine,
        is_measurement,
        host: host(),
        threads: 1,
        ..Manifest::default()
    }
}

/// The command that repeats everything, without seeds.
fn command(request: &Request<'_>) -> String {
    let demo = if request.demo { " --demo" } else { "" };
    let set: String = request.set.iter().map(|set| format!(" --set {}", quoted(set))).collect();
    format!("{} {}{demo}{set}", request.engine.command(), file(request.path))
}

/// The `--set` options that choose a case by its labels.
fn chosen(case: &Case) -> String {
    let set = |(path, label): &(String, String)| {
        format!(" --set {}", word(&format!("sweep.{path}={}", value(label))))
    };
    case.labels.iter().map(set).collect()
}

/// A label as the value of `--set`: a comma or a bracket would make it a list.
fn value(label: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || " _-+.=/:%".contains(c);
    if !label.is_empty() && label.chars().all(plain) { label.to_owned() } else { format!("{label:?}") }
}

/// `1,2,7..20`, as on the command line, with ranges for three or more consecutive seeds.
fn listed(seeds: &[u64]) -> String {
    let rows = seeds.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let words = |row: &[u64]| match row {
        [first, _, .., last] => format!("{first}..{last}"),
        few => few.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    };
    rows.map(words).collect::<Vec<_>>().join(",")
}

/// Processor and operating system, as far as the system reports them.
fn host() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = value_of(&told, "model name").map_or(String::new(), |model| format!(", {model}"));
    format!("{} {}{model}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Peak memory of the process so far, bytes; zero if the system does not report it.
pub(crate) fn peak_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = value_of(&told, "VmHWM").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib * 1024)
}

/// The text after `key :` on the first line that starts with it.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| Some(line.strip_prefix(key)?.trim_start().strip_prefix(':')?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_asked_in_its_own_words() {
        let told = "Name:\tweft\nVmHWM:\t   36840 kB\nmodel name\t: A processor\n";
        assert_eq!(value_of(told, "VmHWM"), Some("36840 kB"));
        assert_eq!(value_of(told, "model name"), Some("A processor"));
        assert_eq!(value_of(told, "VmPeak"), None);
    }

    #[test]
    fn many_seeds_are_few_words() {
        assert_eq!(listed(&[5]), "5");
        assert_eq!(listed(&[1, 2, 9]), "1,2,9");
        assert_eq!(listed(&[1, 2, 3, 4, 7, 6, u64::MAX]), format!("1..4,7,6,{}", u64::MAX));
        let all: Vec<u64> = (1..=20_000).collect();
        assert_eq!(listed(&all), "1..20000");
    }

    #[test]
    fn seeds_are_distinct() {
        assert!(distinct(&[1, 2, 3]).is_ok());
        assert!(distinct(&[1, 2, 1]).is_err_and(|error| error.to_string().contains("1 is given twice")));
    }
}
