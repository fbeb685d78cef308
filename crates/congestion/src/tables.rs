//! The two tables of a CONGA leaf: what other leaves reported about the paths to them, and what packets from them met
//! on the way, to be reported back. Tags count from 1.

use weft_core::{Span, Time};

/// Bytes per leaf and tag, for both tables.
pub(crate) const ENTRY: u64 = (size_of::<Told>() + size_of::<Seen>()) as u64;

/// Congestion of the paths to a leaf, by uplink (Congestion-To-Leaf).
#[derive(Clone, Debug, Default)]
pub(crate) struct ToLeaf(Vec<Told>);

/// What was reported about an uplink.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    metric: u8,
    at: Time,
}

/// Steps in which a metric fades, each lasting an eighth of the age limit.
const FADING_STEPS: u64 = 8;

impl ToLeaf {
    #[inline]
    pub(crate) fn told(&mut self, now: Time, tag: u32, metric: u8) {
        *at(&mut self.0, tag) = Told { metric, at: now };
    }

    /// The metric of an uplink: 0 if unknown, reduced by one for each eighth of the age limit beyond it.
    #[inline]
    pub(crate) fn metric(&self, now: Time, tag: u32, age_out: Span) -> u8 {
        let Some(told) = self.0.get(tag as usize - 1) else { return 0 };
        match now.since(told.at).0.checked_sub(age_out.0) {
            None => told.metric,
            Some(late) => {
                let steps = late / (age_out.0 / FADING_STEPS).max(1);
                told.metric.saturating_sub(steps.min(255) as u8)
            }
        }
    }
}

/// Congestion of the paths from a leaf, by that leaf's uplink (Congestion-From-Leaf).
#[derive(Clone, Debug, Default)]
pub(crate) struct FromLeaf {
    seen: Vec<Seen>,
    /// Entries with news.
    changed: usize,
    /// Where the search for something to report starts.
    next: usize,
}

/// The congestion that packets over an uplink met.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    metric: u8,
    /// Whether it differs from the last report.
    changed: bool,
    known: bool,
    at: Time,
}

impl FromLeaf {
    #[inline]
    pub(crate) fn saw(&mut self, now: Time, tag: u32, metric: u8) {
        let seen = at(&mut self.seen, tag);
        let changed = seen.changed || !seen.known || seen.metric != metric;
        self.changed += usize::from(changed && !seen.changed);
        *seen = Seen { metric, changed, known: true, at: now };
    }

    /// The uplink to report next and its metric: in turn, changed ones first; nothing (0) for uplinks without packets
    /// for longer than the age limit.
    #[inline]
    pub(crate) fn feed_back(&mut self, now: Time, age_out: Span) -> (u32, u8) {
        if self.changed > 0
            && let Some(index) = self.find(now, age_out, true)
        {
            return self.tell(index);
        }
        self.find(now, age_out, false).map_or((0, 0), |index| self.tell(index))
    }

    #[inline]
    fn find(&mut self, now: Time, age_out: Span, news: bool) -> Option<usize> {
        let count = self.seen.len();
        for step in 0..count {
            let index = (self.next + step) % count;
            let seen = &mut self.seen[index];
            if seen.known && now.since(seen.at) > age_out {
                self.changed -= usize::from(seen.changed);
                *seen = Seen::default();
            }
            if seen.known && (seen.changed || !news) {
                return Some(index);
            }
        }
        None
    }

    #[inline]
    fn tell(&mut self, index: usize) -> (u32, u8) {
        let seen = &mut self.seen[index];
        self.changed -= usize::from(seen.changed);
        seen.changed = false;
        self.next = (index + 1) % self.seen.len();
        (index as u32 + 1, self.seen[index].metric)
    }
}

/// The entry of a tag; rows grow to the greatest tag that occurs.
fn at<T: Default + Clone>(row: &mut Vec<T>, tag: u32) -> &mut T {
    let index = tag as usize - 1;
    if index >= row.len() {
        row.resize(index + 1, T::default());
    }
    &mut row[index]
}

#[cfg(test)]
mod tests;
