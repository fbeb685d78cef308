//! The flowlet table: the port that the current burst of a flow uses, and the end of a burst.
//!
//! *Source*: CONGA (SIGCOMM'14, section 3.4) and LetFlow (NSDI'17, section 3). *Parameters*: `gap` is T_fl,
//! `table_size` the number of entries. An entry belongs to a hash of the five-tuple: colliding flows share it, as in
//! hardware. While there is a choice, every packet refreshes its entry, not only the first of a flowlet: while
//! failures leave a group a single port, the table is not consulted, and flowlets that outlast the gap meanwhile end.
//! Must not depend on balancers, and makes no choice.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use weft_core::random::MixHasher;
use weft_core::{Bytes, Header, PortId, Purpose, Random, Span, Time, choice, settings};

use crate::state::State;
use weft_forwarding::BalancerSite;
use weft_forwarding::hash::{FlowHash, HashFunction};

choice! {
    /// How the end of a flowlet is detected.
    pub enum Timing {
        /// By the time since the last packet: a pause longer than the gap starts a new flowlet, an equal one does
        /// not.
        Timestamp = "timestamp",
        /// By an age bit, as in CONGA's hardware: sweeps at multiples of the gap set the bit, packets clear it, and a
        /// sweep that finds it set ends the flowlet. The effective gap lies between one and two gaps.
        AgeBit = "age-bit",
    }
}

settings! {
    /// Flowlets.
    pub struct FlowletSettings {
        /// Gap in a flow after which its next packet starts a new flowlet (T_fl); 500 us for TCP in the papers. 0
        /// separates all packets of different instants; CONGA-Flow is 13 ms.
        gap: Span = Span::from_us(500),
        /// How the end of a flowlet is detected.
        timing: Timing = Timing::Timestamp,
        /// One entry per flow; hardware has a table in which flows may share an entry.
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
    /// How long after its last packet an exact table remembers the port of an ended flowlet, in flowlet gaps.
    remembered: u64,
    entries: Entries,
}

/// The state of a packet's flowlet.
pub struct Flowlet<'a> {
    entry: &'a mut Entry,
    /// The packet belongs to the same flowlet as the last one of its flow.
    goes_on: bool,
}

/// The instant of the last packet plus one, 0 if there was none; the port and its position in the group.
type Entry = [u64; 2];

#[derive(Clone, Debug)]
enum Entries {
    /// One per hash value. Allocated at the first packet; zeroed memory costs nothing until used.
    Hashed { hash: FlowHash, size: usize, table: Vec<Entry> },
    /// One for each flow.
    Exact { table: HashMap<Key, Entry, BuildHasherDefault<MixHasher>>, prune_at: usize },
}

/// Addresses and ports of a flow.
type Key = (u64, u32);

/// Number of flows at which an exact table first removes ended flowlets.
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

    /// Changes the number of gaps after its last packet for which an exact table remembers a flow.
    #[must_use]
    pub fn remembering(self, gaps: u64) -> Flowlets {
        Flowlets { remembered: gaps, ..self }
    }

    /// The flowlet of the current packet; refreshes its entry.
    #[inline]
    fn of(&mut self, packet: &Header, now: Time) -> Flowlet<'_> {
        let ends = End { gap: self.gap, timing: self.timing, now };
        let entry = match &mut self.entries {
            Entries::Hashed { hash, size, table } => {
                if table.is_empty() {
                    *table = vec![[0; 2]; *size];
                }
                let index = (u64::from(hash.of(&packet.tuple())) * *size as u64) >> 32;
                &mut table[index as usize]
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

    /// The position among `ports` that a packet takes: its flowlet's, or for the first packet of a flowlet the one
    /// `choose` names.
    #[inline]
    pub fn keep(
        &mut self,
        packet: &Header,
        now: Time,
        ports: &[PortId],
        choose: impl FnOnce(&Flowlet<'_>) -> usize,
    ) -> usize {
        let mut flowlet = self.of(packet, now);
        if let Some(index) = flowlet.stays(ports) {
            return index;
        }
        let index = choose(&flowlet);
        flowlet.take(ports, index);
        index
    }

    /// Entries that hold a current or past flowlet.
    #[must_use]
    pub fn used(&self) -> usize {
        match &self.entries {
            Entries::Hashed { table, .. } => table.iter().filter(|entry| entry[0] != 0).count(),
            Entries::Exact { table, .. } => table.len(),
        }
    }
}

impl Flowlets {
    /// The memory of the table: in total, or per flow.
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
    /// The position of the flowlet's port among `ports`, if the flowlet continues and its port is still there.
    #[inline]
    #[must_use]
    fn stays(&self, ports: &[PortId]) -> Option<usize> {
        if self.goes_on { self.last(ports) } else { None }
    }

    /// The position of the port that the entry's last packet took, whether or not the flowlet continues.
    #[inline]
    #[must_use]
    pub fn last(&self, ports: &[PortId]) -> Option<usize> {
        let port = PortId((self.entry[1] >> 32) as u16);
        let index = (self.entry[1] as u32) as usize;
        if self.entry[1] == 0 {
            return None;
        }
        // Positions count from 1, so that an unused entry is all zero.
        let index = index - 1;
        if ports.get(index) == Some(&port) {
            return Some(index);
        }
        ports.iter().position(|other| *other == port)
    }

    /// Records that the flowlet uses the port at this position from now on.
    #[inline]
    fn take(&mut self, ports: &[PortId], index: usize) {
        self.entry[1] = u64::from(ports[index].0) << 32 | (index as u64 + 1);
    }
}

/// The rule by which flowlets end, evaluated at one instant.
#[derive(Clone, Copy)]
struct End {
    gap: Span,
    timing: Timing,
    now: Time,
}

impl End {
    /// Whether the flowlet of an entry has ended, or never existed.
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

#[cfg(test)]
mod tests;
