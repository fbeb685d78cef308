//! Departures that are known when a packet arrives. A port that serves one queue in order of arrival, marks on arrival
//! and keeps its link needs no event for the end of a transmission: the last bit of a packet leaves one transmission
//! time after the packet before it. What has left is given back when somebody looks.
//!
//! Nothing else changes: the same packets are admitted, marked and sent at the same instants as by a port that is asked
//! for each packet. Knows no other port.

use std::collections::VecDeque;

use weft_core::{Time, Transmission};

/// A packet of which the end of its transmission is known.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// Its last bit leaves.
    at: Time,
    wire: u16,
}

/// The departures of one port that are to come, and those nobody has asked about.
#[derive(Clone, Debug)]
pub(crate) struct Foresight {
    transmission: Transmission,
    /// The transmitter is busy until then.
    busy_until: Time,
    leaving: VecDeque<Leaving>,
}

/// When a packet occupies the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its first bit leaves.
    pub(crate) start: Time,
    /// Its last bit leaves.
    pub(crate) end: Time,
}

impl Foresight {
    /// An idle port of this line.
    pub(crate) fn new(transmission: Transmission) -> Foresight {
        Foresight { transmission, busy_until: Time::ZERO, leaving: VecDeque::with_capacity(8) }
    }

    /// A packet joins the queue at `now`.
    #[inline]
    pub(crate) fn join(&mut self, now: Time, wire: u16) -> Slot {
        let start = now.max(self.busy_until);
        let end = start + self.transmission.time(wire);
        self.busy_until = end;
        self.leaving.push_back(Leaving { at: end, wire });
        Slot { start, end }
    }

    /// The next packet whose last bit left before `now`: when, and its size. At `now` itself packets arrive first and
    /// leave afterwards.
    #[inline]
    pub(crate) fn left(&mut self, now: Time) -> Option<(Time, u16)> {
        let first = *self.leaving.front()?;
        if first.at >= now {
            return None;
        }
        self.leaving.pop_front();
        Some((first.at, first.wire))
    }

    /// Packets, and their bytes, whose first bit has not left before `now`.
    pub(crate) fn waiting(&self, now: Time) -> (u64, u64) {
        let waits = |packet: &&Leaving| packet.at.since(now) >= self.transmission.time(packet.wire);
        let waiting = self.leaving.iter().filter(|packet| packet.at >= now).filter(waits);
        waiting.fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;

    #[test]
    fn packets_leave_one_after_the_other() {
        let mut port = Foresight::new(Transmission::at(Rate::from_gbps(10)));
        let slot = |start, end| Slot { start: Time(start), end: Time(end) };
        assert_eq!(port.join(Time(0), 100), slot(0, 80_000));
        assert_eq!(port.join(Time(50_000), 200), slot(80_000, 240_000));
        assert_eq!(port.left(Time(80_000)), None, "at one instant packets arrive before others leave");
        assert_eq!(port.waiting(Time(80_000)), (1, 200), "its first bit leaves now, not before");
        assert_eq!(port.waiting(Time(80_001)), (0, 0));
        assert_eq!(port.left(Time(80_001)), Some((Time(80_000), 100)));
        assert_eq!(port.left(Time(80_001)), None);
        assert_eq!(port.join(Time(1_000_000), 100), slot(1_000_000, 1_080_000));
        assert_eq!(port.left(Time(2_000_000)), Some((Time(240_000), 200)));
        assert_eq!(port.left(Time(2_000_000)), Some((Time(1_080_000), 100)));
    }
}
