//! Foresight of ports with strict priority: of a packet in the first queue the departure is known when it arrives, because
//! nothing overtakes it, and so is that of any packet that finds the transmitter idle. Only packets that wait in later
//! queues are picked by an event at the end of a transmission; no other transmission needs one.
//!
//! As with [`foresight`](crate::foresight), the same packets are admitted, marked and sent at the same instants as by a port with an
//! event per departure, and memory is released lazily.

use weft_core::{Header, PacketId, PortId, Ring, Time, Transmission};

use crate::foresight::{Leaving, Slot};
use crate::join::Joined;
use crate::outputs::{Outputs, chosen_of, queue_of, slot};
use crate::port::{Output, Port};
use crate::turn::{Departure, SentEarly, Turn};

/// The maximum number of queues.
const QUEUES: usize = 8;

/// A packet whose departure is known.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    leaving: Leaving,
    queue: u8,
}

/// The known departures of one port with strict priority, and the bytes of its queues. The fields every packet touches come first.
#[repr(C)]
pub(crate) struct StrictForesight {
    /// The transmitter is busy until then, when the last bit of the newest leaves.
    busy_until: Time,
    /// An unobserved port admits a packet of this size without a check, and without a mark, if its transmitter is idle.
    idle_up_to: u64,
    /// A packet with which the port holds at most this many bytes needs neither admission check nor marker.
    calm_up_to: u64,
    transmission: Transmission,
    /// All but the newest, until they are released.
    placed: Ring<Placed>,
    /// By queue, the bytes of packets whose departure is known, until they are released.
    known: [u32; QUEUES],
    /// Size and queue of the newest; no size if it has been released.
    newest: (u16, u8),
    /// Bit q: packets wait in queue q whose departure is not known.
    waits: u8,
    /// Whether an engine or the sharing rule reads the contents of the port.
    observed: bool,
    waiting: Waiting,
}

/// Packets whose departure is not known.
#[derive(Default)]
struct Waiting {
    by_queue: [u32; QUEUES],
    bytes: u64,
    packets: u64,
    /// The time integral of their bytes has been counted until then.
    counted_until: Time,
}

impl Waiting {
    /// The byte-picoseconds not counted before `now`.
    fn byte_time_until(&self, now: Time) -> u128 {
        u128::from(self.bytes) * u128::from(now.since(self.counted_until).0)
    }

    /// Counts the time integral up to `now`; the bytes are about to change.
    fn count(&mut self, now: Time) -> u128 {
        let byte_time = self.byte_time_until(now);
        self.counted_until = now;
        byte_time
    }

    /// A packet waits from now on; returns the byte-picoseconds not counted before.
    fn joined(&mut self, now: Time, (queue, wire): (usize, u16)) -> u128 {
        let counted = self.count(now);
        self.by_queue[queue] += u32::from(wire);
        self.bytes += u64::from(wire);
        self.packets += 1;
        counted
    }

    /// A packet waits no longer; returns the byte-picoseconds not counted before.
    fn left(&mut self, now: Time, (queue, wire): (usize, u16)) -> u128 {
        let counted = self.count(now);
        self.by_queue[queue] -= u32::from(wire);
        self.bytes -= u64::from(wire);
        self.packets -= 1;
        counted
    }
}

impl StrictForesight {
    /// An idle port.
    pub(crate) fn new(transmission: Transmission, calm_up_to: u64) -> StrictForesight {
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
            waiting: Waiting::default(),
        }
    }

    /// Sets whether the port is observed.
    pub(crate) fn observe(&mut self, observed: bool) {
        self.observed = observed;
        self.idle_up_to = if observed { 0 } else { self.calm_up_to };
    }

    /// Bytes of a queue.
    pub(crate) fn bytes_of(&self, queue: usize) -> u64 {
        u64::from(self.known[queue] + self.waiting.by_queue[queue])
    }

    /// Packets that have joined and are not known to have left.
    pub(crate) fn len(&self) -> u64 {
        self.placed.len() as u64 + u64::from(self.newest.0 != 0) + self.waiting.packets
    }

    /// Whether the departure of a packet that joins a queue now is known. At the end of a transmission packets arrive first, and
    /// the next to leave is picked afterwards.
    #[inline(always)]
    fn knows(&self, now: Time, queue: usize) -> bool {
        queue == 0 || self.busy_until < now
    }

    /// A packet that nothing can overtake takes the next place on the link.
    #[inline(always)]
    fn take_place(&mut self, now: Time, (queue, wire): (usize, u16)) -> Slot {
        let start = now.max(self.busy_until);
        let end = Time(start.0 + self.transmission.time(wire).0);
        if let (size @ 1.., queue) = self.newest {
            self.placed.push(Placed { leaving: Leaving { at: self.busy_until, wire: size }, queue });
        }
        self.known[queue] += u32::from(wire);
        (self.busy_until, self.newest) = (end, (wire, queue as u8));
        Slot { start, end }
    }

    /// [`StrictForesight::take_place`] and [`StrictForesight::give_back_unseen`] at an unobserved port whose transmitter is idle.
    #[inline(always)]
    fn take_idle_place(&mut self, now: Time, (queue, wire): (usize, u16)) -> Slot {
        let end = Time(now.0 + self.transmission.time(wire).0);
        self.placed.clear();
        self.known = [0; QUEUES];
        self.known[queue % QUEUES] = u32::from(wire);
        (self.busy_until, self.newest) = (end, (wire, queue as u8));
        Slot { start: now, end }
    }

    /// The next packet that left before `now`.
    #[inline(always)]
    fn take_left(&mut self, now: Time) -> Option<Placed> {
        let left = self.placed.pop_if(|first| first.leaving.at < now)?;
        self.known[usize::from(left.queue)] -= u32::from(left.leaving.wire);
        Some(left)
    }

    /// Releases what has left an unobserved port before `now`. Nothing waits at a port whose transmitter is idle.
    #[inline(always)]
    fn give_back_unseen(&mut self, now: Time, held: &mut Port) {
        if self.busy_until < now {
            self.placed.clear();
            (self.newest.0, self.known, held.bytes) = (0, [0; QUEUES], 0);
            return;
        }
        while let Some(left) = self.take_left(now) {
            held.bytes -= u64::from(left.leaving.wire);
        }
    }

    /// The packet that left last before `now`, if the transmitter is idle.
    fn take_newest(&mut self, now: Time) -> Option<Placed> {
        let (wire, queue) = self.newest;
        if self.busy_until >= now || wire == 0 {
            return None;
        }
        self.newest.0 = 0;
        self.known[usize::from(queue)] -= u32::from(wire);
        Some(Placed { leaving: Leaving { at: self.busy_until, wire }, queue })
    }

    /// All whose departure is known, in order of departure.
    fn all(&self) -> impl Iterator<Item = Leaving> + '_ {
        let newest = Leaving { at: self.busy_until, wire: self.newest.0 };
        self.placed.iter().map(|placed| placed.leaving).chain((newest.wire != 0).then_some(newest))
    }

    /// Packets, and their bytes, whose departure is known and whose first bit has not left before `now`.
    pub(crate) fn to_start(&self, now: Time) -> (u64, u64) {
        let later = |packet: &Leaving| {
            packet.at >= now && packet.at.since(now) >= self.transmission.time(packet.wire)
        };
        self.all()
            .filter(later)
            .fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
    }

    /// The time integral of the bytes held, up to `now`, if `counted` is what the port has counted.
    pub(crate) fn byte_time(&self, counted: u128, now: Time) -> u128 {
        let rest = |packet: Leaving| u128::from(packet.wire) * u128::from(packet.at.since(now).0);
        counted + self.waiting.byte_time_until(now) - self.all().map(rest).sum::<u128>()
    }

    /// Prefetches what the next packet needs.
    pub(crate) fn prefetch(&self) {
        self.placed.prefetch_front();
        self.placed.prefetch_back();
    }
}

impl Outputs {
    /// Releases what has left a port with strict priority before `now`.
    #[inline(always)]
    pub(crate) fn settle_strict(&mut self, now: Time, port: PortId) {
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            return;
        };
        if strict.observed {
            self.settle_observed(now, port);
        } else {
            strict.give_back_unseen(now, held);
        }
    }

    #[inline(never)]
    fn settle_observed(&mut self, now: Time, port: PortId) {
        let Outputs { ports, store, visible, queues: number, .. } = self;
        let Output { strict: Some(strict), port: held, queues, .. } = chosen_of(ports, port) else { return };
        while let Some(left) = strict.take_left(now).or_else(|| strict.take_newest(now)) {
            let (queue, wire) = (usize::from(left.queue), u64::from(left.leaving.wire));
            held.bytes -= wire;
            queues[queue].bytes = strict.bytes_of(queue);
            store.released((queue, queues[queue].bytes), wire);
            visible.left(slot(port, queue, *number), wire);
        }
    }

    /// A packet joins an unobserved port with strict priority whose transmitter is idle, with neither limit nor marker near.
    #[inline(always)]
    pub(crate) fn join_strict_idle(&mut self, now: Time, port: PortId, header: &Header) -> Option<Slot> {
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            return None;
        };
        if strict.busy_until >= now || u64::from(header.wire) > strict.idle_up_to {
            return None;
        }
        let wire = header.wire;
        let place = strict.take_idle_place(now, (queue_of(header.class, self.queues), wire));
        held.store_until(u64::from(wire), u128::from(wire) * u128::from(place.end.0 - now.0));
        Some(place)
    }

    /// A packet joins a port with strict priority.
    #[inline(never)]
    pub(crate) fn join_strict(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Joined {
        let now = turn.now;
        self.settle_strict(now, port);
        let header = turn.headers.get(packet);
        let (wire, queue) = (header.wire, queue_of(header.class, self.queues) % QUEUES);
        let (held, strict) = of_strict(&mut self.ports, port);
        let total = held.bytes + u64::from(wire);
        if total > strict.calm_up_to {
            self.show_bytes(port, queue);
            let admitted = self.admit_and_mark::<false>(now, (port, queue), turn.headers.get_mut(packet));
            if let Err(reason) = admitted {
                return self.turned_away(turn, (port, queue), packet, reason);
            }
        }
        let (held, strict) = of_strict(&mut self.ports, port);
        let (known, observed) = (strict.knows(now, queue), strict.observed);
        let joined = if known {
            let place = strict.take_place(now, (queue, wire));
            held.store_until(total, u128::from(wire) * u128::from(place.end.0 - now.0));
            Joined::Line(place)
        } else {
            self.wait(turn, (port, queue), packet)
        };
        if observed {
            self.tell_joined(now, (port, queue), turn.headers.get(packet));
        }
        joined
    }

    /// Writes the bytes of a queue to where admission and marker look for them.
    #[inline]
    fn show_bytes(&mut self, port: PortId, queue: usize) {
        let Output { strict: Some(strict), queues, .. } = chosen_of(&mut self.ports, port) else { return };
        queues[queue].bytes = strict.bytes_of(queue);
    }

    /// The store and the engines are told of a packet that has joined.
    #[inline(never)]
    fn tell_joined(&mut self, now: Time, (port, queue): (PortId, usize), header: &Header) {
        self.show_bytes(port, queue);
        self.store.stored((queue, self.chosen(port).bytes_of(queue)), header.wire);
        self.visible.joined(now, (header.ingress, header.wire), slot(port, queue, self.queues));
    }

    /// A packet waits in a queue that others may overtake. The first to wait asks for a call.
    #[inline(never)]
    fn wait(&mut self, turn: &mut Turn<'_>, (port, queue): (PortId, usize), packet: PacketId) -> Joined {
        let wire = turn.headers.get(packet).wire;
        let output = chosen_of(&mut self.ports, port);
        output.queues[queue].packets.push(packet, turn.headers);
        let (held, strict) = of_strict(&mut self.ports, port);
        held.store_until(held.bytes + u64::from(wire), strict.waiting.joined(turn.now, (queue, wire)));
        let first = strict.waits == 0;
        strict.waits |= 1 << queue;
        if first { Joined::QueuedUntil(strict.busy_until) } else { Joined::Queued }
    }

    /// The transmission after which a port with strict priority was to be asked has ended: what it sends now; an instant, if packets
    /// of the first queue have taken its link until then.
    #[inline(never)]
    pub(crate) fn serve_strict(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<SentEarly> {
        let Output { strict: Some(strict), queues, port: held, .. } = chosen_of(&mut self.ports, port) else {
            return None;
        };
        if strict.busy_until > turn.now {
            return Some(SentEarly::Later(strict.busy_until));
        }
        let queue = strict.waits.trailing_zeros() as usize;
        let waiting = &mut queues.get_mut(queue)?.packets;
        let packet = waiting.pop(turn.headers)?;
        if waiting.is_empty() {
            strict.waits &= !(1 << queue);
        }
        let header = turn.headers.get(packet);
        let counted = strict.waiting.left(turn.now, (queue, header.wire));
        let place = strict.take_place(turn.now, (queue, header.wire));
        let to_come = u128::from(header.wire) * u128::from(place.end.0 - turn.now.0);
        held.store_until(held.bytes, counted + to_come);
        let next = (strict.waits != 0).then_some(place.end);
        Some(SentEarly::Packet(packet, Departure::of(header, port, place), next))
    }
}

/// The contents of a port with strict priority and its foreseen departures.
#[inline(always)]
fn of_strict(ports: &mut [Output], port: PortId) -> (&mut Port, &mut StrictForesight) {
    match chosen_of(ports, port) {
        Output { port, strict: Some(strict), .. } => (port, strict),
        _ => unreachable!("only ports with strict priority are asked"),
    }
}
