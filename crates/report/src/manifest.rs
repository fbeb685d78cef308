//! How to repeat a run: who computed what, from which input, with which program. Reads no clock; the caller brings
//! the times.

use serde::{Deserialize, Serialize};

/// The contents of `manifest.json`.
///
/// Equal inputs give equal bytes in every file of a run, except what clock and machine say: here `wall_s`,
/// `peak_memory_bytes` and `host`, in `summary.json` and in the table of the sweep `wall_s`, and the line that shows it
/// in `report.html`. (`inputs` and the commands carry the path of the scenario as it was typed.)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Version of the program.
    pub version: String,
    /// Commit it was built from; empty when unknown.
    pub commit: String,
    /// Results epoch of the program: equal scenario, seed and epoch give equal results. Empty before there were epochs.
    pub epoch: String,
    /// Name of the scenario.
    pub name: String,
    /// What the scenario is about, one line; may be empty.
    pub about: String,
    /// The values of the sweep's axes for this run, in the order of the axes: dotted key, value as written.
    pub labels: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
    /// The command that repeats this run.
    pub command: String,
    /// The command that repeats all runs it was computed with.
    pub command_of_all: String,
    /// Content hash over everything that can change the result, hexadecimal.
    pub hash: String,
    /// Hash of the list of flows, hexadecimal: FNV-1a over start (ps), source, destination, size (bytes) and number of the
    /// traffic entry of every flow in order. Runs with equal hashes carry the same flows, whatever carries them.
    pub flows_hash: String,
    /// Hashes of the input files: path as written in the scenario, hexadecimal hash.
    pub inputs: Vec<(String, String)>,
    /// The engine that ran it; empty: the packet engine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// Processor and operating system, for judging the wall time.
    pub host: String,
    /// Computing time by the wall clock, seconds.
    pub wall_s: f64,
    /// Threads used.
    pub threads: u32,
    /// Events handled.
    pub events: u64,
    /// Peak memory of the process, bytes; zero when unknown.
    pub peak_memory_bytes: u64,
}

impl Manifest {
    /// `drill-80: balance = drill, load = 0.8`: the name, and what the labels say.
    #[must_use]
    pub fn title(&self) -> String {
        self.case().map_or_else(|| self.name.clone(), |case| format!("{}: {case}", self.name))
    }

    /// `balance = drill, load = 0.8`: what the labels say, if there are any.
    #[must_use]
    pub fn case(&self) -> Option<String> {
        let word = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let labels: Vec<String> =
            self.labels.iter().map(|(key, value)| format!("{} = {value}", word(key))).collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    }

    /// The case's folder name: what its labels say, and eight digits of the hash.
    #[must_use]
    pub fn case_folder(&self) -> String {
        let words = self.labels.iter().map(|(_, value)| plain(value));
        let case =
            if self.labels.is_empty() { "case".to_owned() } else { words.collect::<Vec<_>>().join("-") };
        let hash: String = self.hash.chars().take(8).collect();
        format!("{case}-{hash}")
    }

    /// Where the run lies below the folder of all runs: `<name>/<case>-<hash8>/seed-1`.
    #[must_use]
    pub fn path(&self) -> std::path::PathBuf {
        [plain(&self.name), self.case_folder(), format!("seed-{}", self.seed)].iter().collect()
    }
}

/// `text` with everything that is awkward in a file name replaced.
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
}
