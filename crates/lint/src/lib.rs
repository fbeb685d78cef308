//! Checks configuration files of switches and hosts against rules: `weft lint`.
//!
//! ```text
//! files --read--> model (switches, ports, buffers, hosts) --rules--> findings --show--> text, JSON, SARIF
//! ```
//!
//! The model and the readers of devices are in `weft-device-config`; `read` adds that of Weft's own scenarios, which needs
//! the simulator's settings. Readers must not depend on rules, nor rules on formats. So a rule applies to every format,
//! and several files can be checked together as one network. In reading order: `rules`, `formula`, `read`, `show`. Must
//! not depend on engines.
//!
//! ```
//! use weft_lint::{Input, RuleOptions, lint};
//! let text = "net.ipv4.tcp_congestion_control = dctcp\n\
//!             net.ipv4.tcp_ecn_fallback = 0\nnet.ipv4.tcp_ecn = 0\n".to_owned();
//! let report = lint(vec![Input { name: "hosts.conf".into(), text, kind: None }], &RuleOptions::default())?;
//! assert_eq!(report.findings[0].rule, "dctcp-ecn-off");
//! assert_eq!((report.findings[0].line, report.findings[0].column), (3, 1));
//! # Ok::<(), weft_lint::LintError>(())
//! ```

mod baseline;
mod formula;
mod page;
mod read;
mod rule;
mod rules;
mod show;

pub use baseline::{Known, is_baseline};
pub use page::{explain, page};
pub use rule::{Rule, Severity};
pub use rules::rules;
pub use weft_device_config::FileKind;
pub use weft_device_config::model::{Metres, Surroundings};
pub use weft_device_config::told::Coverage;

use baseline::Baseline;
use rule::{Findings, Found};
use std::collections::BTreeSet;
use weft_config::place::{Cursor, SourceFile};
use weft_core::units::did_you_mean;
use weft_device_config::model::Network;
use weft_device_config::told::Silenced;
use weft_device_config::{ConfigFile, is_sysctl_d};

/// A file to be checked.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name, used in messages and to guess its kind.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its kind; `None`: guess.
    pub kind: Option<FileKind>,
}

/// What to check, and facts that no file contains.
#[derive(Clone, Debug, Default)]
pub struct RuleOptions {
    /// Only these rules; empty: all.
    pub only: Vec<String>,
    /// Rules that are not applied.
    pub allow: Vec<String>,
    /// Facts about the network that no file contains.
    pub site: Surroundings,
    /// Whether files of one kind are parts of one switch, or of one host.
    pub one_device: bool,
    /// A file of known findings that are not shown: its name and its text.
    pub baseline: Option<(String, String)>,
}

/// A finding, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// Its severity.
    pub level: Severity,
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// The ports or queues concerned; empty if it concerns the whole file.
    pub subjects: Vec<String>,
    /// The problem, with figures.
    pub says: String,
    /// How to fix it.
    pub fix: String,
    /// The cases of a scenario's sweep in which it occurs, and the number of cases; empty if it occurs in all.
    pub cases: (Vec<String>, usize),
}

/// The findings of the rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Findings, sorted by file, line and rule.
    pub findings: Vec<Finding>,
    /// Rules that could not be applied, and the facts they lack.
    pub unchecked: Vec<(&'static str, String)>,
    /// Number of files read.
    pub files: usize,
    /// The parts read from each file: its name, its kind, and its coverage.
    pub read: Vec<(String, FileKind, Coverage)>,
    /// The result of applying the baseline, if there is one.
    pub known: Option<Known>,
}

/// Why files or options cannot be used: all problems, one per line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct LintError(pub Vec<String>);

/// Checks configuration files together, as one network, and each scenario by itself.
///
/// # Errors
/// [`LintError`] with all files that cannot be read, each with its line, and all unknown rules.
pub fn lint(inputs: Vec<Input>, options: &RuleOptions) -> Result<Report, LintError> {
    let mut refusals = unknown_rules(options);
    let baseline = options.baseline.as_ref().map(|(name, text)| Baseline::read(name, text)).transpose();
    let baseline = baseline.unwrap_or_else(|refusal| {
        refusals.push(refusal);
        None
    });
    let kinds: Vec<Option<FileKind>> =
        inputs.iter().map(|input| input.kind.or_else(|| FileKind::of(&input.name, &input.text))).collect();
    let sources: Vec<SourceFile> =
        inputs.into_iter().map(|input| SourceFile { name: input.name, text: input.text }).collect();
    let mut networks = networks((&sources, &kinds), options, &mut refusals);
    if !refusals.is_empty() {
        return Err(LintError(refusals));
    }
    let mut findings = Findings::new(std::mem::take(&mut networks[0].silenced));
    for rule in rules().filter(|rule| wanted(rule, options)) {
        networks.iter().for_each(|network| findings.look(rule, network));
    }
    silenced_for_nothing(&mut findings, options);
    let mut report = report(findings, &sources);
    report.read = read_of((&sources, &kinds), &mut networks[0]);
    if let Some(baseline) = baseline {
        baseline.take_out(&mut report);
    }
    Ok(report)
}

/// The networks to check: all configuration files together form the first; each case of a scenario is another.
fn networks(
    (sources, kinds): (&[SourceFile], &[Option<FileKind>]),
    options: &RuleOptions,
    refusals: &mut Vec<String>,
) -> Vec<Network> {
    let mut files = Network { site: options.site.clone(), ..Network::default() };
    let mut networks = Vec::new();
    let (mut known, mut refused) = (Vec::new(), Vec::new());
    for (number, (source, kind)) in sources.iter().zip(kinds).enumerate() {
        match kind {
            Some(kind) => known.push((number, source, *kind)),
            None => refused.push((number, vec![nameless(source)])),
        }
    }
    for device in devices(&known, options.one_device) {
        match read::read(&device, &mut files) {
            Ok(cases) => {
                networks.extend(cases);
                idle_parts(&device, &mut files);
            }
            Err(told) => refused.push((device[0].0, told)),
        }
    }
    refused.sort_by_key(|(number, _)| *number);
    refusals.extend(refused.into_iter().flat_map(|(_, told)| told));
    networks.insert(0, files);
    networks
}

/// Records the files of a device that contribute nothing, although another of its files does.
fn idle_parts(device: &[ConfigFile<'_>], network: &mut Network) {
    let of_device: BTreeSet<usize> = device.iter().map(|(number, ..)| *number).collect();
    let here = network.coverage.iter().filter(|(file, _)| of_device.contains(file));
    let idle: Vec<usize> =
        here.filter(|(_, coverage)| coverage.read.is_empty()).map(|(file, _)| *file).collect();
    if idle.len() < of_device.len() {
        network.idle_parts.extend(idle);
    }
}

/// The files of each device: every file by itself, except that files in a folder `sysctl.d` belong together, in the
/// order of their names, as a host applies them; with `one_device` all switch files of a kind and all host files belong
/// together, in the order of the command line.
fn devices<'a>(files: &[ConfigFile<'a>], one_device: bool) -> Vec<Vec<ConfigFile<'a>>> {
    let mut devices: Vec<Vec<ConfigFile<'a>>> = Vec::new();
    for file @ (_, source, kind) in files {
        let same = |device: &&mut Vec<ConfigFile<'_>>| {
            let (_, first, other) = device[0];
            let folder = [first, source].iter().all(|source| is_sysctl_d(&source.name));
            match (kind, other) {
                (FileKind::Scenario, _) => false,
                (FileKind::Sysctl, FileKind::Sysctl) if folder => true,
                _ => one_device && (*kind == other || kind.is_host() && other.is_host()),
            }
        };
        match devices.iter_mut().find(same) {
            Some(device) => device.push(*file),
            None => devices.push(vec![*file]),
        }
    }
    let in_folder =
        |(_, source, kind): &ConfigFile<'_>| *kind == FileKind::Sysctl && is_sysctl_d(&source.name);
    for device in devices.iter_mut().filter(|device| device.iter().all(in_folder)) {
        device.sort_by_key(|(_, source, _)| source.name.rsplit('/').next().map(str::to_owned));
    }
    devices
}

/// Reports comments that silence an unknown rule, or a rule that has no finding there.
fn silenced_for_nothing(findings: &mut Findings, options: &RuleOptions) {
    let Some(rule) = rules().find(|rule| rule.id == "silenced-for-nothing") else { return };
    if !wanted(rule, options) {
        return;
    }
    findings.begin(rule);
    let lacking: Vec<&str> = findings.unchecked.iter().map(|(rule, _)| *rule).collect();
    let looked = |id: &str| find(id).is_ok_and(|rule| wanted(rule, options)) && !lacking.contains(&id);
    let mut told = Vec::new();
    for (Silenced { at, rules, .. }, used) in &findings.silenced {
        if rules.is_empty() {
            let words =
                ("the comment silences no rule".to_owned(), "name the rules after `allow`".to_owned());
            told.push((Severity::Error, *at, words));
        }
        for id in rules {
            let level = match find(id) {
                Err(unknown) => (Severity::Error, unknown, "correct the name".to_owned()),
                Ok(_) if looked(id) && !used.contains(id.as_str()) => {
                    (Severity::Note, format!("{id} has no finding here"), "remove the comment".to_owned())
                }
                Ok(_) => continue,
            };
            told.push((level.0, *at, (level.1, level.2)));
        }
    }
    told.into_iter().for_each(|(level, at, words)| findings.add_as(level, (at, ""), words));
}

/// The coverage of each file, in the order of the command line.
fn read_of(
    (sources, kinds): (&[SourceFile], &[Option<FileKind>]),
    network: &mut Network,
) -> Vec<(String, FileKind, Coverage)> {
    let mut all = std::mem::take(&mut network.coverage);
    all.sort_by_key(|(file, _)| *file);
    let of = |(file, coverage): (usize, Coverage)| Some((sources[file].name.clone(), kinds[file]?, coverage));
    all.into_iter().filter_map(of).collect()
}

fn nameless(source: &SourceFile) -> String {
    let words = FileKind::WORDS.map(|(word, _)| word).join(", ");
    format!("{}: cannot tell what kind of file this is; give --as with one of: {words}", source.name)
}

fn unknown_rules(options: &RuleOptions) -> Vec<String> {
    options.only.iter().chain(&options.allow).filter_map(|id| find(id).err()).collect()
}

/// The rule with this id, or an error message.
fn find(id: &str) -> Result<&'static Rule, String> {
    let ids = || rules().map(|rule| rule.id);
    let unknown = || format!("there is no rule `{id}`{}", did_you_mean(id, ids()));
    rules().find(|rule| rule.id == id).ok_or_else(unknown)
}

fn wanted(rule: &Rule, options: &RuleOptions) -> bool {
    let named = |list: &[String]| list.iter().any(|id| id == rule.id);
    (options.only.is_empty() || named(&options.only)) && !named(&options.allow)
}

fn report(mut findings: Findings, sources: &[SourceFile]) -> Report {
    findings.list.sort_by_key(|found| found.at);
    let mut cursor = Cursor::default();
    let told = findings.list.into_iter().map(|found| told(found, &mut cursor, sources)).collect();
    Report { findings: told, unchecked: findings.unchecked, files: sources.len(), ..Report::default() }
}

fn told(found: Found, cursor: &mut Cursor, sources: &[SourceFile]) -> Finding {
    let source = &sources[found.at.file];
    let (line, column) = cursor.at(found.at, &source.text);
    let subjects = found.subjects.into_iter().filter(|subject| !subject.is_empty()).collect();
    Finding {
        rule: found.rule,
        level: found.level,
        file: source.name.clone(),
        line,
        column,
        subjects,
        says: found.says,
        fix: found.fix,
        cases: match found.cases.len() == found.of {
            true => (Vec::new(), found.of),
            false => (found.cases, found.of),
        },
    }
}

impl Report {
    /// The highest severity of all findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.level).max()
    }
}
