//! How to repeat a run: the program, the inputs and the command. Reads no clock; the caller passes the times.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_core::Checksum;

/// The contents of `manifest.json`.
///
/// Equal inputs give equal bytes in every file of a run, except for values of the clock and the machine: here `wall_s`,
/// `peak_memory_bytes` and `host`, in `summary.json` and in the table of the sweep `wall_s`, and the line that shows it
/// in `report.html`. (`inputs` and the commands contain the path of the scenario as typed.)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Version of the program.
    pub version: String,
    /// Commit it was built from; empty when unknown.
    pub commit: String,
    /// Results epoch of the program: equal scenario, seed and epoch give equal results. Empty in manifests older than
    /// epochs.
    pub epoch: String,
    /// Hash over the sources of the program, hexadecimal; a complete run is reused only by a program with the same sources. Empty
    /// in manifests older than this key.
    pub sources: String,
    /// Name of the scenario.
    pub name: String,
    /// A one-line description of the scenario; may be empty.
    pub about: String,
    /// The labels of this run, one per axis of the sweep: dotted key, value as written.
    pub labels: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
    /// The command that repeats this run.
    pub command: String,
    /// The command that repeats all runs of its sweep.
    pub command_of_all: String,
    /// Content hash over everything that can change the result, hexadecimal.
    pub hash: String,
    /// Hash of the list of flows, hexadecimal: FNV-1a over start (ps), source, destination, size (bytes) and number of
    /// the traffic entry of every flow in order. Runs with equal hashes have the same flows, whatever the transport. Empty with
    /// jobs, whose flows depend on the network.
    pub flows_hash: String,
    /// Hashes of the input files: path as written in the scenario, hexadecimal hash.
    pub inputs: Vec<(String, String)>,
    /// Bytes of the tables and of the other files of the run that no program reads as JSON. A run is complete only with all of
    /// them. Empty in manifests older than this key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, u64>,
    /// Whether only statistics were written, and no tables.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_tables: bool,
    /// The engine; empty: the packet engine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// Whether the results are measurements, which the same command does not repeat to the last bit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_measurement: bool,
    /// Further facts needed to judge the results of an engine, as name and value: for a lab, the scale and the
    /// kernel. Empty for the packet engine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
    /// Processor and operating system, for judging the wall-clock time.
    pub host: String,
    /// Wall-clock time of the computation, seconds.
    pub wall_s: f64,
    /// Threads used.
    pub threads: u32,
    /// Events handled.
    pub events: u64,
    /// Peak memory of the process, bytes; zero when unknown.
    pub peak_memory_bytes: u64,
}

impl Manifest {
    /// `drill-80: balance = drill, load = 0.8`: the name and the labels.
    #[must_use]
    pub fn title(&self) -> String {
        self.case().map_or_else(|| self.name.clone(), |case| format!("{}: {case}", self.name))
    }

    /// `balance = drill, load = 0.8`: the labels, if there are any.
    #[must_use]
    pub fn case(&self) -> Option<String> {
        let word = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let labels: Vec<String> =
            self.labels.iter().map(|(key, value)| format!("{} = {value}", word(key))).collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    }

    /// The case's folder name: its labels, as far as a file name has room for them, and eight digits of the hash.
    #[must_use]
    pub fn case_folder(&self) -> String {
        let words = self.labels.iter().map(|(_, value)| plain(value));
        let case =
            if self.labels.is_empty() { "case".to_owned() } else { words.collect::<Vec<_>>().join("-") };
        let case = if case.len() > LONGEST_LABELS { shortened(&case) } else { case };
        let hash: String = self.hash.chars().take(8).collect();
        format!("{case}-{hash}")
    }

    /// The path of the run below the folder of all runs: `<name>/<case>-<hash8>/seed-1`.
    #[must_use]
    pub fn path(&self) -> std::path::PathBuf {
        [plain(&self.name), self.case_folder(), format!("seed-{}", self.seed)].iter().collect()
    }
}

/// Most characters of the labels in a folder's name. File systems allow 255 bytes, of which hidden names beside it take some.
const LONGEST_LABELS: usize = 100;

/// The beginning of long labels, which are ASCII here, and a checksum that tells named cases with equal settings apart.
fn shortened(labels: &str) -> String {
    let sum = format!("{:016x}", Checksum::default().with(labels.as_bytes()).value());
    let begin = labels[..LONGEST_LABELS - 9].trim_end_matches(['-', '.']);
    format!("{begin}-{}", &sum[..8])
}

/// `text` with all characters replaced that are awkward in a file name.
fn plain(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "._+".contains(c) { c } else { '-' };
    let word: String = text.trim().chars().map(keep).collect();
    let word = word.trim_matches(['-', '.']).to_owned();
    if word.is_empty() { "unnamed".to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_are_readable_and_stay_below_the_root() {
        let manifest = Manifest {
            name: "../drill 80".into(),
            labels: vec![("balance".into(), "drill".into()), ("traffic.trace.load".into(), "0.8".into())],
            hash: "0123456789abcdef".into(),
            seed: 3,
            ..Manifest::default()
        };
        assert_eq!(manifest.title(), "../drill 80: balance = drill, load = 0.8");
        assert_eq!(manifest.path().to_str(), Some("drill-80/drill-0.8-01234567/seed-3"));
    }

    /// Most file systems allow 255 bytes; named cases may have equal settings, and thus equal hashes.
    #[test]
    fn long_labels_are_cut_and_stay_apart() {
        let folder = |value: &str| {
            let labels = vec![("case".into(), value.to_owned()), ("balance".into(), "drill".into())];
            Manifest { labels, hash: "0123456789abcdef".into(), ..Manifest::default() }.case_folder()
        };
        let (one, other) = (folder(&"ö 1".repeat(100)), folder(&format!("{}2", "ö 1".repeat(100))));
        for name in [&one, &other] {
            assert!(name.is_ascii() && (80..=109).contains(&name.len()), "{name}");
            assert!(name.starts_with("1--1--1") && name.ends_with("-01234567"), "{name}");
        }
        assert_ne!(one, other);
        assert_eq!(folder(&"x".repeat(94)), format!("{}-drill-01234567", "x".repeat(94)));
    }
}
