//! The figures of a course. The same computation serves real and simulated ones.

use crate::course::{Course, Fall, Sample, falls};

/// Which figures tell of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Windows rise for seconds and fall because of losses; whole periods are compared.
    SawTooth,
    /// The same because of marks.
    MarkedSawTooth,
    /// Windows fall every few round trips because of losses, faster than samples come.
    Noise,
    /// The same because of marks.
    MarkedNoise,
}

/// A number that tells of a course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
}

/// The figures of a course from `from` seconds on.
#[must_use]
pub fn figures(course: &Course, kind: Kind, from: f64) -> Vec<Figure> {
    let falls: Vec<Vec<Fall>> = course.flows.iter().map(|flow| falls(flow, from)).collect();
    let toothed = matches!(kind, Kind::SawTooth | Kind::MarkedSawTooth);
    let span = if toothed { periods(&falls) } else { (from, f64::MAX) };
    let mut all = if toothed { teeth(&falls) } else { noise(course, span) };
    if kind == Kind::Noise {
        all.extend(senders(course, span));
    }
    all.push(figure("goodput", "Mb/s", course.flows.iter().map(|flow| goodput(flow, span)).sum()));
    all.push(figure("queue, mean", "packets", queue(course, span)));
    if matches!(kind, Kind::SawTooth | Kind::Noise) {
        let again = course.flows.iter().filter_map(|flow| flow.last()).map(|sample| sample.retransmitted);
        all.push(figure("segments sent again", "", again.sum()));
        all.push(figure("drops", "", course.drops));
    } else {
        all.push(figure("marks", "", course.marks));
    }
    all
}

fn figure(name: &'static str, unit: &'static str, value: f64) -> Figure {
    Figure { name, unit, value }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// From the first fall of all flows to the last: whole periods.
fn periods(falls: &[Vec<Fall>]) -> (f64, f64) {
    let first = falls.iter().filter_map(|of_flow| of_flow.first()).map(|fall| fall.time).reduce(f64::min);
    let last = falls.iter().filter_map(|of_flow| of_flow.last()).map(|fall| fall.time).reduce(f64::max);
    first.zip(last).expect("windows fall at least once")
}

fn teeth(falls: &[Vec<Fall>]) -> Vec<Figure> {
    let all = || falls.iter().flatten();
    let pairs = falls.iter().flat_map(|of_flow| of_flow.windows(2));
    vec![
        figure("window before a fall", "segments", mean(all().map(|fall| fall.peak))),
        figure("window after a fall", "segments", mean(all().map(|fall| fall.trough))),
        figure("time between falls", "s", mean(pairs.map(|pair| pair[1].time - pair[0].time))),
    ]
}

fn noise(course: &Course, span: (f64, f64)) -> Vec<Figure> {
    let inside = |sample: &&Sample| sample.time >= span.0 && sample.time <= span.1;
    let windows = course.flows.iter().flatten().filter(inside).map(|sample| sample.cwnd);
    let per_flow: f64 = course.flows.iter().map(|flow| changes(flow, span)).sum();
    vec![
        figure("window, mean", "segments", mean(windows)),
        figure("changes of the threshold seen", "1/s", per_flow / course.flows.len() as f64),
    ]
}

/// What senders know besides. Nothing is fitted to these two: they tell whether an experiment brings the rest back for the right
/// reason.
fn senders(course: &Course, (from, to): (f64, f64)) -> [Figure; 2] {
    let inside = || course.flows.iter().flatten().filter(|sample| sample.time >= from && sample.time <= to);
    [
        figure("threshold, mean", "segments", mean(inside().map(|sample| sample.ssthresh))),
        figure("smoothed round trip, mean", "ms", mean(inside().map(|sample| sample.srtt * 1e3))),
    ]
}

/// The share of samples after `from` seconds in which the threshold is at its least, two segments.
#[must_use]
pub fn at_least_threshold(course: &Course, from: f64) -> f64 {
    let inside = course.flows.iter().flatten().filter(|sample| sample.time >= from);
    mean(inside.map(|sample| f64::from(sample.ssthresh.round() == 2.0)))
}

/// How often per second the threshold was another than 10 ms before.
fn changes(flow: &[Sample], (from, to): (f64, f64)) -> f64 {
    let inside: Vec<&Sample> =
        flow.iter().filter(|sample| sample.time >= from && sample.time <= to).collect();
    let changed = inside.windows(2).filter(|pair| pair[0].ssthresh != pair[1].ssthresh).count();
    let seconds = inside.last().map_or(0.0, |last| last.time - inside[0].time);
    changed as f64 / seconds
}

/// Payload acknowledged per second.
fn goodput(flow: &[Sample], (from, to): (f64, f64)) -> f64 {
    let mut inside = flow.iter().filter(|sample| sample.time >= from && sample.time <= to);
    let (first, last) = (inside.next().expect("a flow has samples"), inside.next_back());
    let last = last.expect("a flow has more than one sample");
    (last.acked - first.acked) * 8.0 / 1e6 / (last.time - first.time)
}

fn queue(course: &Course, (from, to): (f64, f64)) -> f64 {
    mean(course.queue.iter().filter(|look| look.time >= from && look.time <= to).map(|look| look.mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::Queue;

    #[test]
    fn figures_cover_whole_periods() {
        let sample = |n: usize| Sample {
            time: n as f64,
            cwnd: 50.0 + (n % 51) as f64,
            acked: n as f64 * 125_000.0,
            retransmitted: 7.0,
            ..Sample::default()
        };
        let look = |n: usize| Queue { time: n as f64, mean: (n % 51) as f64, greatest: 0.0 };
        let course = Course {
            flows: vec![(0..220).map(sample).collect()],
            queue: (0..220).map(look).collect(),
            drops: 9.0,
            marks: 0.0,
        };
        let values: Vec<(&str, f64)> =
            figures(&course, Kind::SawTooth, 10.0).iter().map(|figure| (figure.name, figure.value)).collect();
        assert_eq!(values[0], ("window before a fall", 100.0));
        assert_eq!(values[1], ("window after a fall", 50.0));
        assert_eq!(values[2], ("time between falls", 51.0));
        assert_eq!(values[3], ("goodput", 1.0));
        assert!((values[4].1 - 25.0).abs() < 0.2, "{}", values[4].1);
        assert_eq!(values[5..], [("segments sent again", 7.0), ("drops", 9.0)]);
    }
}
