//! Counts that do not belong to a single node: waiting by hop, drops by hop and reason. Must not depend on nodes.

use weft_core::record::{DropRecord, HopRecord, Incident, IncidentRecord, PacketBalance, Reason};
use weft_core::{Bytes, Header, Span, Time};

/// Hops counted separately; later ones are counted with the last.
const HOPS: usize = 16;

/// Counts of one domain.
pub struct Tally {
    waits: [HopRecord; HOPS],
    /// Longest waits so far that may be revoked: hop, nanoseconds, and when the packet leaves.
    records: Vec<(usize, u64, Time)>,
    drops: Vec<[(u64, u64); Reason::ALL.len()]>,
    /// Events handled, and departures foreseen in their place.
    pub events: u64,
    /// The fates of all packets; `left` is counted at the end.
    pub packets: PacketBalance,
    /// The incidents that the scenario plans, in order of time, with the packets lost to them.
    pub incidents: Vec<IncidentRecord>,
}

impl Tally {
    /// Nothing has been counted.
    #[must_use]
    pub fn new(incidents: Vec<IncidentRecord>) -> Tally {
        Tally {
            incidents,
            waits: std::array::from_fn(|_| HopRecord::default()),
            records: Vec::new(),
            drops: vec![[(0, 0); Reason::ALL.len()]; HOPS],
            events: 0,
            packets: PacketBalance::default(),
        }
    }

    /// Records that a data packet left a queue of a switch after waiting.
    #[inline]
    pub fn waited(&mut self, hops: u8, wait: Span) {
        self.waits[usize::from(hops).min(HOPS - 1)].wait_ns.add(wait.0 / 1_000);
    }

    /// Records, at `now`, that a data packet is expected to leave a queue of a switch at `start`, after waiting.
    pub fn expect_wait(&mut self, hops: u8, wait: Span, (now, start): (Time, Time)) {
        let (hop, wait) = (usize::from(hops).min(HOPS - 1), wait.0 / 1_000);
        if wait <= self.waits[hop].wait_ns.max() {
            return self.waits[hop].wait_ns.add(wait);
        }
        self.waits[hop].wait_ns.add_for_now(wait);
        self.settle_records(now);
        self.records.push((hop, wait, start));
    }

    /// Records that a data packet will not leave at `start`, after waiting, as expected.
    pub fn revoke_wait(&mut self, hops: u8, wait: Span, start: Time) {
        let (hop, wait) = (usize::from(hops).min(HOPS - 1), wait.0 / 1_000);
        self.waits[hop].wait_ns.remove(wait);
        if let Some(place) = self.records.iter().position(|record| *record == (hop, wait, start)) {
            self.records.swap_remove(place);
        }
    }

    /// Confirms the records of packets that left before `now`.
    fn settle_records(&mut self, now: Time) {
        let Tally { records, waits, .. } = self;
        for (hop, wait, _) in records.extract_if(.., |(_, _, start)| *start < now) {
            waits[hop].wait_ns.raise(wait);
        }
    }

    /// Records that a data packet waited for its host's card while that served others.
    #[inline]
    pub fn waited_at_host(&mut self, wait: Span) {
        self.waits[0].wait_ns.add(wait.0 / 1_000);
    }

    /// A packet was lost.
    pub fn dropped(&mut self, now: Time, header: &Header, reason: Reason) {
        let count = &mut self.drops[usize::from(header.hops).min(HOPS - 1)][reason as usize];
        count.0 += 1;
        self.packets.dropped += 1;
        count.1 += u64::from(header.wire);
        let Some(kind) = Incident::behind(reason) else { return };
        let behind = |incident: &&mut IncidentRecord| incident.at <= now && incident.kind == kind;
        if let Some(incident) = self.incidents.iter_mut().rev().find(behind) {
            incident.lost += 1;
        }
    }

    /// Packets dropped so far, by reason.
    pub fn dropped_by_reason(&self) -> [u64; Reason::ALL.len()] {
        std::array::from_fn(|reason| self.drops.iter().map(|hop| hop[reason].0).sum())
    }

    /// Adds the counts of another domain. Nothing that it counted may be revoked afterwards.
    pub fn merge(&mut self, other: &Tally) {
        for (hop, wait, _) in &other.records {
            self.waits[*hop].wait_ns.raise(*wait);
        }
        for (mine, theirs) in self.waits.iter_mut().zip(&other.waits) {
            mine.wait_ns.merge(&theirs.wait_ns);
        }
        for (mine, theirs) in self.drops.iter_mut().flatten().zip(other.drops.iter().flatten()) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        for (mine, theirs) in self.incidents.iter_mut().zip(&other.incidents) {
            mine.lost += theirs.lost;
        }
        self.events += other.events;
        self.packets.created += other.packets.created;
        self.packets.delivered += other.packets.delivered;
        self.packets.dropped += other.packets.dropped;
    }

    /// Waiting by hop, without unused hops.
    pub fn hops(&self) -> Vec<HopRecord> {
        let used = self.waits.iter().rposition(|hop| hop.wait_ns.count() > 0).map_or(0, |last| last + 1);
        self.waits[..used].to_vec()
    }

    /// Drops by hop and reason, without zeros.
    pub fn drops(&self) -> Vec<DropRecord> {
        let row = |hop: usize, reason: Reason| {
            let (packets, bytes) = self.drops[hop][reason as usize];
            DropRecord { hop: hop as u8, reason, packets, bytes: Bytes(bytes) }
        };
        let all = (0..HOPS).flat_map(|hop| Reason::ALL.map(|reason| row(hop, reason)));
        all.filter(|drop| drop.packets > 0).collect()
    }
}
