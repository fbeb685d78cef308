//! A port with strict priority: the departure of a packet in the first queue is known when it arrives, because
//! nothing overtakes it, and so is that of any packet that finds the transmitter idle. Only packets that wait in
//! later queues are picked by an event at the end of a transmission; no other transmission needs one. A port with one
//! queue in an order of its own (pFabric) is like one whose first queue is always empty: see `overtakes`.

use weft_core::{Ring, Time, Transmission};

use crate::{Leaving, Slot, byte_time_after, to_start};

/// The maximum number of queues.
pub const QUEUES: usize = 8;

/// A packet whose departure is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrictLeaving {
    /// When it leaves, and its size.
    pub leaving: Leaving,
    /// Its queue.
    pub queue: u8,
}

/// The known departures of one port with strict priority, and the bytes of its queues. The fields every packet touches come first.
#[repr(C)]
pub struct StrictForesight {
    /// The transmitter is busy until then, when the last bit of the newest leaves.
    busy_until: Time,
    /// An unobserved port admits a packet of this size without a check, and without a mark, if its transmitter is idle.
    idle_up_to: u64,
    /// Neither sharing rule nor marker is consulted about a packet while the port, including it, holds at most this
    /// many bytes.
    calm_up_to: u64,
    transmission: Transmission,
    /// All but the newest, until they are released.
    placed: Ring<StrictLeaving>,
    /// By queue, the bytes of packets whose departure is known, until they are released.
    known: [u64; QUEUES],
    /// Size and queue of the newest; no size if it has been released.
    newest: (u16, u8),
    /// Bit q: packets wait in queue q whose departure is not known.
    waits: u8,
    /// Whether an engine or the sharing rule reads the contents of the port.
    observed: bool,
    /// Whether packets overtake each other in the first queue as well: it is served in an order other than that of arrival.
    overtakes: bool,
    waiting: Overtakable,
}

/// Packets whose departure is not known.
#[derive(Default)]
struct Overtakable {
    by_queue: [u64; QUEUES],
    bytes: u64,
    packets: u64,
    /// The time integral of their bytes has been counted until then.
    counted_until: Time,
}

impl Overtakable {
    /// The byte-picoseconds that have accrued up to `now` since the last count.
    fn byte_time_until(&self, now: Time) -> u128 {
        u128::from(self.bytes) * u128::from(now.since(self.counted_until).0)
    }

    /// Counts the time integral up to `now`; the bytes are about to change.
    fn count(&mut self, now: Time) -> u128 {
        let byte_time = self.byte_time_until(now);
        self.counted_until = now;
        byte_time
    }

    /// A packet begins to wait; returns the byte-picoseconds that have accrued since the last count.
    fn joined(&mut self, now: Time, (queue, wire): (usize, u16)) -> u128 {
        let counted = self.count(now);
        self.by_queue[queue] += u64::from(wire);
        self.bytes += u64::from(wire);
        self.packets += 1;
        counted
    }

    /// A packet ends its wait; returns the byte-picoseconds that have accrued since the last count.
    fn left(&mut self, now: Time, (queue, wire): (usize, u16)) -> u128 {
        let counted = self.count(now);
        self.by_queue[queue] -= u64::from(wire);
        self.bytes -= u64::from(wire);
        self.packets -= 1;
        counted
    }
}

impl StrictForesight {
    /// An idle port; `overtakes`: packets of the first queue overtake each other.
    pub fn new(transmission: Transmission, calm_up_to: u64, overtakes: bool) -> StrictForesight {
        StrictForesight {
            placed: Ring::new(),
            busy_until: Time::ZERO,
            idle_up_to: calm_up_to,
            calm_up_to,
            transmission,
            known: [0; QUEUES],
            newest: (0, 0),
            waits: 0,
            observed: false,
            overtakes,
            waiting: Overtakable::default(),
        }
    }

    /// Sets whether the port is observed.
    pub fn observe(&mut self, observed: bool) {
        self.observed = observed;
        self.idle_up_to = if observed { 0 } else { self.calm_up_to };
    }

    /// Whether it is observed.
    #[must_use]
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        self.observed
    }

    /// Whether neither sharing rule nor marker needs to be consulted about a packet if the port, including it, holds
    /// this many bytes.
    #[must_use]
    #[inline(always)]
    pub fn is_calm(&self, bytes: u64) -> bool {
        bytes <= self.calm_up_to
    }

    /// Whether the port is unobserved, its transmitter is idle at `now`, and it is calm about a packet of this size.
    #[must_use]
    #[inline(always)]
    pub fn takes_at_once(&self, now: Time, wire: u16) -> bool {
        self.busy_until < now && u64::from(wire) <= self.idle_up_to
    }

    /// Adds a packet to a queue other than the first. Returns the byte-picoseconds that have accrued since the last
    /// count, and the time at which to ask the port, unless that was requested before.
    #[inline(always)]
    pub fn wait(&mut self, now: Time, (queue, wire): (usize, u16)) -> (u128, Option<Time>) {
        let first = self.waits == 0;
        self.waits |= 1 << queue;
        (self.waiting.joined(now, (queue, wire)), first.then_some(self.busy_until))
    }

    /// The queue to serve now; or, if packets of the first queue occupy the link, until when they do.
    #[inline(always)]
    pub fn pick(&self, now: Time) -> Result<usize, Time> {
        if self.busy_until > now { Err(self.busy_until) } else { Ok(self.waits.trailing_zeros() as usize) }
    }

    /// Sends a packet that waited; `is_last` if its queue is now empty. Returns its slot, the byte-picoseconds that
    /// have accrued since the last count, and when to ask the port next.
    #[inline(always)]
    pub fn send(
        &mut self,
        now: Time,
        (queue, wire): (usize, u16),
        is_last: bool,
    ) -> (Slot, u128, Option<Time>) {
        if is_last {
            self.waits &= !(1 << queue);
        }
        let counted = self.waiting.left(now, (queue, wire));
        let place = self.take_place(now, (queue, wire));
        (place, counted, (self.waits != 0).then_some(place.end))
    }

    /// A packet that waited is dropped; returns the byte-picoseconds that have accrued since the last count.
    pub fn give_up(&mut self, now: Time, at: (usize, u16)) -> u128 {
        self.waiting.left(now, at)
    }

    /// Called when a queue that was to be served turned out to be empty: all of its packets have been dropped.
    pub fn found_empty(&mut self, queue: usize) {
        self.waits &= !(1 << queue);
    }

    /// Bytes of a queue.
    pub fn bytes_of(&self, queue: usize) -> u64 {
        self.known[queue] + self.waiting.by_queue[queue]
    }

    /// Packets that have joined and are not known to have left.
    pub fn packets(&self) -> u64 {
        self.placed.len() as u64 + u64::from(self.newest.0 != 0) + self.waiting.packets
    }

    /// Whether the departure of a packet that joins a queue now is known. At the end of a transmission packets arrive first, and
    /// the next to leave is picked afterwards.
    #[inline(always)]
    pub fn knows(&self, now: Time, queue: usize) -> bool {
        queue == 0 && !self.overtakes || self.busy_until < now
    }

    /// Gives a packet that nothing can overtake the next slot on the link.
    #[inline(always)]
    pub fn take_place(&mut self, now: Time, (queue, wire): (usize, u16)) -> Slot {
        let start = now.max(self.busy_until);
        let end = Time(start.0 + self.transmission.time(wire).0);
        if let (size @ 1.., queue) = self.newest {
            self.placed.push(StrictLeaving { leaving: Leaving { at: self.busy_until, wire: size }, queue });
        }
        self.known[queue] += u64::from(wire);
        (self.busy_until, self.newest) = (end, (wire, queue as u8));
        Slot { start, end }
    }

    /// [`StrictForesight::take_place`] and [`StrictForesight::give_back_unseen`] at an unobserved port whose transmitter is idle.
    #[inline(always)]
    pub fn take_idle_place(&mut self, now: Time, (queue, wire): (usize, u16)) -> Slot {
        let end = Time(now.0 + self.transmission.time(wire).0);
        self.placed.clear();
        self.known = [0; QUEUES];
        self.known[queue % QUEUES] = u64::from(wire);
        (self.busy_until, self.newest) = (end, (wire, queue as u8));
        Slot { start: now, end }
    }

    /// The next packet that left before `now`.
    #[inline(always)]
    pub fn take_left(&mut self, now: Time) -> Option<StrictLeaving> {
        let left = self.placed.pop_if(|first| first.leaving.at.0 < now.0)?;
        self.known[usize::from(left.queue)] -= u64::from(left.leaving.wire);
        Some(left)
    }

    /// Releases what left an unobserved port before `now`; `held` is the number of bytes it holds. Nothing waits at a
    /// port whose transmitter is idle.
    #[inline(always)]
    pub fn give_back_unseen(&mut self, now: Time, held: &mut u64) {
        if self.busy_until < now {
            self.placed.clear();
            (self.newest.0, self.known, *held) = (0, [0; QUEUES], 0);
            return;
        }
        while let Some(left) = self.take_left(now) {
            *held -= u64::from(left.leaving.wire);
        }
    }

    /// The packet that left last before `now`, if the transmitter is idle.
    pub fn take_newest(&mut self, now: Time) -> Option<StrictLeaving> {
        let (wire, queue) = self.newest;
        if self.busy_until >= now || wire == 0 {
            return None;
        }
        self.newest.0 = 0;
        self.known[usize::from(queue)] -= u64::from(wire);
        Some(StrictLeaving { leaving: Leaving { at: self.busy_until, wire }, queue })
    }

    /// All whose departure is known, in order of departure.
    fn all(&self) -> impl Iterator<Item = Leaving> + '_ {
        let newest = Leaving { at: self.busy_until, wire: self.newest.0 };
        self.placed.iter().map(|placed| placed.leaving).chain((newest.wire != 0).then_some(newest))
    }

    /// Packets, and their bytes, whose departure is known and whose first bit has not left before `now`.
    pub fn to_start(&self, now: Time) -> (u64, u64) {
        to_start(self.all(), &self.transmission, now)
    }

    /// The time integral of the bytes held, up to `now`, if `counted` is what the port has counted.
    pub fn byte_time(&self, counted: u128, now: Time) -> u128 {
        counted + self.waiting.byte_time_until(now) - byte_time_after(self.all(), now)
    }

    /// Prefetches the memory that the next packet needs.
    pub fn prefetch(&self) {
        self.placed.prefetch_front();
        self.placed.prefetch_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;

    /// More than 4 GiB in one queue, of packets whose departure is known and of packets that wait.
    #[test]
    fn queues_of_many_gigabytes_are_counted() {
        let mut port = StrictForesight::new(Transmission::at(Rate::from_gbps(100)), 0, false);
        let (wire, packets) = (u16::MAX, 70_000);
        for _ in 0..packets {
            port.take_place(Time::ZERO, (0, wire));
            port.wait(Time::ZERO, (1, wire));
        }
        let bytes = 65_535 * 70_000;
        assert_eq!([0, 1, 2].map(|queue| port.bytes_of(queue)), [bytes, bytes, 0]);
        assert!(bytes > u64::from(u32::MAX));
        port.send(Time::ZERO, (1, wire), false);
        assert_eq!([0, 1].map(|queue| port.bytes_of(queue)), [bytes, bytes], "now known, and still held");
    }
}
