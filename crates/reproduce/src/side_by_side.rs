//! Published and measured values of many claims side by side, with the error, and straight lines through two sizes.
//! Depends on claims and findings; must not depend on runs.

use std::fmt::Write as _;

use crate::finding::{ClaimFinding, ClaimFindings};
use crate::grid::ClaimGrid;
use crate::source::{PublishedClaim, PublishedSource};

/// What a cell is made of.
#[derive(Clone, Copy)]
struct Found<'a> {
    claim: &'a PublishedClaim,
    published: f64,
    measured: Option<f64>,
}

/// The grid in Markdown, with a second table of the other choices if any of its claims has been measured with one.
fn written(grid: &ClaimGrid, source: &PublishedSource, findings: &ClaimFindings) -> String {
    let own = |claim: &PublishedClaim| findings.claim(claim);
    let other = |claim: &PublishedClaim| findings.others.get(claim.id.get_ref());
    let mut text = format!("\n### {}\n\n{}", grid.title, table(grid, (source, &own), false));
    let choices: Vec<String> = choices(grid, source, findings);
    if let [choice] = choices.as_slice() {
        let _ = write!(text, "\nIf {choice}:\n\n{}", table(grid, (source, &other), true));
    }
    if !grid.note.is_empty() {
        let _ = write!(text, "\n{}\n", grid.note.trim());
    }
    text
}

/// The alternative choices that its claims have been measured with.
fn choices(grid: &ClaimGrid, source: &PublishedSource, findings: &ClaimFindings) -> Vec<String> {
    let claims = grid.ids().into_iter().filter(|id| findings.others.contains_key(id));
    let found = claims.filter_map(|id| Some(find(source, &id)?.otherwise.as_ref()?.choice.clone()));
    let mut found: Vec<String> = found.collect();
    found.sort();
    found.dedup();
    found
}

/// The rows; with `measured_only`, those in which something was measured.
fn table<'a>(grid: &ClaimGrid, from: (&'a PublishedSource, &Findings<'a>), measured_only: bool) -> String {
    let names: Vec<&str> = grid.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text =
        format!("| {} | {} |\n|---|{}\n", grid.rows_are, names.join(" | "), "---|".repeat(names.len()));
    let mut all = Vec::new();
    for row in &grid.rows {
        let cells = grid.columns.iter().map(|column| found(grid.cell(row, column), from));
        let cells: Vec<Vec<Found<'_>>> = cells.collect();
        if measured_only && cells.iter().flatten().all(|found| found.measured.is_none()) {
            continue;
        }
        let told: Vec<String> = cells.iter().map(|cell| cell_words(cell, &grid.line)).collect();
        let _ = writeln!(text, "| {} | {} |", row.name, told.join(" | "));
        all.extend(cells.into_iter().flatten());
    }
    if grid.line.is_empty() { text + &mean_error(&all) } else { text }
}

fn found<'a>(ids: Vec<String>, (source, findings): (&'a PublishedSource, &Findings<'a>)) -> Vec<Found<'a>> {
    let one = |id: String| {
        let claim = find(source, &id)?;
        let measured =
            findings(claim).and_then(|found| found.parts.first()?.estimate()).map(|found| found.mean);
        Some(Found { claim, published: published(claim)?, measured })
    };
    ids.into_iter().filter_map(one).collect()
}

/// A cell in words.
fn cell_words(cell: &[Found<'_>], line: &[f64]) -> String {
    match (cell, line) {
        ([one], _) => one.words(),
        ([low, high], [from, to]) => line_words((low, high), (*from, *to)),
        _ => "–".to_owned(),
    }
}

/// The finding on a claim, as prescribed or with its other choice.
type Findings<'a> = dyn Fn(&PublishedClaim) -> Option<&'a ClaimFinding> + 'a;

impl Found<'_> {
    /// `55.4 / 53.4 / −3.6 %`; with a mark if something was fitted to the value.
    fn words(&self) -> String {
        let digits = decimals(&self.claim.published);
        let published = format!("{:.digits$}", self.published);
        let Some(measured) = self.measured else { return format!("{published} / –") };
        let mark = if self.claim.fitted { "*" } else { "" };
        format!("{published} / {measured:.digits$} / {}{mark}", per_cent(measured / self.published - 1.0))
    }

    /// The relative error, unless something was fitted to the value.
    fn error(&self) -> Option<f64> {
        let measured = self.measured.filter(|_| !self.claim.fitted)?;
        Some((measured / self.published - 1.0).abs())
    }
}

/// `48.9 + 0.648 x / 47.1 + 0.627 x`: the lines through the published and the measured values at two positions.
fn line_words((low, high): (&Found<'_>, &Found<'_>), (from, to): (f64, f64)) -> String {
    let line = |low: f64, high: f64| {
        let slope = (high - low) / (to - from);
        format!("{:.1} + {slope:.3} x", low - slope * from)
    };
    let measured = low.measured.zip(high.measured).map_or("–".to_owned(), |(low, high)| line(low, high));
    format!("{} / {measured}", line(low.published, high.published))
}

/// A sentence on the errors of cells to which nothing was fitted.
fn mean_error(cells: &[Found<'_>]) -> String {
    let errors: Vec<f64> = cells.iter().filter_map(Found::error).collect();
    if errors.is_empty() {
        return String::new();
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let fitted = if cells.iter().any(|one| one.claim.fitted) { "; * fitted" } else { "" };
    format!(
        "\nMean error of {} values that nothing was fitted to: {:.1} %{fitted}.\n",
        errors.len(),
        100.0 * mean
    )
}

/// `+2.1 %`, `−3.6 %`.
fn per_cent(share: f64) -> String {
    let rounded = (1000.0 * share).round() / 10.0;
    let sign = if rounded > 0.0 {
        "+"
    } else if rounded < 0.0 {
        "−"
    } else {
        ""
    };
    format!("{sign}{:.1} %", rounded.abs())
}

/// The decimals of the first number in a text.
fn decimals(text: &str) -> usize {
    let number: String = text.chars().take_while(|one| one.is_ascii_digit() || *one == '.').collect();
    number.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

fn find<'a>(source: &'a PublishedSource, id: &str) -> Option<&'a PublishedClaim> {
    source.claims.iter().find(|claim| claim.id.get_ref() == id)
}

/// The published number of a claim's first part.
fn published(claim: &PublishedClaim) -> Option<f64> {
    claim.parts.first()?.published
}

/// The grids of a page; empty without any.
pub(crate) fn section(source: &PublishedSource, findings: &ClaimFindings) -> String {
    if source.grids.is_empty() {
        return String::new();
    }
    let grids: String = source.grids.iter().map(|grid| written(grid, source, findings)).collect();
    format!("## Published and measured\n\nEach cell: published, measured, error.\n{grids}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::SeedValues;

    const SOURCE: &str = r#"
title = ""
reference = ""
about = ""
[[claim]]
id = "a-10-x"
place = ""
says = ""
published = "40.0 s"
fitted = true
part = [{ measure = "job.seconds(x)", from = 1, published = 40 }]
[[claim]]
id = "a-200-x"
place = ""
says = ""
published = "135.0 s"
part = [{ measure = "job.seconds(x)", from = 1, published = 135 }]
otherwise = { open = "", choice = "it is slow", set = [] }
[[grid]]
id = "sizes"
title = "Sizes"
rows_are = "size"
column = [{ name = "X", at = "x" }]
row = [{ name = "10 GB", claim = "a-10-{}" }, { name = "200 GB", claim = "a-200-{}" }]
note = "So it is."
[[grid]]
id = "lines"
title = "Lines"
rows_are = "job"
line = [10, 200]
column = [{ name = "X", at = "x" }]
row = [{ name = "a", claim = "a-[]-{}" }]
"#;

    fn found(values: &[(&str, f64)]) -> std::collections::BTreeMap<String, ClaimFinding> {
        let parts = |value: f64| vec![SeedValues { seeds: vec![1], values: vec![value], ratio: false }];
        let finding = |value| ClaimFinding { parts: parts(value), ..ClaimFinding::default() };
        values.iter().map(|(id, value)| ((*id).to_owned(), finding(*value))).collect()
    }

    #[test]
    fn a_cell_has_published_measured_and_error_and_a_line_goes_through_two_claims() {
        let source: PublishedSource = toml::from_str(SOURCE).unwrap();
        let mut findings = ClaimFindings {
            claims: found(&[("a-10-x", 40.0), ("a-200-x", 127.92)]),
            ..ClaimFindings::default()
        };
        let told = section(&source, &findings);
        for line in [
            "| size | X |",
            "| 10 GB | 40.0 / 40.0 / 0.0 %* |",
            "| 200 GB | 135.0 / 127.9 / −5.2 % |",
            "Mean error of 1 values that nothing was fitted to: 5.2 %; * fitted.",
            "So it is.",
            "| a | 35.0 + 0.500 x / 35.4 + 0.463 x |",
        ] {
            assert!(told.lines().any(|known| known == line), "no `{line}` in {told}");
        }
        assert!(!told.contains("If "), "nothing was measured with the other choice");
        findings.others = found(&[("a-200-x", 136.35)]);
        let told = section(&source, &findings);
        assert!(
            told.contains(
                "If it is slow:\n\n| size | X |\n|---|---|\n| 200 GB | 135.0 / 136.3 / +1.0 % |\n\nMean"
            ),
            "{told}"
        );
    }
}
