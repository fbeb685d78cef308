//! What is written when runs are done: the table of the sweep, the verdicts on expectations, the report.

use std::path::Path;

use weft_report::page::{of_run, of_sweep};
use weft_report::{Headline, Run, Sweep, Verdict, files, terminal, write_report};
use weft_scenario::Scenario;

use crate::study::lookup;
use crate::{Error, Outcome};

/// The file name of every report.
const REPORT: &str = "report.html";

/// Writes `sweep.csv`, `sweep.parquet`, `report.html` and one report per run; what the terminal shows is returned.
pub(crate) fn write(
    root: &Path,
    scenario: &Scenario,
    mut runs: Vec<Run>,
    failures: &[String],
) -> Result<Outcome, Error> {
    if runs.is_empty() {
        return Err(Error::Failed(format!("no run finished\n{}", failures.join("\n"))));
    }
    order(scenario, &mut runs);
    let judged: Vec<_> = scenario.claims.iter().map(|claim| claim.judge(&lookup(scenario, &runs))).collect();
    let verdicts: Vec<Verdict> = judged.iter().map(shown).collect();
    let missed = judged.iter().filter(|verdict| !verdict.kept).count();
    for run in &mut runs {
        let folder = root.parent().unwrap_or(root).join(run.manifest.path());
        let link = folder.strip_prefix(root).unwrap_or(&folder).join(REPORT);
        run.link = link.to_string_lossy().into_owned();
    }
    if runs.len() > 1 {
        for run in &runs {
            let path = root.join(&run.link);
            if path.parent().is_some_and(Path::exists) {
                write_report(&path, &of_run(run, &[])).map_err(failed)?;
            }
        }
    }
    files::write_sweep(root, &runs).map_err(failed)?;
    let (report, text) = overview(root, runs, &verdicts)?;
    let terminal = format!("{text}{}{}", told(&verdicts), problems(failures));
    Ok(Outcome { report, terminal, missed_expectations: missed, ..Outcome::default() })
}

/// The report over all runs, and the same for the terminal.
pub(crate) fn overview(
    root: &Path,
    runs: Vec<Run>,
    verdicts: &[Verdict],
) -> Result<(std::path::PathBuf, String), Error> {
    let path = root.join(REPORT);
    let colour = terminal::colour(std::io::IsTerminal::is_terminal(&std::io::stdout()));
    let (page, text) = match runs.as_slice() {
        [run] => {
            let headline = Headline::of_run(run, verdicts);
            (of_run(run, verdicts), terminal::of_run(run, &headline, colour))
        }
        _ => {
            let sweep = Sweep::new(runs);
            let headline = Headline::of_sweep(&sweep, verdicts);
            (of_sweep(&sweep, verdicts), terminal::of_sweep(&sweep, &headline, colour))
        }
    };
    write_report(&path, &page).map_err(failed)?;
    Ok((path, text))
}

/// The order of the scenario's cases, then of seeds.
fn order(scenario: &Scenario, runs: &mut [Run]) {
    let place = |run: &Run| scenario.cases().iter().position(|case| case.labels == run.manifest.labels);
    runs.sort_by_key(|run| (place(run), run.manifest.seed));
}

fn shown(verdict: &weft_scenario::Verdict) -> Verdict {
    let each: Vec<String> = verdict.per_seed.iter().map(|value| format!("{value:.3}")).collect();
    Verdict {
        claim: verdict.text.clone(),
        expected: verdict.allowed.clone(),
        measured: verdict.measured.map_or("not measured".to_owned(), |value| format!("{value:.3}")),
        passed: verdict.kept,
        note: if each.len() > 1 { format!("by seed: {}", each.join(", ")) } else { String::new() },
    }
}

/// The verdicts for the terminal.
fn told(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let word = if verdict.passed { "met   " } else { "MISSED" };
        format!("{word} {}: {} (expected {})\n", verdict.claim, verdict.measured, verdict.expected)
    };
    let lines: String = verdicts.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nExpectations\n{lines}") }
}

fn problems(failures: &[String]) -> String {
    failures.iter().map(|failure| format!("failed: {failure}\n")).collect()
}

/// An error of the file system.
pub(crate) fn failed(cause: weft_report::Error) -> Error {
    Error::Failed(cause.to_string())
}
