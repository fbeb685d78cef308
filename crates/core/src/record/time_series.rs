//! A run over time in bins: arrivals, loads of links, drops, marks, pauses and queues. Every value is a whole number
//! that adds up over parts of a network, or a maximum.

use super::Reason;
use crate::ids::LinkId;
use crate::units::{Bytes, Rate, Span, Time};

/// The run over time. The first bins cover the time in which flows are expected to arrive and stay as they are; when the later
/// ones would exceed their limit, neighbours among them are merged, so that memory does not grow with time, no peak is lost, and
/// a long drain does not blur what came before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeSeries {
    /// The length of each of the first `fine` bins; the last of all may be shorter.
    pub every: Span,
    /// Number of bins that keep the length `every`.
    pub fine: usize,
    /// The length of the other bins.
    pub later: Span,
    /// Links by the tiers of their two ends, ordered.
    pub groups: Vec<LinkGroup>,
    /// The bins, in order and without gaps.
    pub bins: Vec<TimeBin>,
    /// Links that were paused, ordered; at most [`TimeSeries::PAUSED_LINKS`].
    pub paused: Vec<PausedLink>,
}

/// The links from nodes of one tier to nodes of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkGroup {
    /// Tier of the transmitting nodes; 0: hosts.
    pub from: u8,
    /// Tier of the receiving nodes.
    pub to: u8,
    /// The number of links.
    pub links: u32,
    /// The sum of their line rates.
    pub capacity: Rate,
}

/// Totals of one bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeBin {
    /// Payload delivered in order to applications, of all flows.
    pub delivered: Bytes,
    /// Packets marked by switches.
    pub marked: u64,
    /// Packets dropped, by [`Reason`].
    pub dropped: [u64; Reason::ALL.len()],
    /// Times that a sender was paused.
    pub stops: u64,
    /// Time paused, summed over senders and classes.
    pub paused: Span,
    /// By group of links.
    pub groups: Vec<GroupBin>,
}

/// Totals of a group of links in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupBin {
    /// Wire bytes sent; a packet counts from its first bit.
    pub sent: Bytes,
    /// Integral of the bytes queued over time, in byte-picoseconds, summed over the ports; hosts have no queues.
    pub byte_time: u128,
    /// The longest queue of a port, in wire bytes.
    pub peak: Bytes,
    /// The link behind the port that had it; the first among equals.
    pub peak_at: LinkId,
}

/// A link and how long it was paused in each bin, summed over classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PausedLink {
    /// The direction of the cable whose transmitter was paused.
    pub link: LinkId,
    /// By bin.
    pub paused: Vec<Span>,
}

impl TimeSeries {
    /// Maximum number of paused links kept: those with the longest total pause, ties by number.
    pub const PAUSED_LINKS: usize = 1_024;

    /// When a bin begins.
    #[must_use]
    pub fn begins(&self, bin: usize) -> Time {
        let fine = bin.min(self.fine);
        Time(self.every.0 * fine as u64 + self.later.0 * (bin - fine) as u64)
    }

    /// The bin that begins at `time` or holds it.
    #[must_use]
    pub fn bin_at(&self, time: Time) -> usize {
        let fine = self.begins(self.fine);
        if time < fine {
            return (time.0 / self.every.0.max(1)) as usize;
        }
        self.fine + (time.since(fine).0 / self.later.0.max(1)) as usize
    }

    /// How long a bin lasts in a run that ended at `ended`.
    #[must_use]
    pub fn length(&self, bin: usize, ended: Time) -> Span {
        self.begins(bin + 1).min(ended).since(self.begins(bin))
    }

    /// Payload delivered per second in a bin, bit/s.
    #[must_use]
    pub fn throughput(&self, bin: usize, ended: Time) -> f64 {
        per_second(self.bins[bin].delivered, self.length(bin, ended))
    }

    /// The utilisation of a group of links in a bin, as a fraction of their capacity.
    #[must_use]
    pub fn load(&self, bin: usize, group: usize, ended: Time) -> f64 {
        let carried = per_second(self.bins[bin].groups[group].sent, self.length(bin, ended));
        carried / (self.groups[group].capacity.0 as f64).max(1.0)
    }

    /// The mean queue of a port of a group in a bin, wire bytes.
    #[must_use]
    pub fn mean_queue(&self, bin: usize, group: usize, ended: Time) -> f64 {
        let ports = f64::from(self.groups[group].links) * self.length(bin, ended).0 as f64;
        self.bins[bin].groups[group].byte_time as f64 / ports.max(1.0)
    }

    /// Adds the counts of another part of the network in the same bins.
    #[must_use]
    pub fn and(mut self, other: &TimeSeries) -> TimeSeries {
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, other)| bin.and(other));
        self.paused.extend(other.paused.iter().cloned());
        self
    }

    /// Merges neighbours among the later bins: half as many, each twice as long.
    pub fn merge(&mut self) {
        let later = self.bins.split_off(self.fine.min(self.bins.len()));
        for (number, bin) in later.into_iter().enumerate() {
            match self.bins.last_mut().filter(|_| number % 2 == 1) {
                Some(last) => last.and(&bin),
                None => self.bins.push(bin),
            }
        }
        for link in &mut self.paused {
            let later = link.paused.split_off(self.fine.min(link.paused.len()));
            link.paused.extend(later.chunks(2).map(|pair| pair.iter().copied().sum::<Span>()));
        }
        self.later = self.later * 2;
    }
}

/// Bits per second; zero for no time.
fn per_second(bytes: Bytes, span: Span) -> f64 {
    if span == Span::ZERO { 0.0 } else { bytes.bits() as f64 / span.seconds() }
}

impl TimeBin {
    /// Adds the counts of this bin elsewhere, or of its neighbour.
    fn and(&mut self, other: &TimeBin) {
        self.delivered += other.delivered;
        self.marked += other.marked;
        self.dropped.iter_mut().zip(other.dropped).for_each(|(own, other)| *own += other);
        self.stops += other.stops;
        self.paused += other.paused;
        self.groups.iter_mut().zip(&other.groups).for_each(|(own, other)| own.and(other));
    }
}

impl GroupBin {
    /// Records the length of a link's queue.
    pub fn note_peak(&mut self, peak: Bytes, link: LinkId) {
        if (peak, std::cmp::Reverse(link)) > (self.peak, std::cmp::Reverse(self.peak_at)) {
            (self.peak, self.peak_at) = (peak, link);
        }
    }

    fn and(&mut self, other: &GroupBin) {
        self.sent += other.sent;
        self.byte_time += other.byte_time;
        self.note_peak(other.peak, other.peak_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(delivered: u64, peak: u64, link: u32) -> TimeBin {
        let group = GroupBin { peak: Bytes(peak), peak_at: LinkId(link), ..GroupBin::default() };
        TimeBin { delivered: Bytes(delivered), groups: vec![group], ..TimeBin::default() }
    }

    #[test]
    fn merging_keeps_sums_and_peaks() {
        let link = PausedLink { link: LinkId(7), paused: vec![Span(1), Span(2), Span(4)] };
        let mut series = TimeSeries {
            later: Span(10),
            groups: vec![LinkGroup::default()],
            bins: vec![bin(1, 5, 3), bin(2, 9, 4), bin(4, 1, 0)],
            paused: vec![link],
            ..TimeSeries::default()
        };
        series.merge();
        assert_eq!(series.bins, [bin(3, 9, 4), bin(4, 1, 0)]);
        assert_eq!(series.paused[0].paused, [Span(3), Span(4)]);
        assert_eq!(series.later, Span(20));
        assert_eq!(series.length(1, Time(27)), Span(7), "the last bin ends with the run");
    }

    #[test]
    fn merging_leaves_the_first_bins_as_they_are() {
        let mut series = TimeSeries {
            every: Span(10),
            fine: 2,
            later: Span(10),
            bins: (0..6).map(|n| bin(1 << n, 1, 0)).collect(),
            paused: vec![PausedLink { link: LinkId(7), paused: (0..5).map(|n| Span(1 << n)).collect() }],
            ..TimeSeries::default()
        };
        series.merge();
        let delivered: Vec<u64> = series.bins.iter().map(|bin| bin.delivered.0).collect();
        assert_eq!(delivered, [1, 2, 4 + 8, 16 + 32]);
        assert_eq!(series.paused[0].paused, [Span(1), Span(2), Span(4 + 8), Span(16)]);
        let begins = [0, 1, 2, 3, 4].map(|bin| series.begins(bin).0);
        assert_eq!(begins, [0, 10, 20, 40, 60]);
        assert_eq!([0, 9, 10, 20, 39, 40, 61].map(|time| series.bin_at(Time(time))), [0, 0, 1, 2, 2, 3, 4]);
        assert_eq!(series.length(1, Time(55)), Span(10));
        assert_eq!(series.length(3, Time(55)), Span(15));
    }

    #[test]
    fn of_equal_peaks_the_first_link_is_named_whatever_the_order() {
        for order in [[3, 1, 2], [1, 2, 3], [2, 3, 1]] {
            let mut group = GroupBin::default();
            order.iter().for_each(|link| group.note_peak(Bytes(5), LinkId(*link)));
            assert_eq!(group.peak_at, LinkId(1));
        }
    }
}
