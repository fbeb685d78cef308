//! Sets of bytes as ranges.

use std::ops::Range;

/// Disjoint ranges in ascending order; adjacent ones are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    parts: Vec<Range<u64>>,
}

impl Ranges {
    /// Adds bytes that are not yet in the set.
    pub fn add(&mut self, bytes: Range<u64>) {
        if bytes.is_empty() {
            return;
        }
        let from = self.parts.partition_point(|part| part.end < bytes.start);
        let to = self.parts.partition_point(|part| part.start <= bytes.end);
        let touched = &self.parts[from..to];
        let start = touched.first().map_or(bytes.start, |part| part.start.min(bytes.start));
        let end = touched.last().map_or(bytes.end, |part| part.end.max(bytes.end));
        self.parts.splice(from..to, std::iter::once(start..end));
    }

    /// Removes bytes that are in the set.
    pub fn remove(&mut self, bytes: &Range<u64>) {
        let from = self.parts.partition_point(|part| part.end <= bytes.start);
        let to = self.parts.partition_point(|part| part.start < bytes.end);
        if from >= to || bytes.is_empty() {
            return;
        }
        let left = self.parts[from].start..bytes.start;
        let right = bytes.end..self.parts[to - 1].end;
        let rest = [left, right].into_iter().filter(|part| !part.is_empty());
        self.parts.splice(from..to, rest);
    }

    /// Adds all bytes of another set.
    pub fn add_all(&mut self, other: Ranges) {
        other.parts.into_iter().for_each(|part| self.add(part));
    }

    /// The first range.
    #[must_use]
    pub fn first(&self) -> Option<Range<u64>> {
        self.parts.first().cloned()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// All ranges, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.parts.iter().cloned()
    }
}
