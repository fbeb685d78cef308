//! Compares two folders: which settings differ, and how every metric changes, paired by seed.

use crate::contrast::{FlowPairs, other_flows, ratio_words};
use crate::copies::without_copies;
use crate::disk::DiskError;
use crate::figure::{Axis, Figure, FigureKind, Series};
use crate::figures::series;
use crate::files::read_comparable;
use crate::headline::Headline;
use crate::job_words::{JOB_TIME, flows_of_jobs, is_whole};
use crate::metric::unit;
use crate::page::{Page, of_sweep};
use crate::statistics::Estimate;
use crate::sweep::{MEAN_WITH_OPEN, Run, Sweep, paired_ratio, partners, retained, without_interrupted};
use crate::terminal::{TerminalRow, headline_text, interval, table};
use crate::text::{plural, value};
use std::collections::BTreeSet;
use std::path::Path;
use weft_draw::WIDTH;

use sides::{Pair, RunKey, Side, differences_of, key, lonely, of_both, pairs, side_names};

mod answer;
mod sides;

/// The metrics compared.
const COMPARED: [&str; 13] = [
    JOB_TIME,
    "fct.mean",
    MEAN_WITH_OPEN,
    "fct.p99",
    "fct.p99_9",
    "fct.small.p99",
    "slowdown.p99",
    "queueing.total",
    "drops.total",
    "reordering.flows_with_dupacks",
    "goodput",
    "jain",
    "flows.unfinished",
];

/// Maximum number of cases of one side that are named.
const MOST_CASES: usize = 3;
/// Maximum length of a setting's key in the terminal, where its values leave no more room.
const KEY: usize = 26;
/// Spaces before and between the columns of such a row.
const GAPS: usize = 6;

/// The comparison of two sides, a and b.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The names of the sides.
    pub names: [String; 2],
    /// Settings that differ: dotted key, value in a, value in b; a dash if a side lacks it.
    pub differences: Vec<(String, String, String)>,
    /// One row per metric and case that both sides have.
    pub rows: Vec<ComparedMetric>,
    /// Number of cases that both sides have.
    pub cases: usize,
    /// Results epochs of the sides, if they differ.
    pub epochs: Option<[String; 2]>,
    /// Runs that were left out because the other side lacks their seed.
    pub unpaired: usize,
    /// Cases of each side that were left out because the other lacks them, and their runs.
    pub alone: [Vec<String>; 2],
    /// FlowPairs of runs by their flows.
    pub other_flows: FlowPairs,
    /// Whether a side has nothing but interrupted runs.
    pub interrupted: [bool; 2],
    /// The runs of both sides; the side is a label of each.
    pub sweep: Sweep,
}

/// One metric of one case on both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedMetric {
    /// Labels of the case; empty if there is only one.
    pub case: String,
    /// The values of these labels, without their keys.
    pub values: String,
    /// The metric's path.
    pub metric: String,
    /// Its estimate over the seeds of a.
    pub a: Option<Estimate>,
    /// Its estimate over the seeds of b.
    pub b: Option<Estimate>,
    /// The ratio of b to a, over the common seeds.
    pub ratio: Option<Estimate>,
}

/// Compares two folders, each with a run, a case or a sweep.
///
/// # Errors
/// The file that could not be read, and why; or that no case is in both.
pub fn compare(a: &Path, b: &Path) -> Result<Comparison, DiskError> {
    let (mut of_a, mut of_b) = (read_comparable(a)?, read_comparable(b)?);
    if of_a.iter().chain(&of_b).any(|run| run.summary.arrivals_until_s.is_some()) {
        of_a.iter_mut().chain(&mut of_b).for_each(Run::average_over_arrivals);
    }
    let comparison = Comparison::of(of_a, of_b, side_names(a, b));
    if comparison.cases == 0 {
        return Err(DiskError::NothingInCommon { a: a.to_owned(), b: b.to_owned() });
    }
    Ok(comparison)
}

fn estimate(runs: &[&Run], metric: &str) -> Option<Estimate> {
    Estimate::of(&runs.iter().filter_map(|run| run.summary.metric(metric)).collect::<Vec<_>>())
}

fn compared((case, a, b): &Pair<'_>) -> Vec<ComparedMetric> {
    let row = |metric: &str| ComparedMetric {
        case: case.clone(),
        values: if case.is_empty() { String::new() } else { label_values(a) },
        metric: metric.to_owned(),
        a: estimate(a, metric).filter(|_| is_whole(a, metric)),
        b: estimate(b, metric).filter(|_| is_whole(b, metric)),
        ratio: paired_ratio(b, a, metric).filter(|_| is_whole(a, metric) && is_whole(b, metric)),
    };
    let open = a.iter().chain(b).any(|run| run.summary.flows.unfinished > 0);
    let told = COMPARED.iter().filter(|metric| a.iter().chain(b).all(|run| !run.summary.is_maximum(metric)));
    let told = told.filter(|metric| open || **metric != MEAN_WITH_OPEN);
    told.map(|metric| row(metric)).filter(|row| row.a.is_some() || row.b.is_some()).collect()
}

impl Comparison {
    /// Compares runs. Cases are paired by their labels; if each side has a single case, they are paired whatever their
    /// labels.
    #[must_use]
    pub fn of(a: Vec<Run>, b: Vec<Run>, names: [String; 2]) -> Comparison {
        let ((a, copies_a), (b, copies_b)) = (without_copies(a), without_copies(b));
        let interrupted = [&a, &b].map(|side| side.iter().all(|run| run.summary.interrupted()));
        let ((a, left_out_a), (b, left_out_b)) = (without_interrupted(a), without_interrupted(b));
        let [Side { alone: of_a, runs: a }, Side { alone: of_b, runs: b }] = of_both(a, b);
        let lonely = lonely(&pairs(&a, &b));
        let with_partner = |runs: Vec<Run>, lonely: &BTreeSet<RunKey>| -> Vec<Run> {
            retained(runs, |run| !lonely.contains(&key(run)))
        };
        let unpaired = lonely.iter().map(BTreeSet::len).sum();
        let (a, b) = (with_partner(a, &lonely[0]), with_partner(b, &lonely[1]));
        let epochs = [epochs(&a), epochs(&b)];
        let epochs = (epochs[0] != epochs[1] || epochs[0].contains(", ")).then_some(epochs);
        let pairs = pairs(&a, &b);
        let differences = differences_of(&pairs, (&a[0].scenario, &b[0].scenario));
        let other_flows = other_flows(pairs.iter().flat_map(|(_, a, b)| partners(a, b)));
        let (cases, rows) = (pairs.len(), pairs.iter().flat_map(compared).collect());
        let sides = a.iter().map(|run| side(run, &names[0])).chain(b.iter().map(|run| side(run, &names[1])));
        let mut sweep = Sweep::of_all(sides.collect());
        (sweep.left_out, sweep.copies) = (left_out_a + left_out_b, copies_a + copies_b);
        sweep.is_comparison = true;
        // With several cases, a baseline would compare the schemes within one side.
        sweep.without_base = cases > 1;
        Comparison {
            names,
            differences,
            rows,
            cases,
            epochs,
            unpaired,
            alone: [of_a, of_b],
            other_flows,
            interrupted,
            sweep,
        }
    }

    /// The answer: for one case as for a sweep; for several, the mean ratio over all.
    #[must_use]
    pub fn headline(&self) -> Headline {
        let mut warnings = Headline::of_sweep(&self.sweep, &[]).warnings;
        let of_sides = self.of_interrupted().chain(self.of_other_epochs()).chain(self.of_other_flows());
        let of_sides = of_sides.chain(flows_of_jobs(&self.sweep));
        warnings.splice(0..0, of_sides.chain(self.of_alone()).chain(self.of_unpaired()));
        Headline { warnings, sentence: self.sentence() }
    }

    /// A side of which nothing is complete: its flows are those that had come by then.
    fn of_interrupted(&self) -> impl Iterator<Item = String> {
        let sides = self.names.iter().zip(self.interrupted).filter(|(_, interrupted)| *interrupted);
        sides.map(|(name, _)| {
            format!(
                "{name} was interrupted: its results are partial, and part of any difference comes from flows that it lacks."
            )
        })
    }

    fn of_unpaired(&self) -> Option<String> {
        let words = plural(self.unpaired as u64, "run");
        (self.unpaired > 0).then(|| format!("{words} left out: the other side has no run with the seed."))
    }

    /// Cases and seeds that only one side has enter no number.
    fn of_alone(&self) -> impl Iterator<Item = String> {
        let of = |side: usize| {
            let (cases, name, other) = (&self.alone[side], &self.names[side], &self.names[1 - side]);
            let more = cases.len().saturating_sub(MOST_CASES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let some = cases.iter().take(MOST_CASES).cloned().collect::<Vec<_>>().join("; ");
            let all = plural(cases.len() as u64, "case");
            (!cases.is_empty())
                .then(|| format!("{all} of {name} left out: {other} has no such case ({some}{more})."))
        };
        (0..2).filter_map(of).collect::<Vec<_>>().into_iter()
    }

    fn of_other_flows(&self) -> Option<String> {
        let FlowPairs { differ, known } = self.other_flows;
        let [a, b] = &self.names;
        let which = match known {
            1 => "The".to_owned(),
            _ if differ == known => "In all pairs of runs the".to_owned(),
            _ => format!("In {differ} of {known} pairs of runs the"),
        };
        (differ > 0).then(|| {
            format!(
                "{which} flows of {b} are not those of {a}: part of any difference comes from the traffic."
            )
        })
    }

    fn of_other_epochs(&self) -> Option<String> {
        let ([a, b], [of_a, of_b]) = (&self.names, self.epochs.as_ref()?);
        Some(format!(
            "Results of different epochs: {a} {of_a}, {b} {of_b}. Part of any difference may come from the program."
        ))
    }

    /// Headline, settings that differ, and metrics, in 80 columns.
    #[must_use]
    pub fn terminal(&self, colour: bool) -> String {
        let header = ["metric", &self.names[0], &self.names[1], "b / a", "95 % interval"].map(str::to_owned);
        let rows: Vec<TerminalRow> = self.rows.iter().map(terminal_row).collect();
        let settings = ["setting", &self.names[0], &self.names[1]].map(str::to_owned);
        let widest = |side: fn(&(String, String, String)) -> &String, name: &str| {
            let cells = self.differences.iter().map(|row| shortened(side(row)).chars().count());
            cells.chain([name.chars().count()]).max().unwrap_or(0)
        };
        let values = widest(|row| &row.1, &self.names[0]) + widest(|row| &row.2, &self.names[1]);
        let room = WIDTH.saturating_sub(values + GAPS).max(KEY);
        let changed = |(key, a, b): &(String, String, String)| TerminalRow {
            cells: vec![end_of(key, room), shortened(a), shortened(b)],
            bold: false,
        };
        let changed: Vec<TerminalRow> = self.differences.iter().map(changed).collect();
        let settings =
            if changed.is_empty() { String::new() } else { table(&settings, &changed, colour) + "\n" };
        format!("{}\n{settings}{}", headline_text(&self.headline(), colour), table(&header, &rows, colour))
    }

    /// The page: the ratios first, then everything that a sweep over both sides shows.
    #[must_use]
    pub fn page(&self) -> Page {
        let mut page = of_sweep(&self.sweep, &[]);
        let headline = self.headline();
        page.name = format!("{} against {}", self.names[1], self.names[0]);
        page.about = "Comparison of two results, paired by seed".to_owned();
        (page.headline, page.warnings) = (headline.sentence, headline.warnings);
        if self.sweep.without_base {
            page.cards.clear();
        }
        page.side = self.side();
        page.repeat.differences.clone_from(&self.differences);
        if let Some(answer) = page.sections.first_mut() {
            answer.lead = format!("Changes from {} to {}.", self.names[0], self.names[1]);
            answer.figures.insert(0, self.ratios());
        }
        page
    }

    /// The number of schemes of one side, if the other side has the same.
    fn side(&self) -> Option<usize> {
        let schemes = &self.sweep.schemes;
        let (a, b) = schemes.split_at(schemes.len() / 2);
        let own = |scheme: &String, side: &String| scheme.strip_prefix(side.as_str()).map(str::to_owned);
        let alike = |(a, b): (&String, &String)| {
            let (a, b) = (own(a, &self.names[0]), own(b, &self.names[1]));
            a.as_ref().is_some_and(|rest| !rest.is_empty()) && a == b
        };
        let is_alike = a.len() == b.len() && a.iter().zip(b).all(alike);
        is_alike.then_some(a.len())
    }

    /// Every ratio with its interval: for one case by metric, for several the ratio of the mean by case.
    fn ratios(&self) -> Figure {
        let [a, b] = &self.names;
        let shown = |row: &&ComparedMetric| row.ratio.is_some() && (self.cases == 1 || self.judges(row));
        let rows: Vec<&ComparedMetric> = self.rows.iter().filter(shown).collect();
        let name =
            |row: &&ComparedMetric| if self.cases == 1 { row.metric.clone() } else { row.case.clone() };
        let clear = rows.iter().filter(|row| row.ratio.is_some_and(|ratio| ratio.excludes(1.0))).count();
        let line = series("ratio", 0, Vec::new(), rows.iter().map(|row| row.ratio).collect(), 1.0);
        Figure {
            id: "ratios".into(),
            title: format!("{clear} of {} ratios of {b} to {a} differ significantly from 1", rows.len()),
            caption: format!(
                "Metric of {b} divided by that of {a}, paired by seed; geometric means with 95 % intervals (Student's t \
                 of the logarithms), each by itself. Left of 1, {b} is lower."
            ),
            samples: format!("n = {} runs", self.sweep.runs.len()),
            kind: FigureKind::Dots,
            x: Axis::linear(&format!("{b} / {a}"), "×"),
            y: Axis::linear(if self.cases == 1 { "metric" } else { "case" }, ""),
            rows: rows.iter().map(name).collect(),
            series: vec![Series { scheme: None, ..line }],
            ..Figure::default()
        }
    }
}

fn terminal_row(row: &ComparedMetric) -> TerminalRow {
    let unit = unit(&row.metric);
    let shown = |estimate: Option<Estimate>| estimate.map_or("–".to_owned(), |e| value(e.mean, unit));
    let name =
        if row.case.is_empty() { row.metric.clone() } else { format!("{} {}", row.values, row.metric) };
    let ratio = row.ratio.map_or("–".to_owned(), |ratio| format!("{}×", ratio_words(&ratio)));
    let clear = row.ratio.is_some_and(|ratio| ratio.excludes(1.0));
    TerminalRow {
        cells: vec![name, shown(row.a), shown(row.b), ratio, interval(row.ratio.as_ref())],
        bold: clear,
    }
}

/// The values of a case's labels without their keys.
fn label_values(runs: &[&Run]) -> String {
    let labels = runs.first().map_or(&[][..], |run| &run.manifest.labels);
    labels.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
}

/// The end of a long key, which is its most specific part.
fn end_of(key: &str, most: usize) -> String {
    let length = key.chars().count();
    if length <= most {
        key.to_owned()
    } else {
        format!("…{}", key.chars().skip(length + 1 - most).collect::<String>())
    }
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(24).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// A run with its side as the first label, and without its link, which is relative to another folder.
fn side(run: &Run, name: &str) -> Run {
    let mut run = run.clone();
    run.manifest.labels.insert(0, ("side".to_owned(), name.to_owned()));
    run.link.clear();
    run
}

/// The results epochs of runs; `none` for a run without one.
fn epochs(runs: &[Run]) -> String {
    let name =
        |run: &Run| if run.manifest.epoch.is_empty() { "none" } else { &run.manifest.epoch }.to_owned();
    let names: std::collections::BTreeSet<String> = runs.iter().map(name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::statistics::Distribution;
    use crate::summary::{DeadlineCounts, Deadlines, FlowMeasure, Summary};

    fn run(balance: &str, load: &str, seed: u64, mean: f64) -> Run {
        let labels = vec![("balance".into(), balance.into()), ("traffic.trace.load".into(), load.into())];
        let all = Distribution::of((0..200).map(|n| mean * (1.0 + f64::from(n) / 200.0)).collect());
        Run {
            manifest: Manifest { labels, seed, ..Manifest::default() },
            summary: Summary { fct_us: FlowMeasure { all, ..FlowMeasure::default() }, ..Summary::default() },
            scenario: format!(
                "name = \"x\"\n[balance.{balance}]\n[[traffic]]\ntag = \"trace\"\nload = {load}\n"
            ),
            ..Run::default()
        }
    }

    fn names() -> [String; 2] {
        ["old".into(), "new".into()]
    }

    #[test]
    fn single_cases_are_paired_by_seed_whatever_their_labels() {
        let a = (1..=3).map(|seed| run("ecmp", "0.8", seed, 100.0 * seed as f64)).collect();
        let b = (1..=3).map(|seed| run("drill", "0.8", seed, 50.0 * seed as f64)).collect();
        let comparison = Comparison::of(a, b, names());
        let mean = comparison.rows[0].ratio.unwrap();
        assert!((mean.mean - 0.5).abs() < 1e-12 && mean.excludes(1.0) && mean.runs == 3);
        assert!(comparison.sentence().starts_with("Mean FCT of new is 0.500× that of old"));
        assert!(comparison.terminal(false).lines().all(|line| line.chars().count() <= 80));
    }

    /// A side that gives flows up at once has the lower mean, which says nothing. Other metrics are compared.
    #[test]
    fn a_side_that_gives_flows_up_has_no_lower_mean() {
        let side = |balance: &str, mean: f64, terminated: u64| -> Vec<Run> {
            let made = |seed| {
                let mut run = run(balance, "0.8", seed, mean);
                let all = DeadlineCounts { flows: 200, met: 200 - terminated, terminated, late: 0 };
                (run.summary.flows.started, run.summary.flows.unfinished) = (200, terminated);
                run.summary.flows.finished = 200 - terminated;
                run.summary.flows.open_age_us = Some(terminated as f64);
                run.summary.deadlines = Some(Deadlines { all, ..Deadlines::default() });
                run
            };
            (1..=3).map(made).collect()
        };
        let told = |terminated| {
            let comparison = Comparison::of(side("ecmp", 100.0, 0), side("drill", 50.0, terminated), names());
            let compared =
                |metric: &str| comparison.rows.iter().any(|row| row.metric == metric && row.ratio.is_some());
            let means = compared("fct.mean") || compared(MEAN_WITH_OPEN);
            (comparison.sentence().replace('\u{202f}', " "), means, compared("fct.p99"))
        };
        let words = "new gives up 10.0 % of its flows, so its mean FCT is not compared. Deadlines met: old 100 %, new 90.0 %.";
        assert_eq!(told(20), (words.to_owned(), false, true));
        let (sentence, means, _) = told(2);
        assert!(
            means && sentence.starts_with("Mean FCT (flows that did not finish at their age) of new is"),
            "{sentence}"
        );
        assert!(!sentence.contains("gives up"), "{sentence}");
    }

    /// What decides is the time of jobs, the mean with the flows left open, or goodput where no flow finishes.
    #[test]
    fn the_sentence_is_about_what_the_runs_are_for() {
        let both = |change: &dyn Fn(&mut Run, f64)| {
            let side = |mean: f64| -> Vec<Run> {
                let made = |seed| {
                    let mut run = run("ecmp", "0.8", seed, mean);
                    change(&mut run, mean);
                    run
                };
                (1..=3).map(made).collect()
            };
            Comparison::of(side(100.0), side(50.0), names()).sentence()
        };
        let jobs = both(&|run, mean| _ = run.summary.jobs.insert("seconds".into(), 200.0 - mean));
        assert!(jobs.starts_with("The time of the jobs of new is 1.50× that of old"), "{jobs}");
        let open = both(&|run, mean| {
            let flows = &mut run.summary.flows;
            (flows.started, flows.finished) = (200, 200);
            if mean < 100.0 {
                (flows.finished, flows.unfinished, flows.open_age_us) = (100, 100, Some(1e6));
            }
        });
        assert!(open.starts_with("Mean FCT (flows that did not finish at their age) of new is 33"), "{open}");
        let endless = both(&|run, mean| {
            run.summary.fct_us = FlowMeasure::default();
            run.summary.flows.unfinished = 64;
            run.summary.goodput_gbps = mean;
        });
        assert!(endless.starts_with("Goodput of new is 0.500× that of old"), "{endless}");
    }

    /// With schemes on both sides no card and no title compares two of one side.
    #[test]
    fn a_page_of_two_sweeps_compares_the_sides_alone() {
        let side = |times: f64| {
            let one = |(name, mean): (&'static str, f64)| {
                (1..=3).map(move |seed| run(name, "0.8", seed, times * mean))
            };
            [("ecmp", 100.0), ("drill", 50.0)].into_iter().flat_map(one).collect::<Vec<_>>()
        };
        let page = Comparison::of(side(1.0), side(1.1), names()).page();
        assert!(page.cards.is_empty() && page.headline.contains("1.10× that of old"), "{}", page.headline);
        assert_eq!((page.side, page.schemes.len()), (Some(2), 4), "{:?}", page.schemes);
        let titles: Vec<&String> =
            page.sections.iter().flat_map(|section| &section.figures).map(|f| &f.title).collect();
        assert!(
            titles.iter().all(|title| !title.contains("lower with") && !title.contains("Speedup of")),
            "{titles:?}"
        );
    }

    #[test]
    fn equal_results_are_told_as_such() {
        let one = |mean: f64| vec![run("ecmp", "0.8", 1, mean)];
        let told = |a, b| Comparison::of(a, b, names()).sentence();
        assert_eq!(told(one(100.0), one(100.0)), "old and new are equal in every metric below.");
        assert!(told(one(100.0), one(101.0)).ends_with("one seed cannot separate them."));
        let two = || [one(100.0), vec![run("ecmp", "0.3", 1, 50.0)]].concat();
        assert_eq!(told(two(), two()), "old and new are equal in every metric of all 2 cases.");
    }

    #[test]
    fn cases_of_sweeps_are_paired_by_label_and_seeds_that_are_missing_left_out() {
        let a = vec![run("ecmp", "0.3", 1, 10.0), run("ecmp", "0.8", 1, 20.0), run("ecmp", "0.8", 2, 30.0)];
        let b = vec![run("ecmp", "0.8", 2, 60.0), run("ecmp", "0.8", 3, 1.0), run("ecmp", "0.5", 1, 1.0)];
        let comparison = Comparison::of(a, b, names());
        assert_eq!(comparison.cases, 1);
        assert_eq!(comparison.rows[0].ratio.map(|ratio| (ratio.mean.round(), ratio.runs)), Some((2.0, 1)));
    }

    /// Only the first run of a case carries its scenario, and here it has no partner.
    #[test]
    fn settings_are_compared_although_the_first_seed_has_no_partner() {
        let side = |balance: &str, seeds: std::ops::RangeInclusive<u64>| -> Vec<Run> {
            let mut runs: Vec<Run> =
                seeds.map(|seed| run(balance, "0.8", seed, 10.0 * seed as f64)).collect();
            runs[1..].iter_mut().for_each(|run| run.scenario.clear());
            runs
        };
        let comparison = Comparison::of(side("drill", 1..=5), side("ecmp", 3..=7), names());
        let keys: Vec<&str> = comparison.differences.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys, ["balance.drill", "balance.ecmp"]);
        assert_eq!(comparison.unpaired, 4);
    }

    #[test]
    fn cases_of_one_side_only_are_left_out_and_told() {
        let a = || (1..=2).map(|seed| run("ecmp", "0.8", seed, 10.0)).collect::<Vec<_>>();
        let more = ["drill", "random", "conga", "letflow"].map(|name| run(name, "0.8", 1, 99.0));
        let comparison = Comparison::of(a(), [a(), more.to_vec()].concat(), names());
        let told = comparison.headline().warnings.join(" ");
        assert!(
            told.starts_with(
                "4 cases of new left out: old has no such case (balance = drill, traffic.trace.load = 0.8; "
            ),
            "{told}"
        );
        assert!(told.contains(" and 1 more)"), "{told}");
        assert_eq!(comparison.sweep.runs.len(), 4, "warnings and plots count none of them");
        let single = Comparison::of(a(), vec![run("drill", "0.8", 1, 5.0)], names());
        assert_eq!(
            single.alone,
            [Vec::<String>::new(), Vec::new()],
            "single cases are compared whatever their labels"
        );
    }

    #[test]
    fn runs_whose_flows_differ_are_told() {
        let of = |hash: &str| {
            let mut run = run("ecmp", "0.8", 1, 10.0);
            run.manifest.flows_hash = hash.to_owned();
            vec![run]
        };
        let told = |a, b| Comparison::of(of(a), of(b), names()).headline().warnings.join(" ");
        assert!(told("1", "2").starts_with("The flows of new are not those of old"), "{}", told("1", "2"));
        assert!(!told("1", "1").contains("flows of"));
        assert!(!told("", "2").contains("flows of"), "an older manifest does not know");
        let jobs = |seconds| {
            let mut runs = of("");
            runs[0].summary.jobs = [("seconds".to_owned(), seconds)].into();
            runs
        };
        let words = Comparison::of(jobs(1.0), jobs(2.0), names()).headline().warnings.join(" ");
        assert!(words.contains("with equal seeds the sides may have other flows"), "{words}");
    }

    #[test]
    fn a_difference_below_half_a_per_cent_is_told_in_per_cent() {
        let side = |factor: f64| {
            (1..=3)
                .map(|seed| {
                    run("ecmp", "0.8", seed, factor * (9.0 + seed as f64 * (1.0 + (factor - 1.0) / 40.0)))
                })
                .collect()
        };
        let told = Comparison::of(side(1.0), side(1.001_93), names()).sentence().replace('\u{202f}', " ");
        assert!(
            told.starts_with("Mean FCT of new is 0.19")
                && told.contains(" % higher than that of old (95 % interval 1.001"),
            "{told}"
        );
    }

    /// Where nothing else is there, an interrupted run is compared, and that is said.
    #[test]
    fn a_side_of_interrupted_runs_is_told() {
        let stopped = |mut run: Run| {
            run.summary.stop = "interrupted".to_owned();
            run
        };
        let whole = || run("ecmp", "0.8", 1, 10.0);
        let told = |a, b| Comparison::of(a, b, names()).headline().warnings.join(" ");
        let words = "was interrupted: its results are partial";
        let one = told(vec![stopped(whole())], vec![whole()]);
        assert!(one.contains(&format!("old {words}")) && !one.contains(&format!("new {words}")), "{one}");
        let both = told(vec![stopped(whole())], vec![stopped(whole())]);
        assert!(both.contains(&format!("old {words}")) && both.contains(&format!("new {words}")), "{both}");
        let comparison = Comparison::of(vec![stopped(whole())], vec![whole()], names());
        assert_eq!(comparison.sweep.runs.len(), 2, "the page shows both sides");
        let mixed = told(vec![whole(), stopped(run("ecmp", "0.8", 2, 10.0))], vec![whole()]);
        assert!(
            mixed.contains("1 run was interrupted and is excluded.") && !mixed.contains(words),
            "{mixed}"
        );
        assert!(!told(vec![whole()], vec![whole()]).contains("interrupted"));
    }

    /// A backup beside the original is no further seed.
    #[test]
    fn copies_of_a_run_count_once() {
        let of = |seed| {
            let mut run = run("ecmp", "0.8", seed, 10.0 * seed as f64);
            run.manifest.hash = "0123456789abcdef".to_owned();
            run
        };
        let (once, twice) = (vec![of(1), of(2), of(3)], [1, 2, 3, 1, 2, 3].map(of).to_vec());
        let comparison = Comparison::of(twice.clone(), once.clone(), names());
        assert_eq!(comparison.rows, Comparison::of(once, twice, names()).rows, "the same runs on both sides");
        assert_eq!(comparison.rows[0].a.map(|mean| mean.runs), Some(3));
        let told = comparison.headline().warnings.join(" ");
        assert!(told.contains("3 runs are copies of others"), "{told}");
    }

    /// Of 200 flows none lies beyond the 99.9th percentile.
    #[test]
    fn a_percentile_that_is_the_maximum_is_not_compared() {
        let comparison =
            Comparison::of(vec![run("ecmp", "0.8", 1, 1.0)], vec![run("drill", "0.8", 1, 1.0)], names());
        let metrics: Vec<&str> = comparison.rows.iter().map(|row| row.metric.as_str()).collect();
        assert!(metrics.contains(&"fct.p99") && !metrics.contains(&"fct.p99_9"), "{metrics:?}");
    }

    #[test]
    fn only_settings_that_differ_are_listed() {
        let found = differences_of(
            &[],
            (&run("ecmp", "0.8", 1, 1.0).scenario, &run("drill", "0.5", 1, 1.0).scenario),
        );
        let keys: Vec<&str> = found.iter().map(|(key, _, _)| key.as_str()).collect();
        assert_eq!(keys, ["balance.drill", "balance.ecmp", "traffic.trace.load"]);
        assert_eq!((found[2].1.as_str(), found[2].2.as_str()), ("0.8", "0.5"));
    }

    #[test]
    fn sides_are_named_by_what_tells_the_paths_apart() {
        let name = |a: &str, b: &str| side_names(Path::new(a), Path::new(b));
        let [a, b] = name("runs/x/case-00000001", "runs/x/case-00000002");
        assert_eq!([a.as_str(), b.as_str()], ["case-00000001", "case-00000002"], "not `case` and `case`");
        assert_eq!(name("runs/x/ecmp-01234567/seed-1", "runs/x/drill-89abcdef/seed-1"), ["ecmp", "drill"]);
        assert_eq!(name("old/x", "new/x"), ["old", "new"]);
        assert_eq!(name("x", "x"), ["a", "b"]);
    }
}
