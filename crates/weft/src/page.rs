//! Everything written around the runs: the list of runs, the table of the sweep, the verdicts on expectations, the
//! report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use weft_report::contrast::covers;
use weft_report::page::{Page, of_run, of_sweep};
use weft_report::text::{NOT_MEASURED, percent, plural};
use weft_report::{
    ExpectationVerdict, Headline, Listing, REPORT, Run, Sweep, files, share_one_window, terminal,
    write_report,
};
use weft_scenario::{Case, Claim, Scenario};

use crate::earlier::build_of;
use crate::epoch::epoch;
use crate::kept::csv_tables;
use crate::results::{Results, lookup, not_started};
use crate::{Error, Outcome, inputs};

/// The complete scenario, including sweep and expectations.
const SCENARIO: &str = "scenario.toml";
/// Why expectations are not judged in the reduced form.
const REDUCED: &str = "the reduced form (--demo) is too short for the expectations";
/// Why expectations are not judged in an incomplete sweep.
const INCOMPLETE: &str = "expectations are judged when all runs are complete";

/// The inputs to the files around the runs.
pub(crate) struct Study<'a> {
    /// The folder of the sweep.
    pub(crate) root: &'a Path,
    /// Where relative file names of the scenario start.
    pub(crate) base: &'a Path,
    /// The scenario.
    pub(crate) scenario: &'a Scenario,
    /// The folders of all runs, relative, in the order of cases and seeds.
    pub(crate) folders: Vec<String>,
    /// Remarks on settings that are allowed but probably unintended.
    pub(crate) remarks: Vec<String>,
    /// Whether it is the reduced form.
    pub(crate) demo: bool,
    /// The list of a larger study in this folder that includes these runs: its files remain those of all its runs.
    pub(crate) larger: Option<Listing>,
}

/// The list in a folder if it has these runs and others.
pub(crate) fn larger(root: &Path, folders: &[String]) -> Option<Listing> {
    let listing = Listing::read(root).ok().flatten()?;
    let is_part = || folders.iter().all(|folder| listing.runs.contains(folder));
    (folders.len() < listing.runs.len() && is_part()).then_some(listing)
}

impl Study<'_> {
    /// Judges the expectations, if possible, and writes the list of runs.
    pub(crate) fn list(&self, results: &[Run]) -> Result<Listing, Error> {
        let complete = results.iter().filter(|run| !run.summary.interrupted()).count() == self.folders.len();
        let none_here = !self.scenario.claims.iter().any(|claim| self.judges(claim));
        let judged = match (self.scenario.claims.is_empty(), none_here, complete) {
            (true, ..) => Ok(Vec::new()),
            (_, true, _) => Err(REDUCED),
            (_, _, false) => Err(INCOMPLETE),
            _ => Ok(self.verdicts(results)),
        };
        let unjudged = judged.as_ref().err().map_or(String::new(), |why| (*why).to_owned());
        let about = Some(self.scenario.settings.about.clone());
        let listing = Listing {
            runs: self.folders.clone(),
            about: about.clone(),
            verdicts: judged.unwrap_or_default(),
            remarks: self.remarks.clone(),
            unjudged,
        };
        if let Some(larger) = &self.larger {
            Listing { about, ..larger.clone() }.write(self.root)?;
            return Ok(listing);
        }
        listing.write(self.root)?;
        let inputs: Vec<_> = self.scenario.cases().iter().flat_map(Case::inputs).cloned().collect();
        let text = inputs::moved(&self.scenario.to_toml(), &inputs, (self.base, self.root));
        weft_report::write_text(&self.root.join(SCENARIO), &text)?;
        Ok(listing)
    }

    /// Writes `sweep.parquet` and, if `measure.csv` takes it, `sweep.csv`; `sweep.json`, `report.html` and one report
    /// per run; returns the terminal output.
    pub(crate) fn write(&self, results: Results) -> Result<Outcome, Error> {
        let Results { runs, failures, unreadable, not_started: missing, .. } = results;
        let problems = lines("failed", &failures) + &not_started(missing);
        let there = runs.len();
        if there == 0 {
            return Err(Error::Failed(format!("no run finished\n{problems}")));
        }
        let kept =
            || format!("{there} of {} runs are kept; run the same command to continue", self.folders.len());
        let outcome = self.conclude(runs);
        let outcome = outcome.map_err(|cause| Error::Failed(format!("{problems}{cause}\n{}", kept())))?;
        let unreadable = lines("computed again", &unreadable);
        Ok(Outcome { terminal: format!("{}{unreadable}{problems}", outcome.terminal), ..outcome })
    }

    fn conclude(&self, mut runs: Vec<Run>) -> Result<Outcome, Error> {
        let place = |run: &Run| self.scenario.cases().iter().position(|c| c.labels == run.manifest.labels);
        runs.sort_by_key(|run| (place(run), run.manifest.seed));
        share_one_window(&mut runs);
        let listing = self.list(&runs)?;
        let missed = listing.verdicts.iter().filter(|verdict| !verdict.passed).count();
        self.write_reports(&mut runs)?;
        let of_one = runs.first().filter(|_| runs.len() == 1).map(|run| self.root.join(&run.link));
        let csv = csv_tables(self.scenario.settings.measure.csv);
        let terminal = match &self.larger {
            None => {
                files::write_sweep(self.root, &runs, csv)?;
                overview(self.root, runs, &listing)?.1
            }
            Some(larger) => {
                let all = files::read_runs(self.root)?;
                files::write_sweep(self.root, &all, csv)?;
                overview(self.root, all, &Listing { about: listing.about.clone(), ..larger.clone() })?;
                Overview::of(self.root, runs, &listing).terminal()
            }
        };
        let report = of_one.filter(|_| self.larger.is_some()).unwrap_or_else(|| self.root.join(REPORT));
        let terminal = terminal + &told(&listing);
        Ok(Outcome { report, terminal, missed_expectations: missed, ..Outcome::default() })
    }

    /// Writes the report of each run, with one complete run in memory at a time; the first run of each case stays
    /// complete.
    fn write_reports(&self, runs: &mut [Run]) -> Result<(), Error> {
        let mut cases = std::collections::BTreeSet::new();
        for run in runs {
            let report = self.root.join(&run.link);
            let whole = files::read_run(report.parent().unwrap_or(self.root))?;
            let mut whole = Run { link: run.link.clone(), ..whole };
            whole.manifest.about.clone_from(&self.scenario.settings.about);
            if run.summary.arrivals_until_s.is_some() {
                whole.average_over_arrivals();
            }
            if self.folders.len() > 1 || self.larger.is_some() {
                write_report(&report, &of_run(&whole, &[]))?;
            }
            if cases.insert(whole.manifest.labels.clone()) {
                *run = whole;
            }
        }
        Ok(())
    }

    /// The verdicts on the expectations.
    fn verdicts(&self, runs: &[Run]) -> Vec<ExpectationVerdict> {
        let lookup = lookup(self.scenario, runs);
        let judged = self.scenario.claims.iter().filter(|claim| self.judges(claim));
        let verdict = |claim: &Claim| {
            let lacks = |metric: &str| runs.iter().any(|run| run.summary.lacks(metric));
            let is_measured = !claim.measured.iter().any(|(_, at)| lacks(&at.metric));
            let judged = claim.judge(&lookup);
            let without = seeds_without(&judged, runs);
            let verdict = shown(&judged, is_measured);
            let notes = [maxima(claim, runs), left_open(claim, runs), without, verdict.note];
            let note = notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ");
            ExpectationVerdict { note, ..verdict }
        };
        judged.map(verdict).collect()
    }

    /// Whether an expectation applies to this form of the scenario.
    fn judges(&self, claim: &Claim) -> bool {
        !self.demo || claim.reduced
    }
}

/// Whether to colour results: only on a terminal, unless the user opts out.
pub(crate) fn colour() -> bool {
    terminal::colour(std::io::IsTerminal::is_terminal(&std::io::stdout()))
}

/// The report over all runs: writes the page, and returns its path and the text for the terminal.
pub(crate) fn overview(
    root: &Path,
    runs: Vec<Run>,
    listing: &Listing,
) -> Result<(std::path::PathBuf, String), Error> {
    let (path, overview) = (root.join(REPORT), Overview::of(root, runs, listing));
    write_report(&path, &overview.page)?;
    Ok((path, overview.terminal()))
}

/// A report over runs.
struct Overview {
    sweep: Sweep,
    headline: Headline,
    page: Page,
}

impl Overview {
    fn of(root: &Path, mut runs: Vec<Run>, listing: &Listing) -> Overview {
        if let Some(about) = &listing.about {
            runs.iter_mut().for_each(|run| run.manifest.about.clone_from(about));
        }
        let missing = missing(&runs, listing);
        let sweep = if has_all_cases(&runs, listing) { Sweep::new(runs) } else { Sweep::of_incomplete(runs) };
        let mut headline = Headline::of_sweep(&sweep, &listing.verdicts);
        let mut page = of_sweep(&sweep, &listing.verdicts);
        if let Ok(scenario) = std::fs::read_to_string(root.join(SCENARIO)) {
            page.repeat.scenario = scenario;
        }
        let warnings = missing.into_iter().chain(other_epochs(&sweep.runs)).chain(builds(&sweep.runs));
        let warnings: Vec<String> = warnings.chain(listing.remarks.iter().cloned()).collect();
        headline.warnings.splice(0..0, warnings.clone());
        page.warnings.splice(0..0, warnings);
        if !listing.unjudged.is_empty() {
            page.repeat.facts.push(("expectations".to_owned(), format!("not judged: {}", listing.unjudged)));
        }
        Overview { sweep, headline, page }
    }

    fn terminal(&self) -> String {
        terminal::of_sweep(&self.sweep, &self.headline, colour())
    }
}

/// Whether every case of a sweep has a complete run.
fn has_all_cases(runs: &[Run], listing: &Listing) -> bool {
    let complete = || runs.iter().filter(|run| !run.summary.interrupted());
    let found: BTreeSet<_> = complete().map(|run| case_of(&run.link, 1)).collect();
    listing.runs.iter().all(|planned| found.contains(&case_of(planned, 0)))
}

/// The folder of the case of a path `above` levels below that of its run.
fn case_of(path: &str, above: usize) -> Option<&Path> {
    Path::new(path).ancestors().nth(1 + above)
}

/// A warning if runs are missing, or partial because they were interrupted: both are computed again.
fn missing(runs: &[Run], listing: &Listing) -> Option<String> {
    let partial = runs.iter().filter(|run| run.summary.interrupted()).count();
    let (there, planned) = (runs.len() - partial, listing.runs.len());
    let is = if partial == 1 { "is" } else { "are" };
    let what = match (planned.saturating_sub(runs.len()), partial) {
        (missing, 0) => format!("{missing} of {planned} runs are missing"),
        (0, _) => format!("{partial} of {planned} runs {is} partial"),
        (missing, _) => format!("{missing} of {planned} runs are missing, {partial} {is} partial"),
    };
    let hint = match runs.iter().any(|run| run.manifest.is_measurement) {
        true => "another call measures all again, into another folder",
        false => "run `weft run` again to compute only these",
    };
    (there < planned).then(|| format!("{what}; {hint}."))
}

/// A warning if runs have another results epoch than this program.
fn other_epochs(runs: &[Run]) -> Option<String> {
    let other: Vec<&str> =
        runs.iter().map(|run| run.manifest.epoch.as_str()).filter(|one| *one != epoch()).collect();
    let mut names: Vec<&str> = other.iter().map(|name| if name.is_empty() { "none" } else { name }).collect();
    names.sort_unstable();
    names.dedup();
    (!other.is_empty()).then(|| {
        format!(
            "{} of {} runs have another results epoch ({}) than this program ({}), which may compute other \
             values; `weft run` computes them again.",
            other.len(),
            runs.len(),
            names.join(", "),
            epoch()
        )
    })
}

/// A warning if runs of one results epoch were computed by several builds.
fn builds(runs: &[Run]) -> Option<String> {
    let mut known: BTreeMap<&str, (String, usize)> = BTreeMap::new();
    for run in runs {
        let found = known.entry(&run.manifest.sources).or_insert_with(|| (build_of(&run.manifest), 0));
        found.1 += 1;
    }
    let epochs: BTreeSet<&str> = runs.iter().map(|run| run.manifest.epoch.as_str()).collect();
    let counts: Vec<String> =
        known.values().map(|(build, count)| format!("{count} by weft {build}")).collect();
    (known.len() > 1 && epochs.len() == 1).then(|| {
        let (all, epoch) = (counts.join(", "), runs[0].manifest.epoch.as_str());
        format!("The runs were computed by several builds with one results epoch ({epoch}): {all}.")
    })
}

/// The beginning of such a note.
const NO_SAMPLE: &str = "no sample lies beyond";

/// The note that a percentile of an expectation is a maximum: with this few samples, none lies beyond it.
fn maxima(claim: &Claim, runs: &[Run]) -> String {
    let is_one = |metric: &str| runs.iter().any(|run| run.summary.is_maximum(metric));
    let metrics: BTreeSet<&str> = claim.measured.iter().map(|(_, at)| at.metric.as_str()).collect();
    let found: Vec<&str> = metrics.into_iter().filter(|metric| is_one(metric)).collect();
    if found.is_empty() {
        return String::new();
    }
    format!("{NO_SAMPLE} {}: the greatest is judged", found.join(" and "))
}

/// The beginning of the note on flows that a metric leaves out.
const LEFT_OPEN: &str = "flows that did not finish";

/// The note that a statistic of an expectation leaves out flows that may be the longest.
fn left_open(claim: &Claim, runs: &[Run]) -> String {
    let misses = |metric: &str| runs.iter().any(|run| !covers(metric, run.summary.unfinished_share()));
    let metrics: BTreeSet<&str> = claim.measured.iter().map(|(_, at)| at.metric.as_str()).collect();
    let found: Vec<&str> = metrics.into_iter().filter(|metric| misses(metric)).collect();
    if found.is_empty() {
        return String::new();
    }
    let most = runs.iter().map(|run| run.summary.unfinished_share()).fold(0.0, f64::max);
    format!("{LEFT_OPEN}, up to {} of a run, are not in {}", percent(most), found.join(" and "))
}

/// The beginning of the note on seeds that a mean leaves out.
const SEEDS_WITHOUT: &str = "not in the mean";

/// The note that some seeds have no value of what is judged.
fn seeds_without(verdict: &weft_scenario::ClaimVerdict, runs: &[Run]) -> String {
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run.manifest.seed).collect();
    match seeds.len().saturating_sub(verdict.per_seed.len()) {
        missing if missing > 0 && verdict.measured.is_some() => {
            format!("{SEEDS_WITHOUT}: {missing} of {} without a value", plural(seeds.len() as u64, "seed"))
        }
        _ => String::new(),
    }
}

/// A verdict for people; `is_measured` if its engine and transports measure what it is about.
fn shown(verdict: &weft_scenario::ClaimVerdict, is_measured: bool) -> ExpectationVerdict {
    let digits = verdict.digits;
    let each: Vec<String> = verdict.per_seed.iter().map(|value| format!("{value:.digits$}")).collect();
    let with_unit = |value: f64| format!("{value:.digits$} {}", verdict.unit).trim_end().to_owned();
    let none = match (verdict.undefined, is_measured) {
        (true, _) => "not a number: divided by zero",
        (false, true) => "nothing to measure",
        (false, false) => NOT_MEASURED,
    };
    ExpectationVerdict {
        claim: verdict.text.clone(),
        expected: verdict.allowed.clone(),
        measured: verdict.measured.map_or(none.to_owned(), with_unit),
        passed: verdict.kept,
        note: if each.len() > 1 { format!("by seed: {}", each.join(", ")) } else { String::new() },
    }
}

/// The verdicts for the terminal.
fn told(listing: &Listing) -> String {
    let entry = |verdict: &ExpectationVerdict| {
        let word = if verdict.passed { "met" } else { "MISSED" };
        let measured = format!("{} (expected {})", verdict.measured, verdict.expected);
        let lines = weft_draw::wrapped(&verdict.claim, weft_draw::WIDTH - 10);
        let remark = verdict
            .note
            .split("; ")
            .filter(|note| [NO_SAMPLE, LEFT_OPEN, SEEDS_WITHOUT].iter().any(|start| note.starts_with(start)));
        let remark: Vec<String> =
            remark.flat_map(|note| weft_draw::wrapped(note, weft_draw::WIDTH - 10)).collect();
        let below =
            lines.iter().skip(1).chain([&measured]).chain(&remark).map(|line| format!("          {line}\n"));
        format!("  {word:6}  {}\n{}", lines[0], below.collect::<String>())
    };
    let entries: String = listing.verdicts.iter().map(entry).collect();
    match (entries.is_empty(), listing.unjudged.is_empty()) {
        (false, _) => format!("\nExpectations\n{entries}"),
        (true, false) => {
            let sentence = format!("Not judged: {}.", listing.unjudged);
            format!("\n{}\n", weft_draw::wrapped(&sentence, weft_draw::WIDTH).join("\n"))
        }
        (true, true) => String::new(),
    }
}

fn lines(word: &str, problems: &[String]) -> String {
    problems.iter().map(|problem| format!("{word}: {problem}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_report::{Manifest, Summary};

    fn run(case: &str, seed: u64, stop: &str) -> Run {
        Run {
            manifest: Manifest {
                labels: vec![("balance".to_owned(), case.to_owned())],
                seed,
                ..Manifest::default()
            },
            summary: Summary { stop: stop.to_owned(), ..Summary::default() },
            link: format!("{case}-0/seed-{seed}/report.html"),
            ..Run::default()
        }
    }

    fn planned() -> Listing {
        let runs =
            ["ecmp", "drill"].iter().flat_map(|case| [1, 2].map(|seed| format!("{case}-0/seed-{seed}")));
        Listing { runs: runs.collect(), ..Listing::default() }
    }

    /// Another call computes the rest of an interrupted run.
    #[test]
    fn an_interrupted_run_is_partial_and_computed_again() {
        let runs = [run("ecmp", 1, "finished"), run("ecmp", 2, "interrupted")];
        let told = |runs: &[Run], planned: &Listing| missing(runs, planned).unwrap_or_default();
        let again = "; run `weft run` again to compute only these.";
        assert_eq!(told(&runs, &planned()), format!("2 of 4 runs are missing, 1 is partial{again}"));
        assert_eq!(told(&runs[..1], &planned()), format!("3 of 4 runs are missing{again}"));
        let alone = Listing { runs: vec!["ecmp-0/seed-2".to_owned()], ..Listing::default() };
        assert_eq!(told(&runs[1..], &alone), format!("1 of 1 runs is partial{again}"));
        assert_eq!(told(&runs[..1], &alone), "");
        assert_eq!(told(&runs, &Listing::default()), "", "nothing says that there should be more");
    }

    #[test]
    fn an_expectation_without_a_value_says_why() {
        let verdict = |undefined| weft_scenario::ClaimVerdict {
            text: String::new(),
            measured: None,
            per_seed: Vec::new(),
            unit: "",
            undefined,
            digits: 1,
            allowed: String::new(),
            kept: false,
            line: 1,
        };
        let told = |undefined, is_measured| shown(&verdict(undefined), is_measured).measured;
        assert_eq!(told(false, false), "not measured", "by its engine");
        assert_eq!(told(false, true), "nothing to measure", "no flow of the class finished");
        assert_eq!(told(true, true), "not a number: divided by zero");
    }

    /// One of two schemes has run; the answer says which.
    #[test]
    fn a_sweep_without_some_of_its_cases_says_of_which_it_speaks() {
        let (one, two) = (run("ecmp", 1, "finished"), run("drill", 1, "finished"));
        assert!(!has_all_cases(&[one.clone(), run("drill", 1, "interrupted")], &planned()));
        assert!(has_all_cases(&[one.clone(), two], &planned()), "a seed of each is enough");
        let overview = |listing: &Listing| {
            Overview::of(Path::new("none"), vec![one.clone(), run("ecmp", 2, "finished")], listing).sweep.only
        };
        assert_eq!(overview(&planned()), "balance = ecmp");
        assert_eq!(overview(&Listing::default()), "", "nothing says that there should be more");
    }
}
