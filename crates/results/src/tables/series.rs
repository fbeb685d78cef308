//! The tables of a run over time: `series` (the network), `series-links` (groups of links), `series-pauses` (paused
//! links) and `incidents` (planned by the scenario). Depends on the record; must not depend on file formats.

use crate::derived::node;
use weft_core::record::{GroupBin, LinkGroup, Quantity, Reason, RunRecord, TimeBin, TimeSeries};
use weft_table::{Cells, DataTable};

/// All of them; empty without a time series, except that `incidents` is written if there are any.
pub(super) fn all(record: &RunRecord) -> Vec<DataTable> {
    let of = |series: &TimeSeries| {
        let paused = (!series.paused.is_empty()).then(|| paused(record, series));
        [Some(network(record, series)), Some(links(record, series)), paused]
    };
    let series = record.series.iter().flat_map(of).flatten();
    series.chain((!record.incidents.is_empty()).then(|| incidents(record))).collect()
}

/// One row per bin.
fn network(record: &RunRecord, series: &TimeSeries) -> DataTable {
    let bins = 0..series.bins.len();
    let column = |of: fn(&TimeBin) -> u64| series.bins.iter().map(of);
    let mut table = DataTable::new("series")
        .integers("time_ps", "ps", bins.clone().map(|bin| series.begins(bin).0))
        .integers("length_ps", "ps", bins.clone().map(|bin| series.length(bin, record.ended).0))
        .integers("delivered_bytes", "B", column(|bin| bin.delivered.0))
        .numbers("throughput_bps", "bps", bins.map(|bin| series.throughput(bin, record.ended)));
    if record.measured.has(Quantity::Marks) {
        table = table.integers("marked_packets", "packets", column(|bin| bin.marked));
    }
    for reason in Reason::ALL {
        let dropped = series.bins.iter().map(move |bin| bin.dropped[reason as usize]);
        table = table.integers(&format!("dropped_{}_packets", reason.name()), "packets", dropped);
    }
    if series.paused.is_empty() {
        return table;
    }
    table.integers("stops", "", column(|bin| bin.stops)).integers(
        "paused_ps",
        "ps",
        column(|bin| bin.paused.0),
    )
}

/// One row per bin and group of links.
fn links(record: &RunRecord, series: &TimeSeries) -> DataTable {
    let tiers = crate::summary::tier_words(record);
    let word = |tier: u8| tiers.get(usize::from(tier)).cloned().unwrap_or_default();
    let groups = series.groups.len();
    let rows = || (0..series.bins.len() * groups).map(|row| (row / groups, row % groups));
    let cell = |(bin, group): (usize, usize)| &series.bins[bin].groups[group];
    let from = |(_, group): (usize, usize)| word(series.groups[group].from);
    let to = |(_, group): (usize, usize)| word(series.groups[group].to);
    let with_queues = |(_, group): &(usize, usize)| series.groups[*group].from > 0;
    let queue = |of: &dyn Fn((usize, usize)) -> f64| {
        Cells::Numbers(rows().map(|row| with_queues(&row).then(|| of(row))).collect())
    };
    let peak = |of: fn(&GroupBin) -> u64| {
        Cells::Integers(rows().map(|row| with_queues(&row).then(|| of(cell(row)))).collect())
    };
    let port = |row: (usize, usize)| match cell(row) {
        GroupBin { peak, peak_at, .. } if peak.0 > 0 && with_queues(&row) => {
            let link = &record.links[peak_at.index()];
            format!("{} > {}", node(record, link.from), node(record, link.to))
        }
        _ => String::new(),
    };
    let links = |group: &LinkGroup| u64::from(group.links);
    DataTable::new("series-links")
        .integers("time_ps", "ps", rows().map(|(bin, _)| series.begins(bin).0))
        .integers("length_ps", "ps", rows().map(|(bin, _)| series.length(bin, record.ended).0))
        .texts("from", rows().map(from))
        .texts("to", rows().map(to))
        .integers("links", "", rows().map(|(_, group)| links(&series.groups[group])))
        .integers("tx_bytes", "B", rows().map(|row| cell(row).sent.0))
        .numbers("utilisation", "", rows().map(|(bin, group)| series.load(bin, group, record.ended)))
        .column("mean_queue_bytes", "B", queue(&|(bin, group)| series.mean_queue(bin, group, record.ended)))
        .column("peak_queue_bytes", "B", peak(|cell| cell.peak.0))
        .texts("peak_port", rows().map(port))
}

/// One row per bin and paused link, where the link was paused in the bin.
fn paused(record: &RunRecord, series: &TimeSeries) -> DataTable {
    let of = |link: &weft_core::record::PausedLink| {
        let ends = &record.links[link.link.index()];
        let names = (node(record, ends.from), node(record, ends.to));
        let bins = link.paused.iter().enumerate().filter(|(_, paused)| paused.0 > 0);
        bins.map(move |(bin, paused)| (bin, names.clone(), paused.0)).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = series.paused.iter().flat_map(of).collect();
    rows.sort_by_key(|(bin, ..)| *bin);
    DataTable::new("series-pauses")
        .integers("time_ps", "ps", rows.iter().map(|(bin, ..)| series.begins(*bin).0))
        .texts("node", rows.iter().map(|(_, (node, _), _)| node.clone()))
        .texts("to", rows.iter().map(|(_, (_, to), _)| to.clone()))
        .integers("length_ps", "ps", rows.iter().map(|(bin, ..)| series.length(*bin, record.ended).0))
        .integers("paused_ps", "ps", rows.iter().map(|(.., paused)| *paused))
}

/// One row per cable or host of an incident.
fn incidents(record: &RunRecord) -> DataTable {
    let rows = || record.incidents.iter().flat_map(|one| one.places.iter().map(move |place| (one, place)));
    DataTable::new("incidents")
        .integers("time_ps", "ps", rows().map(|(one, _)| one.at.0))
        .texts("kind", rows().map(|(one, _)| one.kind.name().to_owned()))
        .texts("place", rows().map(|(_, place)| place.clone()))
}
