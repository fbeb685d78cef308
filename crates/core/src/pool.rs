//! Packets live here from birth to death; everyone else holds a 4-byte [`PacketId`].
//!
//! Two columns: the header (hot, what switches see) and the body (cold, what the hosts see). Every queue in the
//! program is an intrusive list through the pool, so that queueing never allocates.

use crate::header::Header;
use crate::ids::PacketId;

/// All packets of one domain. `Body` is what only the ends understand.
#[derive(Debug, Default)]
pub struct Pool<Body> {
    /// The hot column; all a switch borrows.
    pub headers: Headers,
    bodies: Vec<Body>,
    free: Vec<PacketId>,
}

/// The hot column of the pool and the links of the queues.
#[derive(Debug, Default)]
pub struct Headers {
    column: Vec<Header>,
    next: Vec<PacketId>,
}

impl<Body> Pool<Body> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Pool<Body> {
        Pool { headers: Headers::default(), bodies: Vec::new(), free: Vec::new() }
    }

    /// Takes a packet in. Allocates only while the number of packets alive reaches a new maximum.
    #[inline]
    pub fn insert(&mut self, header: Header, body: Body) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.headers.column[id.index()] = header;
            self.bodies[id.index()] = body;
            return id;
        }
        self.grow(header, body)
    }

    /// More packets are alive than ever before.
    #[cold]
    fn grow(&mut self, header: Header, body: Body) -> PacketId {
        let id = PacketId(u32::try_from(self.bodies.len()).expect("fewer than 2^32 packets alive"));
        self.headers.column.push(header);
        self.headers.next.push(PacketId::NONE);
        self.bodies.push(body);
        id
    }

    /// A place for a new packet, to be written by the caller in full: it holds what its last packet left. Allocates only
    /// while the number of packets alive reaches a new maximum.
    #[inline]
    pub fn place(&mut self) -> (PacketId, &mut Header, &mut Body)
    where
        Body: Default,
    {
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.grow(Header::default(), Body::default()),
        };
        (id, self.headers.get_mut(id), body_of(&mut self.bodies, id))
    }

    /// The end of a packet; its id may be given out again.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// What the hosts see of a packet.
    #[must_use]
    #[inline]
    #[allow(unsafe_code, reason = "half a percent of all instructions, with `body_of`")]
    pub fn body(&self, id: PacketId) -> &Body {
        debug_assert!(id.index() < self.bodies.len(), "ids are used with the pool that gave them out");
        // SAFETY: as in `Headers::get`; there are as many bodies as headers.
        unsafe { self.bodies.get_unchecked(id.index()) }
    }

    /// What the hosts see of a packet, to be written.
    #[inline]
    pub fn body_mut(&mut self, id: PacketId) -> &mut Body {
        body_of(&mut self.bodies, id)
    }

    /// Packets alive.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.bodies.len() - self.free.len()
    }
}

/// The body of a packet, to be written.
#[inline]
#[allow(unsafe_code, reason = "as in `Pool::body`")]
fn body_of<Body>(bodies: &mut [Body], id: PacketId) -> &mut Body {
    debug_assert!(id.index() < bodies.len(), "ids are used with the pool that gave them out");
    // SAFETY: as in `Headers::get`; there are as many bodies as headers.
    unsafe { bodies.get_unchecked_mut(id.index()) }
}

impl Headers {
    /// Reads a header.
    #[must_use]
    #[inline]
    #[allow(unsafe_code, reason = "1 % of all instructions, with `get_mut`")]
    pub fn get(&self, id: PacketId) -> &Header {
        debug_assert!(id.index() < self.column.len(), "ids are used with the pool that gave them out");
        // SAFETY: only `Pool::grow` makes ids, one for each header that it adds, and the column never gets shorter. Each
        // pool is used with its own ids: packets that change pools leave by value.
        unsafe { self.column.get_unchecked(id.index()) }
    }

    /// Writes a header.
    #[inline]
    #[allow(unsafe_code, reason = "as in `get`")]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Header {
        debug_assert!(id.index() < self.column.len(), "ids are used with the pool that gave them out");
        // SAFETY: as in `get`.
        unsafe { self.column.get_unchecked_mut(id.index()) }
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

    /// True when there is nothing to take.
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

    /// The packets, the oldest first.
    pub fn iter(self, headers: &Headers) -> impl Iterator<Item = PacketId> + '_ {
        let next = move |packet: &PacketId| (*packet != self.tail).then(|| headers.next[packet.index()]);
        std::iter::successors(self.front(), next)
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, packet: PacketId, headers: &mut Headers) {
        if self.is_empty() {
            self.head = packet;
        } else {
            headers.next[self.tail.index()] = packet;
        }
        self.tail = packet;
    }

    /// Takes the oldest packet.
    #[inline]
    pub fn pop(&mut self, headers: &Headers) -> Option<PacketId> {
        let packet = self.front()?;
        self.head = if packet == self.tail { PacketId::NONE } else { headers.next[packet.index()] };
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
