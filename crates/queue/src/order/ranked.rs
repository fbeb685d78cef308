//! Smallest rank first; when there is no room, the largest is dropped (pFabric, Alizadeh et al., SIGCOMM 2013,
//! section 4.2). Packets carry their ranks: the remaining size of a flow, its deadline.
//!
//! The packet sent is the earliest of the flow with the smallest rank, so that a flow whose ranks decrease does not
//! reorder itself. Sorted maps beside the list find it, and the packet to drop, in time logarithmic in the length of
//! the queue.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use weft_core::random::MixHasher;
use weft_core::{Header, Headers, HostId, PacketId, Queue, Time, settings};

use super::Order;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "smallest rank first; when full, the largest rank is dropped";

settings! {
    /// Smallest rank first.
    pub struct RankedOrderSettings {
        /// Send the earliest packet of the flow with the smallest rank; otherwise that packet itself, ahead of
        /// earlier ones of its flow.
        flows_in_order: bool = true,
    }
}

/// A flow as a switch sees it.
type SeenFlow = (HostId, HostId, u32);

/// The sort key: smaller is sent earlier. Equal ranks are sent in order of arrival, packets that arrived together in the
/// order in which they joined.
type RankKey = (u32, Time, u64);

/// Values of packets; must never be iterated over.
type ByPacket<T> = HashMap<PacketId, T, BuildHasherDefault<MixHasher>>;

/// Smallest rank first.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    flows_in_order: bool,
    /// The only packet of the queue, which no map holds, unless others have joined it.
    lone: Option<PacketId>,
    /// Number of packets that have joined so far.
    joined: u64,
    ranks: BTreeMap<RankKey, PacketId>,
    /// By flow and order of joining.
    flows: BTreeMap<(SeenFlow, u64), PacketId>,
    /// When each packet joined.
    turns: ByPacket<u64>,
    /// The predecessor of each packet in the list.
    ahead: ByPacket<PacketId>,
}

impl Ranked {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &RankedOrderSettings, _site: ()) -> Ranked {
        Ranked { flows_in_order: settings.flows_in_order, ..Ranked::default() }
    }

    /// The next packet to send.
    fn next(&self, headers: &Headers) -> Option<PacketId> {
        let (_, first) = self.ranks.first_key_value()?;
        if !self.flows_in_order {
            return Some(*first);
        }
        let flow = flow(headers.get(*first));
        self.flows.range((flow, 0)..).next().map(|(_, packet)| *packet)
    }

    /// Moves the next packet to send to the head.
    fn promote(&mut self, queue: &mut Queue, headers: &mut Headers) {
        let Some(next) = self.next(headers).filter(|next| queue.front() != Some(*next)) else { return };
        self.unlink(queue, next, headers);
        if let Some(head) = queue.front() {
            self.ahead.insert(head, next);
        }
        queue.push_front(next, headers);
    }

    /// Takes a packet out of the list.
    fn unlink(&mut self, queue: &mut Queue, packet: PacketId, headers: &mut Headers) {
        let behind = queue.behind(packet, headers);
        match self.ahead.remove(&packet) {
            Some(before) => {
                queue.remove_behind(before, headers);
                behind.iter().for_each(|behind| _ = self.ahead.insert(*behind, before));
            }
            None => {
                queue.pop(headers);
                behind.iter().for_each(|behind| _ = self.ahead.remove(behind));
            }
        }
    }

    /// Enters a packet into the maps.
    fn enter(&mut self, packet: PacketId, headers: &Headers) {
        let header = headers.get(packet);
        let turn = self.joined;
        self.joined += 1;
        self.turns.insert(packet, turn);
        self.ranks.insert((header.note, header.arrived, turn), packet);
        if self.flows_in_order {
            self.flows.insert((flow(header), turn), packet);
        }
    }

    /// Forgets a packet that has left the queue.
    fn forget(&mut self, packet: PacketId, headers: &Headers) {
        let header = headers.get(packet);
        let Some(turn) = self.turns.remove(&packet) else { return };
        self.ranks.remove(&(header.note, header.arrived, turn));
        if self.flows_in_order {
            self.flows.remove(&(flow(header), turn));
        }
    }
}

fn flow(header: &Header) -> SeenFlow {
    (header.source, header.destination, header.ports)
}

impl Order for Ranked {
    fn join(&mut self, queue: &mut Queue, packet: PacketId, headers: &mut Headers) {
        let Some(last) = queue.back() else {
            self.lone = Some(packet);
            return queue.push(packet, headers);
        };
        self.lone.take().iter().for_each(|lone| self.enter(*lone, headers));
        self.enter(packet, headers);
        self.ahead.insert(packet, last);
        queue.push(packet, headers);
        self.promote(queue, headers);
    }

    fn left(&mut self, queue: &mut Queue, packet: PacketId, headers: &mut Headers) {
        if self.lone.take().is_some() {
            return;
        }
        self.forget(packet, headers);
        if let Some(head) = queue.front() {
            self.ahead.remove(&head);
        }
        self.promote(queue, headers);
    }

    /// Evicts the packet with the largest rank, the latest of equal ones; a newcomer of equal rank counts as the
    /// latest.
    fn evict(&mut self, queue: &mut Queue, headers: &mut Headers, newcomer: &Header) -> Option<PacketId> {
        self.lone.take().iter().for_each(|lone| self.enter(*lone, headers));
        let (key, worst) = self.ranks.last_key_value().map(|(key, packet)| (*key, *packet))?;
        if key.0 <= newcomer.note {
            return None;
        }
        self.unlink(queue, worst, headers);
        self.forget(worst, headers);
        self.promote(queue, headers);
        Some(worst)
    }

    fn reads_ranks(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Pool;

    /// Packets of these flows and ranks, which arrived one after the other, in a pool and a queue.
    fn queue(order: &mut Ranked, packets: &[(u32, u32)]) -> (Pool<()>, Queue) {
        let (mut pool, mut queue) = (Pool::new(), Queue::EMPTY);
        for (number, (flow, rank)) in packets.iter().enumerate() {
            let packet = pool.insert(header(*flow, *rank, number as u64), ());
            order.join(&mut queue, packet, &mut pool.headers);
        }
        (pool, queue)
    }

    fn header(flow: u32, rank: u32, arrived: u64) -> Header {
        Header { ports: flow, note: rank, arrived: Time(arrived), ..Header::default() }
    }

    fn key(header: &Header) -> (u32, Time) {
        (header.note, header.arrived)
    }

    /// The departures, by flow and rank.
    fn served(flows_in_order: bool, packets: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut order = Ranked::new(&RankedOrderSettings { flows_in_order }, ());
        let (mut pool, mut queue) = queue(&mut order, packets);
        let next = || {
            let packet = queue.pop(&pool.headers)?;
            order.left(&mut queue, packet, &mut pool.headers);
            let header = pool.headers.get(packet);
            Some((header.ports, header.note))
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn the_earliest_of_the_flow_with_the_smallest_rank_goes_first() {
        // Flow 1 has 9 left, then 8; flow 2 comes with 3 and 2.
        let packets = [(1, 9), (2, 3), (1, 8), (2, 2)];
        assert_eq!(served(true, &packets), [(2, 3), (2, 2), (1, 9), (1, 8)]);
        assert_eq!(served(false, &packets), [(2, 2), (2, 3), (1, 8), (1, 9)]);
    }

    #[test]
    fn equal_ranks_go_in_the_order_of_their_arrival() {
        let packets = [(1, 5), (2, 5), (1, 5)];
        assert_eq!(served(true, &packets), packets);
        assert_eq!(served(false, &packets), packets);
        let passed = [(1, 5), (2, 7), (3, 5), (4, 1)];
        assert_eq!(served(true, &passed), [(4, 1), (1, 5), (3, 5), (2, 7)]);
    }

    #[test]
    fn the_latest_of_the_largest_rank_gives_way_to_a_smaller_one() {
        let mut order = Ranked::new(&RankedOrderSettings::default(), ());
        let (mut pool, mut queue) = queue(&mut order, &[(1, 9), (2, 3), (3, 9)]);
        let mut evict = |rank| {
            let gone = order.evict(&mut queue, &mut pool.headers, &header(4, rank, 9))?;
            Some(pool.headers.get(gone).ports)
        };
        assert_eq!(evict(8), Some(3));
        assert_eq!(evict(9), None, "the newcomer is the latest of rank 9");
        assert_eq!(evict(8), Some(1), "the other one of rank 9");
        assert_eq!(evict(8), None, "3 is worth more");
    }

    /// Against the definition, on random traffic: the next packet is the earliest of the flow of the smallest rank.
    #[test]
    fn sorted_maps_agree_with_a_search() {
        let mut random = weft_core::Random::new(1, weft_core::Purpose::Test, 0);
        let mut order = Ranked::new(&RankedOrderSettings::default(), ());
        let (mut pool, mut queue, mut model) = (Pool::new(), Queue::EMPTY, Vec::<Header>::new());
        for now in 0..4_000 {
            if random.below(2) == 0 || model.len() > 40 {
                let best = model.iter().map(key).min();
                let wanted = model.iter().find(|header| Some(key(header)) == best).map(flow);
                let place = model.iter().position(|header| Some(flow(header)) == wanted);
                let expected = place.map(|place| model.remove(place));
                let taken = queue.pop(&pool.headers);
                taken.iter().for_each(|packet| order.left(&mut queue, *packet, &mut pool.headers));
                assert_eq!(taken.map(|packet| *pool.headers.get(packet)), expected);
            } else {
                let own = header(random.below(5), random.below(12), now);
                model.push(own);
                let packet = pool.insert(own, ());
                order.join(&mut queue, packet, &mut pool.headers);
            }
            assert_eq!(queue.iter(&pool.headers).count(), model.len());
            if now % 7 == 0 {
                let worst = model.iter().map(key).max().filter(|worst| worst.0 > 6);
                let gone = order.evict(&mut queue, &mut pool.headers, &header(9, 6, now));
                assert_eq!(gone.map(|packet| key(pool.headers.get(packet))), worst);
                model.retain(|header| Some(key(header)) != worst);
            }
        }
    }
}
