//! A port that serves one queue in order of arrival, until further notice: its far end may pause it. Departures are foreseen as
//! long as it does not, and revoked when it does.

use weft_core::{Ring, Span, Time, Transmission};

use crate::Slot;

/// A packet whose departure is foreseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revocation {
    /// It joined the port.
    pub arrived: Time,
    /// Its last bit leaves.
    pub at: Time,
    /// Its size on the wire, bytes.
    pub wire: u16,
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

    /// A packet joins the queue at `now`.
    #[inline]
    pub fn join(&mut self, now: Time, wire: u16) -> Slot {
        let start = now.max(self.busy_until);
        let end = Time(start.0 + self.transmission.time(wire).0);
        self.busy_until = end;
        self.leaving.push(Revocation { arrived: now, at: end, wire });
        Slot { start, end }
    }

    /// Removes all packets whose last bit left before `now`; returns their bytes. At `now` itself packets arrive first and leave
    /// afterwards.
    #[inline]
    pub fn bytes_left(&mut self, now: Time) -> u64 {
        let mut bytes = 0;
        while let Some(first) = self.leaving.pop_if(|first| first.at < now) {
            bytes += u64::from(first.wire);
        }
        bytes
    }

    /// Packets that have joined and are not known to have left.
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

    /// Takes the oldest packet, to revoke its departure. Nothing is foreseen of the others either: all must be taken.
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
        let waits = |packet: &Revocation| packet.at.since(now) >= self.transmission.time(packet.wire);
        let waiting = self.leaving.iter().filter(|packet| packet.at >= now).filter(waits);
        waiting.fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
    }

    /// The byte-picoseconds that the packets still here at `now` will add from then on.
    #[must_use]
    pub fn byte_time_after(&self, now: Time) -> u128 {
        let rest = |packet: Revocation| u128::from(packet.wire) * u128::from(packet.at.since(now).0);
        self.leaving.iter().map(rest).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;

    /// 1000 bytes take 800 ns.
    #[test]
    fn what_is_revoked_is_forgotten() {
        let mut port = RevocableForesight::new(Transmission::at(Rate::from_gbps(10)));
        let ns = |ns| Time::ZERO + Span::from_ns(ns);
        assert_eq!(port.join(ns(0), 1_000), Slot { start: ns(0), end: ns(800) });
        assert_eq!(port.join(ns(100), 500), Slot { start: ns(800), end: ns(1_200) });
        assert_eq!(
            (port.bytes_left(ns(800)), port.first_leaves()),
            (0, Some(ns(800))),
            "arrivals come first"
        );
        assert_eq!((port.bytes_left(Time(ns(800).0 + 1)), port.packets()), (1_000, 1));
        assert_eq!(port.waiting(ns(800)), (1, 500));
        assert_eq!(port.byte_time_after(ns(1_000)), 500 * 200_000);
        let second = port.revoke().expect("one is left");
        assert_eq!((second.arrived, port.wait_of(&second)), (ns(100), Span::from_ns(700)));
        assert_eq!(port.revoke(), None);
        assert_eq!(port.join(ns(900), 1_000), Slot { start: ns(900), end: ns(1_700) });
    }
}
