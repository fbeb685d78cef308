//! A port that serves queues by strict priority and that its far end may pause. Departures are foreseen while the
//! port is not paused, and revoked when it is. A packet that overtakes others postpones them.

use weft_core::{PortId, Ring, Span, Time, Transmission};

use crate::{Leaving, Slot, byte_time_after, to_start};

/// A packet whose departure is foreseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revocation {
    /// It joined the port.
    pub arrived: Time,
    /// Its last bit leaves.
    pub at: Time,
    /// Its size on the wire, bytes.
    pub wire: u16,
    /// The port by which it entered.
    pub ingress: PortId,
    /// Its queue; the first is served first.
    pub queue: u8,
}

/// The foreseen departures of one port, and past ones not yet released.
pub struct RevocableForesight {
    leaving: Ring<Revocation>,
    busy_until: Time,
    transmission: Transmission,
}

impl RevocableForesight {
    /// An idle port of this link.
    #[must_use]
    pub fn new(transmission: Transmission) -> RevocableForesight {
        RevocableForesight { leaving: Ring::new(), busy_until: Time::ZERO, transmission }
    }

    /// Called when a packet joins a queue at `now`. Returns its slot and the number of packets that it overtakes: the last
    /// ones, which leave later by its transmission time.
    #[inline]
    pub fn join(&mut self, now: Time, ingress: PortId, (queue, wire): (u8, u16)) -> (Slot, usize) {
        let time = self.transmission.time(wire);
        let overtakes = self.leaving.len() > 1 && self.leaving.back().is_some_and(|last| last.queue > queue);
        if overtakes && !self.all_have_left(now) {
            return self.overtake(now, ingress, (queue, wire));
        }
        let start = now.max(self.busy_until);
        let end = Time(start.0 + time.0);
        self.busy_until = end;
        self.leaving.push(Revocation { arrived: now, at: end, wire, ingress, queue });
        (Slot { start, end }, 0)
    }

    /// A packet overtakes those of later queues, except the first that has not left, which is being transmitted.
    #[inline(never)]
    fn overtake(&mut self, now: Time, ingress: PortId, (queue, wire): (u8, u16)) -> (Slot, usize) {
        let time = self.transmission.time(wire);
        let first = self.leaving.iter().find(|packet| packet.at >= now).map_or(now, |packet| packet.at);
        let key = |packet: &Revocation| (packet.at > first, packet.queue);
        let overtaken = self.leaving.iter().filter(|packet| key(packet) > (true, queue)).count();
        let before =
            self.leaving.iter().nth(self.leaving.len() - overtaken - 1).map_or(first, |packet| packet.at);
        let slot = Slot { start: before, end: before + time };
        self.leaving.change_last(overtaken, |packet| packet.at += time);
        self.leaving.insert(Revocation { arrived: now, at: slot.end, wire, ingress, queue }, key);
        self.busy_until += time;
        (slot, overtaken)
    }

    /// The last `n` packets, in order.
    pub fn last(&self, n: usize) -> impl Iterator<Item = Revocation> + '_ {
        self.leaving.iter().skip(self.leaving.len() - n)
    }

    /// Whether the port is empty at `now`.
    #[inline]
    #[must_use]
    pub fn all_have_left(&self, now: Time) -> bool {
        self.busy_until < now
    }

    /// Discards all packets: they have left.
    #[inline]
    pub fn clear(&mut self) {
        self.leaving.clear();
    }

    /// Releases the oldest packet if its last bit left before `now`. At `now` itself packets arrive first and leave afterwards.
    #[inline]
    pub fn take_left(&mut self, now: Time) -> Option<Revocation> {
        self.leaving.pop_if(|first| first.at < now)
    }

    /// Bytes of a queue that are not known to have left.
    #[must_use]
    pub fn bytes_of(&self, queue: u8) -> u64 {
        self.leaving.iter().filter(|packet| packet.queue == queue).map(|packet| u64::from(packet.wire)).sum()
    }

    /// The packets that have joined and are not known to have left, in order of departure.
    pub fn packets_here(&self) -> impl Iterator<Item = Revocation> + '_ {
        self.leaving.iter()
    }

    /// How many these are.
    #[inline]
    #[must_use]
    pub fn packets(&self) -> usize {
        self.leaving.len()
    }

    /// When the last bit of the oldest packet leaves, if there is one.
    #[must_use]
    pub fn first_leaves(&self) -> Option<Time> {
        self.leaving.front().map(|first| first.at)
    }

    /// Takes the oldest packet, to revoke its departure. The others' departures are no longer foreseen either: all
    /// must be taken.
    pub fn revoke(&mut self) -> Option<Revocation> {
        self.busy_until = Time::ZERO;
        self.leaving.pop()
    }

    /// How long a packet waited from its arrival to its first bit.
    #[must_use]
    pub fn wait_of(&self, packet: &Revocation) -> Span {
        packet.at.since(packet.arrived) - self.transmission.time(packet.wire)
    }

    /// Packets, and their bytes, whose first bit has not left before `now`.
    #[must_use]
    pub fn waiting(&self, now: Time) -> (u64, u64) {
        to_start(self.all(), &self.transmission, now)
    }

    /// The byte-picoseconds that the packets still here at `now` will add from then on.
    #[must_use]
    pub fn byte_time_after(&self, now: Time) -> u128 {
        byte_time_after(self.all(), now)
    }

    fn all(&self) -> impl Iterator<Item = Leaving> + '_ {
        self.leaving.iter().map(|Revocation { at, wire, .. }| Leaving { at, wire })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;

    /// 1000 bytes take 800 ns.
    fn port() -> RevocableForesight {
        RevocableForesight::new(Transmission::at(Rate::from_gbps(10)))
    }

    fn ns(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    fn slot(start: u64, end: u64) -> Slot {
        Slot { start: ns(start), end: ns(end) }
    }

    #[test]
    fn who_overtakes_postpones_whoever_has_not_begun() {
        let mut port = port();
        for (queue, wire, expected) in [
            (3, 1_000, (slot(0, 800), 0)),
            (3, 1_000, (slot(800, 1_600), 0)),
            (1, 500, (slot(800, 1_200), 1)),
            (1, 500, (slot(1_200, 1_600), 1)),
            (2, 1_000, (slot(1_600, 2_400), 1)),
            (0, 500, (slot(800, 1_200), 4)),
            (3, 500, (slot(3_600, 4_000), 0)),
        ] {
            assert_eq!(port.join(ns(0), PortId(0), (queue, wire)), expected);
        }
        let left = [(3, 800), (0, 1_200), (1, 1_600), (1, 2_000), (2, 2_800), (3, 3_600), (3, 4_000)];
        let all = std::iter::from_fn(|| port.take_left(Time::NEVER)).map(|packet| (packet.queue, packet.at));
        assert!(all.eq(left.map(|(queue, at)| (queue, ns(at)))));
        assert_eq!(port.join(ns(5_000), PortId(0), (3, 1_000)), (slot(5_000, 5_800), 0));
        assert_eq!(
            port.join(ns(5_800), PortId(0), (0, 1_000)),
            (slot(5_800, 6_600), 0),
            "the other is being transmitted"
        );
    }

    #[test]
    fn what_is_revoked_is_forgotten() {
        let mut port = port();
        assert_eq!(port.join(ns(0), PortId(0), (0, 1_000)), (slot(0, 800), 0));
        assert_eq!(port.join(ns(100), PortId(0), (0, 500)), (slot(800, 1_200), 0));
        assert_eq!(
            (port.take_left(ns(800)), port.first_leaves()),
            (None, Some(ns(800))),
            "arrivals come first"
        );
        let left = port.take_left(Time(ns(800).0 + 1)).map(|packet| packet.wire);
        assert_eq!((left, port.packets()), (Some(1_000), 1));
        assert_eq!(port.waiting(ns(800)), (1, 500));
        assert_eq!(port.byte_time_after(ns(1_000)), 500 * 200_000);
        let second = port.revoke().expect("one is left");
        assert_eq!((second.arrived, port.wait_of(&second)), (ns(100), Span::from_ns(700)));
        assert_eq!(port.revoke(), None);
        assert_eq!(port.join(ns(900), PortId(0), (0, 1_000)), (slot(900, 1_700), 0));
    }
}
