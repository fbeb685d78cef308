//! The flowlet table: which port the present burst of a flow goes by, and when a burst is over.
//!
//! *Source*: CONGA (SIGCOMM'14, section 3.4) and LetFlow (NSDI'17, section 3). *Parameters*: `gap` is T_fl, `table_size`
//! the number of entries. An entry belongs to a hash of the five-tuple: flows that collide share it, as in hardware. Every
//! packet refreshes its entry, not only the first of a flowlet. Must not depend on balancers, and chooses nothing.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use weft_core::random::mix;
use weft_core::{Bytes, Header, PortId, Purpose, Random, Span, Time, choice, settings};

use crate::balance::{BalancerSite, State};
use crate::hash::{FlowHash, HashFunction};

choice! {
    /// How the end of a flowlet is noticed.
    pub enum Timing {
        /// By the time since the last packet: a longer pause than the gap begins a new flowlet, an equal one does not.
        Timestamp = "timestamp",
        /// By an age bit, as CONGA's hardware does: sweeps at multiples of the gap set the bit, packets clear it, and a
        /// sweep that finds it set ends the flowlet. The effective gap lies between one and two gaps.
        AgeBit = "age-bit",
    }
}

settings! {
    /// Flowlets.
    pub struct FlowletSettings {
        /// Pause of a flow after which its next packet begins a new flowlet (T_fl); 500 us for TCP in the papers. 0 parts all packets of different instants; CONGA-Flow is 13 ms.
        gap: Span = Span::from_us(500),
        /// How the end of a flowlet is noticed.
        timing: Timing = Timing::Timestamp,
        /// An entry for every flow, where hardware has a table in which flows may share an entry.
        exact: bool = false,
        /// Entries of that table, indexed by a hash of the flow; 2^16 in CONGA's hardware.
        table_size: u32 [1, 16777216] = 1 << 16,
    }
}

/// The flowlets of one forwarding engine.
#[derive(Clone, Debug)]
pub struct Flowlets {
    gap: Span,
    timing: Timing,
    /// Gaps after the last packet for which an exact table remembers where a flowlet went that is over.
    remembered: u64,
    entries: Entries,
}

/// What is known of a packet's flowlet.
pub struct Flowlet<'a> {
    entry: &'a mut Entry,
    /// The packet belongs to the same flowlet as the last one of its flow.
    goes_on: bool,
}

/// The instant of the last packet plus one, 0 if there was none; the port and its place in the group.
type Entry = [u64; 2];

#[derive(Clone, Debug)]
enum Entries {
    /// One for each hash value. Without memory until the first packet; zeroed memory costs nothing until it is used.
    Hashed { hash: FlowHash, size: usize, table: Vec<Entry> },
    /// One for each flow.
    Exact { table: HashMap<Key, Entry, BuildHasherDefault<KeyHasher>>, prune_at: usize },
}

/// Addresses and ports of a flow.
type Key = (u64, u32);

/// Flows at which an exact table first looks for flowlets that are over.
const FIRST_PRUNE: usize = 1 << 10;

impl Flowlets {
    /// An empty table.
    #[must_use]
    pub fn new(settings: &FlowletSettings, site: BalancerSite) -> Flowlets {
        let entries = if settings.exact {
            Entries::Exact { table: HashMap::default(), prune_at: FIRST_PRUNE }
        } else {
            let seed = Random::new(site.seed, Purpose::Flowlets, u64::from(site.switch.0)).bits();
            let hash = FlowHash::new(HashFunction::Mix, seed);
            Entries::Hashed { hash, size: settings.table_size.max(1) as usize, table: Vec::new() }
        };
        Flowlets { gap: settings.gap, timing: settings.timing, remembered: 0, entries }
    }

    /// An exact table whose flows end after a pause of `idle`.
    #[must_use]
    pub fn of_flows(idle: Span, site: BalancerSite) -> Flowlets {
        Flowlets::new(&FlowletSettings { gap: idle, exact: true, ..FlowletSettings::default() }, site)
    }

    /// The same, but an exact table remembers a flow for so many gaps after its last packet.
    #[must_use]
    pub fn remembering(self, gaps: u64) -> Flowlets {
        Flowlets { remembered: gaps, ..self }
    }

    /// The flowlet of a packet that is here now; its entry is refreshed.
    #[inline]
    fn of(&mut self, packet: &Header, now: Time) -> Flowlet<'_> {
        let ends = End { gap: self.gap, timing: self.timing, now };
        let entry = match &mut self.entries {
            Entries::Hashed { hash, size, table } => {
                if table.is_empty() {
                    *table = vec![[0; 2]; *size];
                }
                let place = (u64::from(hash.of(&packet.tuple())) * *size as u64) >> 32;
                &mut table[place as usize]
            }
            Entries::Exact { table, prune_at } => {
                if table.len() >= *prune_at {
                    let kept = self.gap.0.saturating_mul(self.remembered);
                    table.retain(|_, entry| !ends.has_come(*entry) || now.0 - entry[0] < kept);
                    *prune_at = (2 * table.len()).max(FIRST_PRUNE);
                }
                table.entry(key(packet)).or_insert([0; 2])
            }
        };
        let goes_on = !ends.has_come(*entry);
        entry[0] = now.0 + 1;
        Flowlet { entry, goes_on }
    }

    /// The place among `ports` by which a packet goes: that of its flowlet, and for the first packet of a flowlet the one
    /// that `choose` names.
    #[inline]
    pub fn keep(
        &mut self,
        packet: &Header,
        now: Time,
        ports: &[PortId],
        choose: impl FnOnce(&Flowlet<'_>) -> usize,
    ) -> usize {
        let mut flowlet = self.of(packet, now);
        if let Some(place) = flowlet.stays(ports) {
            return place;
        }
        let place = choose(&flowlet);
        flowlet.take(ports, place);
        place
    }

    /// Entries that hold a flowlet, at present or once.
    #[must_use]
    pub fn used(&self) -> usize {
        match &self.entries {
            Entries::Hashed { table, .. } => table.iter().filter(|entry| entry[0] != 0).count(),
            Entries::Exact { table, .. } => table.len(),
        }
    }
}

impl Flowlets {
    /// What the table takes: all of it, or so much for each flow.
    #[must_use]
    pub fn state(&self) -> State {
        let entry = size_of::<Entry>() as u64;
        match &self.entries {
            Entries::Hashed { size, .. } => State { fixed: Bytes(entry * *size as u64), ..State::default() },
            Entries::Exact { .. } => {
                State { per_flow: Bytes(entry + size_of::<Key>() as u64), ..State::default() }
            }
        }
    }
}

impl Flowlet<'_> {
    /// The place of the flowlet's port among `ports`, if the flowlet goes on and its port is still there.
    #[inline]
    #[must_use]
    fn stays(&self, ports: &[PortId]) -> Option<usize> {
        if self.goes_on { self.last(ports) } else { None }
    }

    /// The place of the port that the entry's last packet took, whether the flowlet goes on or not.
    #[inline]
    #[must_use]
    pub fn last(&self, ports: &[PortId]) -> Option<usize> {
        let port = PortId((self.entry[1] >> 32) as u16);
        let place = (self.entry[1] as u32) as usize;
        if self.entry[1] == 0 {
            return None;
        }
        // Places are counted from 1, so that an unused entry is all zero.
        let place = place - 1;
        if ports.get(place) == Some(&port) {
            return Some(place);
        }
        ports.iter().position(|other| *other == port)
    }

    /// The flowlet goes by the port at this place from now on.
    #[inline]
    fn take(&mut self, ports: &[PortId], place: usize) {
        self.entry[1] = u64::from(ports[place].0) << 32 | (place as u64 + 1);
    }
}

/// The rule by which flowlets end, at one instant.
#[derive(Clone, Copy)]
struct End {
    gap: Span,
    timing: Timing,
    now: Time,
}

impl End {
    /// The flowlet of an entry is over, or there was none.
    #[inline]
    fn has_come(self, entry: Entry) -> bool {
        let Some(seen) = entry[0].checked_sub(1) else { return true };
        match self.timing {
            Timing::Timestamp => self.now.0 - seen > self.gap.0,
            // The first sweep after the last packet sets the bit, the second finds it set.
            Timing::AgeBit => self.now.0 / self.gap.0.max(1) - seen / self.gap.0.max(1) >= 2,
        }
    }
}

fn key(packet: &Header) -> Key {
    (u64::from(packet.source.0) << 32 | u64::from(packet.destination.0), packet.ports)
}

/// A fixed hash, so that a run does not depend on the process it runs in.
#[derive(Clone, Copy, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0 ^ word);
    }
}

#[cfg(test)]
mod tests;
