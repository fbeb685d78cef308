//! Packets live here for their whole life; everything else holds a 4-byte [`PacketId`].
//!
//! Two columns: the header (hot, what switches see) and the body (cold, what the hosts see). Every FIFO queue in the
//! program, and every wire, is an intrusive list through the pool, so that queueing never allocates.
//!
//! An id belongs to the pool that issued it. An id of another pool names an arbitrary packet of this one: a wrong
//! result, but never an access outside the columns.

use crate::column::PacketColumn;
use crate::header::Header;
use crate::ids::PacketId;
use crate::in_band::InBand;
use crate::prefetch;
use crate::record::HopWaits;
use crate::scheduling::SchedulingHeader;
use crate::telemetry::Telemetry;
use crate::units::Time;

/// All packets of one domain. Only the ends interpret `Body`.
#[derive(Debug)]
pub struct Pool<Body> {
    /// The hot column, the only one that a switch borrows.
    pub headers: Headers,
    /// One body per header.
    bodies: PacketColumn<Body>,
    /// With room for all.
    free: Vec<PacketId>,
    /// Ids issued so far.
    issued: u32,
}

/// The hot column of the pool and the links of the queues.
#[derive(Debug)]
pub struct Headers {
    column: PacketColumn<Header>,
    next: PacketColumn<Following>,
    /// The column of what packets carry for switches, absent unless a run uses it.
    in_band: Option<Vec<InBand>>,
    /// The column of waits by hop, absent unless a run records them.
    waits: Option<Vec<HopWaits>>,
}

/// What is behind a packet in the list that it is in.
#[derive(Clone, Copy, Debug)]
struct Following {
    /// On a wire: when the next packet lands.
    lands: Time,
    /// The next packet.
    packet: PacketId,
}

impl Following {
    const NOTHING: Following = Following { lands: Time::NEVER, packet: PacketId::NONE };
}

/// Slots of a new pool.
const FIRST: usize = 64;
/// A pool with fewer slots doubles when it grows; a larger one gains an eighth, so that little of it is never used.
const MANY: usize = 1 << 16;

impl<Body: Clone + Default> Default for Pool<Body> {
    fn default() -> Pool<Body> {
        Pool::new()
    }
}

impl<Body: Clone + Default> Pool<Body> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Pool<Body> {
        let (headers, bodies) = (Headers::with_slots(FIRST), PacketColumn::new(FIRST, Body::default()));
        Pool { headers, bodies, free: Vec::with_capacity(FIRST), issued: 0 }
    }

    /// Inserts a packet. Allocates only when more packets are alive than ever before.
    #[inline]
    pub fn insert(&mut self, header: Header, body: Body) -> PacketId {
        let (id, own_header, own_body) = self.place();
        (*own_header, *own_body) = (header, body);
        id
    }

    /// An id that has never been issued.
    #[cold]
    fn issue(&mut self) -> PacketId {
        let id = PacketId::new(self.issued);
        let slots = self.bodies.len();
        if id.index() == slots {
            let slots = slots + if slots < MANY { slots } else { slots / 8 };
            self.headers.resize(slots);
            self.bodies.resize(slots, Body::default());
            self.free.reserve_exact(slots);
        }
        self.issued += 1;
        id
    }

    /// Reserves a slot for a new packet. The caller must overwrite it completely: it still holds the previous packet.
    /// Allocates only when more packets are alive than ever before.
    #[inline]
    pub fn place(&mut self) -> (PacketId, &mut Header, &mut Body) {
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.issue(),
        };
        (id, self.headers.get_mut(id), self.bodies.of_mut(id))
    }
}

impl<Body> Pool<Body> {
    /// Removes a packet; its id will be issued again.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// The part of a packet that hosts see.
    #[must_use]
    #[inline]
    pub fn body(&self, id: PacketId) -> &Body {
        self.bodies.of(id)
    }

    /// The part of a packet that hosts see, mutable.
    #[inline]
    pub fn body_mut(&mut self, id: PacketId) -> &mut Body {
        self.bodies.of_mut(id)
    }

    /// Number of packets alive.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.issued as usize - self.free.len()
    }
}

impl Headers {
    /// Default headers.
    fn with_slots(slots: usize) -> Headers {
        let (column, next) =
            (PacketColumn::new(slots, Header::default()), PacketColumn::new(slots, Following::NOTHING));
        Headers { column, next, in_band: None, waits: None }
    }

    /// Grows to `slots` headers: existing headers stay, new ones are default.
    fn resize(&mut self, slots: usize) {
        self.column.resize(slots, Header::default());
        self.next.resize(slots, Following::NOTHING);
        if let Some(in_band) = &mut self.in_band {
            in_band.resize(slots, InBand::NOTHING);
        }
        if let Some(waits) = &mut self.waits {
            waits.resize(slots, HopWaits::default());
        }
    }

    /// The packet behind another in a list of packets on a wire, and when it lands; meaningless for the last.
    #[must_use]
    #[inline]
    pub fn follower(&self, packet: PacketId) -> (PacketId, Time) {
        let next = self.next.of(packet);
        (next.packet, next.lands)
    }

    /// Puts a packet, which lands at an instant, behind the last of a list of packets on a wire.
    #[inline]
    pub fn set_follower(&mut self, last: PacketId, packet: PacketId, lands: Time) {
        *self.next.of_mut(last) = Following { lands, packet };
    }

    /// Prefetches the entry of a packet in the lists of packets on wires.
    #[inline]
    pub fn prefetch_follower(&self, packet: PacketId) {
        if packet != PacketId::NONE {
            prefetch(self.next.of(packet));
        }
    }

    /// From now on, packets record where they waited.
    pub fn carry_waits(&mut self) {
        self.waits = Some(vec![HopWaits::default(); self.column.len()]);
    }

    /// Where a packet waited; `None` in runs that do not record it. A new packet has the value of the slot's previous one.
    #[inline]
    pub fn waits_mut(&mut self, id: PacketId) -> Option<&mut HopWaits> {
        self.waits.as_mut().map(|column| &mut column[id.index()])
    }

    /// From now on, packets carry something for switches.
    pub fn carry_in_band(&mut self) {
        self.in_band = Some(vec![InBand::NOTHING; self.column.len()]);
    }

    /// Whether packets carry something for switches.
    #[must_use]
    #[inline]
    pub fn carries_in_band(&self) -> bool {
        self.in_band.is_some()
    }

    /// What a packet carries for switches; nothing in runs without.
    #[must_use]
    pub fn in_band(&self, id: PacketId) -> InBand {
        self.in_band.as_ref().map_or(InBand::NOTHING, |column| column[id.index()])
    }

    /// The same, to be written; `None` in runs without. For a new packet it is still that of the slot's previous packet.
    pub fn in_band_mut(&mut self, id: PacketId) -> Option<&mut InBand> {
        self.in_band.as_mut().map(|column| &mut column[id.index()])
    }

    /// The scheduling header of a packet, if it has one.
    pub fn scheduling_mut(&mut self, id: PacketId) -> Option<&mut SchedulingHeader> {
        if let InBand::Scheduling(header) = self.in_band_mut(id)? { Some(header) } else { None }
    }

    /// The reports that a packet collects, if it does.
    pub fn collecting_mut(&mut self, id: PacketId) -> Option<&mut Telemetry> {
        if let InBand::Collecting(reports) = self.in_band_mut(id)? { Some(reports) } else { None }
    }

    /// Reads a header.
    #[must_use]
    #[inline]
    pub fn get(&self, id: PacketId) -> &Header {
        self.column.of(id)
    }

    /// Writes a header.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Header {
        self.column.of_mut(id)
    }
}

/// A first-in first-out list of packets through the pool. A packet is in at most one queue.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    head: PacketId,
    tail: PacketId,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::EMPTY
    }
}

impl Queue {
    /// No packets.
    pub const EMPTY: Queue = Queue { head: PacketId::NONE, tail: PacketId::NONE };

    /// Whether the queue is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == PacketId::NONE
    }

    /// The packet that [`Queue::pop`] would take.
    #[must_use]
    #[inline]
    pub fn front(&self) -> Option<PacketId> {
        (!self.is_empty()).then_some(self.head)
    }

    /// The packet at the end.
    #[must_use]
    #[inline]
    pub fn back(&self) -> Option<PacketId> {
        (!self.is_empty()).then_some(self.tail)
    }

    /// The packet behind one of the queue's.
    #[must_use]
    pub fn behind(&self, packet: PacketId, headers: &Headers) -> Option<PacketId> {
        (packet != self.tail).then(|| headers.next.of(packet).packet)
    }

    /// Removes the packet behind one of the queue's, if there is one.
    pub fn remove_behind(&mut self, before: PacketId, headers: &mut Headers) -> Option<PacketId> {
        let packet = self.behind(before, headers)?;
        if packet == self.tail {
            self.tail = before;
        } else {
            headers.next.of_mut(before).packet = headers.next.of(packet).packet;
        }
        Some(packet)
    }

    /// The packets, the oldest first.
    pub fn iter(self, headers: &Headers) -> impl Iterator<Item = PacketId> + '_ {
        let next = move |packet: &PacketId| (*packet != self.tail).then(|| headers.next.of(*packet).packet);
        std::iter::successors(self.front(), next)
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, packet: PacketId, headers: &mut Headers) {
        if self.is_empty() {
            self.head = packet;
        } else {
            headers.next.of_mut(self.tail).packet = packet;
        }
        self.tail = packet;
    }

    /// Puts a packet before all others.
    pub fn push_front(&mut self, packet: PacketId, headers: &mut Headers) {
        if self.is_empty() {
            self.tail = packet;
        } else {
            headers.next.of_mut(packet).packet = self.head;
        }
        self.head = packet;
    }

    /// Takes the oldest packet.
    #[inline]
    pub fn pop(&mut self, headers: &Headers) -> Option<PacketId> {
        let packet = self.front()?;
        self.head = if packet == self.tail { PacketId::NONE } else { headers.next.of(packet).packet };
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_keep_order_and_ids_are_reused() {
        let mut pool = Pool::new();
        let ids: Vec<_> = (0..4).map(|n| pool.insert(Header::default(), n)).collect();
        let mut queue = Queue::EMPTY;
        for &id in &ids {
            queue.push(id, &mut pool.headers);
        }
        for &id in &ids {
            assert_eq!(queue.front(), Some(id));
            assert_eq!(queue.pop(&pool.headers), Some(id));
            pool.remove(id);
        }
        assert!(queue.is_empty() && queue.pop(&pool.headers).is_none());
        assert_eq!(pool.alive(), 0);
        let again = pool.insert(Header::default(), 9);
        assert_eq!((again, *pool.body(again), pool.alive()), (ids[3], 9, 1));
    }

    /// Ids are plain numbers: one of another pool names some packet of this one, in a release build too, where the debug
    /// assertion is gone. Run by Miri without debug assertions.
    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "the pool that issued it"))]
    fn a_foreign_id_never_leaves_the_columns() {
        let mut pool: Pool<u64> = Pool::new();
        for number in [0, 1_000, 1 << 24, u32::MAX - 1] {
            let id = PacketId::new(number);
            pool.headers.get_mut(id).wire = 84;
            *pool.body_mut(id) = 7;
            assert_eq!((pool.headers.get(id).wire, *pool.body(id)), (84, 7));
        }
    }

    /// Headers are public, so that two pools may exchange them.
    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "the pool that issued it"))]
    fn the_headers_of_a_larger_pool_do_not_make_bodies() {
        let (mut small, mut large): (Pool<u64>, Pool<u64>) = (Pool::new(), Pool::new());
        let last = (0..1_000).map(|n| large.insert(Header::default(), n)).last().expect("a thousand");
        std::mem::swap(&mut small.headers, &mut large.headers);
        *small.body_mut(last) = 7;
        assert_eq!(*small.body(last), 7);
    }

    #[test]
    fn the_columns_grow_and_keep_their_packets() {
        let mut pool = Pool::new();
        let ids: Vec<_> = (0..1_000u32).map(|n| pool.insert(Header::default(), n)).collect();
        assert!(ids.iter().enumerate().all(|(n, id)| *pool.body(*id) == n as u32));
        assert_eq!(pool.alive(), 1_000);
    }

    #[test]
    fn places_are_those_of_dead_packets_then_new_ones() {
        let mut pool = Pool::new();
        let first = pool.insert(Header::default(), 1);
        pool.remove(first);
        let (id, header, body) = pool.place();
        (header.wire, *body) = (84, 7);
        assert_eq!((id, pool.headers.get(id).wire, *pool.body(id)), (first, 84, 7));
        let (other, _, body) = pool.place();
        assert_eq!((*body, other == id, pool.alive()), (0, false, 2));
    }
}
