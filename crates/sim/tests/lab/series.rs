//! Laws of a run over time: its bins add up to the record, and their peaks are those of the links.

use weft_core::record::{Reason, RunRecord, TimeBin};
use weft_core::{Bytes, Span};

use super::laws::Verdict;
use super::worlds::World;

/// The bins of a run over time add up to its record.
pub(crate) fn adds_up(world: &World, record: &RunRecord) -> Verdict {
    let Some(series) = &record.series else {
        return told(world.setup.series_bins.is_none(), "a series was asked for");
    };
    let most = world.setup.series_bins.unwrap_or(0).max(2);
    told(series.bins.len() <= most, "there are more bins than asked for")?;
    let delivered = series.bins.iter().map(|bin| bin.delivered).sum::<Bytes>();
    told(delivered == record.flows.iter().map(|flow| flow.delivered).sum(), "delivered payload")?;
    let marked = series.bins.iter().map(|bin| bin.marked).sum::<u64>();
    told(marked == record.links.iter().map(|link| link.marked).sum(), "marks")?;
    for reason in Reason::ALL {
        let over_time = series.bins.iter().map(|bin| bin.dropped[reason as usize]).sum::<u64>();
        let dropped = record.drops.iter().filter(|drop| drop.reason == reason);
        told(over_time == dropped.map(|drop| drop.packets).sum(), reason.name())?;
    }
    pauses_add_up(record, &series.bins)?;
    for (number, group) in series.groups.iter().enumerate() {
        let tier = |node: u32| record.nodes[node as usize].tier;
        let links =
            || record.links.iter().filter(|link| (tier(link.from), tier(link.to)) == (group.from, group.to));
        let sent = series.bins.iter().map(|bin| bin.groups[number].sent).sum::<Bytes>();
        told(sent == links().map(|link| link.sent).sum(), "bytes sent")?;
        if group.from == 0 {
            continue; // Series leave out the queues of cards.
        }
        let peak = series.bins.iter().map(|bin| bin.groups[number].peak).max().unwrap_or_default();
        told(peak == links().map(|link| link.peak).max().unwrap_or_default(), "longest queue")?;
        let queued = series.bins.iter().map(|bin| bin.groups[number].byte_time).sum::<u128>() as f64;
        let mean = links().map(|link| link.mean_queue).sum::<f64>() * record.ended.0.max(1) as f64;
        told((queued - mean).abs() <= 1e-9 * mean.max(1.0), "time integral of the queues")?;
    }
    let last = series.bins.len().saturating_sub(1);
    told(series.begins(last) < record.ended || last == 0, "the last bin begins before the end")
}

fn pauses_add_up(record: &RunRecord, bins: &[TimeBin]) -> Verdict {
    let stops = bins.iter().map(|bin| bin.stops).sum::<u64>();
    told(stops == record.pauses.iter().map(|pause| pause.stopped).sum(), "stops")?;
    let paused = bins.iter().map(|bin| bin.paused).sum::<Span>();
    let whole = record.pauses.iter().map(|pause| pause.paused).sum::<Span>();
    // The record counts up to just after the last instant.
    told(whole.0.abs_diff(paused.0) <= record.links.len() as u64 * 8, "time paused")
}

fn told(holds: bool, what: &str) -> Verdict {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}
