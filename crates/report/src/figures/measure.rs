//! A metric against the axis of the sweep, one line per scheme; without an axis, one bar per scheme.

use super::{Samples, samples_words, series};
use crate::contrast::{Duel, MetricOrder, covers};
use crate::figure::{Axis, Figure, FigureKind, LevelMark, Scaled, Series};
use crate::metric::unit;
use crate::statistics::Estimate;
use crate::sweep::{MEAN_WITH_OPEN, Sweep};
use crate::text::{NOT_MEASURED, number, plural};

/// A metric to plot.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Id of the figure.
    pub id: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// Its name in titles: `Mean FCT`.
    pub name: &'static str,
    /// The end of the caption: how the metric is computed.
    pub caption: &'static str,
    /// Whether it is a share, plotted in per cent.
    pub share: bool,
    /// The population that it is measured over.
    pub samples: Samples,
    /// Times to compare it with, if they were computed.
    pub ideals: [Option<IdealTime>; 5],
}

/// A time that a measure is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdealTime {
    /// The metric.
    pub metric: &'static str,
    /// Its name beside the line.
    pub name: &'static str,
    /// Why no flow or schedule is faster; absent: some may be, because it is not a bound.
    pub bound: Option<&'static str>,
}

/// An ideal at the points of the axis.
type Reference = (IdealTime, Vec<Option<f64>>);

const INTERVAL: &str =
    "Points are means over seeds; bands and bars are 95 % intervals (Student's t over seeds).";

/// The plot; `None` if no run has the metric.
#[must_use]
pub fn measure(sweep: &Sweep, of: &Measure) -> Option<Figure> {
    let estimates = |scheme: usize| -> Vec<Option<Estimate>> {
        (0..sweep.points()).map(|at| sweep.estimate(scheme, at, of.metric)).collect()
    };
    let all: Vec<Vec<Option<Estimate>>> = (0..sweep.schemes.len()).map(estimates).collect();
    let known: Vec<f64> = all.iter().flatten().flatten().map(|e| e.mean).collect();
    let greatest = known.iter().copied().reduce(f64::max)?;
    let references: Vec<Reference> =
        of.ideals.iter().flatten().filter_map(|own| reference(sweep, *own)).collect();
    let unit = unit(of.metric);
    let scaled = Scaled::fitting(greatest, unit, of.share);
    let least = known.iter().copied().filter(|x| *x > 0.0).fold(greatest, f64::min);
    let log = greatest > 30.0 * least && known.iter().all(|x| *x > 0.0);
    let title = title(sweep, of);
    let caption = format!(
        "{} {INTERVAL}{}{}",
        of.caption,
        missing_words(sweep, &all),
        references_words(sweep, &references)
    );
    let base = Figure {
        id: of.id.into(),
        title,
        caption,
        samples: samples_words(sweep, None, of.samples),
        ..Figure::default()
    };
    let value = Axis { log: log && sweep.axis.is_some(), ..Axis::linear(of.name, &scaled.unit) };
    Some(match &sweep.axis {
        Some(_) => with_lines(against_axis(sweep, base, value, &all, scaled.scale), &references, &scaled),
        None => Figure {
            levels: levels(&references, &scaled),
            ..by_scheme(sweep, base, value, &all, scaled.scale)
        },
    })
}

/// How many points are means over fewer seeds than ran; empty if none is.
fn missing_words(sweep: &Sweep, all: &[Vec<Option<Estimate>>]) -> String {
    let is_short = |scheme: usize, at: usize, found: &Option<Estimate>| {
        found.is_some_and(|found| found.runs < sweep.case(scheme, at).len())
    };
    let of_scheme = |(scheme, points): (usize, &Vec<Option<Estimate>>)| {
        points.iter().enumerate().filter(|(at, found)| is_short(scheme, *at, found)).count()
    };
    match all.iter().enumerate().map(of_scheme).sum::<usize>() {
        0 => String::new(),
        short => format!(" Means of {} lack seeds that have no value.", plural(short as u64, "case")),
    }
}

/// The least value of any scheme at each point: which flows finish, and so the ideal, may depend on the scheme.
fn reference(sweep: &Sweep, ideal: IdealTime) -> Option<Reference> {
    let least = |at: usize| {
        let of_scheme = |scheme: usize| Some(sweep.estimate(scheme, at, ideal.metric)?.mean);
        (0..sweep.schemes.len()).filter_map(of_scheme).reduce(f64::min)
    };
    let points: Vec<Option<f64>> = (0..sweep.points()).map(least).collect();
    points.iter().any(Option::is_some).then_some((ideal, points))
}

/// The meaning of the lines, bounds first.
fn references_words(sweep: &Sweep, references: &[Reference]) -> String {
    let place = sweep.place(sweep.points() - 1);
    let last = |points: &[Option<f64>]| {
        let last = points.iter().rev().copied().flatten().next();
        crate::text::duration(last.unwrap_or_default())
    };
    let bounds = references
        .iter()
        .filter_map(|(ideal, points)| Some(format!(" Dotted, {}{place}: {}.", last(points), ideal.bound?)));
    let others: Vec<String> = references
        .iter()
        .filter(|(ideal, _)| ideal.bound.is_none())
        .map(|(ideal, points)| format!("{} {}", ideal.name, last(points)))
        .collect();
    let others = (!others.is_empty()).then(|| {
        format!(
            " Dashed, no bounds: the times of the same flows if the links of hosts served them in another order and nothing else \
             delayed them ({}{place}).",
            others.join(", ")
        )
    });
    bounds.chain(others).collect()
}

/// The plot with a line for each reference.
fn with_lines(mut figure: Figure, references: &[Reference], scaled: &Scaled) -> Figure {
    let x = figure.series.first().map_or(Vec::new(), |line| line.x.clone());
    let line = |(ideal, points): &Reference| Series {
        name: name(ideal),
        reference: ideal.bound.is_some(),
        ideal: ideal.bound.is_none(),
        x: x.clone(),
        y: points.iter().map(|point| point.map(|point| scaled.of(point))).collect(),
        ..Series::default()
    };
    figure.series.extend(references.iter().map(line));
    figure
}

/// The references as lines across bars.
fn levels(references: &[Reference], scaled: &Scaled) -> Vec<LevelMark> {
    let level = |(ideal, points): &Reference| {
        let at = scaled.of(points.first().copied().flatten()?);
        Some(LevelMark { at, name: name(ideal), bound: ideal.bound.is_some() })
    };
    references.iter().filter_map(level).collect()
}

fn name(ideal: &IdealTime) -> String {
    match ideal.bound {
        Some(_) => ideal.name.to_owned(),
        None => format!("{} (no bound)", ideal.name),
    }
}

fn against_axis(sweep: &Sweep, base: Figure, y: Axis, all: &[Vec<Option<Estimate>>], scale: f64) -> Figure {
    let axis = sweep.axis.clone().unwrap_or_default();
    let x: Vec<f64> = axis.values.iter().map(|(number, _)| *number).collect();
    let line = |(scheme, estimates): (usize, &Vec<Option<Estimate>>)| Series {
        runs: (0..sweep.points()).map(|at| runs(sweep, scheme, at)).collect(),
        ..series(&sweep.schemes[scheme], scheme, x.clone(), estimates.clone(), scale)
    };
    let ticks = x.clone();
    let series = all.iter().enumerate().map(line).collect();
    Figure { x: Axis { ticks, ..Axis::linear(&axis.name, &axis.unit) }, y, series, ..base }
}

/// Seeds and addresses of the runs of a case.
fn runs(sweep: &Sweep, scheme: usize, at: usize) -> Vec<(u64, String)> {
    sweep.case(scheme, at).iter().map(|run| (run.manifest.seed, run.link.clone())).collect()
}

fn by_scheme(sweep: &Sweep, base: Figure, x: Axis, all: &[Vec<Option<Estimate>>], scale: f64) -> Figure {
    let estimates = all.iter().map(|scheme| scheme[0]).collect();
    let one = series(&x.name, 0, Vec::new(), estimates, scale);
    let runs = (0..sweep.schemes.len()).map(|scheme| runs(sweep, scheme, 0)).collect();
    Figure {
        kind: FigureKind::Bars,
        x,
        y: Axis::linear(&sweep.scheme_name, ""),
        rows: sweep.schemes.clone(),
        row_schemes: (0..sweep.schemes.len()).collect(),
        series: vec![Series { scheme: None, runs, ..one }],
        ..base
    }
}

/// The title: the winner's lead at the last point of the axis, or the trend of a single scheme.
fn title(sweep: &Sweep, of: &Measure) -> String {
    let at = sweep.points() - 1;
    let place = sweep.place(at);
    let Some(duel) = Duel::at(sweep, at) else {
        return spread(sweep, of, at);
    };
    let (base, best) = (&sweep.schemes[duel.base], &sweep.schemes[duel.best]);
    let whole = |scheme: &usize| {
        sweep.case(*scheme, at).iter().all(|run| covers(of.metric, run.summary.unfinished_share()))
    };
    let ratio = sweep.ratio(duel.best, duel.base, at, of.metric);
    let ratio = ratio.filter(|_| [duel.best, duel.base].iter().all(whole));
    match ratio.as_ref().map(MetricOrder::of).zip(ratio) {
        Some((MetricOrder::Unclear, _)) => {
            format!("{}: no significant difference between {best} and {base}{place}", of.name)
        }
        Some((MetricOrder::Less | MetricOrder::Greater, ratio)) => {
            compared(of.name, best, base, ratio.mean, &place)
        }
        Some((MetricOrder::OneSeed | MetricOrder::Equal, _)) | None => {
            absolute(sweep, of, (duel.base, duel.best), &place)
        }
    }
}

fn compared(name: &str, best: &str, base: &str, share: f64, place: &str) -> String {
    let times = if share < 1.0 { 1.0 / share } else { share };
    let word = if share < 1.0 { "lower" } else { "higher" };
    if times < 1.005 {
        let share = crate::text::percent((1.0 - share).abs());
        return format!("{name}: {share} {word} with {best} than with {base}{place}");
    }
    format!("{name}: {}× {word} with {best} than with {base}{place}", number(times))
}

/// The greatest and the least of several schemes without a baseline; for a single scheme, its name.
fn spread(sweep: &Sweep, of: &Measure, at: usize) -> String {
    let known = |scheme: usize| Some((scheme, sweep.estimate(scheme, at, of.metric)?.mean));
    let known: Vec<(usize, f64)> = (0..sweep.schemes.len()).filter_map(known).collect();
    let most = known.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let least = known.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let words =
        |(scheme, mean): &(usize, f64)| format!("{} with {}", shown(of, *mean), sweep.schemes[*scheme]);
    match most.zip(least) {
        _ if sweep.schemes.len() == 1 => format!("{} of {}", of.name, sweep.schemes[0]),
        Some((most, least)) if most.1 > least.1 => {
            format!("{}{}: {}, {}", of.name, sweep.place(at), words(most), words(least))
        }
        Some((most, _)) => format!("{}{}: {}", of.name, sweep.place(at), shown(of, most.1)),
        None => of.name.to_owned(),
    }
}

/// A value of the measure as text.
fn shown(of: &Measure, value: f64) -> String {
    match of.share {
        true => crate::text::percent(value),
        false => crate::text::value(value, unit(of.metric)),
    }
}

/// Both values in words, if there is no ratio (one seed, zeros).
fn absolute(sweep: &Sweep, of: &Measure, (base, best): (usize, usize), place: &str) -> String {
    let at = sweep.points() - 1;
    let mean = |scheme: usize| sweep.estimate(scheme, at, of.metric).map(|estimate| estimate.mean);
    let name = |scheme: usize| &sweep.schemes[scheme];
    let words = |scheme: usize| match mean(scheme) {
        Some(mean) => format!("{} with {}", shown(of, mean), name(scheme)),
        None if sweep.lacks(scheme, at, of.metric) => format!("{NOT_MEASURED} with {}", name(scheme)),
        None => format!("no value with {}", name(scheme)),
    };
    let none = |scheme: usize| mean(scheme) == Some(0.0);
    let amount = |scheme: usize| mean(scheme).unwrap_or(0.0);
    match (none(best), none(base)) {
        (true, true) => {
            let most =
                (0..sweep.schemes.len()).max_by(|a, b| amount(*a).total_cmp(&amount(*b))).unwrap_or(base);
            match amount(most) > 0.0 {
                true => format!(
                    "{}: {}, none with {} and {}{place}",
                    of.name,
                    words(most),
                    name(best),
                    name(base)
                ),
                false => format!("{}: none{place}", of.name),
            }
        }
        (true, false) => format!("{}: {}, none with {}{place}", of.name, words(base), name(best)),
        (false, true) => format!("{}: {}, none with {}{place}", of.name, words(best), name(base)),
        _ => format!("{}: {}, {}{place}", of.name, words(best), words(base)),
    }
}

/// The speed-up of each scheme over the baseline; `None` with a single scheme.
#[must_use]
pub fn speed_up(sweep: &Sweep) -> Option<Figure> {
    let base = &sweep.schemes[0];
    let ratios = |scheme: usize| -> Vec<Option<Estimate>> {
        (0..sweep.points()).map(|at| sweep.ratio(0, scheme, at, sweep.mean_metric())).collect()
    };
    let all: Vec<Vec<Option<Estimate>>> = (0..sweep.schemes.len()).map(ratios).collect();
    all.iter().skip(1).flatten().flatten().next()?;
    let figure = Figure {
        id: "speed-up".into(),
        title: speed_up_title(sweep, &all),
        caption: format!(
            "Mean FCT under {base} divided by mean FCT under each scheme, paired by seed. Points are geometric means \
             over seeds; bands and bars are 95 % intervals (Student's t of the logarithms{}).{}",
            if sweep.comparisons() > 1 { "; those of all schemes hold together" } else { "" },
            match sweep.mean_metric() {
                MEAN_WITH_OPEN => {
                    " Flows that did not finish count with their age at the end, those given up with their deadline; schemes that give up \
                     more than 1\u{202f}% are left out."
                }
                _ => "",
            }
        ),
        samples: samples_words(sweep, None, Samples::of_metric(sweep.mean_metric())),
        ..Figure::default()
    };
    let value = Axis::linear("speedup", "×");
    Some(match &sweep.axis {
        Some(_) => against_axis(sweep, figure, value, &all, 1.0),
        None => Figure { kind: FigureKind::Dots, ..by_scheme(sweep, figure, value, &all, 1.0) },
    })
}

/// The title: how the speed-up of a scheme changes along the axis.
fn speed_up_title(sweep: &Sweep, all: &[Vec<Option<Estimate>>]) -> String {
    let (last, base) = (sweep.points() - 1, &sweep.schemes[0]);
    let Some(duel) = Duel::at(sweep, last) else {
        return format!("Speedup over {base}");
    };
    let words = |at: usize| {
        let ratio = all[duel.best][at].as_ref()?;
        let place = sweep.place(at);
        let doubt = match MetricOrder::of(ratio) {
            MetricOrder::Less | MetricOrder::Greater | MetricOrder::Equal => "",
            MetricOrder::Unclear => " (not significant)",
            MetricOrder::OneSeed => " (one seed)",
        };
        Some(format!("{}×{place}{doubt}", number(ratio.mean)))
    };
    let ends = if last > 0 { vec![words(0), words(last)] } else { vec![words(last)] };
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    format!("Speedup of {} over {base}: {}", sweep.schemes[duel.best], ends.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Distribution;
    use crate::summary::{
        DeadlineCounts, Deadlines, DuplicateAcks, FlowCounts, FlowMeasure, IdealTimes, Reordering, Summary,
    };
    use crate::sweep::Run;

    /// Two schemes, at one load or at two; the second's flows have the smaller ideals.
    fn sweep(loads: &[&str]) -> Sweep {
        let run = |scheme: &str, load: &str, ideal: f64| {
            let labels =
                [("balance", scheme), ("load", load)].map(|(key, value)| (key.to_owned(), value.to_owned()));
            let labels = labels.into_iter().take(loads.len()).collect();
            let manifest = crate::manifest::Manifest { labels, seed: 1, ..Default::default() };
            let of = |mean: f64| FlowMeasure { all: Distribution::of(vec![mean]), ..Default::default() };
            let schedules = [("ps".to_owned(), 4.0 * ideal)].into_iter().collect();
            let ideal = Some(IdealTimes { bound_us: ideal, schedules, ..Default::default() });
            let summary = Summary { fct_us: of(1_000.0), alone_us: of(10.0), ideal, ..Default::default() };
            Run { manifest, summary, ..Run::default() }
        };
        let of_load = |load: &&str| [run("ecmp", load, 200.0), run("drill", load, 100.0)];
        Sweep::new(loads.iter().flat_map(of_load).collect())
    }

    const MEAN: Measure = Measure {
        id: "mean",
        metric: "fct.mean",
        name: "Mean FCT",
        caption: "Mean.",
        share: false,
        samples: Samples::Finished,
        ideals: [
            Some(IdealTime { metric: "ideal.bound", name: "bound", bound: Some("none is faster") }),
            Some(IdealTime { metric: "ideal.sjf", name: "SJF", bound: None }),
            Some(IdealTime { metric: "ideal.ps", name: "PS", bound: None }),
            None,
            None,
        ],
    };

    #[test]
    fn ideals_that_were_computed_are_drawn_and_those_that_are_no_bounds_say_so() {
        let bars = measure(&sweep(&["0.8"]), &MEAN).expect("there is a mean");
        let level = |at, name: &str, bound| LevelMark { at, name: name.to_owned(), bound };
        assert_eq!(bars.kind, FigureKind::Bars);
        let scale = bars.series[0].y[0].expect("a bar") / 1_000.0;
        let expected = [level(100.0 * scale, "bound", true), level(400.0 * scale, "PS (no bound)", false)];
        assert_eq!(bars.levels, expected, "the least of any scheme; SJF was not computed");
        assert!(
            bars.caption.contains("none is faster") && bars.caption.contains("no bounds"),
            "{}",
            bars.caption
        );

        let lines = measure(&sweep(&["0.4", "0.8"]), &MEAN).expect("there is a mean");
        let drawn = |one: &Series| (one.name.clone(), one.reference, one.ideal);
        let found: Vec<_> = lines.series.iter().skip(2).map(drawn).collect();
        assert_eq!(found, [("bound".to_owned(), true, false), ("PS (no bound)".to_owned(), false, true)]);
        assert!(lines.levels.is_empty());
    }

    /// A run whose flows did not finish; one of its transports has no duplicate acknowledgements.
    fn endless(scheme: &str, goodput: f64, dupacks: Option<f64>) -> Run {
        let labels = vec![("balance".to_owned(), scheme.to_owned())];
        let manifest = crate::manifest::Manifest { labels, seed: 1, ..Default::default() };
        let duplicate_acks =
            dupacks.map(|flows_with_dupacks| DuplicateAcks { flows_with_dupacks, ..Default::default() });
        let not_measured = if dupacks.is_none() { vec!["duplicate ACKs".to_owned()] } else { Vec::new() };
        let summary = Summary {
            flows: FlowCounts { started: 2, unfinished: 2, ..Default::default() },
            goodput_gbps: goodput,
            reordering: Some(Reordering { duplicate_acks, ..Default::default() }),
            not_measured,
            ..Default::default()
        };
        Run { manifest, summary, ..Run::default() }
    }

    const GOODPUT: Measure =
        Measure { metric: "goodput", name: "Goodput", samples: Samples::Started, ideals: [None; 5], ..MEAN };

    #[test]
    fn schemes_without_a_baseline_are_told_by_their_extremes() {
        let sweep = Sweep::new(vec![
            endless("red", 9.24, None),
            endless("step", 9.48, None),
            endless("a", 9.4, None),
        ]);
        let figure = measure(&sweep, &GOODPUT).expect("there is goodput");
        let [title, samples] = [figure.title, figure.samples].map(|text| text.replace('\u{202f}', " "));
        assert_eq!(title, "Goodput: 9.48 Gbps with step, 9.24 Gbps with red");
        assert_eq!(samples, "n = 6 flows in 3 runs", "none of them finished");
        let alike = Sweep::new(vec![endless("red", 9.0, None), endless("step", 9.0, None)]);
        let title = measure(&alike, &GOODPUT).expect("there is goodput").title;
        assert_eq!(title.replace('\u{202f}', " "), "Goodput: 9.00 Gbps");
    }

    #[test]
    fn what_is_not_measured_is_not_none() {
        let with_mean = |run: Run, mean: f64| {
            let fct_us = FlowMeasure { all: Distribution::of(vec![mean]), ..Default::default() };
            Run { summary: Summary { fct_us, ..run.summary }, ..run }
        };
        let runs = |best: Option<f64>| {
            let both = [endless("dctcp", 1.0, Some(0.538)), endless("pfabric", 1.0, best)];
            let [base, best] = both;
            Sweep::new(vec![with_mean(base, 100.0), with_mean(best, 50.0)])
        };
        let of =
            Measure { metric: "reordering.flows_with_dupacks", name: "Duplicates", share: true, ..GOODPUT };
        let title = |best| measure(&runs(best), &of).expect("one has it").title.replace('\u{202f}', " ");
        assert_eq!(title(None), "Duplicates: not measured with pfabric, 53.8 % with dctcp");
        assert_eq!(title(Some(0.0)), "Duplicates: 53.8 % with dctcp, none with pfabric");
    }

    #[test]
    fn a_figure_counts_the_flows_that_it_is_of() {
        let mut one = endless("ecmp", 1.0, None);
        let small = Distribution { count: 5, p50: Some(1.0), ..Distribution::default() };
        one.summary.fct_us = FlowMeasure { all: Distribution::of(vec![1.0; 7]), small, ..Default::default() };
        one.summary.flows = FlowCounts { started: 8, finished: 7, unfinished: 1, ..Default::default() };
        let counts = DeadlineCounts { flows: 4, met: 3, ..Default::default() };
        one.summary.deadlines = Some(Deadlines { all: counts, ..Default::default() });
        let sweep = Sweep::new(vec![one]);
        let of = |metric, samples| {
            let figure = measure(&sweep, &Measure { metric, samples, ..GOODPUT }).expect("it has the metric");
            figure.samples.replace('\u{202f}', " ")
        };
        assert_eq!(of("fct.mean", Samples::Finished), "n = 7 flows in one run");
        assert_eq!(of("fct.small.p50", Samples::Small), "n = 5 flows up to 100 kB in one run");
        assert_eq!(of("deadline.met", Samples::Dated), "n = 4 flows with a deadline in one run");
        assert_eq!(of("goodput", Samples::Started), "n = 8 flows in one run");
        assert_eq!(of("goodput", Samples::Runs), "n = 1 run");
    }
}
