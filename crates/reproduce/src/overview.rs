//! The picture at the head of a page: for every claim its measured value beside the published one, the band and the
//! verdict. Depends on findings and bands; must not depend on runs.

use std::fmt::Write as _;

use crate::finding::{ClaimFinding, ClaimFindings, ClaimStatus, SeedValues, verdict};
use crate::source::{Part, PublishedClaim, PublishedSource};
use weft_draw::svg;

const WIDTH: f64 = 820.0;
const ROW: f64 = 15.0;
/// Space for the legend above the rows, and for the axis below.
const TOP: f64 = 34.0;
const BOTTOM: f64 = 40.0;
/// Rows in one column of the picture.
const ROWS: usize = 45;
/// Ends of the axis: this many times more or less than published.
const MOST: f64 = 8.0;
/// Ground colours of bands and lines.
const BAND: &str = "#dde4ea";
const LINE: &str = "#8a8a8a";

/// The row of a claim: its id, and positions on the axis from -1 to 1, where 0 is the published value.
struct Row {
    id: String,
    status: ClaimStatus,
    band: (f64, f64),
    mean: f64,
    ends: Option<(f64, f64)>,
}

/// The picture; empty if no claim has a value.
pub(crate) fn picture(source: &PublishedSource, findings: &ClaimFindings) -> Option<String> {
    let row = |claim: &PublishedClaim| row(claim, findings);
    let rows: Vec<Row> = source.claims.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = rows.len().div_ceil(ROWS);
    let each = rows.len().div_ceil(columns);
    let height = TOP + ROW * each as f64 + BOTTOM;
    let mut parts = String::new();
    legend(&mut parts);
    let longest = rows.iter().map(|row| row.id.chars().count()).max().unwrap_or(0) as f64;
    for (number, rows) in rows.chunks(each).enumerate() {
        let width = WIDTH / columns as f64;
        let left = width * number as f64;
        let panel = Panel {
            names: left + 6.6 * longest + 6.0,
            from: left + 6.6 * longest + 16.0,
            to: left + width - 16.0,
        };
        panel.draw(&mut parts, rows);
    }
    Some(svg::document((WIDTH, height), 11, "Measured against published, claim by claim", &parts))
}

fn row(claim: &PublishedClaim, findings: &ClaimFindings) -> Option<Row> {
    let finding = findings.claim(claim)?;
    let (part, values) = telling(claim, finding)?;
    let reference = reference(part);
    let place = |value: f64| place(value, reference);
    let found = values.estimate()?;
    let (mean, ends) = match part.one_run {
        Some(one) => {
            values.runs_around(one).map(|among| (found.mean, Some((among.least, among.greatest))))?
        }
        None => (found.mean, found.low.zip(found.high)),
    };
    let low = [part.from, part.above, part.exactly].into_iter().flatten().reduce(f64::max);
    let high = [part.to, part.below, part.exactly].into_iter().flatten().reduce(f64::min);
    let band = match part.one_run {
        Some(_) => (0.0, 0.0),
        None => (low.map_or(-1.0, place), high.map_or(1.0, place)),
    };
    Some(Row {
        id: claim.id.get_ref().clone(),
        status: verdict(claim, findings),
        band: (band.0.min(band.1), band.0.max(band.1)),
        mean: place(mean),
        ends: ends.map(|(low, high)| (place(low), place(high))),
    })
}

/// The part that decides: the first that lies outside, or the first.
fn telling<'a>(claim: &'a PublishedClaim, finding: &'a ClaimFinding) -> Option<(&'a Part, &'a SeedValues)> {
    let all = || claim.parts.iter().zip(&finding.parts).filter(|(_, values)| !values.values.is_empty());
    let outside = |(part, values): &(&Part, &SeedValues)| match part.one_run {
        Some(one) => values.runs_around(one).is_some_and(|among| !among.inside),
        None => values.estimate().is_some_and(|found| !part.holds(found.mean)),
    };
    all().find(outside).or_else(|| all().next())
}

/// The published value or, without one, the middle of the band, or its limit.
fn reference(part: &Part) -> f64 {
    let low = part.from.or(part.above);
    let high = part.to.or(part.below);
    let band = match (low, high) {
        (Some(low), Some(high)) => Some(f64::midpoint(low, high)),
        (low, high) => low.or(high),
    };
    part.published.or(part.one_run).or(part.exactly).or(band).unwrap_or(0.0)
}

/// The position of a value: its ratio to the reference on a logarithmic axis, or an end if there is no ratio.
fn place(value: f64, reference: f64) -> f64 {
    if value == reference {
        return 0.0;
    }
    let ratio = value / reference;
    if ratio.is_finite() && ratio > 0.0 {
        return (ratio.ln() / MOST.ln()).clamp(-1.0, 1.0);
    }
    if value > reference { 1.0 } else { -1.0 }
}

/// One column of rows: where names end, and where the axis begins and ends.
struct Panel {
    names: f64,
    from: f64,
    to: f64,
}

impl Panel {
    fn x(&self, place: f64) -> f64 {
        f64::midpoint(self.from, self.to) + place * (self.to - self.from) / 2.0
    }

    fn draw(&self, parts: &mut String, rows: &[Row]) {
        for (number, row) in rows.iter().enumerate() {
            self.row(parts, row, TOP + ROW * (number as f64 + 0.5));
        }
        let bottom = TOP + ROW * rows.len() as f64;
        let middle = self.x(0.0);
        let _ = writeln!(parts, "<path d=\"M{middle:.1} {TOP}V{bottom:.1}\" stroke=\"{LINE}\"/>");
        let ticks = [(1.0 / MOST, "1/8"), (0.5, "1/2"), (1.0, "1"), (2.0, "2"), (MOST, "8")];
        for (ratio, words) in ticks {
            let x = self.x(place(ratio, 1.0));
            let _ = writeln!(parts, "<path d=\"M{x:.1} {bottom:.1}v4\" stroke=\"{LINE}\"/>");
            let at = (format!("{x:.1}"), format!("{:.1}", bottom + 16.0));
            *parts += &svg::text((&at.0, &at.1), "text-anchor=\"middle\" fill=\"#444444\"", words);
        }
        let at = (format!("{middle:.1}"), format!("{:.1}", bottom + 31.0));
        *parts +=
            &svg::text((&at.0, &at.1), "text-anchor=\"middle\" fill=\"#444444\"", "measured / published");
    }

    fn row(&self, parts: &mut String, row: &Row, y: f64) {
        let (id, below) = (format!("{:.1}", self.names), format!("{:.1}", y + 4.0));
        *parts += &svg::text((&id, &below), "text-anchor=\"end\"", &row.id);
        let (left, right) = (self.x(row.band.0), self.x(row.band.1));
        let (top, width) = (y - 5.0, right - left);
        let _ = writeln!(
            parts,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"10\" fill=\"{BAND}\"/>"
        );
        let (colour, shape) = mark(&row.status, (self.x(row.mean), y));
        if let Some((low, high)) = row.ends {
            let (low, high) = (self.x(low), self.x(high));
            let _ = writeln!(
                parts,
                "<path d=\"M{low:.1} {y:.1}H{high:.1}\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
            );
        }
        *parts += &shape;
    }
}

/// Colour and shape of a verdict at a position.
fn mark(status: &ClaimStatus, (x, y): (f64, f64)) -> (&'static str, String) {
    match status {
        ClaimStatus::Reproduced => {
            let colour = "#0b6e99";
            (colour, format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>\n"))
        }
        ClaimStatus::NotReproduced => {
            let (colour, left, top) = ("#c8501e", x - 4.0, y - 4.0);
            let path = format!("M{left:.1} {top:.1}l8 8m0 -8l-8 8");
            (colour, format!("<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"2.5\"/>\n"))
        }
        ClaimStatus::NotComparable(_) | ClaimStatus::NotRun(_) | ClaimStatus::NotMeasured(_) => {
            let (colour, left) = ("#666666", x - 5.0);
            let path = format!("M{left:.1} {y:.1}l5 -5l5 5l-5 5z");
            (
                colour,
                format!("<path d=\"{path}\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"),
            )
        }
    }
}

fn legend(parts: &mut String) {
    let kinds = [
        (ClaimStatus::Reproduced, "reproduced", 20.0),
        (ClaimStatus::NotReproduced, "not reproduced", 120.0),
        (ClaimStatus::NotComparable(String::new()), "cannot be compared", 240.0),
    ];
    for (status, words, x) in kinds {
        *parts += &mark(&status, (x, 14.0)).1;
        *parts += &svg::text((&format!("{}", x + 10.0), "18"), "", words);
    }
    let _ = writeln!(parts, "<rect x=\"385\" y=\"9\" width=\"24\" height=\"10\" fill=\"{BAND}\"/>");
    *parts += &svg::text(("415", "18"), "", "band");
    let _ = writeln!(parts, "<path d=\"M470 6V22\" stroke=\"{LINE}\"/>");
    *parts += &svg::text(("478", "18"), "", "published value, else the middle or limit of the band");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_by_its_ratio_to_the_published_one() {
        assert_eq!(place(1.3, 1.3), 0.0);
        assert_eq!((place(16.0, 2.0), place(0.25, 2.0)), (1.0, -1.0));
        assert_eq!(place(2.6, 1.3), -place(1.3, 2.6));
        assert_eq!(
            (place(100.0, 1.0), place(-1.0, 1.0), place(1.0, 0.0)),
            (1.0, -1.0, 1.0),
            "held at the ends"
        );
        let part = |text: &str| toml::from_str::<Part>(&format!("measure = \"x\"\n{text}")).unwrap();
        assert_eq!(reference(&part("from = 1.1\nto = 1.6\npublished = 1.3")), 1.3);
        assert_eq!(reference(&part("from = 1\nto = 2")), 1.5);
        assert_eq!((reference(&part("below = 0.5")), reference(&part("one_run = 7"))), (0.5, 7.0));
    }

    #[test]
    fn each_verdict_has_a_shape_of_its_own() {
        let source = r#"
title = ""
reference = ""
about = ""
[[claim]]
id = "C1"
place = ""
says = ""
part = [{ measure = "fct.mean(a)", above = 1 }, { measure = "fct.mean(b)", above = 1 }]
[[claim]]
id = "C2"
place = ""
says = ""
not_comparable = "x"
"#;
        let source: PublishedSource = toml::from_str(source).unwrap();
        let told = |second: f64| {
            let values =
                |value: f64| SeedValues { seeds: vec![1, 2], values: vec![value, value * 1.01], ratio: true };
            let parts = vec![values(2.0), values(second)];
            let claims = [("C1".to_owned(), ClaimFinding { parts, ..ClaimFinding::default() })].into();
            picture(&source, &ClaimFindings { claims, ..ClaimFindings::default() }).unwrap()
        };
        let count = |text: &str, what: &str| text.matches(what).count();
        // one of each kind is in the legend
        let (good, bad) = (told(1.5), told(0.5));
        assert_eq!((count(&good, "<circle"), count(&good, "l8 8")), (2, 1), "{good}");
        assert_eq!((count(&bad, "<circle"), count(&bad, "l8 8")), (1, 2), "the part that fails is shown");
        assert!(
            good.contains(">C1</text>") && !good.contains(">C2</text>"),
            "what has no value is not there"
        );
        assert!(picture(&source, &ClaimFindings::default()).is_none());
    }
}
