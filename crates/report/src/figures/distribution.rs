//! Distributions under every scheme at one point of the axis: completion times with their tail, slowdown by size.

use super::{Samples, samples_words};
use crate::contrast::{Duel, MetricOrder, unfinished};
use crate::figure::{Axis, Figure, Scaled, Series};
use crate::statistics::{Distribution, Estimate, SAMPLES_BEYOND, mean};
use crate::summary::SizeClass;
use crate::survey::shares;
use crate::sweep::{Run, Sweep, partners};
use crate::text::{capitalised, duration, percent, plotted};

/// The complementary distribution of completion times with a logarithmic tail; `None` without flows.
#[must_use]
pub fn tail(sweep: &Sweep, at: usize) -> Option<Figure> {
    let greatest =
        sweep.runs.iter().filter_map(|run| run.detail.fct_tail.values.last()).fold(0.0, |a, &b| b.max(a));
    let scaled = Scaled::fitting(greatest, "us", false);
    let mut lines: Vec<Series> =
        (0..sweep.schemes.len()).filter_map(|s| tail_line(sweep, s, at, &scaled)).collect();
    lines.extend(alone_line(sweep, at, &scaled).filter(|_| !lines.is_empty()));
    (!lines.is_empty()).then(|| Figure {
        id: format!("tail-{at}"),
        title: tail_title(sweep, at),
        caption: format!(
            "Fraction of finished flows that take at least a given time, at fixed fractions (nearest rank, no \
             smoothing); times are means over seeds of each seed's quantile. Faint: fewer than 100 flows of a \
             run lie beyond. Dotted: the same flows, each alone in the empty network.{}",
            open_words(sweep, at)
        ),
        samples: samples_words(sweep, Some(at), Samples::Finished),
        view: Some(at),
        x: Axis::log("flow completion time", &scaled.unit),
        y: Axis::log("fraction of finished flows that take at least as long", ""),
        series: lines,
        ..Figure::default()
    })
}

/// The flows that the curves leave out, by scheme; empty if there are none.
fn open_words(sweep: &Sweep, at: usize) -> String {
    let share = |scheme: usize| Some(unfinished(&sweep.case(scheme, at))).filter(|share| *share > 0.0);
    let words = |scheme: usize| Some(format!("{} with {}", percent(share(scheme)?), sweep.schemes[scheme]));
    let all: Vec<String> = (0..sweep.schemes.len()).filter_map(words).collect();
    match (all.as_slice(), sweep.schemes.len()) {
        ([], _) => String::new(),
        (_, 1) => {
            format!(" No curve has the {} of flows that did not finish.", percent(share(0).unwrap_or(0.0)))
        }
        (all, _) => format!(" No curve has the flows that did not finish: {}.", all.join(", ")),
    }
}

fn tail_line(sweep: &Sweep, scheme: usize, at: usize, scaled: &Scaled) -> Option<Series> {
    let case = sweep.case(scheme, at);
    let shortest = case.iter().map(|run| run.detail.fct_tail.values.len()).min().filter(|n| *n > 0)?;
    let least = case.iter().map(|run| run.detail.fct_tail.count).min()?;
    let quantile = |n: usize| mean(&case.iter().map(|run| run.detail.fct_tail.values[n]).collect::<Vec<_>>());
    let shares: Vec<f64> = shares().into_iter().take(shortest).collect();
    Some(Series {
        name: sweep.schemes[scheme].clone(),
        scheme: Some(scheme),
        x: (0..shortest).map(|n| scaled.of(quantile(n).unwrap_or(0.0))).collect(),
        few_from: shares.iter().position(|share| share * (least as f64) < SAMPLES_BEYOND as f64),
        y: shares.into_iter().map(Some).collect(),
        ..Series::default()
    })
}

/// The flows of the first scheme alone in the empty network, for as many as the first seed has.
fn alone_line(sweep: &Sweep, at: usize, scaled: &Scaled) -> Option<Series> {
    let alone = &sweep.case(0, at).first()?.detail.alone_tail;
    let x: Vec<f64> = alone.values.iter().map(|time| scaled.of(*time)).collect();
    let y = shares().into_iter().take(x.len()).map(Some).collect();
    let line = Series { name: "alone in the network".to_owned(), reference: true, x, y, ..Series::default() };
    (!line.x.is_empty()).then_some(line)
}

fn tail_title(sweep: &Sweep, at: usize) -> String {
    let metric = crate::headline::tail_metric(&sweep.runs);
    let one_in = match metric {
        "fct.p99_99" => "1 flow in 10 000",
        "fct.p99_9" => "1 flow in 1000",
        "fct.p99" => "1 flow in 100",
        "fct.p95" => "1 flow in 20",
        _ => return "How long flows take".to_owned(),
    };
    let value = |scheme: usize| Some(duration(sweep.estimate(scheme, at, metric)?.mean));
    let words = |scheme: usize| Some(format!("{} with {}", value(scheme)?, sweep.schemes[scheme]));
    let times = match Duel::at(sweep, at) {
        Some(duel) => words(duel.best).zip(words(duel.base)).map(|(best, base)| format!("{best}, {base}")),
        None if sweep.schemes.len() == 1 => value(0),
        None => None,
    };
    times.map_or("How long flows take".to_owned(), |times| format!("{one_in} takes longer than {times}"))
}

/// Least number of flows of a class beyond a percentile that is drawn.
const FLOWS_BEYOND: f64 = 10.0;

/// A percentile of the slowdown of a size class.
#[derive(Clone, Copy)]
struct ClassPercentile {
    words: &'static str,
    /// The share of flows beyond it.
    beyond: f64,
    value: fn(&Distribution) -> Option<f64>,
}

impl ClassPercentile {
    /// The furthest that most classes at a point of the axis have.
    fn at(sweep: &Sweep, at: usize) -> ClassPercentile {
        let all = [
            ClassPercentile { words: "99th percentile", beyond: 0.01, value: |slowdown| slowdown.p99 },
            ClassPercentile { words: "95th percentile", beyond: 0.05, value: |slowdown| slowdown.p95 },
            ClassPercentile { words: "90th percentile", beyond: 0.1, value: |slowdown| slowdown.p90 },
            ClassPercentile { words: "median", beyond: 0.5, value: |slowdown| slowdown.p50 },
        ];
        let runs = (0..sweep.schemes.len()).flat_map(|scheme| sweep.case(scheme, at));
        let classes: Vec<&SizeClass> = runs.flat_map(|run| &run.summary.equal20).collect();
        let has = |percentile: &&ClassPercentile| {
            2 * classes.iter().filter(|class| percentile.of(class).is_some()).count() >= classes.len()
        };
        all.iter().find(has).copied().unwrap_or(all[3])
    }

    /// Its value; `None` if the class has too few flows.
    fn of(&self, class: &SizeClass) -> Option<f64> {
        let enough = class.slowdown.count as f64 * self.beyond >= FLOWS_BEYOND;
        (self.value)(&class.slowdown).filter(|_| enough)
    }
}

/// A percentile of slowdown by flow size, one line per scheme.
#[must_use]
pub fn slowdown_by_size(sweep: &Sweep, at: usize) -> Option<Figure> {
    let percentile = ClassPercentile::at(sweep, at);
    let lines: Vec<Series> =
        (0..sweep.schemes.len()).filter_map(|s| size_line(sweep, s, at, percentile)).collect();
    (!lines.is_empty()).then(|| Figure {
        id: format!("size-{at}"),
        title: size_title(sweep, at, percentile),
        caption: format!(
            "{} of FCT divided by the FCT of the same flow alone in the empty network, in up to twenty classes of equal count by size, \
             each drawn at its upper end; flows of one size are in one class. It is the furthest percentile with at least {FLOWS_BEYOND} \
             flows beyond in most classes; classes with fewer are omitted. Points are geometric means over seeds, bands 95 % intervals \
             (Student's t of the logarithms).",
            capitalised(percentile.words)
        ),
        samples: samples_words(sweep, Some(at), Samples::Finished),
        view: Some(at),
        x: Axis::log("flow size", "kB"),
        y: Axis::log(&format!("slowdown, {}", percentile.words), "×"),
        series: lines,
        ..Figure::default()
    })
}

fn size_line(sweep: &Sweep, scheme: usize, at: usize, percentile: ClassPercentile) -> Option<Series> {
    let case = sweep.case(scheme, at);
    let at_class = |class: &SizeClass| -> Option<(f64, Estimate)> {
        let alike: Vec<&SizeClass> = case.iter().filter_map(|run| alike(run, class)).collect();
        let slowdowns: Vec<f64> = alike.iter().filter_map(|class| percentile.of(class)).collect();
        let sizes: Vec<f64> = alike.iter().map(|class| class.to_bytes as f64 / 1e3).collect();
        Some((plotted(mean(&sizes)?), Estimate::geometric(&slowdowns)?))
    };
    let points: Vec<(f64, Estimate)> = case.first()?.summary.equal20.iter().filter_map(at_class).collect();
    let (x, estimates): (Vec<f64>, Vec<Option<Estimate>>) =
        points.into_iter().map(|(x, e)| (x, Some(e))).unzip();
    (!x.is_empty()).then(|| super::series(&sweep.schemes[scheme], scheme, x, estimates, 1.0))
}

/// The size class of another run that matches a class of this one: seeds draw slightly different sizes.
fn alike<'a>(run: &'a Run, class: &SizeClass) -> Option<&'a SizeClass> {
    let classes = &run.summary.equal20;
    let middle = class.from_bytes.midpoint(class.to_bytes);
    classes.iter().find(|other| other.to_bytes >= middle).or(classes.last())
}

/// The title: in how many size classes slowdown is lower or higher than under the baseline.
fn size_title(sweep: &Sweep, at: usize, percentile: ClassPercentile) -> String {
    let Some(duel) = Duel::at(sweep, at) else {
        return "Slowdown by flow size".to_owned();
    };
    let cases = partners(&sweep.case(duel.best, at), &sweep.case(duel.base, at));
    let slowdown = |run: &Run, class: &SizeClass| percentile.of(alike(run, class)?);
    // a class that has a percentile with only some seeds is not representative of all
    let ratio = |class: &SizeClass| {
        let pairs = cases.iter().map(|(best, base)| slowdown(best, class).zip(slowdown(base, class)));
        Estimate::of_ratios(&pairs.collect::<Option<Vec<_>>>()?)
    };
    let classes = cases.first().map_or(&[][..], |(best, _)| &best.summary.equal20);
    let orders: Vec<MetricOrder> =
        classes.iter().filter_map(ratio).map(|ratio| MetricOrder::of(&ratio)).collect();
    let (best, base) = (&sweep.schemes[duel.best], &sweep.schemes[duel.base]);
    let many = |order: MetricOrder| orders.iter().filter(|known| **known == order).count();
    if orders.is_empty() {
        return "Slowdown by flow size".to_owned();
    }
    if many(MetricOrder::OneSeed) > 0 {
        return format!("Slowdown by flow size with {best} and {base}; one seed cannot separate them");
    }
    format!(
        "Slowdown ({}) with {best} against {base}: lower in {} of {} size classes, higher in {}, no significant difference in {}",
        percentile.words,
        many(MetricOrder::Less),
        orders.len(),
        many(MetricOrder::Greater),
        many(MetricOrder::Unclear) + many(MetricOrder::Equal)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::summary::{FlowMeasure, Summary};

    /// A run with two size classes; the second may have too few flows for a percentile.
    fn run(scheme: &str, seed: u64, mean: f64, second: Option<f64>) -> Run {
        let class = |to_bytes: u64, p99: Option<f64>| SizeClass {
            to_bytes,
            slowdown: Distribution { p99, count: 1_000, ..Distribution::default() },
            ..SizeClass::default()
        };
        let fct_us = FlowMeasure { all: Distribution::of(vec![mean]), ..FlowMeasure::default() };
        let equal20 = vec![class(1_000, Some(mean)), class(9_000, second)];
        let labels = vec![("balance".to_owned(), scheme.to_owned())];
        Run {
            manifest: Manifest { labels, seed, ..Manifest::default() },
            summary: Summary { fct_us, equal20, ..Summary::default() },
            ..Run::default()
        }
    }

    /// Of 100 flows one lies beyond the 99th percentile, and ten beyond the 90th.
    #[test]
    fn the_percentile_by_size_is_one_that_the_classes_have() {
        let sweep = |flows: u64| {
            let mut run = run("ecmp", 1, 9.0, Some(7.0));
            for class in &mut run.summary.equal20 {
                class.slowdown = Distribution::of((0..flows).map(|n| n as f64).collect());
            }
            Sweep::new(vec![run])
        };
        let words = |flows: u64| ClassPercentile::at(&sweep(flows), 0).words;
        assert_eq!(
            [10, 20, 100, 200, 1_000].map(words),
            ["median", "median", "90th percentile", "95th percentile", "99th percentile"]
        );
        assert!(slowdown_by_size(&sweep(10), 0).is_none() && slowdown_by_size(&sweep(20), 0).is_some());
    }

    #[test]
    fn a_class_with_a_percentile_in_one_seed_does_not_make_it_a_sweep_of_one_seed() {
        let of = |scheme: &str, mean: f64| {
            [1, 2, 3].map(|seed| run(scheme, seed, mean + seed as f64, (seed == 2).then_some(mean)))
        };
        let sweep = Sweep::new([of("ecmp", 100.0), of("drill", 50.0)].concat());
        let percentile = ClassPercentile::at(&sweep, 0);
        assert_eq!(
            size_title(&sweep, 0, percentile),
            "Slowdown (99th percentile) with drill against ecmp: lower in 1 of 1 size classes, higher in 0, no significant difference in 0"
        );
        let one = Sweep::new(vec![run("ecmp", 1, 9.0, None), run("drill", 1, 5.0, None)]);
        assert!(size_title(&one, 0, ClassPercentile::at(&one, 0)).ends_with("one seed cannot separate them"));
    }
}
