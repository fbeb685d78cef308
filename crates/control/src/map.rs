//! `weft fluid sweep`: the phase margin over two settings. The scenario is read once for each value of either setting,
//! and the changed numbers are combined for every pair, so that a point costs only a fixed point and a response.

use std::fmt::Write;
use std::num::NonZero;
use std::path::Path;

use weft_draw::figure::{Axis, Figure, FigureKind, Series};
use weft_draw::text::{count, number};
use weft_report::page::{Card, Page, Section};

use crate::FluidOptions;
use crate::figures::rounded;
use crate::notes::of_margins;
use crate::range::{Over, Range};
use crate::subject::Subject;
use crate::table::on_page;
use weft_prepare::Error;

mod point;

use point::Numbers;

/// Maximum cells of the plot in each direction; the CSV file has all points.
const DRAWN: usize = 90;

/// Margins as a function of two settings.
pub(crate) struct MarginMap {
    ranges: [Range; 2],
    /// Rows by the second setting.
    margins: Vec<Vec<Option<f64>>>,
    notes: Vec<String>,
}

/// A margin as drawn: one that is several turns behind would leave no colours for the rest.
fn drawn(margin: f64) -> f64 {
    rounded(margin.max(-180.0))
}

/// The case of the scenario with these values of settings, and its numbers.
fn read(path: &Path, options: &FluidOptions, changes: &[(&Range, f64)]) -> Result<(Subject, Numbers), Error> {
    let mut options = options.clone();
    let mut flows = None;
    for (range, value) in changes {
        match &range.over {
            Over::Setting(setting) => options.set.push(format!("{setting}={}", range.typed(*value))),
            Over::Delay => options.delay = Some(range.typed(*value)),
            Over::Flows => flows = Some(*value),
        }
    }
    let [subject] = <[Subject; 1]>::try_from(Subject::all(path, &options)?).map_err(|_| {
        Error::BadInput("a map covers one case; remove the sweep from the scenario with `--set`".to_owned())
    })?;
    let text = "margins exist for dcqcn and patched-timely, whose fixed point is unique";
    let mut numbers = Numbers::of(&subject).ok_or_else(|| Error::BadInput(text.to_owned()))?;
    if let Some(flows) = flows {
        numbers.fields_mut()[1] = flows;
    }
    Ok((subject, numbers))
}

/// Computes the map.
pub(crate) fn compute(path: &Path, options: &FluidOptions, ranges: [&str; 2]) -> Result<MarginMap, Error> {
    let ranges = [Range::read(ranges[0])?, Range::read(ranges[1])?];
    let same = || {
        let [one, other] = ranges.each_ref().map(Range::name);
        Error::BadInput(format!(
            "`{one}` and `{other}` change the same quantity; a map needs two independent ones"
        ))
    };
    if ranges[0].name() == ranges[1].name() {
        return Err(same());
    }
    let (_, base) = read(path, options, &[])?;
    let along = |range: &Range| -> Result<Vec<Numbers>, Error> {
        range.values.iter().map(|value| Ok(read(path, options, &[(range, *value)])?.1)).collect()
    };
    let [columns, rows] = [along(&ranges[0])?, along(&ranges[1])?];
    let last = (columns.len() - 1, rows.len() - 1);
    let mut corners = Vec::new();
    for (x, y) in [(0, 0), (last.0, 0), (0, last.1), last] {
        let changes = [(&ranges[0], ranges[0].values[x]), (&ranges[1], ranges[1].values[y])];
        let (corner, numbers) = read(path, options, &changes)?;
        if !numbers.near(&columns[x].with(&base, &rows[y])) {
            return Err(same());
        }
        corners.push(corner);
    }
    let margins = all(&base, &columns, &rows);
    Ok(MarginMap { ranges, margins, notes: of_margins(corners.iter()) })
}

/// Every pair, row by row, on all cores.
fn all(base: &Numbers, columns: &[Numbers], rows: &[Numbers]) -> Vec<Vec<Option<f64>>> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let row =
        |row: &Numbers| columns.iter().map(|column| column.with(base, row).margin()).collect::<Vec<_>>();
    let share = rows.len().div_ceil(threads);
    let row = &row;
    std::thread::scope(|scope| {
        let parts = rows
            .chunks(share.max(1))
            .map(|part| scope.spawn(move || part.iter().map(row).collect::<Vec<_>>()));
        let parts: Vec<_> = parts.collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().expect("a margin is computed without a panic"))
            .collect()
    })
}

impl MarginMap {
    fn known(&self) -> impl Iterator<Item = f64> + '_ {
        self.margins.iter().flatten().copied().flatten()
    }

    fn points(&self) -> usize {
        self.ranges[0].values.len() * self.ranges[1].values.len()
    }

    /// The pair with the lowest or the highest margin.
    fn extreme(&self, sign: f64) -> Option<(f64, f64, f64)> {
        let of = |(y, row): (usize, &Vec<Option<f64>>)| {
            let at = |(x, margin): (usize, &Option<f64>)| {
                margin.map(|margin| (margin, self.ranges[0].values[x], self.ranges[1].values[y]))
            };
            row.iter().enumerate().filter_map(at).collect::<Vec<_>>()
        };
        self.margins.iter().enumerate().flat_map(of).min_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)))
    }

    fn sentence(&self) -> String {
        let unstable = self.known().filter(|margin| *margin < 0.0).count();
        let share = 100.0 * unstable as f64 / self.points().max(1) as f64;
        format!(
            "{} % of {} settings of {} and {} have a negative phase margin.",
            number(share),
            count(self.points() as u64),
            self.ranges[0].name(),
            self.ranges[1].name()
        )
    }

    fn place(&self, (margin, x, y): (f64, f64, f64)) -> String {
        let [a, b] = &self.ranges;
        format!("{} deg at {} = {}, {} = {}", number(margin), a.name(), a.typed(x), b.name(), b.typed(y))
    }

    fn extremes(&self) -> Vec<Vec<String>> {
        let named = [("least", 1.0), ("greatest", -1.0)].into_iter();
        let row = |(word, sign): (&str, f64)| {
            self.extreme(sign).map(|extreme| vec![word.to_owned(), self.place(extreme)])
        };
        named.filter_map(row).collect()
    }

    /// The terminal output: the extremes.
    pub(crate) fn terminal(&self) -> String {
        let mut text = format!("{}\n\n", self.sentence());
        for row in self.extremes() {
            let _ = writeln!(text, "{:9}{}", row[0], row[1]);
        }
        let unknown = self.points() - self.known().count();
        if unknown > 0 {
            let _ = writeln!(text, "{} points have no steady state", count(unknown as u64));
        }
        self.notes.iter().for_each(|note| text += &format!("\n{note}"));
        text
    }

    /// All points.
    pub(crate) fn csv(&self) -> String {
        let [a, b] = &self.ranges;
        let head = |range: &Range| format!("{} {}", range.name(), range.unit).trim_end().replace(' ', "_");
        let mut text = format!("{},{},phase_margin_deg\n", head(a), head(b));
        for (y, row) in b.values.iter().zip(&self.margins) {
            for (x, margin) in a.values.iter().zip(row) {
                let margin = margin.map_or(String::new(), |margin| format!("{margin:.4}"));
                let _ = writeln!(text, "{x:.9},{y:.9},{margin}");
            }
        }
        text
    }

    fn figure(&self) -> Figure {
        let [a, b] = &self.ranges;
        let thin = |count: usize| -> Vec<usize> {
            let cells = count.min(DRAWN);
            (0..cells).map(|n| n * (count - 1) / (cells - 1).max(1)).collect()
        };
        let (columns, rows) = (thin(a.values.len()), thin(b.values.len()));
        let axis = |range: &Range, kept: &[usize]| Axis {
            name: range.name(),
            unit: range.unit.clone(),
            log: range.ratio,
            ticks: kept.iter().map(|n| rounded(range.values[*n])).collect(),
        };
        let series = rows.iter().map(|y| Series {
            name: b.typed(rounded(b.values[*y])),
            y: columns.iter().map(|x| self.margins[*y][*x].map(drawn)).collect(),
            ..Series::default()
        });
        Figure {
            id: "map".to_owned(),
            title: "Phase margin, and the stability boundary".to_owned(),
            caption: "Exact linearisation at the exact fixed point, degrees; the line is where the margin is zero. \
                      Less than -180 is drawn as -180. A marking ramp is continued beyond its end."
                .to_owned(),
            samples: format!("{} points computed, {} drawn", count(self.points() as u64), count((columns.len() * rows.len()) as u64)),
            kind: FigureKind::Map,
            x: axis(a, &columns),
            y: axis(b, &rows),
            series: series.collect(),
            ..Figure::default()
        }
    }

    /// The page, without the scenario.
    pub(crate) fn page(&self) -> Page {
        let card = |label: &str, extreme: Option<(f64, f64, f64)>| Card {
            label: label.to_owned(),
            value: extreme.map_or("-".to_owned(), |extreme| format!("{} deg", number(extreme.0))),
            note: extreme.map_or(String::new(), |extreme| self.place(extreme)),
            ..Card::default()
        };
        Page {
            headline: self.sentence(),
            warnings: self.notes.clone(),
            cards: vec![card("Least margin", self.extreme(1.0)), card("Greatest margin", self.extreme(-1.0))],
            sections: vec![Section {
                id: "answer".to_owned(),
                title: "The answer".to_owned(),
                lead: "Where the loop is stable.".to_owned(),
                figures: vec![self.figure()],
            }],
            numbers: on_page(
                "The extremes; map.csv has every point",
                &["", "margin and place"],
                &self.extremes(),
            ),
            ..Page::default()
        }
    }
}
