//! The content of a plot as data: the page's script draws it and lists the same data as a table. Must not depend on
//! records or pixels.

use serde::Serialize;

/// A plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// Name in the address fragment and of downloaded files; unique on a page.
    pub id: String,
    /// A sentence with the main observation.
    pub title: String,
    /// How it was computed.
    pub caption: String,
    /// The number of samples, in words.
    pub samples: String,
    /// How it is drawn.
    pub kind: FigureKind,
    /// Index of the point on the sweep's axis it belongs to; absent: always shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<usize>,
    /// The horizontal axis (for bars and dots, the axis of their length).
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Names of the rows of bars, dots and heat maps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// Schemes of the rows, where rows are schemes: index into the page's list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub row_schemes: Vec<usize>,
    /// The data.
    pub series: Vec<Series>,
    /// Values that all rows of bars are compared with, drawn as lines across them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelMark>,
    /// Events on a horizontal axis of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventMark>,
}

/// A value on the axis of bars.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LevelMark {
    /// The value.
    pub at: f64,
    /// Its name.
    pub name: String,
    /// Whether it is a bound, drawn dotted; otherwise dashed.
    pub bound: bool,
}

/// An event, drawn as a line across the plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EventMark {
    /// Its position on the horizontal axis.
    pub at: f64,
    /// Its text.
    pub words: String,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Points joined by lines, with a band for the interval.
    #[default]
    Lines,
    /// Horizontal bars, one per row, series stacked.
    Bars,
    /// A dot with its interval per row, and a line at the reference 1.
    Dots,
    /// Coloured cells; every series is a row.
    Heat,
    /// Coloured cells of a signed quantity over two numeric axes, with the line where it is zero.
    Map,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// What it shows.
    pub name: String,
    /// The unit; empty for ratios and counts.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Positions of ticks, if they are the measured points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<f64>,
}

/// One line, one part of stacked bars, or one row of a heat map.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Index of its scheme, which determines colour, shape and dash; absent: a part or grey context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<usize>,
    /// Whether it is published data or a bound, shown for comparison; drawn dotted, and grey without a scheme.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// Whether it is an ideal that is no bound, shown for comparison; drawn dashed and grey.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ideal: bool,
    /// Positions on the horizontal axis; empty for bars, dots and heat maps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f64>,
    /// Values.
    pub y: Vec<Option<f64>>,
    /// Lower ends of the 95 % intervals; empty without intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub low: Vec<Option<f64>>,
    /// Upper ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub high: Vec<Option<f64>>,
    /// Samples behind each point; empty if `samples` of the figure covers all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub n: Vec<u64>,
    /// Index of the first point with fewer than 100 samples beyond it; from there on it is drawn faint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub few_from: Option<usize>,
    /// For each point the runs behind it: seed and link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Vec<(u64, String)>>,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(name: &str, unit: &str) -> Axis {
        Axis { name: name.to_owned(), unit: unit.to_owned(), ..Axis::default() }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(name: &str, unit: &str) -> Axis {
        Axis { log: true, ..Axis::linear(name, unit) }
    }
}

/// A metric divided by a scale, so that its unit suits its magnitude.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// Units of the metric per plotted unit.
    pub scale: f64,
    /// The plotted unit.
    pub unit: String,
}

impl Scaled {
    /// The unit that suits values up to `greatest` of a metric in `unit`. Shares are plotted in per cent.
    #[must_use]
    pub fn fitting(greatest: f64, unit: &str, share: bool) -> Scaled {
        let (scale, unit) = match unit {
            "us" => crate::text::duration_unit(greatest),
            "B" => crate::text::size_unit(greatest),
            "" if share => (0.01, "%"),
            unit => (1.0, unit),
        };
        Scaled { scale, unit: unit.to_owned() }
    }

    /// A value in the plotted unit, rounded to five significant digits.
    #[must_use]
    pub fn of(&self, value: f64) -> f64 {
        crate::text::plotted(value / self.scale)
    }
}
