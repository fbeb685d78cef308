//! `weft lint`: checks switch and host configuration files against rules.

use crate::console;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use weft::{FileKind, LintFile, LintOptions, Severity, Surroundings};

/// Arguments of `weft lint`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft lint config_db.json --memory '32 MB'
  weft lint --one-device ports.json buffers.json qos.json
  weft lint --explain ecn-after-pfc

Exits with 1 for findings at or above --fail-on, 2 for unreadable files.")]
pub(crate) struct LintArguments {
    /// SONiC, Arista EOS, sysctl, tuned, shell or Weft files: one network
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,
    /// sonic, eos, sysctl, tuned, shell or scenario
    #[arg(long = "as", value_name = "KIND", hide_possible_values = true)]
    kind: Option<Kind>,
    /// Output: text, json or sarif
    #[arg(long, default_value = "text", hide_possible_values = true)]
    format: Format,
    /// Apply only these rules
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    rule: Vec<String>,
    /// Skip these rules
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    allow: Vec<String>,
    /// The files belong to one switch or host
    #[arg(long)]
    one_device: bool,
    /// Hide the findings listed in this baseline
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline")]
    baseline: Option<PathBuf>,
    /// Write the findings to this baseline
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// note, warning or error
    #[arg(long, value_name = "LEVEL", default_value = "warning", hide_possible_values = true)]
    fail_on: Level,
    /// Line rate of the hosts
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Round-trip time between hosts without queueing
    #[arg(long, value_name = "TIME")]
    rtt: Option<String>,
    /// Packet memory per switch
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Cell size of the packet memory, such as '256 B'
    #[arg(long, value_name = "SIZE")]
    cell: Option<String>,
    /// Assumed length of unknown cables, such as '40 m'
    #[arg(long, value_name = "LENGTH")]
    cable: Option<String>,
    /// Explain a rule, or all rules
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "")]
    explain: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Sonic,
    Eos,
    Sysctl,
    Tuned,
    Shell,
    Scenario,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

#[derive(Clone, Copy, ValueEnum)]
enum Level {
    Note,
    Warning,
    Error,
}

impl LintArguments {
    /// Checks the files, or explains a rule.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        if let Some(id) = &self.explain {
            console::show(&weft::lint_rule(Some(id.as_str()).filter(|id| !id.is_empty()))?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let site = self.site()?;
        let file = |path: PathBuf| LintFile { path, kind: self.kind.map(kind) };
        let files: Vec<LintFile> = self.files.into_iter().map(file).collect();
        let (one_device, baseline) = (self.one_device, self.baseline);
        if let Some(path) = &self.write_baseline {
            weft::lint_baseline_place(path)?;
        }
        let options = LintOptions { only: self.rule, allow: self.allow, site, one_device, baseline };
        let report = weft::lint(&files, &options)?;
        if let Some(path) = &self.write_baseline {
            let told = |error| weft::Error::Failed(format!("cannot write {}: {error}", path.display()));
            std::fs::write(path, &report.baseline).map_err(told)?;
            console::show(&format!("{} findings written to {}\n", report.findings, path.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        console::show(match self.format {
            Format::Text => &report.text,
            Format::Json => &report.json,
            Format::Sarif => &report.sarif,
        })?;
        let failed = report.worst.is_some_and(|worst| worst >= level(self.fail_on));
        Ok(ExitCode::from(if failed { console::FAILED } else { 0 }))
    }

    /// The figures given on the command line; reports all mistakes at once.
    fn site(&self) -> Result<Surroundings, weft::Error> {
        let mut wrong = Vec::new();
        let site = Surroundings {
            rtt: figure("--rtt", self.rtt.as_deref(), &mut wrong),
            rate: figure("--rate", self.rate.as_deref(), &mut wrong),
            memory: figure("--memory", self.memory.as_deref(), &mut wrong),
            cell: figure("--cell", self.cell.as_deref(), &mut wrong),
            cable: figure("--cable", self.cable.as_deref(), &mut wrong),
        };
        if wrong.is_empty() { Ok(site) } else { Err(weft::Error::BadInput(wrong.join("\n"))) }
    }
}

fn figure<Q: std::str::FromStr>(option: &str, text: Option<&str>, wrong: &mut Vec<String>) -> Option<Q>
where
    Q::Err: std::fmt::Display,
{
    match text?.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            wrong.push(format!("{option}: {error}"));
            None
        }
    }
}

fn kind(kind: Kind) -> FileKind {
    match kind {
        Kind::Sonic => FileKind::Sonic,
        Kind::Eos => FileKind::Eos,
        Kind::Sysctl => FileKind::Sysctl,
        Kind::Tuned => FileKind::Tuned,
        Kind::Shell => FileKind::Shell,
        Kind::Scenario => FileKind::Scenario,
    }
}

fn level(level: Level) -> Severity {
    match level {
        Level::Note => Severity::Note,
        Level::Warning => Severity::Warning,
        Level::Error => Severity::Error,
    }
}
