//! The run over time, in bins: arrivals, loads of links, drops, marks, pauses, queues. Everything is read at the end
//! of each bin from counters that exist anyway; recording changes nothing.
//!
//! Every domain keeps the bins of its own nodes, on a clock that all domains follow; they are added up at the end.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use weft_core::record::{GroupBin, LinkGroup, PausedLink, Reason, TimeBin, TimeSeries};
use weft_core::{Bytes, HostId, LinkId, Rate, Span, Time};
use weft_plan::Setup;
use weft_topology::{Graph, Node, Timeline};

/// When bins end. A pure function of the setup and the number of ended bins, so that all threads agree.
#[derive(Clone, Copy, Debug)]
pub struct SeriesClock {
    every: Span,
    /// The first bins, which are never merged.
    fine: u64,
    later: Span,
    bins: u64,
    /// Maximum number of later bins; even.
    most: u64,
}

impl SeriesClock {
    /// `None` if nothing is recorded. The expected arrival or sending time of all flows is spread over about three
    /// quarters of the bins, which are never merged. If neither is known, bins begin at 1 us and all are merged as
    /// needed.
    #[must_use]
    pub fn new(setup: &Setup) -> Option<SeriesClock> {
        let bins = (setup.series_bins? as u64).max(2) / 2 * 2;
        let lasts = setup.volume().map_or(Span::ZERO, |volume| volume.lasts);
        let most = if lasts == Span::ZERO { bins } else { (bins / 4).max(1).next_multiple_of(2) };
        let fine = bins - most;
        let every = round_up((lasts.0 / fine.max(1)).max(Span::from_us(1).0));
        Some(SeriesClock { every, fine, later: every, bins: 0, most })
    }

    /// When bin `bin` begins.
    fn begins(&self, bin: u64) -> Time {
        let fine = bin.min(self.fine);
        Time(self.every.0.saturating_mul(fine).saturating_add(self.later.0.saturating_mul(bin - fine)))
    }

    /// When the current bin ends: it holds the events up to and including this instant.
    #[must_use]
    pub fn next(&self) -> Time {
        self.begins(self.bins + 1)
    }

    /// Ends a bin. Returns `true` if the later bins must be merged now.
    pub fn advance(&mut self) -> bool {
        self.bins += 1;
        let full = self.bins == self.fine + self.most;
        if full {
            (self.later, self.bins) = (self.later * 2, self.fine + self.most / 2);
        }
        full
    }
}

/// The least of 1, 2, 5, 10, 20, ... that is not below `least`.
fn round_up(least: u64) -> Span {
    let power = 10u64.pow(least.ilog10());
    let found = [1, 2, 5, 10].into_iter().map(|digit| digit * power).find(|round| *round >= least);
    Span(found.unwrap_or(least))
}

/// Totals since the run began.
#[derive(Clone, Debug, Default)]
pub struct RunCounts {
    /// Payload delivered in order.
    pub delivered: Bytes,
    /// Packets dropped, by reason.
    pub dropped: [u64; Reason::ALL.len()],
    /// Pauses, and the time paused.
    pub stops: u64,
    /// See `stops`.
    pub paused: Span,
}

/// The counters of a link when its transmitter was last read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Wire bytes sent.
    pub sent: Bytes,
    /// Packets marked.
    pub marked: u64,
    /// Time integral of the queue, in byte-picoseconds.
    pub byte_time: u128,
}

/// A domain's view of the run over time.
#[derive(Debug)]
pub struct SeriesWatch {
    /// When bins end.
    pub clock: SeriesClock,
    /// The bins so far.
    series: TimeSeries,
    /// The group of each link.
    group_of: Vec<u8>,
    /// Links that leave a host of this domain.
    pub cards: Vec<LinkId>,
    before: RunCounts,
    /// By link; links of other domains stay at zero.
    links: Vec<LinkCounts>,
    /// The longest queue of each link so far; readings restart those of the ports.
    peaks: Vec<Bytes>,
    /// The totals of each group in the current bin.
    open: Vec<GroupBin>,
    /// Packets marked in the current bin.
    marked: u64,
    /// Links that were paused, with their time paused up to the last bin.
    paused: BTreeMap<LinkId, (Span, Vec<Span>)>,
}

impl SeriesWatch {
    /// The view of a domain that has some of the hosts; `None` if nothing is recorded.
    #[must_use]
    pub fn new(setup: &Setup, has: impl Fn(HostId) -> bool) -> Option<SeriesWatch> {
        let clock = SeriesClock::new(setup)?;
        let (groups, group_of) = groups(&setup.graph, &setup.timeline);
        let links = setup.graph.links();
        let own = |(_, link): &(usize, &weft_topology::Link)| match link.from {
            Node::Host(host) => has(host),
            Node::Switch(_) => false,
        };
        let cards = links.iter().enumerate().filter(own).map(|(number, _)| LinkId(number as u32)).collect();
        Some(SeriesWatch {
            clock,
            open: vec![GroupBin::default(); groups.len()],
            marked: 0,
            links: vec![LinkCounts::default(); links.len()],
            series: TimeSeries {
                every: clock.every,
                fine: clock.fine as usize,
                later: clock.later,
                groups,
                ..TimeSeries::default()
            },
            group_of,
            cards,
            before: RunCounts::default(),
            peaks: vec![Bytes::ZERO; links.len()],
            paused: BTreeMap::new(),
        })
    }

    /// Adds to the current bin what the transmitter of a link has counted since it was last read, and the longest
    /// queue since.
    #[inline]
    pub fn read(&mut self, link: LinkId, now: LinkCounts, peak: Bytes) {
        let before = std::mem::replace(&mut self.links[link.index()], now);
        let bin = &mut self.open[usize::from(self.group_of[link.index()])];
        bin.sent += now.sent - before.sent;
        bin.byte_time += now.byte_time - before.byte_time;
        bin.note_peak(peak, link);
        self.marked += now.marked - before.marked;
        let longest = &mut self.peaks[link.index()];
        *longest = (*longest).max(peak);
    }

    /// The longest queue of a link before its port was last read.
    #[must_use]
    pub fn peak(&self, link: LinkId) -> Bytes {
        self.peaks[link.index()]
    }

    /// Ends a bin with the current totals.
    pub fn add(&mut self, now: RunCounts, paused: &[(LinkId, Span)]) {
        let before = &self.before;
        let groups = self.open.len();
        let bin = TimeBin {
            delivered: now.delivered - before.delivered,
            marked: std::mem::take(&mut self.marked),
            dropped: std::array::from_fn(|reason| now.dropped[reason] - before.dropped[reason]),
            stops: now.stops - before.stops,
            paused: Span(now.paused.0.saturating_sub(before.paused.0)),
            groups: std::mem::replace(&mut self.open, vec![GroupBin::default(); groups]),
        };
        let number = self.series.bins.len();
        self.series.bins.push(bin);
        for (link, total) in paused {
            let (before, bins) = self.paused.entry(*link).or_default();
            bins.resize(number, Span::ZERO);
            bins.push(Span(total.0.saturating_sub(before.0)));
            *before = *total;
        }
        self.before = now;
    }

    /// Called when the due bin has ended: halves the number of bins if there are too many.
    pub fn advance(&mut self) {
        if self.clock.advance() {
            self.merge();
        }
    }

    /// Whether a bin is open in a run that ended at `ended`. A run that ends at its first instant, such as one whose only datagram
    /// is lost at once, has one bin.
    #[must_use]
    pub fn is_open(&self, ended: Time) -> bool {
        self.clock.bins == 0 || self.clock.begins(self.clock.bins) < ended
    }

    /// Half as many bins.
    fn merge(&mut self) {
        let links = self.paused.iter_mut();
        let (links, bins): (Vec<_>, Vec<_>) =
            links.map(|(link, (_, bins))| (*link, std::mem::take(bins))).unzip();
        let row = |(link, paused)| PausedLink { link, paused };
        self.series.paused = links.into_iter().zip(bins).map(row).collect();
        self.series.merge();
        for row in std::mem::take(&mut self.series.paused) {
            if let Some((_, bins)) = self.paused.get_mut(&row.link) {
                *bins = row.paused;
            }
        }
    }
}

/// The groups of links by the tiers of their ends, and the group of each link. Links that are never up add no capacity.
fn groups(graph: &Graph, timeline: &Timeline) -> (Vec<LinkGroup>, Vec<u8>) {
    let mut dead: Vec<bool> = (0..graph.cables().len()).map(|cable| !timeline.initial.is_up(cable)).collect();
    for (cable, up) in timeline.changes.iter().filter_map(|(_, change)| change.cable()) {
        dead[cable] &= !up;
    }
    let tier = |node: Node| match node {
        Node::Host(_) => 0,
        Node::Switch(switch) => graph.switches()[switch.index()].tier,
    };
    let ends = |link: &weft_topology::Link| (tier(link.from), tier(link.to));
    let mut found: BTreeMap<(u8, u8), LinkGroup> = BTreeMap::new();
    for link in graph.links() {
        let (from, to) = ends(link);
        let group = found.entry((from, to)).or_insert(LinkGroup { from, to, ..LinkGroup::default() });
        if !dead[link.cable] {
            group.links += 1;
            group.capacity = Rate(group.capacity.0 + link.rate.0);
        }
    }
    let place = |link| found.keys().position(|key| *key == ends(link)).unwrap_or_default() as u8;
    let of = graph.links().iter().map(place).collect();
    (found.into_values().collect(), of)
}

impl SeriesWatch {
    /// The bins of this domain; the peaks stay.
    #[must_use]
    pub fn finish(&mut self) -> TimeSeries {
        let mut series = std::mem::take(&mut self.series);
        let bins = series.bins.len();
        for (link, (_, mut paused)) in std::mem::take(&mut self.paused) {
            paused.resize(bins, Span::ZERO);
            series.paused.push(PausedLink { link, paused });
        }
        series
    }
}

/// The series of all domains together.
#[must_use]
pub fn together(all: impl Iterator<Item = TimeSeries>) -> Option<TimeSeries> {
    let mut series = all.reduce(|all, other| all.and(&other))?;
    series.paused.sort_by_key(|link| (Reverse(link.paused.iter().copied().sum::<Span>()), link.link));
    series.paused.truncate(TimeSeries::PAUSED_LINKS);
    series.paused.sort_by_key(|link| link.link);
    Some(series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_round_lengths_and_double_when_they_are_too_many() {
        assert_eq!([1, 2, 3, 7, 10, 11, 499].map(|least| round_up(least).0), [1, 2, 5, 10, 10, 20, 500]);
        let ends = |mut clock: SeriesClock| -> (Vec<u64>, Span) {
            let ends = (0..6).map(|_| {
                let end = clock.next().0;
                clock.advance();
                end
            });
            (ends.collect(), clock.later)
        };
        let clock = SeriesClock { every: Span(10), fine: 0, later: Span(10), bins: 0, most: 4 };
        assert_eq!(ends(clock), (vec![10, 20, 30, 40, 60, 80], Span(40)));
        let clock = SeriesClock { fine: 3, most: 2, ..clock };
        assert_eq!(ends(clock), (vec![10, 20, 30, 40, 50, 70], Span(40)), "the first three stay");
    }
}
