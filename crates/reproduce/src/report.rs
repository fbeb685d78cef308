//! The report of a reproduction: the verdicts, and the figures of every experiment, on one page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weft::Error;
use weft_draw::figure::{Figure, Series};
use weft_draw::text::plural;
use weft_report::page::{Page, Repeat, SameCommand, Section, TextTable, of_sweep};
use weft_report::{Run, Sweep, write_report};

use crate::finding::{ClaimFindings, verdict};
use crate::folder::{CLAIMS, Folder};
use crate::form::Form;
use crate::measure::Runs;
use crate::plan::ReproductionPlan;
use crate::score::{ClaimScores, double_standards};
use crate::source::{Assumption, PublishedClaim, PublishedSource};
use crate::{assumption, words};

/// The file name of every report.
const FILE: &str = "report.html";

/// Writes the report into a folder.
pub(crate) fn write(
    folder: &Path,
    (source, files): (&PublishedSource, &Folder),
    (plan, runs): (&ReproductionPlan<'_>, &Runs),
    (findings, command): (&ClaimFindings, String),
) -> Result<PathBuf, Error> {
    let path = folder.join(FILE);
    let mut page = Page {
        name: source.title.clone(),
        about: source.reference.clone(),
        headline: headline(source, findings),
        warnings: small(findings).into_iter().collect(),
        numbers: numbers(source, findings),
        scheme_name: "case".to_owned(),
        repeat: repeat(findings, files, command),
        ..Page::default()
    };
    page.sections.extend(beside(source, files, findings, &mut page.schemes));
    for (number, stage) in plan.stages.iter().enumerate().filter(|(_, stage)| !stage.varied) {
        let all: Vec<Run> = runs.of_stage(number).cloned().collect();
        if !all.is_empty() {
            let section = figures(&stage.experiment, all, &mut page.schemes);
            page.sections.push(section);
        }
    }
    write_report(&path, &page).map_err(|cause| Error::Failed(cause.to_string()))?;
    Ok(path)
}

/// How to repeat what the page shows.
fn repeat(findings: &ClaimFindings, files: &Folder, command: String) -> Repeat {
    let programs: BTreeSet<&str> = findings.claims.values().map(|finding| finding.program.as_str()).collect();
    let programs: Vec<&str> = programs.into_iter().filter(|program| !program.is_empty()).collect();
    let scenarios: Vec<&str> = files
        .files
        .keys()
        .map(String::as_str)
        .filter(|name| name.ends_with(".toml") && *name != CLAIMS)
        .collect();
    let facts = [
        ("command", command),
        ("weft", programs.join(", ")),
        ("scenarios", format!("beside this page: {}", scenarios.join(", "))),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value)).into();
    Repeat { facts, same_command: SameCommand::RepeatsMost, ..Repeat::default() }
}

/// Effects that small runs do not show.
fn small(findings: &ClaimFindings) -> Option<String> {
    let is_small = findings.claims.values().any(|finding| finding.form == Form::Quick);
    let words = "These are small runs (`--quick`): few seeds and flows. Claims that need more are not measured, and intervals of the others \
                 are wide; without `--quick` the runs are those of the published page.";
    is_small.then(|| words.to_owned())
}

fn headline(source: &PublishedSource, findings: &ClaimFindings) -> String {
    let claims = source.claims.iter().filter(|claim| findings.claims.contains_key(claim.id.get_ref()));
    let claims: Vec<&PublishedClaim> = claims.collect();
    let words: Vec<String> = claims.iter().map(|claim| verdict(claim, findings).words()).collect();
    let count = |wanted: &str| words.iter().filter(|word| word.as_str() == wanted).count();
    let (yes, no) = (count("reproduced"), count("not reproduced"));
    let be = |count: usize| if count == 1 { "is" } else { "are" };
    format!(
        "Of {}, {yes} {} reproduced, {no} {} not; {} could not be measured or compared. {}",
        plural(words.len() as u64, "claim"),
        be(yes),
        be(no),
        words.len() - yes - no,
        ClaimScores::of(source, &claims, findings).sentences().join(" ")
    )
}

/// The verdict, with a note if a claim that holds fails under an assumption that excuses another.
fn told(source: &PublishedSource, claim: &PublishedClaim, findings: &ClaimFindings) -> String {
    let excused = double_standards(source, claim, findings).into_iter().map(|one| one.words());
    [verdict(claim, findings).words()].into_iter().chain(excused).collect::<Vec<_>>().join("; ")
}

/// One row per claim.
fn numbers(source: &PublishedSource, findings: &ClaimFindings) -> TextTable {
    let header = ["claim", "verdict", "statement", "published", "measured", "band"];
    let asked = source.claims.iter().filter(|claim| findings.claims.contains_key(claim.id.get_ref()));
    let assumptions = assumption::measured(source, findings);
    let assumed = |claim: &PublishedClaim| -> Vec<String> {
        let told =
            |one: &&Assumption| assumption::plain(assumption::verdict(claim, one, findings)).to_owned();
        assumptions.iter().map(told).collect()
    };
    let row = |claim: &PublishedClaim| {
        let finding = findings.claims.get(claim.id.get_ref());
        let bands: Vec<String> = words::bands(claim, finding).into_iter().map(|(band, _)| band).collect();
        let own = vec![
            claim.id.get_ref().clone(),
            told(source, claim, findings),
            claim.says.clone(),
            claim.published.clone(),
            [words::measured(claim, finding), words::otherwise(claim, findings)].concat().join("; "),
            bands.join("; "),
        ];
        [own, assumed(claim)].concat()
    };
    let more = assumptions.iter().map(|assumption| format!("assuming {}", assumption.id.get_ref()));
    TextTable {
        title: "Claims: mean and 95 % interval over seeds, against the band".to_owned(),
        header: header.into_iter().map(str::to_owned).chain(more).collect(),
        rows: asked.map(row).collect(),
        is_prose: true,
    }
}

/// Curves together with the published ones; empty if there are none.
fn beside(
    source: &PublishedSource,
    files: &Folder,
    findings: &ClaimFindings,
    schemes: &mut Vec<String>,
) -> Option<Section> {
    let mut drawn = Vec::new();
    for drawing in &source.figures {
        let Some(found) = findings.figures.get(drawing.id.get_ref()) else { continue };
        let places: Vec<usize> = drawing.series.iter().map(|line| placed(&line.name, schemes)).collect();
        let figure = drawing.figure(found, files);
        let series = |one: Series| Series { scheme: one.scheme.map(|scheme| places[scheme]), ..one };
        drawn.push(Figure { series: figure.series.into_iter().map(series).collect(), ..figure });
    }
    let title = "Against the published curves".to_owned();
    let lead = "Solid: measured here. Dotted: published.".to_owned();
    (!drawn.is_empty()).then(|| Section { id: "published".to_owned(), title, lead, figures: drawn })
}

/// The index of a name among the page's schemes; added if new.
fn placed(name: &String, schemes: &mut Vec<String>) -> usize {
    schemes.iter().position(|known| known == name).unwrap_or_else(|| {
        schemes.push(name.clone());
        schemes.len() - 1
    })
}

/// The figures of an experiment as in its own report, with the schemes of the whole page.
fn figures(experiment: &str, runs: Vec<Run>, schemes: &mut Vec<String>) -> Section {
    let own = of_sweep(&Sweep::new(runs), &[]);
    let places: Vec<usize> = own.schemes.iter().map(|name| placed(name, schemes)).collect();
    let selected = own.views.selected;
    let shown = own.sections.into_iter().flat_map(|section| section.figures);
    let shown = shown.filter(|figure| figure.view.is_none_or(|view| view == selected));
    Section {
        id: experiment.to_lowercase(),
        title: experiment.to_owned(),
        lead: own.about,
        figures: shown.map(|figure| moved(figure, experiment, &places)).collect(),
    }
}

/// A figure moved to another page: with the page's id and schemes, and without links to reports of runs.
fn moved(figure: Figure, experiment: &str, places: &[usize]) -> Figure {
    let series =
        |one: Series| Series { scheme: one.scheme.map(|scheme| places[scheme]), runs: Vec::new(), ..one };
    Figure {
        id: format!("{}-{}", experiment.to_lowercase(), figure.id),
        view: None,
        row_schemes: figure.row_schemes.iter().map(|scheme| places[*scheme]).collect(),
        series: figure.series.into_iter().map(series).collect(),
        ..figure
    }
}
