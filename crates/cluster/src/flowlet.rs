//! The flowlet table: the path of each flow's last packet, and its time. Bounded; a flow that finds no room replaces
//! the least recently seen among a few, which affects order only.

use weft_core::{Time, random::mix};

/// Number of entries that compete for a new flow's place.
const WAYS: usize = 4;

#[derive(Clone, Copy, Debug)]
struct FlowletEntry {
    key: u64,
    seen: Time,
    via: u16,
}

/// No entry: no flow has been seen at the end of time.
const EMPTY: FlowletEntry = FlowletEntry { key: 0, seen: Time::NEVER, via: 0 };

/// The table of one node.
#[derive(Clone, Debug)]
pub struct FlowletTable {
    sets: Box<[[FlowletEntry; WAYS]]>,
    evictions: u64,
}

impl FlowletTable {
    /// A table for about this many flows; at least one set of four.
    #[must_use]
    pub fn new(flows: u32) -> FlowletTable {
        let sets = (flows as usize).div_ceil(WAYS).next_power_of_two();
        FlowletTable { sets: vec![[EMPTY; WAYS]; sets].into(), evictions: 0 }
    }

    /// The path of a flow's last packet, and its time; `None` if unknown.
    #[must_use]
    #[inline]
    pub fn last(&self, key: u64) -> Option<(u16, Time)> {
        let known = self.set(key).iter().find(|entry| entry.key == key && entry.seen != Time::NEVER);
        known.map(|entry| (entry.via, entry.seen))
    }

    /// Records that a packet of a flow went by `via`.
    #[inline]
    pub fn note(&mut self, now: Time, key: u64, via: u16) {
        let at = self.index(key);
        let set = &mut self.sets[at];
        let own = set.iter().position(|entry| entry.key == key && entry.seen != Time::NEVER);
        let free = || set.iter().position(|entry| entry.seen == Time::NEVER);
        let place = own.or_else(free).unwrap_or_else(|| {
            self.evictions += 1;
            (0..WAYS).min_by_key(|way| set[*way].seen).unwrap_or_default()
        });
        set[place] = FlowletEntry { key, seen: now, via };
    }

    /// Flows forgotten because others took their places.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    fn index(&self, key: u64) -> usize {
        mix(key) as usize & (self.sets.len() - 1)
    }

    fn set(&self, key: u64) -> &[FlowletEntry; WAYS] {
        &self.sets[self.index(key)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Span;

    #[test]
    fn a_full_set_forgets_the_flow_not_seen_for_longest() {
        let mut table = FlowletTable::new(1);
        let at = |n: u64| Time::ZERO + Span::from_us(n);
        (0..4).for_each(|flow| table.note(at(flow), flow, flow as u16));
        table.note(at(4), 0, 7);
        table.note(at(5), 9, 1);
        assert_eq!((table.last(1), table.evictions()), (None, 1));
        assert_eq!((table.last(0), table.last(9)), (Some((7, at(4))), Some((1, at(5)))));
    }
}
