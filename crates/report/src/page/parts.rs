//! The text parts of a page: cards, the table of numbers, how to repeat.

use super::{Card, CaseRuns, Repeat, SameCommand, SlowTable, TextTable};
use crate::contrast::{Duel, MetricOrder, covers};
use crate::counts::{is_count, paused};
use crate::headline::endless::{SHOWN, endless, most_goodput};
use crate::headline::{tail_metric, tail_name};
use crate::listing::ExpectationVerdict;
use crate::metric::unit;
use crate::statistics::Estimate;
use crate::summary::{Offered, Summary, TimedOut};
use crate::sweep::{MEAN_WITH_OPEN, Run, Sweep};
use crate::terminal::averaged_until;
use crate::text::{NOT_MEASURED, capitalised, count, duration, number, percent, plural, significant, value};
use std::collections::BTreeSet;

/// The metrics on the cards; flows with time-outs get one if there are any.
fn card_metrics(runs: &[Run]) -> Vec<(&'static str, String)> {
    if endless(runs) {
        let label = |(metric, head): &(&'static str, &str)| (*metric, capitalised(head));
        return SHOWN.iter().map(label).collect();
    }
    let tail = tail_metric(runs);
    let timed_out = runs.iter().any(|run| run.summary.timed_out.is_some());
    let timed_out = timed_out.then(|| ("flows.timed_out", "Flows with time-outs".to_owned()));
    let dated = runs.iter().any(|run| run.summary.deadlines.is_some());
    let dated = dated.then(|| ("deadline.met", "Deadlines met".to_owned()));
    let paused = paused(runs).then(|| ("pause.stops", "Pauses".to_owned()));
    let first = [("fct.mean", "Mean FCT".to_owned()), (tail, tail_name(runs).to_owned())];
    let last = [("drops.total", "Drops".to_owned()), ("goodput", "Goodput".to_owned())];
    first.into_iter().chain(dated).chain(timed_out).chain(paused).chain(last).collect()
}

/// A value as text; whole packets in full.
fn shown(metric: &str, amount: f64) -> String {
    let unit = unit(metric);
    match unit {
        _ if metric == "deadline.met" => percent(amount),
        "" if is_count(metric) && amount.fract() == 0.0 => count(amount as u64),
        "packets" if amount.fract() == 0.0 => format!("{}\u{202f}packets", count(amount as u64)),
        _ => value(amount, unit),
    }
}

pub(super) fn cards_of_run(run: &Run) -> Vec<Card> {
    let summary = &run.summary;
    let alone = summary.alone_us.all.mean.filter(|alone| *alone > 0.0);
    let times = summary.fct_us.all.mean.zip(alone).map(|(mean, alone)| mean / alone);
    let times = times.map_or(String::new(), |times| format!("{}× that in an empty network", number(times)));
    let dated = summary.deadlines.as_ref().map_or(0, |found| found.all.flows);
    let few = |metric: &str| {
        let name = metric.rsplit('.').next().unwrap_or(metric);
        summary.fct_us.all.few_samples_beyond.iter().any(|known| known == name)
    };
    let note = |metric: &str| match metric {
        "fct.mean" => times.clone(),
        "deadline.met" => format!("of {} with a deadline", plural(dated, "flow")),
        "drops.total" => summary
            .drop_share()
            .map_or(String::new(), |share| format!("{} of link traversals", percent(share))),
        "goodput" => busiest(summary),
        "flows.timed_out" => timed_out(summary),
        "jain" => "1 when all flows get equal shares".to_owned(),
        "queue.busiest.mean" => "at the switch port with the longest mean queue".to_owned(),
        "queue.peak" => "of any switch port".to_owned(),
        "pause.stops" => {
            let paused = summary.metric("pause.time").map(duration);
            paused.map_or(String::new(), |paused| format!("{paused} over all senders and classes"))
        }
        metric if few(metric) => "fewer than 100 flows beyond".to_owned(),
        _ => format!("of {}", plural(summary.flows.finished, "flow")),
    };
    let card = |(metric, label): (&'static str, String)| {
        let value = match summary.metric(metric) {
            None if summary.lacks(metric) => NOT_MEASURED.to_owned(),
            value => shown(metric, value?),
        };
        Some(Card { label, value, note: note(metric), ..Card::default() })
    };
    card_metrics(std::slice::from_ref(run)).into_iter().filter_map(card).collect()
}

/// Flows with time-outs: the number that waited for the packet that opens the connection, and the effect on the mean.
fn timed_out(summary: &Summary) -> String {
    let TimedOut { syn, fct_us, others_fct_us, .. } = summary.timed_out.unwrap_or_default();
    let syn = (syn > 0).then(|| format!("{} of the opening packet", count(syn)));
    let means = fct_us.zip(others_fct_us);
    let means =
        means.map(|(own, others)| format!("mean FCT {}, of all others {}", duration(own), duration(others)));
    syn.into_iter().chain(means).collect::<Vec<_>>().join("; ")
}

/// The load of the links: the highest utilisation, and the highest load offered to a leaf.
fn busiest(summary: &Summary) -> String {
    let used =
        summary.links.utilisation_max.map(|most| format!("busiest switch port {} utilised", percent(most)));
    let asked = |offered: &Offered| format!("offered load of a leaf up to {}", percent(offered.uplinks[1]));
    let asked = summary.links.offered.as_ref().map(asked);
    let while_arriving = summary
        .arrivals_until_s
        .map(|until| format!("while flows arrive ({})", averaged_until(summary, until)));
    let whole = || {
        summary.drains_from_s.map(|_| format!("over all {}", averaged_until(summary, summary.simulated_s)))
    };
    while_arriving.or_else(whole).into_iter().chain(used).chain(asked).collect::<Vec<_>>().join("; ")
}

pub(super) fn cards_of_sweep(sweep: &Sweep) -> Vec<Card> {
    let at = sweep.points() - 1;
    let place = sweep.place(at);
    let duel = Duel::at(sweep, at);
    // the scheme that the headline names
    let scheme = duel.map(|duel| duel.best).or_else(|| most_goodput(sweep, at)).unwrap_or(0);
    let name = &sweep.schemes[scheme];
    // as in the headline, over the seeds that both have
    let means = |metric: &str| duel.and_then(|duel| duel.means(sweep, metric));
    let note = |metric: &str| match means(metric) {
        Some((_, base)) => format!("{name}{place}; {} {}", sweep.schemes[0], shown(metric, base)),
        None => format!("{name}{place}"),
    };
    let card = |(metric, label): (&'static str, String)| {
        let alone = || sweep.estimate(scheme, at, metric).map(|estimate| estimate.mean);
        let value = match means(metric).map(|(best, _)| best).or_else(alone) {
            None if sweep.lacks(scheme, at, metric) => NOT_MEASURED.to_owned(),
            best => shown(metric, best?),
        };
        let difference = duel.map_or(String::new(), |duel| difference(sweep, duel, metric));
        Some(Card { label, value, difference, note: note(metric) })
    };
    let ranked = |(metric, label)| match (metric, sweep.mean_metric()) {
        ("fct.mean", MEAN_WITH_OPEN) => (MEAN_WITH_OPEN, "Mean FCT with open flows".to_owned()),
        _ => (metric, label),
    };
    card_metrics(&sweep.runs).into_iter().map(ranked).filter_map(card).collect()
}

/// How the best scheme differs from the baseline: `−22 %`, for a share `+41.1 points`; empty if one has no value. The ratio is that of
/// the headline: over seeds, the geometric mean.
fn difference(sweep: &Sweep, duel: Duel, metric: &str) -> String {
    let Some((best, base)) = duel.means(sweep, metric) else { return String::new() };
    let both = [duel.best, duel.base].into_iter().flat_map(|scheme| sweep.case(scheme, duel.at));
    if both.into_iter().any(|run| !covers(metric, run.summary.unfinished_share())) {
        return String::new();
    }
    let times = duel.contrast(sweep, metric).map_or(best / base, |contrast| contrast.ratio.mean);
    let sign = if best < base { '−' } else { '+' };
    match duel.order(sweep, metric) {
        Some(MetricOrder::Unclear) => "no significant difference".to_owned(),
        _ if best == base => "equal".to_owned(),
        _ if metric == "deadline.met" => format!("{sign}{} points", number(100.0 * (best - base).abs())),
        _ if base <= 0.0 => String::new(),
        _ if times >= 2.0 => format!("{}×", number(times)),
        _ => format!("{}{}", if times < 1.0 { '−' } else { '+' }, percent((times - 1.0).abs())),
    }
}

/// The slowest flows of a run.
pub(super) fn slow_table(run: &Run) -> SlowTable {
    let hops = run.detail.slow_flows.iter().map(|flow| flow.wait_us.len()).max().unwrap_or(0);
    let trace = run.manifest.command.replacen("weft run", "weft trace", 1);
    SlowTable {
        flows: run.detail.slow_flows.clone(),
        hops: (0..hops).map(|hop| crate::figures::why::hop_name(run, hop)).collect(),
        command: if trace.starts_with("weft trace") { format!("{trace} --flow ") } else { String::new() },
    }
}

/// The runs of a sweep, case by case.
pub(super) fn case_runs(sweep: &Sweep) -> Vec<CaseRuns> {
    let cases = (0..sweep.points()).flat_map(|at| (0..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let of = |(scheme, at): (usize, usize)| {
        let place = sweep.axis.as_ref().map(|axis| axis.label(at));
        let name: Vec<String> = std::iter::once(sweep.schemes[scheme].clone()).chain(place).collect();
        let linked = sweep.case(scheme, at).into_iter().filter(|run| !run.link.is_empty());
        let runs = linked.map(|run| (run.manifest.seed, run.link.clone())).collect();
        CaseRuns { name: name.join(", "), runs }
    };
    cases.map(of).filter(|case| !case.runs.is_empty()).collect()
}

/// The columns of the table of numbers.
const COLUMNS: [(&str, &str); 20] = [
    ("fct.mean", "mean FCT"),
    (MEAN_WITH_OPEN, "mean with open"),
    ("flows.unfinished", "unfinished"),
    ("ideal.bound", "lower bound"),
    ("ideal.sjf", "SJF"),
    ("ideal.las", "LAS"),
    ("ideal.ps", "PS"),
    ("ideal.big_switch", "big switch"),
    ("fct.p99", "p99"),
    ("fct.p99_9", "p99.9"),
    ("slowdown.p99", "slowdown p99"),
    ("deadline.met", "deadlines met"),
    ("deadline.late", "late"),
    ("deadline.missed_by.mean", "late by"),
    ("deadline.terminated", "given up"),
    ("drops.total", "drops"),
    ("pause.stops", "pauses"),
    ("pause.time", "paused"),
    ("queueing.total", "queueing"),
    ("goodput", "goodput"),
];

/// The columns to show: unfinished flows and deadlines only if there are any, the bound only where there is one.
fn columns(sweep: &Sweep) -> impl Iterator<Item = (&'static str, &'static str)> {
    let open = sweep.runs.iter().any(|run| run.summary.flows.unfinished > 0);
    let bound = sweep.runs.iter().any(|run| run.summary.ideal.is_some());
    let computed = |metric: &str| sweep.runs.iter().any(|run| run.summary.metric(metric).is_some());
    let dated = sweep.runs.iter().any(|run| run.summary.deadlines.is_some());
    COLUMNS.into_iter().filter(move |(metric, _)| match *metric {
        metric if metric.starts_with("deadline.") => dated,
        MEAN_WITH_OPEN | "flows.unfinished" => open,
        metric if metric.starts_with("pause.") => paused(&sweep.runs),
        "ideal.bound" => bound,
        metric if metric.starts_with("ideal.") => computed(metric),
        _ => true,
    })
}

/// A mean with the half-width of its interval, in one unit.
fn with_interval(metric: &str, estimate: &Estimate) -> String {
    let unit = unit(metric);
    let scaled = crate::figure::Scaled::fitting(estimate.mean, unit, metric == "deadline.met");
    let half = estimate.high.map(|high| high - estimate.mean).filter(|half| *half > 0.0);
    let half =
        half.map_or(String::new(), |half| format!(" ±\u{202f}{}", significant(half / scaled.scale, 2)));
    let unit = if scaled.unit == "packets" { String::new() } else { format!("\u{202f}{}", scaled.unit) };
    format!("{}{half}{unit}", number(estimate.mean / scaled.scale)).trim_end().to_owned()
}

/// One row per case: means with half-widths of 95 % intervals.
pub(super) fn numbers(sweep: &Sweep) -> TextTable {
    let place = sweep.axis.as_ref().map(|axis| axis.name.clone());
    let header = [Some("scheme".to_owned()), place, Some("seeds".to_owned()), Some("flows".to_owned())];
    let header =
        header.into_iter().flatten().chain(columns(sweep).map(|(_, name)| name.to_owned())).collect();
    let cases = (0..sweep.points()).flat_map(|at| (0..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let rows = cases.filter(|&(scheme, at)| !sweep.case(scheme, at).is_empty());
    TextTable {
        title: if sweep.runs.len() > 1 {
            "All cases: means over seeds ± half the width of the 95 % interval".into()
        } else {
            "This run; one seed gives no interval".into()
        },
        header,
        rows: rows.map(|(scheme, at)| row(sweep, scheme, at)).collect(),
        is_prose: false,
    }
}

fn row(sweep: &Sweep, scheme: usize, at: usize) -> Vec<String> {
    let case = sweep.case(scheme, at);
    let place = sweep.axis.as_ref().map(|axis| axis.label(at));
    let flows = case.iter().map(|run| run.summary.flows.finished).sum();
    let cell = |(metric, _): (&str, &str)| {
        let is_maximum = case.iter().any(|run| run.summary.is_maximum(metric));
        let told = |estimate: Estimate| {
            let seeds = match estimate.runs < case.len() {
                true => format!(" ({} of {} seeds)", estimate.runs, case.len()),
                false => String::new(),
            };
            with_interval(metric, &estimate) + if is_maximum { " (max)" } else { "" } + &seeds
        };
        sweep.estimate(scheme, at, metric).map_or_else(|| sweep.absent(scheme, at, metric), told)
    };
    let start =
        [Some(sweep.schemes[scheme].clone()), place, Some(case.len().to_string()), Some(count(flows))];
    start.into_iter().flatten().chain(columns(sweep).map(cell)).collect()
}

fn listed(words: impl Iterator<Item = String>) -> String {
    words
        .collect::<BTreeSet<String>>()
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

pub(super) fn repeat(sweep: &Sweep, verdicts: &[ExpectationVerdict]) -> Repeat {
    let runs = &sweep.runs;
    let first = &runs[0];
    let of = |word: fn(&Run) -> String| listed(runs.iter().map(word));
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run.manifest.seed).collect();
    let hashes = of(|run| run.manifest.hash.chars().take(16).collect());
    let facts = [
        ("version", of(|run| format!("{} {}", run.manifest.version, run.manifest.commit).trim().to_owned())),
        ("results epoch", of(|run| run.manifest.epoch.clone())),
        ("seeds", listed_numbers(&seeds)),
        ("content hash", shortened(&hashes)),
        ("warm-up, not measured", warm_up(runs)),
        ("censored", censored(runs)),
        ("simulated", simulated(runs)),
        ("computed", computed(runs)),
        ("engine", of(|run| run.manifest.engine.clone())),
        ("not measured", of(|run| run.summary.not_measured.join(", "))),
        ("inputs", listed(first.manifest.inputs.iter().map(|(path, hash)| format!("{path} ({hash})")))),
    ];
    let commands = commands(runs).into_iter().map(|command| ("command", command));
    let facts = commands.chain(facts).map(|(name, text)| (name.to_owned(), text)).chain(of_engine(runs));
    Repeat {
        facts: facts.filter(|(_, text)| !text.is_empty()).collect(),
        same_command: match runs.iter().any(|run| run.manifest.is_measurement) {
            true => SameCommand::MeasuresAgain,
            false => SameCommand::Repeats,
        },
        scenario: first.scenario.clone(),
        verdicts: verdicts.to_vec(),
        differences: Vec::new(),
    }
}

/// Maximum number of commands listed.
const COMMANDS: usize = 12;

/// The commands that repeat the runs: for one run its own, for several those of their sweeps, each once.
fn commands(runs: &[Run]) -> Vec<String> {
    if let [run] = runs {
        return vec![run.manifest.command.clone()];
    }
    let mut commands: Vec<String> = Vec::new();
    for run in runs {
        if !commands.contains(&run.manifest.command_of_all) {
            commands.push(run.manifest.command_of_all.clone());
        }
    }
    let others = commands.len().saturating_sub(COMMANDS);
    commands.truncate(COMMANDS);
    if others > 0 {
        commands.push(format!("and {others} more, in the manifests of the runs"));
    }
    commands
}

/// The engine's remarks that are the same for all runs.
fn of_engine(runs: &[Run]) -> Vec<(String, String)> {
    let (first, others) = runs.split_first().expect("a sweep has runs");
    let alike = |fact: &&(String, String)| others.iter().all(|run| run.manifest.facts.contains(fact));
    let named =
        |(name, text): &(String, String)| (format!("{}: {name}", first.manifest.engine), text.clone());
    first.manifest.facts.iter().filter(alike).map(named).collect()
}

fn listed_numbers(numbers: &BTreeSet<u64>) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// The first few words of a long list.
fn shortened(list: &str) -> String {
    let words: Vec<&str> = list.split(", ").collect();
    if words.len() <= 3 {
        return list.to_owned();
    }
    format!("{}, … ({} cases; each run's is in its manifest.json)", words[..2].join(", "), words.len())
}

/// `0.207 s`, or `0.0118 s to 0.207 s` of several runs.
fn simulated(runs: &[Run]) -> String {
    let seconds = || runs.iter().map(|run| run.summary.simulated_s);
    let words = |seconds: f64| format!("{}\u{202f}s", number(seconds));
    let (least, most) = (seconds().fold(f64::INFINITY, f64::min), seconds().fold(0.0, f64::max));
    let (least, most) = (words(least), words(most));
    if least == most { most } else { format!("{least} to {most}") }
}

fn warm_up(runs: &[Run]) -> String {
    let flows: u64 = runs.iter().map(|run| run.summary.flows.warm_up).sum();
    if runs.iter().all(|run| run.summary.warm_up_s == 0.0) {
        return String::new();
    }
    let times = listed(runs.iter().map(|run| crate::text::duration(run.summary.warm_up_s * 1e6)));
    format!("flows that started in the first {times}: {}", plural(flows, "flow"))
}

fn censored(runs: &[Run]) -> String {
    let open: u64 = runs.iter().map(|run| run.summary.flows.unfinished).sum();
    let started: u64 = runs.iter().map(|run| run.summary.flows.started).sum();
    format!(
        "{} of {} measured flows did not finish and are excluded from percentiles",
        count(open),
        count(started)
    )
}

fn computed(runs: &[Run]) -> String {
    let wall: f64 = runs.iter().map(|run| run.summary.wall_s).sum();
    let events: u64 = runs.iter().map(|run| run.summary.events).sum();
    let host = listed(runs.iter().map(|run| run.manifest.host.clone()));
    let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
    match runs.iter().all(|run| run.manifest.is_measurement) {
        true => format!("measured in {}\u{202f}s of real time{on}", number(wall)),
        false => format!("{} events in {}\u{202f}s of compute time{on}", number(events as f64), number(wall)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::statistics::Distribution;
    use crate::summary::{DeadlineCounts, Deadlines, Drops, FlowCounts, FlowMeasure};

    fn measure(mean: f64) -> FlowMeasure {
        let all = Distribution { mean: Some(mean), p50: Some(mean), count: 3, ..Distribution::default() };
        FlowMeasure { all, ..FlowMeasure::default() }
    }

    /// A run with a mean completion time, drops, and shares of 10 deadlines met.
    fn run(scheme: &str, seed: u64, mean: f64, (drops, met): (u64, u64)) -> Run {
        let counts = DeadlineCounts { flows: 10, met, late: 10 - met, terminated: 0 };
        let summary = Summary {
            flows: FlowCounts { started: 3, finished: 3, ..FlowCounts::default() },
            fct_us: measure(mean),
            drops: Some(Drops { total: drops, ..Drops::default() }),
            deadlines: Some(Deadlines { all: counts, ..Deadlines::default() }),
            ..Summary::default()
        };
        let labels = vec![("balance".to_owned(), scheme.to_owned())];
        Run { manifest: Manifest { labels, seed, ..Manifest::default() }, summary, ..Run::default() }
    }

    fn card(cards: &[Card], label: &str) -> Card {
        cards.iter().find(|card| card.label == label).expect("there is such a card").clone()
    }

    /// One flow of 1000 waits far longer than it would alone: the mean of its ratios says little about the means.
    #[test]
    fn a_mean_is_compared_with_the_mean_in_an_empty_network() {
        let mut one = run("ecmp", 1, 500.0, (0, 4));
        (one.summary.alone_us, one.summary.slowdown) = (measure(10.0), measure(1_290.0));
        let cards = cards_of_run(&one);
        assert_eq!(card(&cards, "Mean FCT").note, "50.0× that in an empty network");
        assert_eq!(card(&cards, "Deadlines met").note, "of 10 flows with a deadline", "3 flows finished");
        assert_eq!(card(&cards, "Median FCT").note, "of 3 flows");
    }

    #[test]
    fn differences_are_told_only_where_the_seeds_show_them_and_of_shares_in_points() {
        let seeds = [(1, 0, 5), (2, 84, 6), (3, 374, 5)];
        let base = seeds.map(|(seed, drops, met)| run("ecmp", seed, 100.0, (drops, met)));
        let best = [1, 2, 3].map(|seed| run("drill", seed, 50.0, (0, 10)));
        let cards = cards_of_sweep(&Sweep::new([base, best].concat()));
        assert_eq!(card(&cards, "Drops").difference, "no significant difference");
        assert_eq!(card(&cards, "Deadlines met").difference, "+46.7 points");
        assert_eq!(card(&cards, "Mean FCT").difference, "−50.0\u{202f}%");
        let base = [90, 100, 110].map(|drops| run("ecmp", drops, 100.0, (drops, 5)));
        let best = [90, 100, 110].map(|seed| run("drill", seed, 50.0, (0, 10)));
        let cards = cards_of_sweep(&Sweep::new([base, best].concat()));
        assert_eq!(card(&cards, "Drops").difference, "−100\u{202f}%", "every seed drops, and none here");
    }

    /// With fewer than 100 flows a seed has no 99th percentile: the mean over the others says so.
    #[test]
    fn a_mean_without_some_seeds_says_how_many_it_has() {
        let flows = |(seed, flows): (u64, u32)| {
            let mut one = run("ecmp", seed, 1.0, (0, 0));
            one.summary.fct_us.all = Distribution::of((0..flows).map(f64::from).collect());
            one
        };
        let table = numbers(&Sweep::new([(1, 300), (2, 99), (3, 300)].map(flows).to_vec()));
        let cell =
            |name: &str| &table.rows[0][table.header.iter().position(|head| head == name).expect("a column")];
        assert!(cell("p99").ends_with(" (2 of 3 seeds)"), "{:?}", table.rows);
        assert!(!cell("mean FCT").contains("seeds"), "{:?}", table.rows);
    }

    /// Of 10 000 flows 100 lie beyond the 99th percentile; 300 more that did not finish would be beyond it as well.
    #[test]
    fn a_card_has_the_furthest_percentile_that_open_flows_move_little() {
        let label = |unfinished: u64| {
            let mut run = run("ecmp", 1, 1.0, (0, 0));
            run.summary.fct_us.all = Distribution::of((0..10_000).map(f64::from).collect());
            let flows = &mut run.summary.flows;
            (flows.finished, flows.started, flows.unfinished) = (10_000, 10_000 + unfinished, unfinished);
            cards_of_run(&run)[1].label.clone()
        };
        assert_eq!(
            [0, 50, 300, 1_000].map(label),
            [
                "99th percentile of FCT",
                "95th percentile of FCT",
                "Median FCT",
                "Median FCT of finished flows"
            ]
        );
    }

    /// Means of 61.7 and 103.3 us, whose quotient is 40.3 % less; the geometric mean of the ratios by seed is 40.6 % less.
    #[test]
    fn the_factor_on_a_card_is_that_of_the_headline() {
        let slow = [(1, 100.0), (2, 120.0), (3, 90.0)];
        let times = [0.5, 0.6, 0.7];
        let base = slow.map(|(seed, mean)| run("ecmp", seed, mean, (0, 5)));
        let best = [0, 1, 2].map(|n| run("drill", n as u64 + 1, slow[n].1 * times[n], (0, 5)));
        let cards = cards_of_sweep(&Sweep::new([base, best].concat()));
        let share = 100.0 * (1.0 - 0.21_f64.cbrt());
        assert_eq!(card(&cards, "Mean FCT").difference, format!("−{share:.1}\u{202f}%"));
    }

    /// Of 200 flows none lies beyond the 99.9th percentile.
    #[test]
    fn a_percentile_that_is_the_maximum_is_marked() {
        let mut one = run("ecmp", 1, 1.0, (0, 0));
        one.summary.fct_us.all = Distribution::of((0..200).map(f64::from).collect());
        let table = numbers(&Sweep::new(vec![one]));
        let cell =
            |name: &str| &table.rows[0][table.header.iter().position(|head| head == name).expect("a column")];
        assert!(cell("p99.9").ends_with(" (max)") && !cell("p99").ends_with(" (max)"), "{:?}", table.rows);
    }

    /// Seed 3 of the baseline, the slowest, has no partner: neither the sentence nor a card counts it.
    #[test]
    fn cards_count_the_seeds_of_the_headline() {
        let base =
            [(1, 100.0), (2, 100.0), (3, 900.0)].map(|(seed, mean)| run("ecmp", seed, mean, (7 * seed, 5)));
        let best = [1, 2].map(|seed| run("drill", seed, 50.0, (1, 5)));
        let cards = cards_of_sweep(&Sweep::new([base.to_vec(), best.to_vec()].concat()));
        let mean = card(&cards, "Mean FCT");
        assert_eq!(
            (mean.note.replace('\u{202f}', " ").as_str(), mean.difference.replace('\u{202f}', " ").as_str()),
            ("drill; ecmp 100 us", "−50.0 %")
        );
        assert_eq!(card(&cards, "Drops").note, "drill; ecmp 10.5\u{202f}packets");
    }

    #[test]
    fn cards_of_runs_without_an_end_are_of_the_scheme_that_the_headline_names() {
        let endless = |scheme: &str, goodput: f64| {
            let mut run = run(scheme, 1, 1.0, (0, 0));
            run.summary.fct_us = FlowMeasure::default();
            run.summary.flows = FlowCounts { started: 2, unfinished: 2, ..FlowCounts::default() };
            (run.summary.goodput_gbps, run.summary.deadlines) = (goodput, None);
            run
        };
        let sweep = Sweep::new(vec![endless("red", 9.24), endless("step", 9.48), endless("ramp", 9.4)]);
        let goodput = card(&cards_of_sweep(&sweep), "Goodput");
        assert_eq!((goodput.value.as_str(), goodput.note.as_str()), ("9.48\u{202f}Gbps", "step"));
    }
}
