//! Smallest rank first; when there is no room, the largest is dropped (pFabric, Alizadeh et al., SIGCOMM 2013,
//! section 4.2). Packets carry their ranks: the remaining size of a flow, its deadline.
//!
//! The packet sent is the earliest of the flow with the smallest rank, so that a flow whose ranks decrease does not
//! reorder itself. The order is designed for queues of two bandwidth-delay products, some hundred packets, and
//! searches them.

use weft_core::{Header, Headers, HostId, PacketId, Queue, Time, settings};

use super::Order;

/// One sentence for lists.
pub const SUMMARY: &str = "smallest rank first; when full, the largest rank is dropped";

settings! {
    /// Smallest rank first.
    pub struct RankedOrderSettings {
        /// Send the earliest packet of the flow with the smallest rank; otherwise that packet itself, ahead of
        /// earlier ones of its flow.
        flows_in_order: bool = true,
    }
}

/// Smallest rank first.
#[derive(Clone, Debug)]
pub struct Ranked {
    flows_in_order: bool,
}

impl Ranked {
    /// By these settings.
    #[must_use]
    pub fn new(settings: &RankedOrderSettings, _site: ()) -> Ranked {
        Ranked { flows_in_order: settings.flows_in_order }
    }
}

/// A flow as a switch sees it.
fn flow(header: &Header) -> (HostId, HostId, u32) {
    (header.source, header.destination, header.ports)
}

/// The sort key: smaller is sent earlier. Equal ranks are sent in order of arrival, packets that arrived together in
/// order of the list.
fn key(header: &Header) -> (u32, Time) {
    (header.note, header.arrived)
}

impl Order for Ranked {
    fn changed(&self, queue: &mut Queue, headers: &mut Headers) {
        let first = queue.iter(headers).min_by_key(|packet| key(headers.get(*packet)));
        let Some(mut next) = first else { return };
        if self.flows_in_order {
            let wanted = flow(headers.get(next));
            next = queue.iter(headers).find(|packet| flow(headers.get(*packet)) == wanted).unwrap_or(next);
        }
        if queue.front() != Some(next) {
            queue.remove(next, headers);
            queue.push_front(next, headers);
        }
    }

    /// Evicts the packet with the largest rank, the latest of equal ones; a newcomer of equal rank counts as the
    /// latest.
    fn evict(&self, queue: &mut Queue, headers: &mut Headers, newcomer: &Header) -> Option<PacketId> {
        let worst = queue.iter(headers).max_by_key(|packet| key(headers.get(*packet)))?;
        if headers.get(worst).note <= newcomer.note {
            return None;
        }
        queue.remove(worst, headers);
        self.changed(queue, headers);
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
    fn queue(order: &Ranked, packets: &[(u32, u32)]) -> (Pool<()>, Queue) {
        let (mut pool, mut queue) = (Pool::new(), Queue::EMPTY);
        for (number, (flow, rank)) in packets.iter().enumerate() {
            let packet = pool.insert(header(*flow, *rank, number as u64), ());
            queue.push(packet, &mut pool.headers);
            order.changed(&mut queue, &mut pool.headers);
        }
        (pool, queue)
    }

    fn header(flow: u32, rank: u32, arrived: u64) -> Header {
        Header { ports: flow, note: rank, arrived: Time(arrived), ..Header::default() }
    }

    /// What leaves, by flow and rank.
    fn served(flows_in_order: bool, packets: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let order = Ranked::new(&RankedOrderSettings { flows_in_order }, ());
        let (mut pool, mut queue) = queue(&order, packets);
        let next = || {
            let packet = queue.pop(&pool.headers)?;
            order.changed(&mut queue, &mut pool.headers);
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
        let order = Ranked::new(&RankedOrderSettings::default(), ());
        let (mut pool, mut queue) = queue(&order, &[(1, 9), (2, 3), (3, 9)]);
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
    fn a_queue_that_is_searched_agrees_with_the_definition() {
        let mut random = weft_core::Random::new(1, weft_core::Purpose::Test, 0);
        let order = Ranked::new(&RankedOrderSettings::default(), ());
        let (mut pool, mut queue, mut model) = (Pool::new(), Queue::EMPTY, Vec::<Header>::new());
        for now in 0..4_000 {
            if random.below(2) == 0 || model.len() > 40 {
                let best = model.iter().map(key).min();
                let wanted = model.iter().find(|header| Some(key(header)) == best).map(flow);
                let place = model.iter().position(|header| Some(flow(header)) == wanted);
                let expected = place.map(|place| model.remove(place));
                let taken = queue.pop(&pool.headers).map(|packet| *pool.headers.get(packet));
                assert_eq!(taken, expected);
            } else {
                let own = header(random.below(5), random.below(12), now);
                model.push(own);
                let packet = pool.insert(own, ());
                queue.push(packet, &mut pool.headers);
            }
            order.changed(&mut queue, &mut pool.headers);
            if now % 7 == 0 {
                let worst = model.iter().map(key).max().filter(|worst| worst.0 > 6);
                let gone = order.evict(&mut queue, &mut pool.headers, &header(9, 6, now));
                assert_eq!(gone.map(|packet| key(pool.headers.get(packet))), worst);
                model.retain(|header| Some(key(header)) != worst);
            }
        }
    }
}
