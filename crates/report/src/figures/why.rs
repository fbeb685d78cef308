//! Where time and packets are lost under every scheme at one point of the axis: waiting by hop, drops by hop and
//! reason.

use super::at_place;
use crate::contrast::{Duel, MetricOrder};
use crate::figure::{Axis, Figure, FigureKind, Scaled, Series};
use crate::statistics::mean;
use crate::summary::DropCell;
use crate::sweep::{Run, Sweep};
use crate::text::{count, number, plotted};
use std::collections::BTreeSet;

/// The name of a hop: `leaf → spine`; 0 is the sending host's card. Hops beyond those of a shortest path belong to detours.
#[must_use]
pub fn hop_name(run: &Run, hop: usize) -> String {
    match (run.summary.hop_names.get(hop), hop) {
        (Some(name), _) if name.starts_with("hop ") => format!("detour, {name}"),
        (Some(name), _) => name.clone(),
        (None, 0) => "host card".to_owned(),
        (None, _) => format!("hop {hop}"),
    }
}

/// A hop in a sentence: `leaf → spine`, `the 2nd hop`.
pub(crate) fn in_words(hop: &str) -> String {
    let is_numbered = hop.ends_with(" hop");
    if is_numbered { format!("the {hop}") } else { hop.to_owned() }
}

/// The name of a hop in the first run of a sweep that names it; its number if networks differ.
fn name_in(sweep: &Sweep, hop: usize) -> String {
    let names: BTreeSet<String> = sweep.runs.iter().map(|run| hop_name(run, hop)).collect();
    match names.len() {
        1 => names.into_iter().next().unwrap_or_default(),
        _ => format!("hop {hop}"),
    }
}

/// Mean over the seeds of a case; zero without runs.
fn over_seeds(case: &[&Run], of: impl Fn(&Run) -> f64) -> f64 {
    mean(&case.iter().map(|run| of(run)).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// Mean waiting time by hop, stacked, one bar per scheme; `None` without waiting times.
#[must_use]
pub fn queueing(sweep: &Sweep, at: usize) -> Option<Figure> {
    let hops = sweep.runs.iter().map(|run| run.summary.queueing_us.len()).max().filter(|hops| *hops > 0)?;
    let wait =
        |scheme: usize, hop: usize| over_seeds(&sweep.case(scheme, at), |run| run.summary.queueing_at(hop));
    let total = |scheme: usize| (0..hops).map(|hop| wait(scheme, hop)).sum::<f64>();
    let greatest = (0..sweep.schemes.len()).map(total).fold(0.0, f64::max);
    let scaled = Scaled::fitting(greatest, "us", false);
    // Hops that have only a number belong to detours, which share one part.
    let has_name = |run: &Run| run.summary.hop_names.iter().filter(|name| !name.starts_with("hop ")).count();
    let named = sweep.runs.iter().map(has_name).max().filter(|named| *named > 0).unwrap_or(hops).min(hops);
    let part = |name: String, of: std::ops::Range<usize>| Series {
        name,
        y: (0..sweep.schemes.len())
            .map(|scheme| Some(scaled.of(of.clone().map(|hop| wait(scheme, hop)).sum())))
            .collect(),
        ..Series::default()
    };
    let parts = (0..named).map(|hop| part(name_in(sweep, hop), hop..hop + 1));
    let detours = (named < hops).then(|| part("detours".to_owned(), named..hops));
    let packets: u64 =
        in_view(sweep, at).map(|run| run.summary.queueing_us.first().map_or(0, |w| w.count)).sum();
    Some(Figure {
        id: format!("queueing-{at}"),
        title: queueing_title(sweep, at),
        caption: "Mean time from arrival at a queue to the start of transmission, data packets only, summed over the \
                  hops of a path; a hop counts by the share of packets that come to it. Means over seeds."
            .to_owned()
            + detours.as_ref().map_or("", |_| " Detours: hops beyond those of a shortest path through the highest tier."),
        samples: format!("{}n = {} data packets", at_place(sweep, at), count(packets)),
        x: Axis::linear("mean waiting time of a packet", &scaled.unit),
        series: parts.chain(detours).collect(),
        ..stacked(sweep, at)
    })
}

fn in_view(sweep: &Sweep, at: usize) -> impl Iterator<Item = &Run> {
    (0..sweep.schemes.len()).flat_map(move |scheme| sweep.case(scheme, at))
}

/// Bars of parts with one row per scheme.
fn stacked(sweep: &Sweep, at: usize) -> Figure {
    Figure {
        kind: FigureKind::Bars,
        view: Some(at),
        y: Axis::linear(&sweep.scheme_name, ""),
        rows: sweep.schemes.clone(),
        row_schemes: (0..sweep.schemes.len()).collect(),
        ..Figure::default()
    }
}

fn queueing_title(sweep: &Sweep, at: usize) -> String {
    let most = worst_hop(&sweep.case(0, at)).map_or(String::new(), |hop| {
        format!("; most waiting under {} is at {}", sweep.schemes[0], in_words(&name_in(sweep, hop)))
    });
    let waiting = Duel::at(sweep, at).and_then(|duel| Some((duel, duel.contrast(sweep, "queueing.total")?)));
    let (sign, share) = match &waiting {
        Some((_, waiting)) if waiting.order() == MetricOrder::Less => ("less", 1.0 - waiting.ratio.mean),
        Some((_, waiting)) if waiting.order() == MetricOrder::Greater => ("more", waiting.ratio.mean - 1.0),
        _ => return format!("Where packets wait{most}"),
    };
    let name = waiting.map_or("", |(duel, _)| &sweep.schemes[duel.best]);
    format!(
        "Packets wait {}\u{202f}% {sign} with {name} than with {}{most}",
        number(100.0 * share),
        sweep.schemes[0]
    )
}

/// The hop at which packets wait longest, if it is the same hop with every seed.
fn worst_hop(case: &[&Run]) -> Option<usize> {
    let worst = |run: &&Run| {
        let hops = 0..run.summary.queueing_us.len();
        hops.max_by(|a, b| run.summary.queueing_at(*a).total_cmp(&run.summary.queueing_at(*b)))
    };
    let hops: BTreeSet<Option<usize>> = case.iter().map(worst).collect();
    hops.first().copied().flatten().filter(|_| hops.len() == 1)
}

/// The drops of a run by hop and reason.
fn lost(run: &Run) -> impl Iterator<Item = &DropCell> {
    run.summary.drops.iter().flat_map(|drops| &drops.cells)
}

/// Drops by hop and reason, stacked, one bar per scheme; `None` when not recorded.
#[must_use]
pub fn drops(sweep: &Sweep, at: usize) -> Option<Figure> {
    let here: Vec<&Run> = in_view(sweep, at).collect();
    if !here.iter().all(|run| run.summary.drops_are_told()) {
        return None;
    }
    let kinds: BTreeSet<(u8, String)> =
        here.iter().flat_map(|run| lost(run)).map(|c| (c.hop, c.reason.clone())).collect();
    let dropped = |run: &Run, (hop, reason): &(u8, String)| {
        let cells = lost(run).filter(|cell| cell.hop == *hop && cell.reason == *reason);
        cells.map(|cell| cell.packets).sum::<u64>() as f64
    };
    let mean_of =
        |scheme: usize, kind: &(u8, String)| over_seeds(&sweep.case(scheme, at), |run| dropped(run, kind));
    let part = |kind: &(u8, String)| Series {
        name: format!("{}: {}", name_in(sweep, usize::from(kind.0)), kind.1.replace('_', " ")),
        y: (0..sweep.schemes.len()).map(|scheme| Some(plotted(mean_of(scheme, kind)))).collect(),
        ..Series::default()
    };
    let total: u64 = here.iter().filter_map(|run| Some(run.summary.drops.as_ref()?.total)).sum();
    let hops: u64 = here.iter().filter_map(|run| run.summary.packet_hops).sum();
    Some(Figure {
        id: format!("drops-{at}"),
        title: drops_title(sweep, at),
        caption: "Packets of any kind dropped in a run, by hop and reason; means over seeds.".into(),
        samples: format!(
            "{}n = {} drops of {} link traversals",
            at_place(sweep, at),
            count(total),
            count(hops)
        ),
        x: Axis::linear(&dropped_words(sweep, &kinds), ""),
        series: kinds.iter().map(part).collect(),
        ..stacked(sweep, at)
    })
}

/// The name of the axis: with one kind of drop there is no legend, so the axis names it.
fn dropped_words(sweep: &Sweep, kinds: &BTreeSet<(u8, String)>) -> String {
    let mut all = kinds.iter();
    match (all.next(), all.next()) {
        (Some((hop, reason)), None) => {
            format!(
                "packets dropped per run, all at {} ({})",
                in_words(&name_in(sweep, usize::from(*hop))),
                reason.replace('_', " ")
            )
        }
        _ => "packets dropped per run".to_owned(),
    }
}

fn drops_title(sweep: &Sweep, at: usize) -> String {
    let lost =
        |scheme: usize| sweep.estimate(scheme, at, "drops.total").map_or(0.0, |estimate| estimate.mean);
    let most = (0..sweep.schemes.len()).max_by(|a, b| lost(*a).total_cmp(&lost(*b))).unwrap_or_default();
    let least = (0..sweep.schemes.len()).min_by(|a, b| lost(*a).total_cmp(&lost(*b))).unwrap_or_default();
    let drops =
        |scheme: usize| format!("{} drops {} packets per run", sweep.schemes[scheme], number(lost(scheme)));
    match Duel::at(sweep, at) {
        _ if lost(most) == 0.0 => "No packet was dropped".to_owned(),
        Some(duel) if lost(duel.best) == 0.0 && lost(duel.base) == 0.0 => {
            format!("{}, {} and {} none", drops(most), sweep.schemes[duel.best], sweep.schemes[duel.base])
        }
        Some(duel) => {
            format!("{}, {} {}", drops(duel.best), sweep.schemes[duel.base], number(lost(duel.base)))
        }
        None if sweep.schemes.len() == 1 => format!("{} packets dropped per run", number(lost(0))),
        None => format!("{} to {} packets dropped per run", number(lost(least)), number(lost(most))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_with_a_number_has_an_article_in_a_sentence() {
        assert_eq!(
            ["2nd hop", "leaf → spine", "host card"].map(in_words),
            ["the 2nd hop", "leaf → spine", "host card"]
        );
    }
}
