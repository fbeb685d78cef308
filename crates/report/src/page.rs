//! The contents of a report page, before it is written as HTML: headline, cards, networks, figures, how to repeat.

mod build;
mod incidents;
mod parts;

pub use build::{of_run, of_sweep};

use crate::detail::NetworkColumns;
use crate::figure::Figure;
use crate::listing::ExpectationVerdict;
use serde::Serialize;

/// A number with its label, shown prominently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The label.
    pub label: String,
    /// The value.
    pub value: String,
    /// How it differs from the baseline: `−22 %`; empty without one.
    pub difference: String,
    /// Its subject and context.
    pub note: String,
}

/// A part of the page with its own heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Fragment of its address.
    pub id: String,
    /// Heading.
    pub title: String,
    /// The question it answers, in a sentence.
    pub lead: String,
    /// Its plots.
    pub figures: Vec<Figure>,
}

/// The values of the axis from which the reader chooses, for figures that show one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Views {
    /// The name of the axis: `offered load`.
    pub name: String,
    /// The choices; with fewer than two there is nothing to choose.
    pub labels: Vec<String>,
    /// The initial choice.
    pub selected: usize,
}

/// The drawing of a network under one scheme at one point of the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkView {
    /// The scheme: index into the page's list.
    pub scheme: usize,
    /// The point of the axis.
    pub view: usize,
    /// The network.
    pub network: NetworkColumns,
}

/// What the command of a page gives when it runs again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameCommand {
    /// The same numbers.
    #[default]
    Repeats,
    /// Other numbers: they are measured on real hosts.
    MeasuresAgain,
    /// The same numbers but for those timed on this machine, or of runs that were stopped.
    RepeatsMost,
}

impl SameCommand {
    /// As a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            SameCommand::Repeats => "The same command gives the same numbers, to the last bit.",
            SameCommand::MeasuresAgain => {
                "Measured on real hosts: the same command measures again, and its numbers differ."
            }
            SameCommand::RepeatsMost => {
                "The same command gives the same numbers, to the last bit; what is timed on this machine, and runs that were stopped, differ."
            }
        }
    }
}

/// How to repeat what the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeat {
    /// Facts in order: name and value.
    pub facts: Vec<(String, String)>,
    /// What the same command gives.
    pub same_command: SameCommand,
    /// The complete scenario, TOML, or empty if there are several; lines that end in `# default` are shown dim.
    pub scenario: String,
    /// Verdicts on expectations.
    pub verdicts: Vec<ExpectationVerdict>,
    /// Settings that differ between the two sides of a comparison: key, one side, other side.
    pub differences: Vec<(String, String, String)>,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// Its title.
    pub title: String,
    /// Column names.
    pub header: Vec<String>,
    /// The rows; the first cell names the row.
    pub rows: Vec<Vec<String>>,
    /// Whether its cells are sentences rather than figures.
    pub is_prose: bool,
}

/// The slowest flows of a run, for a table that readers filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowTable {
    /// The flows, the slowest first.
    pub flows: Vec<crate::detail::SlowFlow>,
    /// The names of the hops.
    pub hops: Vec<String>,
    /// The command that traces one of them, without its number.
    pub command: String,
}

/// The runs of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseRuns {
    /// The case: `drill, 80 %`.
    pub name: String,
    /// Seeds and addresses of their pages.
    pub runs: Vec<(u64, String)>,
}

/// A whole page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Name of the scenario or of the comparison.
    pub name: String,
    /// Its subject, one line.
    pub about: String,
    /// Warnings that qualify the result.
    pub warnings: Vec<String>,
    /// The answer.
    pub headline: String,
    /// At most five numbers.
    pub cards: Vec<Card>,
    /// The schemes, in the order of their colours.
    pub schemes: Vec<String>,
    /// The number of schemes of one side of a comparison, if the other has the same: they get the same colours.
    pub side: Option<usize>,
    /// The setting by which the schemes differ: `balance`.
    pub scheme_name: String,
    /// The schemes initially shown side by side: baseline and best.
    pub pair: Vec<usize>,
    /// The choice of the point on the axis.
    pub views: Views,
    /// Networks to draw.
    pub networks: Vec<NetworkView>,
    /// A drawing of the symmetric components, SVG; may be empty.
    pub quiver: String,
    /// Cluster jobs over time; of a single run only.
    pub jobs: Vec<crate::detail::JobChart>,
    /// Tasks of these jobs that did not end, each with its step.
    pub open_tasks: Vec<String>,
    /// The parts with plots.
    pub sections: Vec<Section>,
    /// The slowest flows; of a single run only.
    pub slow: SlowTable,
    /// The page of every run; of a sweep only.
    pub runs: Vec<CaseRuns>,
    /// All numbers as a table.
    pub numbers: TextTable,
    /// Results by traffic entry, if there are several.
    pub traffic: Option<TextTable>,
    /// Failures and pause storms, if there are several; of a single run only.
    pub incidents: Option<TextTable>,
    /// How to repeat the runs.
    pub repeat: Repeat,
}
