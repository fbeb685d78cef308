//! The plots for single runs: percentiles of slowdown by size, waiting and drops by hop, queues over time.

use super::why::{hop_name, in_words};
use crate::detail::Heat;
use crate::figure::{Axis, Figure, FigureKind, Scaled, Series};
use crate::statistics::{Distribution, SAMPLES_BEYOND};
use crate::summary::{DropCell, Drops, DuplicateAcks, Reordering, SizeClass};
use crate::sweep::Run;
use crate::text::{NOT_MEASURED, count, duration, number, percent, plotted, plural, size};
use std::collections::BTreeSet;

/// Slowdown by flow size: median, 95th and 99th percentile in twenty classes; `None` without flows.
#[must_use]
pub fn slowdown(run: &Run) -> Option<Figure> {
    let classes = &run.summary.equal20;
    let line = |name: &str, of: fn(&Distribution) -> Option<f64>| {
        let known = classes
            .iter()
            .filter_map(|c| Some((c.to_bytes as f64 / 1e3, of(&c.slowdown)?, c.slowdown.count)));
        let points: Vec<(f64, f64, u64)> = known.collect();
        Series {
            name: name.to_owned(),
            x: points.iter().map(|(x, _, _)| plotted(*x)).collect(),
            y: points.iter().map(|(_, y, _)| Some(plotted(*y))).collect(),
            n: points.iter().map(|(_, _, n)| *n).collect(),
            ..Series::default()
        }
    };
    let lines = [line("median", |d| d.p50), line("p95", |d| d.p95), line("p99", |d| d.p99)];
    let worst = furthest(classes).and_then(|(words, of)| {
        let all = classes.iter().filter_map(|class| Some((of(&class.slowdown)?, class.to_bytes)));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|worst| (words, worst))
    });
    (!classes.is_empty()).then(|| Figure {
        id: "slowdown".into(),
        title: worst.map_or("Slowdown by flow size".to_owned(), |(words, (slowdown, bytes))| {
            format!("Slowdown is highest for flows of about {}: {}× at the {words}", size(bytes as f64), number(slowdown))
        }),
        caption: "FCT divided by the FCT of the same flow alone in the empty network (headers, first round trip and \
                  store-and-forward included), in up to twenty classes of equal count by size, each drawn at its \
                  upper end; flows of one size are in one class; p99 is omitted below 100 flows; the title names no percentile with \
                  fewer than 100 flows beyond."
            .into(),
        samples: format!("n = {}", plural(run.summary.flows.finished, "flow")),
        x: Axis::log("flow size", "kB"),
        y: Axis::log("slowdown", "×"),
        series: lines.into_iter().filter(|line| !line.x.is_empty()).collect(),
        ..Figure::default()
    })
}

/// A percentile in words, and its field in a distribution.
type Furthest = (&'static str, fn(&Distribution) -> Option<f64>);

/// The highest percentile with at least 100 flows beyond it in every class; the title makes no claim beyond it, and none if even the
/// median has fewer.
fn furthest(classes: &[SizeClass]) -> Option<Furthest> {
    let percentiles: [(f64, Furthest); 3] = [
        (0.01, ("99th percentile", |d| d.p99)),
        (0.05, ("95th percentile", |d| d.p95)),
        (0.5, ("median", |d| d.p50)),
    ];
    let least = classes.iter().map(|class| class.slowdown.count).min().unwrap_or(0) as f64;
    let sure = percentiles.into_iter().find(|(beyond, _)| least * beyond >= SAMPLES_BEYOND as f64);
    sure.map(|(_, furthest)| furthest)
}

/// Waiting time by hop: the mean and, on its own axis, the 99th percentile.
#[must_use]
pub fn waiting(run: &Run) -> Vec<Figure> {
    let hops = &run.summary.queueing_us;
    let bars = |id: &str, name: &str, values: Vec<f64>| {
        let scaled = Scaled::fitting(values.iter().copied().fold(0.0, f64::max), "us", false);
        let longest = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let title = longest.map_or(String::new(), |(hop, wait)| {
            format!("The {name} is highest at {}: {}", in_words(&hop_name(run, hop)), duration(*wait))
        });
        Figure {
            id: id.into(),
            title,
            caption:
                "Time from arrival at a queue to the start of transmission, data packets only. Means are \
                      exact; percentiles come from a histogram with a relative error below 1/64. Hops have the names of \
                      paths through the highest tier; packets that turn round below it are counted by their number of hops."
                    .into(),
            samples: format!("n = {} waits", count(hops.iter().map(|hop| hop.count).sum())),
            kind: FigureKind::Bars,
            x: Axis::linear(name, &scaled.unit),
            y: Axis::linear("hop", ""),
            rows: (0..hops.len()).map(|hop| hop_name(run, hop)).collect(),
            series: vec![Series {
                name: name.to_owned(),
                y: values.iter().map(|wait| Some(scaled.of(*wait))).collect(),
                n: hops.iter().map(|hop| hop.count).collect(),
                ..Series::default()
            }],
            ..Figure::default()
        }
    };
    if hops.is_empty() {
        return Vec::new();
    }
    let mean = bars("waiting-mean", "mean waiting time", hops.iter().map(|hop| hop.mean).collect());
    let tail = bars("waiting-p99", "99th percentile of waiting", hops.iter().map(|hop| hop.p99).collect());
    vec![mean, tail]
}

/// Drops by hop, parts by reason; `None` when not recorded.
#[must_use]
pub fn drops(run: &Run) -> Option<Figure> {
    let drops = run.summary.drops.as_ref().filter(|_| run.summary.drops_are_told())?;
    let hops = drops.cells.iter().map(|cell| usize::from(cell.hop) + 1).max().unwrap_or(0);
    let hops = hops.max(run.summary.queueing_us.len());
    let reasons: BTreeSet<&str> = drops.cells.iter().map(|cell| cell.reason.as_str()).collect();
    let packets = |hop: usize, reason: &str| {
        let cells = drops.cells.iter().filter(|cell| usize::from(cell.hop) == hop && cell.reason == reason);
        cells.map(|cell| cell.packets).sum::<u64>() as f64
    };
    let part = |reason: &str| Series {
        name: reason.replace('_', " "),
        y: (0..hops).map(|hop| Some(packets(hop, reason))).collect(),
        ..Series::default()
    };
    let axis = match reasons.iter().next() {
        Some(reason) if reasons.len() == 1 => format!("packets dropped ({})", reason.replace('_', " ")),
        _ => "packets dropped".to_owned(),
    };
    let worst = drops.by_hop.iter().max_by_key(|(_, packets)| **packets);
    Some(Figure {
        id: "drops".into(),
        title: match worst {
            Some((hop, packets)) if *packets > 0 => {
                let number = hop.strip_prefix("hop").and_then(|hop| hop.parse().ok());
                let place = number.map_or(hop.clone(), |hop| place_of_drops(run, hop, *packets));
                let whole = if *packets == drops.total { "All" } else { &count(*packets) };
                format!("{whole} of {} drops are at {place}{}", count(drops.total), chief_reason(drops, hop))
            }
            _ => "No packet was dropped".to_owned(),
        },
        caption: "Packets dropped by hop and reason, of any kind.".into(),
        samples: format!(
            "n = {} drops of {} link traversals",
            count(drops.total),
            run.summary.packet_hops.map_or(NOT_MEASURED.to_owned(), count)
        ),
        kind: FigureKind::Bars,
        x: Axis::linear(&axis, ""),
        y: Axis::linear("hop", ""),
        rows: (0..hops).map(|hop| hop_name(run, hop)).collect(),
        series: reasons.into_iter().map(part).collect(),
        ..Figure::default()
    })
}

/// A hop in words. Packets that turn round below the highest tier are counted by the number of their hops: where more were lost than
/// at all ports that lead up, the name of a hop upwards would be wrong.
fn place_of_drops(run: &Run, hop: usize, packets: u64) -> String {
    let upwards = hop > 0 && 2 * hop < run.summary.hop_names.len();
    match &run.summary.links.dropped {
        Some(towards) if upwards && packets > towards.up => format!("link {} of their paths", hop + 1),
        _ => in_words(&hop_name(run, hop)),
    }
}

/// Why packets were dropped at a hop, in brackets; of several reasons, the one with the most drops.
fn chief_reason(drops: &Drops, hop: &str) -> String {
    let here = drops.cells.iter().filter(|cell| format!("hop{}", cell.hop) == hop && cell.packets > 0);
    let mut here: Vec<&DropCell> = here.collect();
    here.sort_by_key(|cell| std::cmp::Reverse(cell.packets));
    let name = |cell: &DropCell| cell.reason.replace('_', " ");
    match here.as_slice() {
        [] => String::new(),
        [only] => format!(" ({})", name(only)),
        [most, ..] => format!(" (mostly {})", name(most)),
    }
}

/// Queue lengths over time, port by port.
#[must_use]
pub fn heat(heat: &Heat) -> Figure {
    let greatest = heat.bytes.iter().flatten().copied().max().unwrap_or(0);
    let scaled = Scaled::fitting(greatest as f64, "B", false);
    let (columns, time) = columns(heat);
    let worst = heat.bytes.iter().position(|row| row.contains(&greatest)).unwrap_or(0);
    let row = |(name, bytes): (&String, &Vec<u64>)| Series {
        name: name.clone(),
        y: bytes.iter().map(|&bytes| Some(scaled.of(bytes as f64))).collect(),
        ..Series::default()
    };
    Figure {
        id: "queues".into(),
        title: format!(
            "The longest sampled queue, {}, is at {}",
            size(greatest as f64),
            heat.ports.get(worst).map_or("", String::as_str)
        ),
        caption: format!("Maximum queue length in each interval{}.{}", sampling(heat), cut(heat)),
        samples: format!(
            "{} of {} sampled ports, those with the longest queues",
            heat.ports.len(),
            heat.sampled
        ),
        kind: FigureKind::Heat,
        x: Axis { ticks: columns, ..Axis::linear("time", &time.unit) },
        y: Axis::linear("queue", &scaled.unit),
        rows: heat.ports.clone(),
        series: heat.ports.iter().zip(&heat.bytes).map(row).collect(),
        ..Figure::default()
    }
}

/// A note that the drain at the end is left out, if it is.
fn cut(heat: &Heat) -> &'static str {
    if heat.cut { " The drain at the end is left out; the table queues has it." } else { "" }
}

/// The sampling interval of the queues, and the number of samples per value of `queues.csv`.
fn sampling(heat: &Heat) -> String {
    let every = duration(heat.every_us);
    match heat.samples_per_value {
        0 => String::new(),
        1 => format!(", sampled every {every}; the table queues has every sample"),
        many => format!(
            ", sampled every {every}; the table queues has the peak and mean of every {} (raise measure.queues_values for more)",
            plural(many, "sample")
        ),
    }
}

/// Starts of the columns of a heat map, and a suitable unit of time.
fn columns(heat: &Heat) -> (Vec<f64>, Scaled) {
    let count = heat.bytes.first().map_or(0, Vec::len).max(heat.spread_bytes.len());
    let at = |n: usize| heat.begins_us + heat.column_us * n as f64;
    let time = Scaled::fitting(at(count), "us", false);
    ((0..=count).map(|n| time.of(at(n))).collect(), time)
}

/// Imbalance of parallel queues over time; `None` if no switch has two sampled uplinks.
#[must_use]
pub fn spread(run: &Run, heat: &Heat) -> Option<Figure> {
    let greatest = heat.spread_bytes.iter().copied().reduce(f64::max)?;
    let scaled = Scaled::fitting(greatest, "B", false);
    let (columns, time) = columns(heat);
    Some(Figure {
        id: "spread".into(),
        title: match run.summary.imbalance.iter().find(|sampled| sampled.hop == 1) {
            Some(sampled) => {
                format!(
                    "Queues of parallel uplinks differ by {} on average (standard deviation)",
                    size(sampled.bytes)
                )
            }
            None => format!(
                "Mean queues of parallel uplinks differ by up to {} (standard deviation)",
                size(greatest)
            ),
        },
        caption: format!(
            "Standard deviation of the mean queue lengths of a switch's uplinks in intervals of {}, averaged over switches: differences \
             that change sides within an interval do not show. The title is the mean over single instants.{}",
            duration(heat.column_us),
            cut(heat)
        ),
        samples: format!("{} intervals", heat.spread_bytes.len()),
        x: Axis::linear("time", &time.unit),
        y: Axis::linear("standard deviation of queues", &scaled.unit),
        series: vec![Series {
            name: "uplinks".into(),
            x: columns[..heat.spread_bytes.len()].to_vec(),
            y: heat.spread_bytes.iter().map(|bytes| Some(scaled.of(*bytes))).collect(),
            ..Series::default()
        }],
        ..Figure::default()
    })
}

/// The title. Without duplicate acknowledgements it reports packets out of order.
fn overtaking_title(reordering: &Reordering, duplicates: &DuplicateAcks) -> String {
    match (duplicates.flows_with_dupacks > 0.0, reordering.out_of_order) {
        (true, _) => format!("{} of flows see a duplicate ACK", percent(duplicates.flows_with_dupacks)),
        (false, 0) => "No packet arrives out of order".to_owned(),
        (false, late) => format!("{} out of order", plural(late, "packet")),
    }
}

/// Shares of flows with duplicate acknowledgements; `None` when not recorded.
#[must_use]
pub fn reordering(run: &Run) -> Option<Figure> {
    let reordering = run.summary.reordering.as_ref()?;
    if run.summary.lacks("reordering.over_3") {
        return None;
    }
    let duplicates = reordering.duplicate_acks.as_ref()?;
    let rows = [
        ("any duplicate ACK", duplicates.flows_with_dupacks),
        ("more than 3", duplicates.over_3),
        ("any, nothing lost", duplicates.flows_with_dupacks_reorder),
        ("more than 3, nothing lost", duplicates.over_3_reorder),
    ];
    Some(Figure {
        id: "reordering".into(),
        title: overtaking_title(reordering, duplicates),
        caption: format!(
            "Fraction of measured, finished flows whose receiver sent duplicate acknowledgements; \"nothing lost\": of \
             these, sent while no packet of the flow had been lost. Maximum displacement: {} packets, mean {}; receive \
             offload makes {} batches of what arrives.",
            count(reordering.max_displacement),
            reordering.mean_displacement.map_or("none".to_owned(), number),
            count(reordering.gro_batches)
        ),
        samples: format!("n = {}", plural(run.summary.flows.finished, "flow")),
        kind: FigureKind::Bars,
        x: Axis::linear("fraction of flows", "%"),
        y: Axis::linear("duplicate ACKs", ""),
        rows: rows.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: vec![Series {
            name: "fraction of flows".into(),
            y: rows.iter().map(|(_, share)| Some(plotted(share * 100.0))).collect(),
            ..Series::default()
        }],
        ..Figure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sampled queue may have been longer in between, as another figure shows.
    #[test]
    fn the_longest_of_sampled_queues_is_called_so() {
        let found = Heat {
            ports: vec!["leaf0 → host0".to_owned()],
            sampled: 1,
            column_us: 1.0,
            bytes: vec![vec![5, 331_000]],
            ..Heat::default()
        };
        let title = heat(&found).title.replace('\u{202f}', " ");
        assert_eq!(title, "The longest sampled queue, 331 kB, is at leaf0 → host0");
    }
}
