//! Runs in which no measured flow finishes, such as studies of rate control with flows that never end: shows goodput,
//! fairness and queues instead of completion times.

use crate::contrast::interval_name;
use crate::contrast::{Contrast, MetricOrder};
use crate::headline::{begin, interval_words, place_words};
use crate::metric::unit;
use crate::statistics::Estimate;
use crate::sweep::{Run, Sweep};
use crate::text::{number, plural, value};

/// The metrics shown for such runs, with the heads of columns.
pub(crate) const SHOWN: [(&str, &str); 5] = [
    ("goodput", "goodput"),
    ("jain", "Jain's index"),
    ("queue.busiest.mean", "mean queue"),
    ("queue.peak", "longest queue"),
    ("drops.total", "drops"),
];

/// Whether no run has a completion time, though flows were measured.
pub(crate) fn endless(runs: &[Run]) -> bool {
    let none = |run: &Run| run.summary.fct_us.all.count == 0;
    runs.iter().all(none) && runs.iter().any(|run| run.summary.flows.unfinished > 0)
}

/// The sentence of one run.
pub(super) fn of_run(run: &Run) -> String {
    let metric = |name: &str| run.summary.metric(name);
    let place = run.manifest.case().map_or(String::new(), |case| format!("{case}: "));
    let open = run.summary.flows.unfinished;
    let (flows, reach) = (plural(open, "flow"), if open == 1 { "reaches" } else { "reach" });
    let words = format!(
        "no measured flow finishes before the end: {flows} {reach} a goodput of {}{} (seed {}; one run, no interval).",
        shown("goodput", metric("goodput")),
        told(&metric),
        run.manifest.seed
    );
    begin(&place, &words)
}

/// The sentence of a sweep: the only scheme, or the schemes with the most and the least goodput.
pub(super) fn of_sweep(sweep: &Sweep, at: usize) -> String {
    let mean = |scheme: usize, name: &str| sweep.estimate(scheme, at, name).map(|estimate| estimate.mean);
    let of = |scheme: usize| {
        let goodput = shown("goodput", mean(scheme, "goodput"));
        format!("{goodput}{}", told(&|name: &str| mean(scheme, name)))
    };
    let place = place_words(sweep, at);
    let ends = most_goodput(sweep, at).zip(by_goodput(sweep, at).min_by(least_first));
    let Some((most, (least, _))) = ends else {
        return begin(&place, "no measured flow finishes before the end.");
    };
    let goodput_of = |scheme: usize| {
        let estimate = sweep.estimate(scheme, at, "goodput");
        let seeds = estimate.map_or(String::new(), |found| format!(" ({})", seeds_words(&found)));
        (shown("goodput", estimate.map(|found| found.mean)), seeds)
    };
    let none = "no measured flow finishes before the end";
    // The most and the least are picked from all pairs.
    let pairs = sweep.schemes.len() * sweep.comparisons() / 2;
    let contrast = Contrast::of(&sweep.case(most, at), &sweep.case(least, at), "goodput");
    let contrast = contrast.map(|found| found.among(pairs));
    let (best, worst) = (names(sweep, &alike(sweep, most, at)), names(sweep, &alike(sweep, least, at)));
    let ranked = || format!("{} with {best}, {} with {worst}", of(most), of(least));
    let ((highest, seeds), (lowest, _)) = (goodput_of(most), goodput_of(least));
    let words = match contrast.map(|found| (found.order(), found)) {
        _ if sweep.schemes.len() == 1 => {
            format!("{none}: goodput is {highest}{seeds}{}.", told(&|name: &str| mean(most, name)))
        }
        _ if highest == lowest => format!("{none}: all have a goodput of {highest}{seeds}."),
        Some((MetricOrder::Less | MetricOrder::Greater, found)) => format!(
            "{none}: {best} {} the highest goodput, {} times that of {worst} ({}): {}.",
            if alike(sweep, most, at).len() == 1 { "has" } else { "have" },
            number(found.ratio.mean),
            interval_words(&found.ratio),
            ranked()
        ),
        Some((MetricOrder::OneSeed, found)) => {
            format!("{none}, and one seed cannot rank the goodputs: {} ({}).", ranked(), times(&found))
        }
        Some((_, found)) => format!(
            "{none}, and the goodputs do not differ significantly: {} ({}, {}).",
            ranked(),
            times(&found),
            interval_words(&found.ratio)
        ),
        None => format!("{none}: goodput is {}.", ranked()),
    };
    begin(&place, &words)
}

fn times(found: &Contrast) -> String {
    format!("{}×", number(found.ratio.mean))
}

/// `95 % interval 9.1 Gbps–9.3 Gbps, 3 seeds`, of a goodput.
fn seeds_words(goodput: &Estimate) -> String {
    let shown = |end: f64| value(end, unit("goodput"));
    let ends = goodput.low.zip(goodput.high);
    ends.map_or("one seed, no interval".to_owned(), |(low, high)| {
        format!("{} {}–{}, {} seeds", interval_name(0), shown(low), shown(high), goodput.runs)
    })
}

/// The schemes that have the same goodput as this one in every seed, in order.
fn alike(sweep: &Sweep, scheme: usize, at: usize) -> Vec<usize> {
    let equal = |other: &usize| {
        let found = Contrast::of(&sweep.case(*other, at), &sweep.case(scheme, at), "goodput");
        *other == scheme
            || found.is_some_and(|found| found.order() == MetricOrder::Equal && found.left_out == 0)
    };
    (0..sweep.schemes.len()).filter(equal).collect()
}

/// `a, b and c`.
fn names(sweep: &Sweep, schemes: &[usize]) -> String {
    let all: Vec<&str> = schemes.iter().map(|scheme| sweep.schemes[*scheme].as_str()).collect();
    match all.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.concat(),
    }
}

/// The schemes with their goodput.
fn by_goodput(sweep: &Sweep, at: usize) -> impl Iterator<Item = (usize, f64)> {
    (0..sweep.schemes.len())
        .filter_map(move |scheme| Some((scheme, sweep.estimate(scheme, at, "goodput")?.mean)))
}

/// Among schemes with equal goodput, the first counts as the greatest.
fn least_first(a: &(usize, f64), b: &(usize, f64)) -> std::cmp::Ordering {
    a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))
}

/// The scheme with the highest goodput, if these runs are ranked by goodput.
pub(crate) fn most_goodput(sweep: &Sweep, at: usize) -> Option<usize> {
    let most = by_goodput(sweep, at).max_by(least_first)?;
    endless(&sweep.runs).then_some(most.0)
}

/// A value with its unit.
fn shown(name: &str, found: Option<f64>) -> String {
    found.map_or("–".to_owned(), |found| value(found, unit(name)))
}

/// Fairness and queues, if they were measured.
fn told(metric: &dyn Fn(&str) -> Option<f64>) -> String {
    let jain = metric("jain").map(|jain| format!(", Jain's index {}", number(jain)));
    let queue = metric("queue.busiest.mean").map(|queue| {
        format!(", the busiest port's queue {} on average", shown("queue.busiest.mean", Some(queue)))
    });
    let peak =
        metric("queue.peak").map(|peak| format!(", the longest queue {}", shown("queue.peak", Some(peak))));
    jain.into_iter().chain(queue).chain(peak).collect()
}
