//! A run over time: throughput, loads of links, queues, drops, marks and pauses, with the incidents of the network.

use super::at_place;
use crate::detail::{NetworkColumns, RunCourse};
use crate::figure::{Axis, EventMark, Figure, FigureKind, Scaled, Series};
use crate::sweep::{Run, Sweep};
use crate::text::{count, duration, number, percent, plotted, plural, size};

/// Maximum number of points of a line if several runs share a page.
const POINTS: usize = 128;

/// With fewer bins the page says how to get more.
const FEW_BINS: usize = 64;

/// The plots of a single run; empty without a time series.
#[must_use]
pub fn course(run: &Run) -> Vec<Figure> {
    let Some(whole) = &run.detail.course else { return Vec::new() };
    if whole.throughput_gbps.len() < 2 {
        return Vec::new();
    }
    let course = &whole.before_drain();
    let all = [
        Some(throughput(course)),
        loads(course, run),
        queues(course),
        drops(course),
        marks(course),
        pauses(course),
    ];
    let figures = all.into_iter().flatten();
    let Some(from) = whole.drain_from_us() else { return figures.collect() };
    let not_drawn =
        format!("; the drain from {} to {} is in series.csv", duration(from), duration(whole.ended_us));
    figures.map(|figure| Figure { samples: figure.samples + &not_drawn, ..figure }).collect()
}

/// `96 bins of 50 us`, with the length of the later ones if they are longer.
fn bins(course: &RunCourse) -> String {
    let all = course.throughput_gbps.len();
    let fine = course.fine.min(all);
    let of = |bins: usize, us: f64| format!("{} of {}", plural(bins as u64, "bin"), duration(us));
    let words = match (fine, all - fine) {
        _ if duration(course.every_us) == duration(course.later_us) => of(all, course.every_us),
        (fine, 0) => of(fine, course.every_us),
        (0, later) => of(later, course.later_us),
        (fine, later) => {
            format!("{}, then {}", of(fine, course.every_us), of(later, course.later_us))
        }
    };
    if all < FEW_BINS { words + "; measure.series_bins sets more" } else { words }
}

/// The axis of time, and the events on it.
fn over_time(course: &RunCourse) -> (Figure, Vec<f64>) {
    let time = Scaled::fitting(course.ended_us, "us", false);
    let event =
        |mark: &crate::detail::IncidentMark| EventMark { at: time.of(mark.at_us), words: mark.words.clone() };
    let figure = Figure {
        samples: bins(course),
        x: Axis::linear("time", &time.unit),
        events: course.incidents.iter().map(event).collect(),
        ..Figure::default()
    };
    (figure, course.times_us().into_iter().map(|us| time.of(us)).collect())
}

fn line(name: &str, x: &[f64], y: Vec<f64>) -> Series {
    Series { name: name.to_owned(), x: x.to_vec(), y: y.into_iter().map(Some).collect(), ..Series::default() }
}

fn throughput(course: &RunCourse) -> Figure {
    let (figure, x) = over_time(course);
    let greatest = course.throughput_gbps.iter().copied().fold(0.0, f64::max);
    Figure {
        id: "throughput".into(),
        title: format!("Up to {} Gb/s of payload arrive", number(greatest)),
        caption: "Payload delivered in order to applications, by bin, of all flows; what waits for a missing packet counts \
                  when that arrives, so a bin may have more than the links carry in it."
            .into(),
        y: Axis::linear("throughput", "Gb/s"),
        series: vec![line("throughput", &x, course.throughput_gbps.clone())],
        ..figure
    }
}

fn loads(course: &RunCourse, run: &Run) -> Option<Figure> {
    let (figure, x) = over_time(course);
    // The period over which the loads of single links are averaged.
    let from = run.summary.begins_s * 1e6;
    let until = run.summary.arrivals_until_s.map_or(course.ended_us, |seconds| seconds * 1e6);
    let mut begins = 0.0;
    let weights = (0..course.throughput_gbps.len()).map(|bin| {
        let length = course.length_us(bin);
        let before = |instant: f64| (instant - begins).clamp(0.0, length);
        let within = before(until) - before(from);
        begins += length;
        within
    });
    let weights: Vec<f64> = weights.collect();
    let period = (until - from).max(1e-6);
    let mean =
        |load: &[f64]| load.iter().zip(&weights).map(|(load, weight)| load * weight).sum::<f64>() / period;
    let busiest = course.groups.iter().max_by(|a, b| mean(&a.load).total_cmp(&mean(&b.load)))?;
    let series = course
        .groups
        .iter()
        .map(|group| line(&group.name, &x, group.load.iter().map(|load| plotted(load * 100.0)).collect()));
    Some(Figure {
        id: "loads".into(),
        title: loads_title(&busiest.name, mean(&busiest.load), run),
        caption: "Bytes sent over all links between two tiers, by bin, as a share of their capacity; a packet counts from its \
                  first bit."
            .into(),
        y: Axis::linear("load", "%"),
        series: series.collect(),
        ..figure
    })
}

/// The tiers between which links are busiest on average; and the busiest link, which may lie elsewhere, if it is busier.
fn loads_title(name: &str, mean: f64, run: &Run) -> String {
    let words = format!("{name} links are busiest on average: {}", percent(mean));
    let busiest = busiest_link(&run.detail.network).filter(|(most, _)| *most > 1.05 * mean);
    busiest.map_or(words.clone(), |(most, link)| {
        let link = link.map_or(String::new(), |link| format!(" ({link})"));
        format!("{words}; the busiest link{link}: {}", percent(most))
    })
}

/// The load of the busiest link, and its name, `switch → host4`; without a name if drawn links represent several.
fn busiest_link(NetworkColumns { nodes, links, .. }: &NetworkColumns) -> Option<(f64, Option<String>)> {
    let (most, load) = links.load_max.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let name = |end: &[u32]| nodes.name.get(*end.get(most)? as usize);
    let ends = name(&links.from).zip(name(&links.to)).filter(|_| links.members.get(most) == Some(&1));
    Some((*load, ends.map(|(from, to)| format!("{from} → {to}"))))
}

fn queues(course: &RunCourse) -> Option<Figure> {
    let (figure, x) = over_time(course);
    let with_queues: Vec<_> = course.groups.iter().filter(|group| !group.peak_bytes.is_empty()).collect();
    let peak = |peaks: &[u64]| peaks.iter().copied().max().unwrap_or(0);
    let worst = with_queues.iter().max_by_key(|group| peak(&group.peak_bytes))?;
    let greatest = peak(&worst.peak_bytes);
    let scaled = Scaled::fitting(greatest as f64, "B", false);
    let bytes = |bytes: &[u64]| bytes.iter().map(|bytes| scaled.of(*bytes as f64)).collect();
    (greatest > 0).then(|| Figure {
        id: "queue-peaks".into(),
        title: format!("The longest queue, {}, is at {}", size(greatest as f64), worst.peak_port),
        caption: "The longest queue of any port in each bin, by the tiers it leads between; means and ports are in \
                  series-links.csv."
            .into(),
        y: Axis::linear("longest queue", &scaled.unit),
        series: with_queues.iter().map(|group| line(&group.name, &x, bytes(&group.peak_bytes))).collect(),
        ..figure
    })
}

/// A count in a bin as a rate: bins at the end of a run may be longer.
fn per_millisecond(course: &RunCourse, bin: usize, packets: u64) -> f64 {
    packets as f64 * 1e3 / course.length_us(bin).max(1e-6)
}

fn rates(course: &RunCourse, by_bin: &[u64]) -> Vec<f64> {
    by_bin.iter().enumerate().map(|(bin, packets)| per_millisecond(course, bin, *packets)).collect()
}

fn drops(course: &RunCourse) -> Option<Figure> {
    let (figure, x) = over_time(course);
    let total: u64 = course.drops.iter().flat_map(|(_, by_bin)| by_bin).sum();
    let by_bin = |bin: usize| course.drops.iter().map(|(_, by_bin)| by_bin[bin]).sum::<u64>();
    let rate = |bin: &usize| per_millisecond(course, *bin, by_bin(*bin));
    let bins = 0..course.throughput_gbps.len();
    let worst = bins.rev().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let at = duration(course.begins_us(worst));
    (total > 0).then(|| Figure {
        id: "drops-over-time".into(),
        title: format!(
            "Most packets, {} of {}, are dropped in the bin from {at}",
            count(by_bin(worst)),
            count(total)
        ),
        caption: "Packets dropped in each bin per millisecond, by reason; bins may differ in length.".into(),
        y: Axis::linear("packets dropped per ms", ""),
        series: course.drops.iter().map(|(reason, by_bin)| line(reason, &x, rates(course, by_bin))).collect(),
        ..figure
    })
}

fn marks(course: &RunCourse) -> Option<Figure> {
    let (figure, x) = over_time(course);
    let total: u64 = course.marks.iter().sum();
    (total > 0).then(|| Figure {
        id: "marks-over-time".into(),
        title: format!("Switches mark {} packets", count(total)),
        caption: "Packets that got a congestion mark in each bin per millisecond; bins may differ in length."
            .into(),
        y: Axis::linear("packets marked per ms", ""),
        series: vec![line("marked", &x, rates(course, &course.marks))],
        ..figure
    })
}

fn pauses(course: &RunCourse) -> Option<Figure> {
    let (figure, _) = over_time(course);
    let time = Scaled::fitting(course.ended_us, "us", false);
    let all = course.throughput_gbps.len();
    let tick = |bin: usize| time.of(course.begins_us(bin));
    let total = |shares: &[f64]| {
        shares.iter().enumerate().map(|(bin, share)| share * course.length_us(bin)).sum::<f64>()
    };
    let most = course.paused.iter().max_by(|a, b| total(&a.1).total_cmp(&total(&b.1)))?;
    let row = |(name, shares): &(String, Vec<f64>)| Series {
        name: name.clone(),
        y: (0..all).map(|bin| Some(plotted(shares.get(bin).copied().unwrap_or(0.0) * 100.0))).collect(),
        ..Series::default()
    };
    Some(Figure {
        id: "pause-times".into(),
        title: format!("{} is paused longest: {} in all", most.0, duration(total(&most.1))),
        caption: "Share of each bin in which the transmitter of a port was paused, summed over classes."
            .into(),
        samples: format!(
            "{} of {} paused ports, those with the longest pauses; {}",
            course.paused.len(),
            count(course.paused_ports as u64),
            bins(course)
        ),
        kind: FigureKind::Heat,
        x: Axis { ticks: (0..=all).map(tick).collect(), ..Axis::linear("time", &time.unit) },
        y: Axis::linear("paused", "%"),
        rows: course.paused.iter().map(|(name, _)| name.clone()).collect(),
        series: course.paused.iter().map(row).collect(),
        ..figure
    })
}

/// `at 80 % load, the first seed of each scheme`, and what is not drawn.
fn first_seeds(sweep: &Sweep, at: usize, (until, ended): (f64, f64)) -> String {
    let place = at_place(sweep, at);
    let seeds = if sweep.schemes.len() > 1 { "the first seed of each scheme" } else { "the first seed" };
    let drain = if ended > until {
        format!("; the drain from {} to {} is in series.csv", duration(until), duration(ended))
    } else {
        String::new()
    };
    format!("{place}{seeds}{drain}")
}

/// Throughput and the longest queue over time under every scheme at one place of the axis, first seed.
#[must_use]
pub fn courses(sweep: &Sweep, at: usize) -> Vec<Figure> {
    let found: Vec<(usize, &RunCourse)> = (0..sweep.schemes.len())
        .filter_map(|scheme| Some((scheme, sweep.case(scheme, at).first()?.detail.course.as_ref()?)))
        .filter(|(_, course)| course.throughput_gbps.len() > 1)
        .collect();
    let latest = |of: fn(&RunCourse) -> f64| found.iter().map(|(_, course)| of(course)).fold(0.0, f64::max);
    let until = latest(|course| course.drain_from_us().unwrap_or(course.ended_us));
    let ended = latest(|course| course.ended_us);
    let runs: Vec<(usize, RunCourse)> =
        found.iter().map(|(scheme, course)| (*scheme, course.until(until))).collect();
    let Some((_, first)) = runs.iter().max_by(|a, b| a.1.ended_us.total_cmp(&b.1.ended_us)) else {
        return Vec::new();
    };
    let (figure, _) = over_time(first);
    let time = Scaled::fitting(first.ended_us, "us", false);
    let drawn = |scheme: usize, course: &RunCourse, values: Vec<f64>, merge: fn(&[f64]) -> f64| {
        let every = values.len().div_ceil(POINTS).max(1);
        let middle = |times: &[f64]| time.of((times[0] + times[times.len() - 1]) / 2.0);
        Series {
            scheme: Some(scheme),
            ..line(
                &sweep.schemes[scheme],
                &course.times_us().chunks(every).map(middle).collect::<Vec<_>>(),
                values.chunks(every).map(|values| plotted(merge(values))).collect(),
            )
        }
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let lines = runs.iter().map(|(n, course)| drawn(*n, course, course.throughput_gbps.clone(), mean));
    let throughput = Figure {
        id: format!("throughput-{at}"),
        title: "Throughput over time".into(),
        caption: "Payload delivered in order to applications, of all flows, first seed; what waits for a missing packet counts when that \
                  arrives, so a bin may have more than the links carry in it. Means of neighbouring bins where a line would have more \
                  than 128 points."
            .into(),
        view: Some(at),
        y: Axis::linear("throughput", "Gb/s"),
        series: lines.collect(),
        samples: first_seeds(sweep, at, (until, ended)),
        ..figure
    };
    let longest = |course: &RunCourse| -> Vec<f64> {
        let of = |bin: usize| course.groups.iter().filter_map(|group| group.peak_bytes.get(bin)).max();
        (0..course.throughput_gbps.len()).map(|bin| of(bin).copied().unwrap_or(0) as f64).collect()
    };
    let greatest = runs.iter().flat_map(|(_, course)| longest(course)).fold(0.0, f64::max);
    let scaled = Scaled::fitting(greatest, "B", false);
    let lines = runs.iter().map(|(n, course)| {
        let values = longest(course).into_iter().map(|bytes| scaled.of(bytes)).collect();
        drawn(*n, course, values, most)
    });
    let queues = Figure {
        id: format!("queue-peaks-{at}"),
        title: "The longest queue over time".into(),
        caption: "The longest queue of any port in each bin, first seed.".into(),
        y: Axis::linear("longest queue", &scaled.unit),
        series: lines.collect(),
        ..throughput.clone()
    };
    if greatest > 0.0 { vec![throughput, queues] } else { vec![throughput] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::{LinkColumns, Nodes};
    use crate::summary::{Links, Summary};

    #[test]
    fn bins_of_one_length_are_counted_together() {
        let course = |fine: usize, later_us: f64| RunCourse {
            every_us: 500.0,
            later_us,
            fine,
            throughput_gbps: vec![0.0; 200],
            ..RunCourse::default()
        };
        let words = |fine, later_us| bins(&course(fine, later_us)).replace('\u{202f}', " ");
        assert_eq!(words(192, 500.0), "200 bins of 500 us");
        assert_eq!(words(199, 1_000.0), "199 bins of 500 us, then 1 bin of 1.00 ms");
        assert_eq!(words(0, 1_000.0), "200 bins of 1.00 ms");
    }

    /// As many packets in a bin ten times as long are a tenth of the rate: the short bin is the worst.
    #[test]
    fn counts_are_compared_as_rates() {
        let course = RunCourse {
            every_us: 100.0,
            later_us: 1_000.0,
            fine: 1,
            ended_us: 1_100.0,
            throughput_gbps: vec![0.0; 2],
            drops: vec![("buffer full".to_owned(), vec![5, 6])],
            ..RunCourse::default()
        };
        assert_eq!(rates(&course, &[5, 6]), [50.0, 6.0]);
        let figure = drops(&course).expect("packets are dropped");
        assert!(
            figure.title.starts_with("Most packets, 5 of 11, are dropped in the bin from 0"),
            "{}",
            figure.title
        );
    }

    /// Half of the links' time is drain: so they are half busy over the arrivals, as is reported of single links.
    #[test]
    fn loads_are_averaged_over_the_arrivals() {
        let group = weft_results::detail::GroupCourse {
            name: "leaf → spine".to_owned(),
            load: vec![0.5, 0.5, 0.0, 0.0],
            ..Default::default()
        };
        let course = RunCourse {
            every_us: 10.0,
            fine: 4,
            ended_us: 40.0,
            throughput_gbps: vec![1.0, 1.0, 0.0, 0.0],
            groups: vec![group],
            ..RunCourse::default()
        };
        let title = |arrivals_until_s| {
            let run = Run { summary: Summary { arrivals_until_s, ..Summary::default() }, ..Run::default() };
            loads(&course, &run).expect("there are loads").title.replace('\u{202f}', " ")
        };
        assert_eq!(title(Some(20e-6)), "leaf → spine links are busiest on average: 50.0 %");
        assert_eq!(title(Some(15e-6)), "leaf → spine links are busiest on average: 50.0 %", "within a bin");
        assert_eq!(title(None), "leaf → spine links are busiest on average: 25.0 %");
    }

    /// 40 senders share the load of one port.
    #[test]
    fn the_busiest_link_is_named_beside_the_tiers_that_are_busiest_on_average() {
        let names = ["host0", "switch0"].map(str::to_owned).to_vec();
        let network = |members: u32| NetworkColumns {
            nodes: Nodes { name: names.clone(), ..Nodes::default() },
            links: LinkColumns {
                from: vec![0, 1],
                to: vec![1, 0],
                members: vec![1, members],
                load_max: vec![0.02, 0.95],
                ..LinkColumns::default()
            },
            ..NetworkColumns::default()
        };
        let title = |members, most| {
            // a switch port is another set: hosts may be busier
            let links = Links { utilisation_max: Some(0.5), ..Links::default() };
            let mut run = Run { summary: Summary { links, ..Summary::default() }, ..Run::default() };
            run.detail.network = network(members);
            run.detail.network.links.load_max[1] = most;
            loads_title("host → switch", 0.0231, &run).replace('\u{202f}', " ")
        };
        let start = "host → switch links are busiest on average: 2.31 %";
        assert_eq!(title(1, 0.95), format!("{start}; the busiest link (switch0 → host0): 95.0 %"));
        assert_eq!(title(40, 0.95), format!("{start}; the busiest link: 95.0 %"));
        assert_eq!(title(1, 0.0232), start, "no link is busier than the others");
    }
}
