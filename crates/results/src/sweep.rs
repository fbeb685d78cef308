//! Several runs of one scenario: which settings vary, which of them is the axis of the plots, which distinguish the
//! schemes, and estimates over the seeds. Must not depend on pictures.

use crate::copies::without_copies;
use crate::short_labels::short_labels;
use crate::statistics::Estimate;
use crate::text::NOT_MEASURED;
use weft_core::{Bytes, Rate, Span};

pub use crate::run::{Run, retained};

/// Averages goodput and loads of all runs over the same part: if some are averaged over their arrivals, so are all
/// others for which that is possible. Runs with one seed have the same arrivals, but the amount delivered by their
/// end depends on the scheme.
pub fn share_one_window(runs: &mut [Run]) {
    if runs.iter().any(|run| run.summary.arrivals_until_s.is_some()) {
        runs.iter_mut().for_each(Run::average_over_arrivals);
    }
}

/// The mean completion time of all flows, finished or not.
pub const MEAN_WITH_OPEN: &str = "fct.mean_with_open";
/// The share of flows that a scheme may give up before its mean completion time says nothing any more.
const MOST_GIVEN_UP: f64 = 0.01;

/// The keys of all labels, in order of first appearance.
#[must_use]
pub fn axes(runs: &[Run]) -> Vec<String> {
    distinct(runs.iter().flat_map(|run| &run.manifest.labels).map(|(key, _)| key.as_str()))
}

/// The setting on the horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HorizontalAxis {
    /// Dotted key of the setting.
    pub key: String,
    /// Its name in plots and sentences: `offered load`.
    pub name: String,
    /// Unit of the numbers: `%`, `us`, `kB`, `Gbps` or empty.
    pub unit: String,
    /// The values in ascending order: number in `unit`, and the text in the scenario.
    pub values: Vec<(f64, String)>,
}

impl HorizontalAxis {
    /// A value with its unit: `80 %`; a quantity as written, `4 MB`.
    #[must_use]
    pub fn label(&self, at: usize) -> String {
        let (number, text) = &self.values[at];
        match self.unit.as_str() {
            "" => crate::text::plain(*number),
            "%" => format!("{}\u{202f}%", crate::text::plain(*number)),
            _ => text.replace(' ', "\u{202f}"),
        }
    }

    /// A value as it appears in a sentence: `80 % load`.
    #[must_use]
    pub fn phrase(&self, at: usize) -> String {
        let label = self.label(at);
        if self.unit == "%" { format!("{label} load") } else { format!("{} {label}", self.name) }
    }
}

/// Runs ordered by scheme, value of the axis and seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The runs, in the order given; [`Sweep::new`] says which are left out.
    pub runs: Vec<Run>,
    /// Interrupted runs that were left out.
    pub left_out: usize,
    /// Copies of other runs that were left out.
    pub copies: usize,
    /// The numeric setting that varies, if one does.
    pub axis: Option<HorizontalAxis>,
    /// The schemes compared, in order of first appearance; the first is the baseline.
    pub schemes: Vec<String>,
    /// The setting by which the schemes differ: `balance`.
    pub scheme_name: String,
    /// The labels that all runs share, such as `load = 0.4`, in a sweep with missing cases; empty if none is missing.
    pub only: String,
    /// Whether no scheme is the baseline of the others.
    pub without_base: bool,
    /// Whether the runs are the two sides of a comparison, which says itself how their flows differ.
    pub is_comparison: bool,
    /// For each run, its scheme and its point on the axis.
    places: Vec<(usize, usize)>,
}

impl Sweep {
    /// Finds axis and schemes among the labels. The axis is the numeric setting called `load`, or else the last
    /// numeric one, with at least two values; all other varying settings together name the scheme.
    ///
    /// Copies would count one run several times, and interrupted runs would distort every mean, so they are left out if there is
    /// any other run.
    #[must_use]
    pub fn new(runs: Vec<Run>) -> Sweep {
        let (runs, copies) = without_copies(runs);
        let (runs, left_out) = without_interrupted(runs);
        Sweep { left_out, copies, ..Sweep::of_all(runs) }
    }

    /// The same without leaving out any run.
    #[must_use]
    pub fn of_all(mut runs: Vec<Run>) -> Sweep {
        share_one_window(&mut runs);
        let all = axes(&runs);
        let varying: Vec<String> = all.iter().filter(|axis| values(&runs, axis).len() > 1).cloned().collect();
        let numeric: Vec<HorizontalAxis> =
            varying.iter().filter_map(|key| numeric(key, &values(&runs, key))).collect();
        let load = numeric.iter().find(|axis| axis.unit == "%").or(numeric.last()).cloned();
        let axis = load.filter(|axis| varying.len() > 1 || axis.values.len() > 1);
        let others: Vec<&String> =
            varying.iter().filter(|key| axis.as_ref().is_none_or(|axis| axis.key != **key)).collect();
        let mut others = telling(&runs, &others);
        if others.is_empty() {
            // a sweep that has just begun may have a single case, so what varies in it is unknown
            let settled = |key: &&String| axis.as_ref().is_none_or(|axis| axis.key != **key);
            others = all.iter().filter(settled).map(|key| Key::new(&runs, key)).collect();
        }
        let scheme = |run: &Run| scheme_of(run, &others);
        let schemes = distinct(runs.iter().map(scheme).collect::<Vec<_>>().iter().map(String::as_str));
        let place = |run: &Run| {
            let scheme = scheme(run);
            (schemes.iter().position(|name| *name == scheme).unwrap_or(0), position(axis.as_ref(), run))
        };
        let places = runs.iter().map(place).collect();
        let scheme_name = others.iter().map(|key| last_word(key.path)).collect::<Vec<_>>().join(", ");
        Sweep { runs, axis, schemes, scheme_name, places, ..Sweep::default() }
    }

    /// The same for a part of a sweep: the labels that all its runs share vary in the whole sweep, and must be shown.
    #[must_use]
    pub fn of_incomplete(runs: Vec<Run>) -> Sweep {
        let sweep = Sweep::new(runs);
        let shared = |key: &String| {
            let [one] = values(&sweep.runs, key).try_into().ok()?;
            Some(format!("{} = {one}", last_word(key)))
        };
        let only: Vec<String> = axes(&sweep.runs).iter().filter_map(shared).collect();
        Sweep { only: only.join(", "), ..sweep }
    }

    /// The number of points on the axis; one without an axis.
    #[must_use]
    pub fn points(&self) -> usize {
        self.axis.as_ref().map_or(1, |axis| axis.values.len())
    }

    /// The name of a scheme below the name of its setting, which it need not repeat: `20 pkt` for `threshold = 20
    /// pkt`.
    #[must_use]
    pub fn cell_name(&self, scheme: usize) -> String {
        let name = &self.schemes[scheme];
        let value = name.strip_prefix(&self.scheme_name).and_then(|rest| rest.strip_prefix(" = "));
        value.unwrap_or(name).to_owned()
    }

    /// The point of the axis, as a suffix: ` at 80 % load`; empty without an axis. For an incomplete sweep, labels
    /// that the names of schemes omit follow: ` with load = 0.4`.
    #[must_use]
    pub fn place(&self, at: usize) -> String {
        let place = self.axis.as_ref().map_or(String::new(), |axis| format!(" at {}", axis.phrase(at)));
        if self.only.is_empty() || self.schemes.len() < 2 {
            place
        } else {
            format!("{place} with {}", self.only)
        }
    }

    /// The runs of a scheme at a point of the axis, by seed.
    #[must_use]
    pub fn case(&self, scheme: usize, at: usize) -> Vec<&Run> {
        let here = self.runs.iter().zip(&self.places).filter(|(_, place)| **place == (scheme, at));
        let mut case: Vec<&Run> = here.map(|(run, _)| run).collect();
        case.sort_by_key(|run| run.manifest.seed);
        case
    }

    /// A metric over the seeds of a case; `None` if no run has it.
    #[must_use]
    pub fn estimate(&self, scheme: usize, at: usize, metric: &str) -> Option<Estimate> {
        let values: Vec<f64> =
            self.case(scheme, at).into_iter().filter_map(|run| run.summary.metric(metric)).collect();
        Estimate::of(&values)
    }

    /// Whether a case has no value of a metric because the engine did not measure it.
    #[must_use]
    pub fn lacks(&self, scheme: usize, at: usize, metric: &str) -> bool {
        self.case(scheme, at).iter().any(|run| run.summary.lacks(metric))
    }

    /// The table cell for a case without a value of a metric.
    #[must_use]
    pub fn absent(&self, scheme: usize, at: usize, metric: &str) -> String {
        if self.lacks(scheme, at, metric) { NOT_MEASURED.to_owned() } else { "–".to_owned() }
    }

    /// The ratio of a metric under `scheme` to that under `base`, over their common seeds; its interval holds together with those of
    /// the other schemes.
    #[must_use]
    pub fn ratio(&self, scheme: usize, base: usize, at: usize, metric: &str) -> Option<Estimate> {
        let alone = paired_ratio(&self.case(scheme, at), &self.case(base, at), metric)?;
        Some(alone.ratio_among(self.comparisons()))
    }

    /// The metric by which schemes are ranked: the mean completion time, in which flows that did not finish count with their age if
    /// there are any. A mean over the others would favour the scheme that leaves out the longest.
    #[must_use]
    pub fn mean_metric(&self) -> &'static str {
        let known = |run: &Run| run.summary.mean_with_open().is_some();
        match self.runs.iter().any(|run| run.summary.flows.unfinished > 0) && self.runs.iter().all(known) {
            true => MEAN_WITH_OPEN,
            false => "fct.mean",
        }
    }

    /// Whether the mean completion time of a case [may be compared](is_comparable).
    #[must_use]
    pub fn is_ranked(&self, scheme: usize, at: usize) -> bool {
        is_comparable(self.mean_metric(), &self.case(scheme, at))
    }

    /// How many schemes are compared with one of them.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        self.schemes.len().saturating_sub(1)
    }
}

/// Removes interrupted runs, if there is any other run; returns the rest and the number removed.
#[must_use]
pub fn without_interrupted(runs: Vec<Run>) -> (Vec<Run>, usize) {
    if runs.iter().all(|run| run.summary.interrupted()) {
        return (runs, 0);
    }
    let before = runs.len();
    let runs = retained(runs, |run| !run.summary.interrupted());
    let left_out = before - runs.len();
    (runs, left_out)
}

/// Pairs the runs of two cases that have the same seed, in the order of the first.
#[must_use]
pub fn partners<'a>(above: &[&'a Run], below: &[&'a Run]) -> Vec<(&'a Run, &'a Run)> {
    let partner = |run: &&'a Run| {
        let partner = below.iter().find(|other| other.manifest.seed == run.manifest.seed)?;
        Some((*run, *partner))
    };
    above.iter().filter_map(partner).collect()
}

/// The share of the measured flows of these runs that their senders gave up.
#[must_use]
pub fn given_up(runs: &[&Run]) -> f64 {
    let sum = |of: fn(&Run) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
    let given_up = sum(|run| run.summary.deadlines.as_ref().map_or(0, |found| found.all.terminated));
    given_up as f64 / sum(|run| run.summary.flows.started).max(1) as f64
}

/// Whether a metric of these runs may be compared with that of others. The mean completion time of a scheme that gives flows up may not: it
/// is a lower bound, and the lower the more are given up.
#[must_use]
pub fn is_comparable(metric: &str, runs: &[&Run]) -> bool {
    !matches!(metric, "fct.mean" | MEAN_WITH_OPEN) || given_up(runs) <= MOST_GIVEN_UP
}

/// The ratio of a metric between two sets of runs, paired by seed; `None` if it [may not be compared](is_comparable).
#[must_use]
pub fn paired_ratio(above: &[&Run], below: &[&Run], metric: &str) -> Option<Estimate> {
    if ![above, below].iter().all(|side| is_comparable(metric, side)) {
        return None;
    }
    let value =
        |(above, below): (&Run, &Run)| Some((above.summary.metric(metric)?, below.summary.metric(metric)?));
    let pairs: Vec<(f64, f64)> = partners(above, below).into_iter().filter_map(value).collect();
    Estimate::of_ratios(&pairs)
}

fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for word in words {
        if !seen.iter().any(|known| known == word) {
            seen.push(word.to_owned());
        }
    }
    seen
}

fn values(runs: &[Run], axis: &str) -> Vec<String> {
    distinct(runs.iter().map(|run| run.label(axis)))
}

/// The keys that distinguish schemes: those whose value does not follow from the keys before them.
fn telling<'a>(runs: &[Run], keys: &[&'a String]) -> Vec<Key<'a>> {
    let mut telling: Vec<Key<'_>> = Vec::new();
    for key in keys {
        let names = |keys: &[Key<'_>]| {
            distinct(
                runs.iter().map(|run| scheme_of(run, keys)).collect::<Vec<_>>().iter().map(String::as_str),
            )
            .len()
        };
        let with: Vec<Key<'_>> = telling.iter().cloned().chain([Key::new(runs, key)]).collect();
        if telling.is_empty() || names(&with) > names(&telling) {
            telling = with;
        }
    }
    telling
}

/// The name of a run's scheme: its labels for these keys, as short as their values allow, each with the name of its setting if
/// the value alone is ambiguous: `drill`, `deadlock = false`, `gap = 500 us`. Without keys, the name of the scenario.
fn scheme_of(run: &Run, keys: &[Key<'_>]) -> String {
    if keys.is_empty() {
        return run.manifest.name.clone();
    }
    let words = keys.iter().map(|key| match (key.named, key.label_of(run)) {
        (true, label) => format!("{} = {label}", last_word(key.path)),
        (false, label) => label.to_owned(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A setting that distinguishes schemes.
#[derive(Clone)]
struct Key<'a> {
    path: &'a str,
    /// Its values, and the label of each.
    labels: Vec<(String, String)>,
    /// Whether one of its values is a number, a quantity or a switch, which needs the name of the setting.
    named: bool,
}

impl Key<'_> {
    fn new<'a>(runs: &[Run], path: &'a str) -> Key<'a> {
        let bare = |value: &String| {
            matches!(value.as_str(), "true" | "false" | "none")
                || value.starts_with(|first: char| first.is_ascii_digit())
        };
        let values = values(runs, path);
        let (short, named) = (short_labels(&values), values.iter().any(bare));
        Key { path, labels: values.into_iter().zip(short).collect(), named }
    }

    fn label_of<'r>(&'r self, run: &'r Run) -> &'r str {
        let value = run.label(self.path);
        self.labels.iter().find(|(known, _)| known == value).map_or(value, |(_, short)| short)
    }
}

fn position(axis: Option<&HorizontalAxis>, run: &Run) -> usize {
    let find = |axis: &HorizontalAxis| axis.values.iter().position(|(_, text)| text == run.label(&axis.key));
    axis.and_then(find).unwrap_or(0)
}

fn last_word(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Parses the number of a quantity of one kind.
type Reader = fn(&str) -> Option<f64>;

/// A number without unit, as TOML writes it, that has a place on an axis: `inf` and `nan` are words.
pub(crate) fn number(text: &str) -> Option<f64> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    text.replace('_', "").parse().ok().filter(|value: &f64| begins && value.is_finite())
}

/// The axis of a setting, if all its values are quantities of one kind.
fn numeric(key: &str, texts: &[String]) -> Option<HorizontalAxis> {
    let word = last_word(key);
    let kinds: [(&str, Reader); 4] = [
        ("", number),
        ("us", |text| Some(text.parse::<Span>().ok()?.micros())),
        ("kB", |text| Some(text.parse::<Bytes>().ok()?.0 as f64 / 1e3)),
        ("Gbps", |text| Some(text.parse::<Rate>().ok()?.gbps())),
    ];
    let all = |read: Reader| texts.iter().map(|text| read(text)).collect::<Option<Vec<f64>>>();
    let (mut unit, mut numbers) = kinds.iter().find_map(|(unit, read)| Some((*unit, all(*read)?)))?;
    let mut name = word.replace('_', " ");
    if word == "load" && unit.is_empty() {
        (unit, name) = ("%", "offered load".to_owned());
        numbers.iter_mut().for_each(|load| *load = (*load * 1e10).round() / 1e8);
    }
    let mut values: Vec<(f64, String)> = numbers.into_iter().zip(texts.iter().cloned()).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(HorizontalAxis { key: key.to_owned(), name, unit: unit.to_owned(), values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::statistics::Distribution;
    use crate::summary::FlowMeasure;
    use crate::summary::Summary;

    fn run(balance: &str, load: &str, seed: u64, mean: f64) -> Run {
        let labels =
            vec![("balance".to_owned(), balance.to_owned()), ("traffic.t.load".to_owned(), load.to_owned())];
        let all = Distribution::of(vec![mean]);
        let summary = Summary { fct_us: FlowMeasure { all, ..FlowMeasure::default() }, ..Summary::default() };
        Run { manifest: Manifest { labels, seed, ..Manifest::default() }, summary, ..Run::default() }
    }

    fn sweep() -> Sweep {
        let mut runs = Vec::new();
        for (balance, factor) in [("ecmp", 2.0), ("drill", 1.0)] {
            for load in ["0.8", "0.3"] {
                runs.extend((1..=3).map(|seed| run(balance, load, seed, factor * seed as f64)));
            }
        }
        Sweep::new(runs)
    }

    #[test]
    fn the_scenario_of_a_case_survives_its_first_run() {
        let first = Run { scenario: "name = \"x\"".to_owned(), ..run("ecmp", "0.8", 1, 1.0) };
        let all = vec![first, run("ecmp", "0.8", 2, 1.0), run("drill", "0.8", 2, 1.0)];
        let kept = retained(all, |run| run.manifest.seed != 1);
        assert_eq!(kept.iter().map(|run| run.scenario.as_str()).collect::<Vec<_>>(), ["name = \"x\"", ""]);
    }

    #[test]
    fn what_all_runs_of_an_incomplete_sweep_share_is_told() {
        let two = || vec![run("ecmp", "0.4", 1, 1.0), run("drill", "0.4", 1, 2.0)];
        assert_eq!((Sweep::new(two()).only.as_str(), Sweep::new(two()).place(0)), ("", String::new()));
        let part = Sweep::of_incomplete(two());
        assert_eq!((part.only.as_str(), part.place(0).as_str()), ("load = 0.4", " with load = 0.4"));
        let one = Sweep::of_incomplete(vec![run("ecmp", "0.4", 1, 1.0)]);
        assert_eq!((one.only.as_str(), one.place(0).as_str()), ("balance = ecmp, load = 0.4", ""));
    }

    #[test]
    fn loads_that_differ_have_other_labels() {
        let of = |load: &str| run("ecmp", load, 1, 1.0);
        let sweep = Sweep::new(["0.1", "0.1000001", "0.07", "0.55"].map(of).to_vec());
        let axis = sweep.axis.expect("the load varies");
        let labels = (0..4).map(|at| axis.label(at).replace('\u{202f}', " "));
        assert_eq!(labels.collect::<Vec<_>>(), ["7 %", "10 %", "10.00001 %", "55 %"]);
    }

    #[test]
    fn load_is_the_axis_and_the_balancer_the_scheme() {
        let sweep = sweep();
        let axis = sweep.axis.clone().unwrap();
        assert_eq!((axis.unit.as_str(), axis.values[0].0, axis.values[1].0), ("%", 30.0, 80.0));
        assert_eq!(
            (sweep.schemes.join(" "), sweep.scheme_name.as_str()),
            ("ecmp drill".to_owned(), "balance")
        );
        assert_eq!(axis.phrase(1), "80\u{202f}% load");
    }

    #[test]
    fn pairing_by_seed_removes_the_spread_between_seeds() {
        let sweep = sweep();
        let ratio = sweep.ratio(0, 1, 1, "fct.mean").unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-12 && (ratio.high.unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(ratio.runs, 3);
        let alone = sweep.estimate(0, 1, "fct.mean").unwrap();
        assert!(alone.high.unwrap() > 5.0);
    }

    /// One of two balancers mostly drains: both are averaged over the arrivals.
    #[test]
    fn goodput_of_all_runs_is_of_one_window() {
        let (mut ecmp, mut drill) = (run("ecmp", "0.8", 1, 2.0), run("drill", "0.8", 1, 1.0));
        (drill.summary.arrivals_until_s, drill.summary.goodput_gbps) = (Some(0.002), 90.0);
        (ecmp.summary.drains_from_s, ecmp.summary.goodput_gbps) = (Some(0.002), 0.1);
        ecmp.summary.in_arrivals = Some(crate::summary::ArrivalAverages {
            until_s: 0.002,
            goodput_gbps: 40.0,
            ..Default::default()
        });
        let alone = Sweep::new(vec![ecmp.clone()]);
        assert_eq!(alone.runs[0].summary.goodput_gbps, 0.1, "nothing to compare it with");
        let sweep = Sweep::new(vec![ecmp, drill]);
        let of =
            |run: &Run| (run.summary.goodput_gbps, run.summary.arrivals_until_s, run.summary.drains_from_s);
        assert_eq!(of(&sweep.runs[0]), (40.0, Some(0.002), None));
        assert_eq!(of(&sweep.runs[1]), (90.0, Some(0.002), None));
    }

    #[test]
    fn a_case_that_is_alone_keeps_its_name() {
        let sweep = Sweep::new(vec![run("ecmp", "0.8", 1, 4.0), run("ecmp", "0.8", 2, 5.0)]);
        assert_eq!((sweep.schemes.join(" "), sweep.axis), ("ecmp, load = 0.8".to_owned(), None));
        let sweep = Sweep::new(vec![run("ecmp", "0.3", 1, 4.0), run("ecmp", "0.8", 1, 5.0)]);
        assert_eq!((sweep.schemes.join(" "), sweep.points()), ("ecmp".to_owned(), 2));
    }

    #[test]
    fn values_that_say_nothing_alone_carry_the_name_of_their_setting() {
        let of = |gap: &str, seed| {
            let labels = vec![("switch.watchdog".to_owned(), gap.to_owned())];
            Run { manifest: Manifest { labels, seed, ..Manifest::default() }, ..Run::default() }
        };
        let sweep = Sweep::new(vec![of("false", 1), of("500 us", 1)]);
        assert_eq!(sweep.schemes, ["watchdog = false", "watchdog = 500 us"]);
        assert_eq!(
            [0, 1].map(|scheme| sweep.cell_name(scheme)),
            ["false", "500 us"],
            "in a column with that name"
        );
    }

    #[test]
    fn quantities_with_units_are_an_axis_and_words_are_not() {
        let texts = ["10 us".to_owned(), "2 us".to_owned()];
        let axis = numeric("switch.visible_after", &texts).unwrap();
        assert_eq!((axis.unit.as_str(), axis.values[0].0), ("us", 2.0));
        assert_eq!(numeric("balance", &["ecmp".to_owned(), "2 us".to_owned()]), None);
        for word in ["inf", "-inf", "nan", "infinity"] {
            assert_eq!(numeric("case", &[word.to_owned(), "2".to_owned()]), None, "{word}");
        }
    }

    #[test]
    fn a_single_run_is_a_sweep_of_one_case() {
        let sweep = Sweep::new(vec![run("ecmp", "0.8", 1, 4.0)]);
        assert_eq!((sweep.axis.as_ref(), sweep.schemes.len(), sweep.points()), (None, 1, 1));
        assert_eq!(sweep.estimate(0, 0, "fct.mean").unwrap().low, None);
    }

    #[test]
    fn schemes_of_tables_are_named_by_what_differs() {
        let of = |marker: &str, transport: &str| {
            let labels = [("switch.ecn", marker), ("transport", transport)];
            let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
            Run { manifest: Manifest { labels, ..Manifest::default() }, ..Run::default() }
        };
        let markers = ["kind=red min=128 kB max=1280 kB", "kind=step threshold=200 kB"];
        let transports = ["kind=dctcp tso=true min_rto=10 ms", "kind=htcp tso=true min_rto=10 ms ecn=on"];
        let runs = markers.iter().flat_map(|marker| transports.map(|transport| of(marker, transport)));
        let sweep = Sweep::new(runs.collect());
        assert_eq!(sweep.schemes, ["red, dctcp", "red, htcp", "step, dctcp", "step, htcp"]);
        assert_eq!(sweep.case(2, 0)[0].manifest.labels[0].1, markers[1], "commands name a case by its label");
    }
}
