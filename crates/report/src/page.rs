//! The contents of a report page, before it is written as HTML: headline, cards, networks, figures, how to repeat.

mod build;
mod parts;

pub use build::{of_run, of_sweep};

use crate::detail::NetworkColumns;
use crate::figure::Figure;
use crate::listing::ExpectationVerdict;
use serde::Serialize;

/// A number to be seen at a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Card {
    /// What it is.
    pub label: String,
    /// The value.
    pub value: String,
    /// The comparison or the context.
    pub note: String,
}

/// A part of the page with its own heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Name in the address.
    pub id: String,
    /// Heading.
    pub title: String,
    /// One sentence on what it answers.
    pub lead: String,
    /// Its plots.
    pub figures: Vec<Figure>,
}

/// Values of the axis among which the reader chooses for figures that show one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Views {
    /// What is chosen: `offered load`.
    pub name: String,
    /// The choices; fewer than two: nothing to choose.
    pub labels: Vec<String>,
    /// The choice at first.
    pub selected: usize,
}

/// The drawing of a network under one scheme at one place of the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkView {
    /// The scheme: index into the page's list.
    pub scheme: usize,
    /// The place of the axis.
    pub view: usize,
    /// What is drawn.
    pub network: NetworkColumns,
}

/// How to repeat what the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeat {
    /// Facts in order: name, value.
    pub facts: Vec<(String, String)>,
    /// The complete scenario, TOML; lines that end in `# default` are shown dim.
    pub scenario: String,
    /// Judged expectations.
    pub verdicts: Vec<ExpectationVerdict>,
    /// Settings that differ between the two sides of a comparison: key, one side, other side.
    pub differences: Vec<(String, String, String)>,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// What it shows.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows; the first cell names the row.
    pub rows: Vec<Vec<String>>,
}

/// A whole page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Name of the scenario or of the comparison.
    pub name: String,
    /// What it is about, one line.
    pub about: String,
    /// What spoils the result.
    pub warnings: Vec<String>,
    /// The answer.
    pub headline: String,
    /// At most five.
    pub cards: Vec<Card>,
    /// Names in the order of their colours.
    pub schemes: Vec<String>,
    /// What the schemes are: `balance`.
    pub scheme_name: String,
    /// The schemes shown side by side at first: baseline and best.
    pub pair: Vec<usize>,
    /// Choices of the place on the axis.
    pub views: Views,
    /// Networks to draw.
    pub networks: Vec<NetworkView>,
    /// A drawing of the components of the paths, SVG; may be empty.
    pub quiver: String,
    /// The parts with plots.
    pub sections: Vec<Section>,
    /// All numbers as a table.
    pub numbers: TextTable,
    /// How to repeat it.
    pub repeat: Repeat,
}
