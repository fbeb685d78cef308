//! A metric against the axis of the sweep, one line per scheme; without an axis, one bar per scheme.

use super::{flows_words, series};
use crate::contrast::{Duel, MetricOrder};
use crate::figure::{Axis, Figure, FigureKind, Scaled, Series};
use crate::metric::find;
use crate::statistics::Estimate;
use crate::sweep::Sweep;
use crate::text::{NOT_MEASURED, number};

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
    /// A metric that it cannot fall below.
    pub bound: Option<&'static str>,
}

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
    let bounds: Vec<Option<f64>> = (0..sweep.points()).map(|at| bound(sweep, of, at)).collect();
    let unit = find(of.metric).map_or("", |metric| metric.unit);
    let scaled = Scaled::fitting(greatest, unit, of.share);
    let least = known.iter().copied().filter(|x| *x > 0.0).fold(greatest, f64::min);
    let log = greatest > 30.0 * least && known.iter().all(|x| *x > 0.0);
    let title = title(sweep, of);
    let caption = format!("{} {INTERVAL}{}", of.caption, bound_words(sweep, of, &bounds));
    let base =
        Figure { id: of.id.into(), title, caption, samples: flows_words(sweep, None), ..Figure::default() };
    let value = Axis { log: log && sweep.axis.is_some(), ..Axis::linear(of.name, &scaled.unit) };
    Some(match &sweep.axis {
        Some(_) => with_bound(against_axis(sweep, base, value, &all, scaled.scale), &bounds, &scaled),
        None => by_scheme(sweep, base, value, &all, scaled.scale),
    })
}

/// The least bound of any scheme at a point: which flows finish, and so the bound, may depend on the scheme.
fn bound(sweep: &Sweep, of: &Measure, at: usize) -> Option<f64> {
    let of_scheme = |scheme: usize| Some(sweep.estimate(scheme, at, of.bound?)?.mean);
    (0..sweep.schemes.len()).filter_map(of_scheme).reduce(f64::min)
}

fn bound_words(sweep: &Sweep, of: &Measure, bounds: &[Option<f64>]) -> String {
    let (Some(metric), Some(last)) = (of.bound, bounds.iter().rev().copied().flatten().next()) else {
        return String::new();
    };
    let why = if metric.starts_with("ideal.bound") {
        "no schedule of these flows has a lower mean, even without headers and delays (shortest remaining first at the links \
         of hosts)"
    } else {
        "the percentile of the same flows, each alone in the empty network"
    };
    let drawn = if sweep.axis.is_some() { "Dotted" } else { "Lower bound" };
    format!(" {drawn}, {}{}: {why}.", crate::text::duration(last), sweep.place(sweep.points() - 1))
}

/// The plot with its bound as a dotted line.
fn with_bound(mut figure: Figure, bounds: &[Option<f64>], scaled: &Scaled) -> Figure {
    let x = figure.series.first().map_or(Vec::new(), |line| line.x.clone());
    let y: Vec<Option<f64>> = bounds.iter().map(|bound| bound.map(|bound| scaled.of(bound))).collect();
    if y.iter().any(Option::is_some) {
        figure.series.push(Series {
            name: "lower bound".to_owned(),
            reference: true,
            x,
            y,
            ..Series::default()
        });
    }
    figure
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
        return format!("{} of {}", of.name, sweep.schemes[0]);
    };
    let (base, best) = (&sweep.schemes[duel.base], &sweep.schemes[duel.best]);
    let ratio = sweep.ratio(duel.best, duel.base, at, of.metric);
    match ratio.as_ref().map(MetricOrder::of).zip(ratio) {
        Some((MetricOrder::Unclear, _)) => {
            format!("{}: no significant difference between {best} and {base}{place}", of.name)
        }
        Some((MetricOrder::Less | MetricOrder::Greater, ratio)) => {
            compared(of.name, best, base, ratio.mean, &place)
        }
        Some((MetricOrder::OneSeed, _)) | None => absolute(sweep, of, (duel.base, duel.best), &place),
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

/// Both values in words, if there is no ratio (one seed, zeros).
fn absolute(sweep: &Sweep, of: &Measure, (base, best): (usize, usize), place: &str) -> String {
    let unit = find(of.metric).map_or("", |metric| metric.unit);
    let at = sweep.points() - 1;
    let words = |scheme: usize| {
        let text = match sweep.estimate(scheme, at, of.metric) {
            None if sweep.lacks(scheme, at, of.metric) => NOT_MEASURED.to_owned(),
            value if of.share => crate::text::percent(value.map_or(0.0, |value| value.mean)),
            value => crate::text::value(value.map_or(0.0, |value| value.mean), unit),
        };
        format!("{text} with {}", sweep.schemes[scheme])
    };
    let amount = |scheme: usize| {
        sweep.estimate(scheme, sweep.points() - 1, of.metric).map_or(0.0, |estimate| estimate.mean)
    };
    let none = |scheme: usize| {
        sweep.estimate(scheme, sweep.points() - 1, of.metric).is_none_or(|estimate| estimate.mean == 0.0)
    };
    match (none(best), none(base)) {
        (true, true) => {
            let most =
                (0..sweep.schemes.len()).max_by(|a, b| amount(*a).total_cmp(&amount(*b))).unwrap_or(base);
            match amount(most) > 0.0 {
                true => format!(
                    "{}: {}, none with {} and {}{place}",
                    of.name,
                    words(most),
                    sweep.schemes[best],
                    sweep.schemes[base]
                ),
                false => format!("{}: none{place}", of.name),
            }
        }
        (true, false) => format!("{}: {}, none with {}{place}", of.name, words(base), sweep.schemes[best]),
        (false, true) => format!("{}: {}, none with {}{place}", of.name, words(best), sweep.schemes[base]),
        _ => format!("{}: {}, {}{place}", of.name, words(best), words(base)),
    }
}

/// The speed-up of each scheme over the baseline; `None` with a single scheme.
#[must_use]
pub fn speed_up(sweep: &Sweep) -> Option<Figure> {
    let base = &sweep.schemes[0];
    let ratios = |scheme: usize| -> Vec<Option<Estimate>> {
        (0..sweep.points()).map(|at| sweep.ratio(0, scheme, at, "fct.mean")).collect()
    };
    let all: Vec<Vec<Option<Estimate>>> = (0..sweep.schemes.len()).map(ratios).collect();
    all.iter().skip(1).flatten().flatten().next()?;
    let figure = Figure {
        id: "speed-up".into(),
        title: speed_up_title(sweep, &all),
        caption: format!(
            "Mean FCT under {base} divided by mean FCT under each scheme, paired by seed. Points are geometric means \
             over seeds; bands and bars are 95 % intervals (Student's t of the logarithms)."
        ),
        samples: flows_words(sweep, None),
        ..Figure::default()
    };
    let value = Axis::linear(&format!("times faster than {base}"), "×");
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
            MetricOrder::Less | MetricOrder::Greater => "",
            MetricOrder::Unclear => " (not significant)",
            MetricOrder::OneSeed => " (one seed)",
        };
        Some(format!("{}×{place}{doubt}", number(ratio.mean)))
    };
    let ends = if last > 0 { vec![words(0), words(last)] } else { vec![words(last)] };
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    format!("Speedup of {} over {base}: {}", sweep.schemes[duel.best], ends.join(", "))
}
