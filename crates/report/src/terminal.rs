//! The answer in a terminal: headline and one table in 80 columns, with colour only if the caller asks for it. Must not
//! depend on files.

use crate::by_traffic;
use crate::contrast::{MetricOrder, ends};
use crate::counts::{is_count, paused};
use crate::fates::CaseDeadlines;
use crate::figures::deadlines;
use crate::figures::pauses::victims_words;
use crate::headline::endless::{SHOWN, endless};
use crate::headline::{Headline, of_syn, tail_metric};
use crate::job_words::{JOB_TIME, is_of_jobs, job_head, job_ratio, open_words};
use crate::metric::unit;
use crate::statistics::{Distribution, Estimate};
use crate::summary::{Summary, TimedOut};
use crate::sweep::{Run, Sweep};
use crate::text::{NOT_MEASURED, count, duration, number, plural, value};
use weft_draw::Columns;

pub use weft_draw::{WIDTH, wrapped};

/// Maximum number of rows; with more, only the last point of the axis is shown.
const ROWS: usize = 40;

/// Whether to use colour: on a terminal, unless the variable `NO_COLOR` is set to anything (no-color.org) or the
/// terminal is `dumb`.
#[must_use]
pub fn colour(is_terminal: bool) -> bool {
    let told = |name: &str| std::env::var(name).unwrap_or_default();
    is_terminal && wanted(&told("NO_COLOR"), &told("TERM"))
}

fn wanted(no_colour: &str, terminal: &str) -> bool {
    no_colour.is_empty() && terminal != "dumb"
}

/// Headline and table of a sweep.
#[must_use]
pub fn of_sweep(sweep: &Sweep, headline: &Headline, colour: bool) -> String {
    if let [run] = sweep.runs.as_slice() {
        return of_run(run, headline, colour);
    }
    if endless(&sweep.runs) {
        return of_endless(sweep, headline, colour);
    }
    let tail = tail_metric(&sweep.runs);
    let axis = sweep.axis.as_ref().map(|axis| axis.name.clone());
    let (several, paused) = (sweep.schemes.len() > 1, paused(&sweep.runs));
    let header = [several.then(|| sweep.scheme_name.clone()), axis].into_iter().flatten();
    let quantile = tail["fct.".len()..].replace('_', ".");
    let interval = if sweep.comparisons() > 1 { "joint 95 % interval" } else { "95 % interval" };
    let compared = ["faster", interval].into_iter().filter(|_| several);
    let lead = lead(sweep);
    let words = (lead != FCT)
        .then(|| job_head(sweep))
        .into_iter()
        .chain([mean_head(sweep), &quantile])
        .chain(compared);
    let words = words.chain(["drops"]).chain(paused.then_some("pauses"));
    let header: Vec<String> = header.chain(words.map(str::to_owned)).collect();
    let first = if sweep.points() * sweep.schemes.len() > ROWS { sweep.points() - 1 } else { 0 };
    let cases =
        (first..sweep.points()).flat_map(|at| (0..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let faster = |scheme: usize, at: usize| {
        let ratio = lead_ratio(sweep, scheme, 0, at);
        ratio.is_some_and(|ratio| MetricOrder::of(&ratio) == MetricOrder::Less)
    };
    let rows: Vec<TerminalRow> = cases
        .filter(|&(scheme, at)| !sweep.case(scheme, at).is_empty())
        .map(|(scheme, at)| TerminalRow {
            cells: case_cells(sweep, (scheme, at), (tail, paused)),
            bold: faster(scheme, at),
        })
        .collect();
    let thinned = sweep.runs.iter().find_map(thinned).map(|words| wrapped(&words, WIDTH).join("\n") + "\n");
    let thinned = thinned.unwrap_or_default();
    let deadlines = deadlines_table(sweep, first, colour);
    let traffic = traffic_table(sweep, first, colour);
    format!(
        "{}\n{}{traffic}{deadlines}{thinned}",
        headline_text(headline, colour),
        table(&header, &rows, colour)
    )
}

const FCT: &str = "fct.mean";

/// The head of the column of means.
fn mean_head(sweep: &Sweep) -> &'static str {
    if sweep.mean_metric() == FCT { "mean FCT" } else { "mean with open" }
}

/// The metric by which schemes are compared: the time of jobs where every run has them.
fn lead(sweep: &Sweep) -> &'static str {
    if is_of_jobs(sweep) { JOB_TIME } else { FCT }
}

/// The ratio of that metric.
fn lead_ratio(sweep: &Sweep, scheme: usize, base: usize, at: usize) -> Option<Estimate> {
    match lead(sweep) {
        JOB_TIME => job_ratio(sweep, scheme, base, at),
        _ => sweep.ratio(scheme, base, at, sweep.mean_metric()),
    }
}

/// The results of each traffic entry; empty if there is only one, or if the rows would fill more than a screen.
fn traffic_table(sweep: &Sweep, first: usize, colour: bool) -> String {
    let Some(found) = by_traffic::table(sweep, first).filter(|found| found.rows.len() <= ROWS) else {
        return String::new();
    };
    let rows =
        found.rows.into_iter().map(|cells| cells.iter().map(|text| text.replace('\u{202f}', " ")).collect());
    let rows: Vec<TerminalRow> = rows.map(|cells| TerminalRow { cells, bold: false }).collect();
    format!("\n{}", table(&found.header, &rows, colour))
}

/// The fates of deadlines in each case from this point of the axis on; empty without deadlines.
fn deadlines_table(sweep: &Sweep, first: usize, colour: bool) -> String {
    let cases =
        (first..sweep.points()).flat_map(|at| (0..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let cells = |(scheme, at): (usize, usize)| {
        let found = CaseDeadlines::of(&sweep.case(scheme, at))?;
        let place = sweep.axis.as_ref().map(|axis| axis.label(at));
        let start = std::iter::once(sweep.cell_name(scheme)).chain(place);
        let cells = found.cells().map(|text| text.replace('\u{202f}', " "));
        Some(TerminalRow { cells: start.chain(cells).collect(), bold: false })
    };
    let rows: Vec<TerminalRow> = cases.filter_map(cells).collect();
    let names =
        std::iter::once(sweep.scheme_name.clone()).chain(sweep.axis.as_ref().map(|axis| axis.name.clone()));
    let words = ["deadlines met", "late", "by", "given up", "unfinished"].map(str::to_owned);
    let header: Vec<String> = names.chain(words).collect();
    if rows.is_empty() { String::new() } else { format!("\n{}", table(&header, &rows, colour)) }
}

/// Whether each value of the queue series represents several samples.
fn thinned(run: &Run) -> Option<String> {
    let heat = run.detail.heat.as_ref().filter(|heat| heat.samples_per_value > 1)?;
    let every = duration(heat.every_us);
    let width = duration(heat.every_us * heat.samples_per_value as f64);
    let words = format!(
        "queue series: bins of {width} with the peak and mean of {} every {every}; measure.queues_values gives more bins",
        plural(heat.samples_per_value, "sample")
    );
    Some(words.replace('\u{202f}', " "))
}

/// Headline and table of runs without a completion time.
fn of_endless(sweep: &Sweep, headline: &Headline, colour: bool) -> String {
    let axis = sweep.axis.as_ref().map(|axis| axis.name.clone());
    let several = sweep.runs.len() > 1;
    let names = several.then(|| sweep.scheme_name.clone()).into_iter().chain(axis);
    let header: Vec<String> = names.chain(SHOWN.map(|(_, head)| head.to_owned())).collect();
    let first = if sweep.points() * sweep.schemes.len() > ROWS { sweep.points() - 1 } else { 0 };
    let cases =
        (first..sweep.points()).flat_map(|at| (0..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let cells = |(scheme, at): (usize, usize)| {
        let place = sweep.axis.as_ref().map(|axis| axis.label(at));
        let start = several.then(|| sweep.cell_name(scheme)).into_iter().chain(place);
        let cells = start.chain(SHOWN.map(|(metric, _)| cell(sweep, scheme, at, metric))).collect();
        TerminalRow { cells, bold: false }
    };
    let rows: Vec<TerminalRow> =
        cases.filter(|&(scheme, at)| !sweep.case(scheme, at).is_empty()).map(cells).collect();
    let traffic = if several { traffic_table(sweep, first, colour) } else { String::new() };
    format!("{}\n{}{traffic}", headline_text(headline, colour), table(&header, &rows, colour))
}

/// The mean of a metric over the seeds of a case.
fn cell(sweep: &Sweep, scheme: usize, at: usize, metric: &str) -> String {
    let unit = unit(metric);
    let estimate = sweep.estimate(scheme, at, metric);
    let shown = |mean: f64| match is_count(metric) && mean.fract() == 0.0 {
        true => count(mean as u64),
        false => value(mean, unit),
    };
    let text = estimate.map_or_else(|| sweep.absent(scheme, at, metric), |e| shown(e.mean));
    text.trim_end_matches("packets").to_owned()
}

fn case_cells(sweep: &Sweep, (scheme, at): (usize, usize), (tail, paused): (&str, bool)) -> Vec<String> {
    let shown = |metric: &str| cell(sweep, scheme, at, metric);
    let lead = lead(sweep);
    let ratio = if scheme == 0 { None } else { lead_ratio(sweep, 0, scheme, at) };
    let place = sweep.axis.as_ref().map(|axis| axis.label(at));
    let several = sweep.schemes.len() > 1;
    let start = [several.then(|| sweep.cell_name(scheme)), place].into_iter().flatten();
    let faster = ratio.as_ref().map_or(String::new(), |ratio| speed(ratio.mean));
    let compared = [faster, interval(ratio.as_ref())].into_iter().filter(|_| several);
    let job = (lead != FCT).then(|| open_words(sweep, (scheme, at)).unwrap_or_else(|| shown(lead)));
    let cells = job
        .into_iter()
        .chain([shown(sweep.mean_metric()), shown(tail)])
        .chain(compared)
        .chain([shown("drops.total")]);
    start.chain(cells).chain(paused.then(|| shown("pause.stops"))).collect()
}

/// `1.62×`; `1×` of equals.
fn speed(ratio: f64) -> String {
    if ratio == 1.0 { "1×".to_owned() } else { format!("{}×", number(ratio)) }
}

pub(crate) fn interval(estimate: Option<&Estimate>) -> String {
    let both = estimate.and_then(|estimate| Some((estimate.low?, estimate.high?)));
    both.map_or(String::new(), |(low, high)| match high > low.abs() * TOO_WIDE {
        true => "too wide".to_owned(),
        false => ends(low, high),
    })
}

/// An interval of a ratio whose ends differ by more than this factor is uninformative.
const TOO_WIDE: f64 = 1e6;

/// Headline and table of one run: completion times by size.
#[must_use]
pub fn of_run(run: &Run, headline: &Headline, colour: bool) -> String {
    if endless(std::slice::from_ref(run)) {
        let sweep = Sweep::new(vec![run.clone()]);
        return of_endless(&sweep, headline, colour) + &traffic_table(&sweep, 0, colour) + &counts(run);
    }
    let Summary { fct_us, slowdown, .. } = &run.summary;
    let header = ["flows", "count", "mean FCT", "p50", "p99", "p99.9", "slowdown p99"].map(str::to_owned);
    let sizes = [
        ("all", &fct_us.all, &slowdown.all),
        ("to 100 kB", &fct_us.small, &slowdown.small),
        ("to 10 MB", &fct_us.medium, &slowdown.medium),
        ("above 10 MB", &fct_us.large, &slowdown.large),
    ];
    let rows = sizes.map(|(name, fct, slowdown)| TerminalRow {
        cells: size_cells(name, fct, slowdown),
        bold: name == "all",
    });
    let traffic = traffic_table(&Sweep::new(vec![run.clone()]), 0, colour);
    let traffic = if traffic.is_empty() { traffic } else { traffic + "\n" };
    let sizes = table(&header, &rows, colour);
    format!("{}\n{sizes}{traffic}{}", headline_text(headline, colour), counts(run))
}

fn size_cells(name: &str, fct: &Distribution, slowdown: &Distribution) -> Vec<String> {
    let time = |us: Option<f64>| us.map_or("–".to_owned(), |us| value(us, "us"));
    let factor = slowdown.p99.map_or("–".to_owned(), |p99| format!("{}×", number(p99)));
    vec![
        name.to_owned(),
        count(fct.count),
        time(fct.mean),
        time(fct.p50),
        time(fct.p99),
        time(fct.p99_9),
        factor,
    ]
}

fn counts(run: &Run) -> String {
    let Summary { drops, flows, goodput_gbps, .. } = &run.summary;
    let text = format!(
        "{}, {} unfinished{}goodput {} Gbps{}\n",
        drops.as_ref().map_or(format!("drops {NOT_MEASURED}"), |drops| format!(
            "{} packets dropped",
            count(drops.total)
        )),
        plural(flows.unfinished, "flow"),
        if run.summary.arrivals_until_s.or(run.summary.drains_from_s).is_some() { "\n" } else { ", " },
        number(*goodput_gbps),
        averaged(&run.summary)
    );
    let held = |name: &str| run.summary.pauses.get(name);
    let paused = held("stops").zip(held("host_time"));
    let pauses = paused.map(|(stops, us)| {
        format!("{}, hosts paused for {} in total\n", plural(*stops as u64, "pause"), duration(*us))
    });
    let victims = held("victims").zip(held("victims.slowdown")).map(|(flows, slowdown)| {
        format!(
            "{} of pauses that others caused, mean slowdown {}×\n",
            victims_words(*flows),
            number(*slowdown)
        )
    });
    let deadlocks = run.summary.deadlocks.iter().map(|circle| format!("deadlock: {circle}\n"));
    (text
        + &timed_out(&run.summary)
            .into_iter()
            .chain(bound(&run.summary))
            .chain(run.summary.deadlines.as_ref().map(|found| deadlines::words(found) + "\n"))
            .chain(pauses)
            .chain(victims)
            .chain(deadlocks)
            .chain(unfinished_tasks(run))
            .chain(thinned(run).map(|words| wrapped(&words, WIDTH).join("\n") + "\n"))
            .collect::<String>())
        .replace('\u{202f}', " ")
}

/// The least mean that any schedule of the flows could have reached.
fn bound(summary: &Summary) -> Option<String> {
    let [mean, least] = ["fct.mean", "ideal.bound"].map(|metric| summary.metric(metric));
    let times = number(mean? / least?);
    Some(format!("mean FCT is {times}× the lower bound of any schedule, {}\n", value(least?, "us")))
}

/// The unfinished tasks of jobs.
fn unfinished_tasks(run: &Run) -> Option<String> {
    let open = &run.summary.unfinished_tasks;
    let named = open.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = if open.len() > 5 { ", …" } else { "" };
    let unfinished = format!("{} unfinished: {named}{more}", plural(open.len() as u64, "task"));
    (!open.is_empty()).then(|| wrapped(&unfinished, WIDTH).join("\n") + "\n")
}

/// The part of the run over which goodput is averaged, if that matters.
fn averaged(summary: &Summary) -> String {
    let time = |seconds: f64| duration(seconds * 1e6);
    match (summary.arrivals_until_s.zip(summary.drain_s()), summary.drains_from_s) {
        (Some((until, drain)), _) => {
            format!(" while flows arrive ({}, then {} of drain)", averaged_until(summary, until), time(drain))
        }
        (None, Some(last)) => {
            let all = averaged_until(summary, summary.simulated_s);
            format!(" over all {all} (the last flow starts at {})", time(last))
        }
        (None, None) => String::new(),
    }
}

/// `2 ms`, or with a warm-up or traffic that begins later `1 ms to 2 ms`: the part of the run up to an instant over which
/// goodput is averaged.
pub(crate) fn averaged_until(summary: &Summary, until_s: f64) -> String {
    let (from, until) = (summary.measured_from_s(), duration(until_s * 1e6));
    if from > 0.0 { format!("{} to {until}", duration(from * 1e6)) } else { until }
}

/// The flows that waited for a time-out, if any did.
fn timed_out(summary: &Summary) -> Option<String> {
    let TimedOut { flows, syn, fct_us, .. } = summary.timed_out?;
    let mean = fct_us.map_or(String::new(), |us| format!(", mean FCT {}", duration(us)));
    Some(format!("{} with time-outs{}{mean}\n", plural(flows, "flow"), of_syn(flows, syn)))
}

/// A row of the table.
pub(crate) struct TerminalRow {
    /// The cells; the first names the row.
    pub(crate) cells: Vec<String>,
    /// Whether it is shown in bold.
    pub(crate) bold: bool,
}

fn painted(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

pub(crate) fn headline_text(headline: &Headline, colour: bool) -> String {
    let warning = |text: &String| {
        wrapped(text, WIDTH - 2)
            .iter()
            .enumerate()
            .map(|(n, line)| {
                painted(&format!("{} {line}", if n == 0 { "!" } else { " " }), "33", colour) + "\n"
            })
            .collect::<String>()
    };
    let warnings: String = headline.warnings.iter().map(warning).collect();
    let sentence: String =
        wrapped(&headline.sentence, WIDTH).iter().map(|line| painted(line, "1", colour) + "\n").collect();
    warnings + &sentence
}

/// Rows in columns; long names in the first take several lines.
pub(crate) fn table(header: &[String], rows: &[TerminalRow], colour: bool) -> String {
    let all = || std::iter::once(header).chain(rows.iter().map(|row| row.cells.as_slice()));
    let columns = Columns::of(all()).within(WIDTH - 4);
    let lines = |cells: &[String], code: &str, colour: bool| -> String {
        let lines = columns.lines(cells).into_iter();
        lines.map(|line| painted(format!("  {line}").trim_end(), code, colour) + "\n").collect()
    };
    let body = rows.iter().map(|row| lines(&row.cells, "1", colour && row.bold));
    std::iter::once(lines(header, "2", colour)).chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goodput is averaged from the warm-up on, or from the beginning of the traffic if that is later.
    #[test]
    fn goodput_says_over_which_part_of_a_run_it_is_averaged() {
        let words = |warm_up_s, begins_s| {
            let (simulated_s, arrivals_until_s) = (0.03, Some(0.02));
            let run = Summary { warm_up_s, begins_s, simulated_s, arrivals_until_s, ..Summary::default() };
            averaged(&run).replace('\u{202f}', " ")
        };
        let told = |found: String, part| assert!(found.starts_with(part), "{found}");
        told(words(0.0, 0.0), " while flows arrive (20.0 ms, then 10.0 ms");
        told(words(0.008, 0.0), " while flows arrive (8.00 ms to 20.0 ms, then");
        told(words(0.008, 0.012), " while flows arrive (12.0 ms to 20.0 ms, then");
    }
    use crate::summary::{DeadlineCounts, Deadlines, FlowMeasure, Waiting};

    fn sweep() -> Sweep {
        let run = |scheme: &str, load: &str, seed: u64, mean: f64| {
            let all = Distribution::of((0..1_000).map(|n| mean * (0.5 + f64::from(n) / 1e3)).collect());
            let labels =
                vec![("balance".to_owned(), scheme.to_owned()), ("load".to_owned(), load.to_owned())];
            let manifest = crate::manifest::Manifest { labels, seed, ..Default::default() };
            let summary = Summary { fct_us: FlowMeasure { all, ..Default::default() }, ..Default::default() };
            Run { manifest, summary, ..Run::default() }
        };
        let long = "a scheme with a name that is much too long for a line of eighty characters";
        let schemes = [("ecmp", 1_000.0), (long, 500.0)];
        Sweep::new(
            schemes
                .iter()
                .flat_map(|(s, m)| (1..=3).map(move |seed| run(s, "0.8", seed, m * (seed as f64))))
                .collect(),
        )
    }

    #[test]
    fn an_interval_without_an_end_is_too_wide() {
        let estimate =
            |low, high| Estimate { low: Some(low), high: Some(high), ..Estimate::of(&[1.0]).unwrap() };
        assert_eq!(interval(Some(&estimate(0.9, 1.1))), "0.900–1.10");
        assert_eq!(interval(Some(&estimate(1e-22, 1e18))), "too wide");
    }

    #[test]
    fn every_line_fits_and_colour_is_an_addition_only() {
        let sweep = sweep();
        let headline = Headline::of_sweep(&sweep, &[]);
        let plain = of_sweep(&sweep, &headline, false);
        assert!(plain.lines().all(|line| line.chars().count() <= WIDTH), "{plain}");
        assert!(plain.contains("2.00×") && !plain.contains('\u{1b}'));
        let painted = of_sweep(&sweep, &headline, true);
        let codes = ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m", "\u{1b}[0m"];
        assert_eq!(codes.iter().fold(painted, |text, code| text.replace(code, "")), plain);
    }

    /// Of 400 deadlines in each of three runs one scheme meets 300, is late with 60 by 2 ms on average and gives up 40.
    #[test]
    fn a_sweep_shows_what_became_of_deadlines_case_by_case() {
        let mut sweep = sweep();
        let headline = Headline::of_sweep(&sweep, &[]);
        assert!(!of_sweep(&sweep, &headline, false).contains("given up"), "there are no deadlines");
        for run in sweep.runs.iter_mut().filter(|run| run.manifest.labels[0].1 == "ecmp") {
            let all = DeadlineCounts { flows: 400, met: 300, late: 60, terminated: 40 };
            let missed_by_us = Waiting { mean: 2_000.0, count: 60, ..Default::default() };
            run.summary.deadlines = Some(Deadlines { all, missed_by_us, ..Default::default() });
            run.summary.flows.unfinished = 50;
        }
        let headline = Headline::of_sweep(&sweep, &[]);
        let text = of_sweep(&sweep, &headline, false);
        let row = text.lines().rfind(|line| line.trim_start().starts_with("ecmp")).expect("a row of its own");
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["ecmp", "75.0 %", "15.0 %", "2.00 ms", "10.0 %", "0 %"], "{text}");
        assert!(text.contains("120 of 150 flows were given up"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let figure = deadlines::by_scheme(&sweep, 0).expect("there are deadlines");
        let shares: Vec<(&str, &[Option<f64>])> =
            figure.series.iter().map(|part| (part.name.as_str(), part.y.as_slice())).collect();
        let one = |share| [Some(share)];
        assert_eq!(shares, [("in time", &one(75.0)[..]), ("late", &one(15.0)), ("given up", &one(10.0))]);
        assert!(figure.title.contains("given up at most 10.0"), "{}", figure.title);
    }

    #[test]
    fn colours_can_be_refused() {
        assert!(wanted("", "xterm-256color") && wanted("", ""));
        assert!(!wanted("1", "xterm") && !wanted("", "dumb"));
    }

    #[test]
    fn names_cannot_speak_to_the_terminal() {
        let mut sweep = sweep();
        sweep.schemes[1] = "\u{1b}[31mred\u{202e}".into();
        let headline = Headline { warnings: vec!["\u{1b}[2J".into()], ..Headline::of_sweep(&sweep, &[]) };
        let text = of_sweep(&sweep, &headline, false);
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("\\u001b[31mred\\u202e"), "{text}");
    }

    #[test]
    fn a_run_shows_every_size_class() {
        let run = sweep().runs[0].clone();
        let text = of_run(&run, &Headline::of_run(&run, &[]), false);
        assert!(text.contains("above 10 MB") && text.lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn only_equals_are_once_as_fast() {
        let all = [1.62, 1.0, 0.995, 0.998_96, 1.003_01, 1.000_000_2].map(speed);
        assert_eq!(all, ["1.62×", "1×", "0.995×", "0.999×", "1.00×", "1.00×"]);
    }

    /// Labels that begin alike stay different where the table leaves them little room.
    #[test]
    fn names_of_rows_are_not_cut() {
        let rows = ["a threshold of 20", "a threshold of 200"]
            .map(|name| TerminalRow { cells: vec![name.to_owned(), "9".repeat(60)], bold: false });
        let text = table(&["case".to_owned(), "n".to_owned()], &rows, false);
        let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with('9')).collect();
        assert_eq!(words.join(" "), "case n a threshold of 20 a threshold of 200", "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn pauses_are_counted_in_whole_numbers() {
        let mut run = Run::default();
        run.summary.pauses = [("stops".to_owned(), 99.0), ("host_time".to_owned(), 1_500.0)].into();
        let text = counts(&run);
        assert!(text.contains("99 pauses, hosts paused for 1.50 ms in total\n"), "{text}");
    }
}
