//! Configuration files of switches and hosts, read and judged by rules: `weft lint`.
//!
//! ```text
//! files --read--> model (switches, ports, buffers, hosts) --rules--> findings --show--> text, JSON, SARIF
//! ```
//!
//! Readers know formats and no rules; rules know the model and no format. So a rule holds for every format, and several
//! files can be judged together as one network. In reading order: `model`, `rules`, `formula`, `read`, `show`. Knows no
//! engine and simulates nothing.
//!
//! ```
//! use weft_lint::{Input, Options, lint};
//! let text = "net.ipv4.tcp_congestion_control = dctcp\n\
//!             net.ipv4.tcp_ecn_fallback = 0\nnet.ipv4.tcp_ecn = 0\n".to_owned();
//! let report = lint(vec![Input { name: "hosts.conf".into(), text, kind: None }], &Options::default())?;
//! assert_eq!(report.findings[0].rule, "dctcp-ecn-off");
//! assert_eq!((report.findings[0].line, report.findings[0].column), (3, 1));
//! # Ok::<(), weft_lint::Refused>(())
//! ```

mod formula;
mod json;
mod model;
mod page;
mod place;
mod read;
mod rule;
mod rules;
mod show;

pub use model::{Metres, Site};
pub use page::{explain, page};
pub use read::Kind;
pub use rule::{Level, Rule};
pub use rules::rules;

use model::Network;
use place::{Source, line_column};
use rule::{Findings, Found};
use weft_core::units::did_you_mean;

/// A file to be judged.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name, for messages and to guess what it is.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it is; `None`: guess.
    pub kind: Option<Kind>,
}

/// What is judged, and what is known besides the files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only these rules; empty: all.
    pub only: Vec<String>,
    /// Not these rules.
    pub allow: Vec<String>,
    /// What stands in no file.
    pub site: Site,
}

/// A finding, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How much it weighs.
    pub level: Level,
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// The ports or queues concerned; empty if it concerns the file.
    pub subjects: Vec<String>,
    /// What is wrong, with figures.
    pub says: String,
    /// How to mend it.
    pub mend: String,
    /// In which cases of a scenario's sweep, and of how many; empty if in all.
    pub cases: (Vec<String>, usize),
}

/// What the rules found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// By file, line and rule.
    pub findings: Vec<Finding>,
    /// Rules that could not look, and what they lack.
    pub unchecked: Vec<(&'static str, String)>,
    /// How many files were read.
    pub files: usize,
}

/// Why files or options cannot be used: everything at once, a line for each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Refused(pub Vec<String>);

/// Judges configuration files together, as one network, and each scenario by itself.
///
/// # Errors
/// [`Refused`] with all files that cannot be read, each with its line, and all names of rules that do not exist.
pub fn lint(inputs: Vec<Input>, options: &Options) -> Result<Report, Refused> {
    let mut refusals = unknown_rules(options);
    let kinds: Vec<Option<Kind>> =
        inputs.iter().map(|input| input.kind.or_else(|| Kind::of(&input.name, &input.text))).collect();
    let sources: Vec<Source> =
        inputs.into_iter().map(|input| Source { name: input.name, text: input.text }).collect();
    let networks = networks((&sources, &kinds), &options.site, &mut refusals);
    if !refusals.is_empty() {
        return Err(Refused(refusals));
    }
    let mut findings = Findings::new();
    for rule in rules().filter(|rule| wanted(rule, options)) {
        networks.iter().for_each(|network| findings.look(rule, network));
    }
    Ok(report(findings, &sources))
}

/// All configuration files are one network; each case of a scenario is a whole network by itself.
fn networks(
    (sources, kinds): (&[Source], &[Option<Kind>]),
    site: &Site,
    refusals: &mut Vec<String>,
) -> Vec<Network> {
    let mut files = Network { site: site.clone(), ..Network::default() };
    let mut networks = Vec::new();
    for (number, (source, kind)) in sources.iter().zip(kinds).enumerate() {
        let read = kind.ok_or_else(|| nameless(source));
        match read.and_then(|kind| read::read(kind, (number, source), &mut files)) {
            Ok(cases) => networks.extend(cases),
            Err(refusal) => refusals.push(refusal),
        }
    }
    networks.insert(0, files);
    networks
}

fn nameless(source: &Source) -> String {
    let words = Kind::WORDS.map(|(word, _)| word).join(", ");
    format!("{}: nothing tells what kind of file this is; say it with --as, one of: {words}", source.name)
}

fn unknown_rules(options: &Options) -> Vec<String> {
    options.only.iter().chain(&options.allow).filter_map(|id| find(id).err()).collect()
}

/// The rule of this id, or what to say if there is none.
fn find(id: &str) -> Result<&'static Rule, String> {
    let ids = || rules().map(|rule| rule.id);
    let unknown = || format!("there is no rule `{id}`{}", did_you_mean(id, ids()));
    rules().find(|rule| rule.id == id).ok_or_else(unknown)
}

fn wanted(rule: &Rule, options: &Options) -> bool {
    let named = |list: &[String]| list.iter().any(|id| id == rule.id);
    (options.only.is_empty() || named(&options.only)) && !named(&options.allow)
}

fn report(mut findings: Findings, sources: &[Source]) -> Report {
    findings.list.sort_by_key(|found| found.at);
    let told = findings.list.into_iter().map(|found| told(found, sources)).collect();
    Report { findings: told, unchecked: findings.unchecked, files: sources.len() }
}

fn told(found: Found, sources: &[Source]) -> Finding {
    let source = &sources[found.at.file];
    let (line, column) = line_column(&source.text, found.at.at);
    let subjects = found.subjects.into_iter().filter(|subject| !subject.is_empty()).collect();
    Finding {
        rule: found.rule,
        level: found.level,
        file: source.name.clone(),
        line,
        column,
        subjects,
        says: found.says,
        mend: found.mend,
        cases: match found.cases.len() == found.of {
            true => (Vec::new(), found.of),
            false => (found.cases, found.of),
        },
    }
}

impl Report {
    /// The greatest level of all findings.
    #[must_use]
    pub fn worst(&self) -> Option<Level> {
        self.findings.iter().map(|finding| finding.level).max()
    }
}
