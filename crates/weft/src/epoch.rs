//! The results epoch: two programs with one epoch compute the same results. It is a hash over the digests of the
//! reference runs, small scenarios in `crates/weft/results` that together use every part. A change that alters a
//! result alters a digest; a test then requires the list to be rewritten, and the epoch changes with the list. So
//! results of an older epoch are never mistaken for current ones, whether or not the sources are a git checkout.
//!
//! A run has two digests. The digest of its *results* covers the values known when the epoch began: a new column, a new
//! metric or a new reference run does not begin a new epoch, because earlier values stay valid. The digest of its
//! *files* covers every byte and decides whether a complete run can be reused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use weft_core::Checksum;

use crate::Error;

mod digest;
mod scope;

pub use digest::reference_digests;
pub use scope::{holds_since, record_scope};

/// The list this program was built with.
const LIST: &str = include_str!("../results/digests.txt");

/// The names of values this program was built with.
const VALUES: &str = include_str!("../results/values.txt");

/// The list's file name, beside the scenarios.
const LIST_FILE: &str = "digests.txt";

/// The file name of the names of values.
const VALUES_FILE: &str = "values.txt";

/// The key of the line that changes the epoch by hand, for a change of results that no reference run shows.
const REVISION: &str = "revision";

/// The digest of results of a run that was added after the epoch began.
const ADDED: &str = "added";

const LIST_HEAD: &str = "\
# Digests of the reference runs, one line each: results, files. The results epoch of Weft is a hash over the first.
# Never edit it by hand: `cargo xtask results --write` runs the scenarios and writes it; `cargo xtask results --raise`
# also raises the revision, for a change of results that no reference run reveals.
";

const VALUES_HEAD: &str = "\
# The values that digests of results cover: columns of tables and leaves of summary.json, as of the beginning of the
# results epoch. Written by `cargo xtask results --write`.
";

/// The outcome of the reference runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// By name of the run, `balancers/drill/seed-1`.
    pub runs: BTreeMap<String, RunDigests>,
    /// Names of all values that the runs wrote, `flows.csv fct_ps`.
    pub values: BTreeSet<String>,
}

/// The digests of one reference run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDigests {
    /// Digest of the values known when the epoch began; `None` for a run added since.
    pub results: Option<String>,
    /// Digest of all values, including those added since.
    pub all: String,
    /// Digest of every byte it wrote.
    pub files: String,
}

/// The committed digests with the revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsList {
    /// The revision, raised by hand.
    pub revision: u64,
    /// The digests of every reference run.
    pub digests: Digests,
}

/// The results epoch of this program, twelve hexadecimal digits. Equal scenario, seed and epoch: equal results.
#[must_use]
pub fn epoch() -> &'static str {
    static EPOCH: LazyLock<String> = LazyLock::new(|| ResultsList::built_in().epoch());
    &EPOCH
}

/// Identifies the bytes of a run's files: the epoch and the contents of the files. A complete run is reused only if it
/// is equal.
#[must_use]
pub fn layout() -> &'static str {
    static LAYOUT: LazyLock<String> = LazyLock::new(|| ResultsList::built_in().layout());
    &LAYOUT
}

impl ResultsList {
    /// The list this program was built with.
    #[must_use]
    pub fn built_in() -> ResultsList {
        ResultsList::parse(LIST, VALUES)
    }

    /// The list in a folder of reference scenarios; empty when there is none.
    #[must_use]
    pub fn of(folder: &Path) -> ResultsList {
        let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        ResultsList::parse(&text(LIST_FILE), &text(VALUES_FILE))
    }

    fn parse(list: &str, values: &str) -> ResultsList {
        let content = |line: &&str| !line.starts_with('#') && !line.is_empty();
        let mut parsed = ResultsList::default();
        parsed.digests.values = values.lines().filter(content).map(str::to_owned).collect();
        for line in list.lines().filter(content) {
            match line.strip_prefix(REVISION) {
                Some(number) => parsed.revision = number.trim().parse().unwrap_or_default(),
                None => parsed.digests.runs.extend(of_line(line)),
            }
        }
        parsed
    }

    /// The epoch that follows from the list.
    #[must_use]
    pub fn epoch(&self) -> String {
        let counted =
            |(name, run): (&String, &RunDigests)| Some(format!("{name} {}\n", run.results.as_ref()?));
        let lines: String = self.digests.runs.iter().filter_map(counted).collect();
        hexadecimal(format!("{REVISION} {}\n{lines}", self.revision).as_bytes())
    }

    /// A hash over the whole list.
    #[must_use]
    pub fn layout(&self) -> String {
        hexadecimal(self.lines().as_bytes())
    }

    /// Writes the list into a folder of reference scenarios.
    ///
    /// # Errors
    /// [`Error::Failed`] when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let values: String = self.digests.values.iter().map(|name| format!("{name}\n")).collect();
        let write = |file: &str, text: String| {
            weft_report::write_text(&folder.join(file), &text).map_err(Error::from)
        };
        write(VALUES_FILE, format!("{VALUES_HEAD}{values}"))?;
        write(LIST_FILE, format!("{LIST_HEAD}{}", self.lines()))
    }

    fn lines(&self) -> String {
        let mut text = format!("{REVISION} {}\n", self.revision);
        for (name, run) in &self.digests.runs {
            let results = run.results.as_deref().unwrap_or(ADDED);
            let _ = writeln!(text, "{name} {results} {} {}", run.all, run.files);
        }
        text
    }

    /// Names of the runs whose digests differ, are missing or are new.
    #[must_use]
    pub fn differences(&self, found: &Digests) -> Vec<String> {
        let found = self.counting(found);
        let names: BTreeSet<&String> = self.digests.runs.keys().chain(found.runs.keys()).collect();
        let differs = |name: &&String| self.digests.runs.get(*name) != found.runs.get(*name);
        names.into_iter().filter(differs).cloned().collect()
    }

    /// The outcome, counting only runs that the epoch began with.
    fn counting(&self, found: &Digests) -> Digests {
        let counted = |name: &String| self.digests.runs.get(name).is_none_or(|run| run.results.is_some());
        let known = |name: &String| self.digests.runs.contains_key(name) && counted(name);
        let mut found = found.clone();
        found.runs.iter_mut().filter(|(name, _)| !known(name)).for_each(|(_, run)| run.results = None);
        found
    }

    /// The list after a change: the same epoch with additions, if every result that it covers is unchanged; otherwise
    /// a new epoch that covers every run and every value. `more` is added to the revision.
    #[must_use]
    pub fn renewed(&self, found: &Digests, more: u64) -> ResultsList {
        let counted = self.counting(found);
        if more == 0 && self.keeps(&counted) {
            let digests = Digests { values: self.digests.values.clone(), ..counted };
            return ResultsList { revision: self.revision, digests };
        }
        let mut digests = found.clone();
        digests.runs.values_mut().for_each(|run| run.results = Some(run.all.clone()));
        ResultsList { revision: self.revision + more, digests }
    }

    /// Whether this build gives the results of earlier builds of the epoch. An added run counts from the moment
    /// it is in the list: its values must not change within the epoch either.
    fn keeps(&self, found: &Digests) -> bool {
        let kept = |(name, run): (&String, &RunDigests)| {
            let now = found.runs.get(name);
            now.is_some_and(|now| now.results == run.results && (run.results.is_some() || now.all == run.all))
        };
        !self.digests.runs.is_empty() && self.digests.runs.iter().all(kept)
    }
}

/// `name results all files`; names may contain spaces.
fn of_line(line: &str) -> Option<(String, RunDigests)> {
    let mut words = line.rsplitn(4, ' ').map(str::to_owned);
    let (files, all, results, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some((name, RunDigests { results: (results != ADDED).then_some(results), all, files }))
}

fn hexadecimal(bytes: &[u8]) -> String {
    format!("{:016x}", Checksum::default().with(bytes).value())[..12].to_owned()
}
