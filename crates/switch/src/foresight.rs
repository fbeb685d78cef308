//! Departures that are known when a packet arrives. A port that serves one queue in order of arrival, marks on arrival
//! and keeps its link needs no event for the end of a transmission: the last bit of a packet leaves one transmission
//! time after the packet before it. What has left is given back when somebody looks.
//!
//! Nothing else changes: the same packets are admitted, marked and sent at the same instants as by a port that is asked
//! for each packet. Knows no other port.

use weft_core::{Ring, Time, Transmission};

use crate::mark::AnyMarker;

/// A packet of which the end of its transmission is known.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    /// Its last bit leaves.
    at: Time,
    wire: u16,
}

/// The departures of one port that are to come, and those nobody has asked about. What every packet touches comes first.
#[repr(C)]
pub(crate) struct Foresight {
    leaving: Ring<Leaving>,
    /// The transmitter is busy until then.
    busy_until: Time,
    /// Packets with which the port holds at most so many bytes are none of the marker's business.
    passes_up_to: u64,
    transmission: Transmission,
    /// Of the port's only queue.
    pub(crate) marker: AnyMarker,
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
    pub(crate) fn new(transmission: Transmission, marker: AnyMarker) -> Foresight {
        let passes_up_to = marker.passes_up_to();
        Foresight { leaving: Ring::new(), busy_until: Time::ZERO, passes_up_to, transmission, marker }
    }

    /// Whether the marker need not be asked about a packet with which the port holds so many bytes.
    #[inline]
    pub(crate) fn passes(&self, bytes: u64) -> bool {
        bytes <= self.passes_up_to
    }

    /// Whether nothing is here any more at `now`.
    #[inline]
    pub(crate) fn all_have_left(&self, now: Time) -> bool {
        self.busy_until < now
    }

    /// Forgets what has left.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.leaving.clear();
    }

    /// A packet joins the queue at `now`.
    #[inline]
    pub(crate) fn join(&mut self, now: Time, wire: u16) -> Slot {
        let start = now.max(self.busy_until);
        let end = Time(start.0 + self.transmission.time(wire).0);
        self.busy_until = end;
        self.leaving.push(Leaving { at: end, wire });
        Slot { start, end }
    }

    /// The next packet whose last bit left before `now`: its size. At `now` itself packets arrive first and leave
    /// afterwards.
    #[inline]
    pub(crate) fn left(&mut self, now: Time) -> Option<u16> {
        let first = self.leaving.front().filter(|first| first.at < now)?;
        self.leaving.skip();
        Some(first.wire)
    }

    /// Fetches what the next packet needs.
    pub(crate) fn prefetch(&self) {
        self.leaving.prefetch_front();
        self.leaving.prefetch_back();
    }

    /// Packets that have joined and are not known to have left.
    pub(crate) fn len(&self) -> u64 {
        self.leaving.len() as u64
    }

    /// Packets, and their bytes, whose first bit has not left before `now`.
    pub(crate) fn waiting(&self, now: Time) -> (u64, u64) {
        let waits = |packet: &Leaving| packet.at.since(now) >= self.transmission.time(packet.wire);
        let waiting = self.leaving.iter().filter(|packet| packet.at >= now).filter(waits);
        waiting.fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
    }

    /// What the packets that are still here at `now` will hold from then on, in byte-picoseconds.
    pub(crate) fn byte_time_after(&self, now: Time) -> u128 {
        let rest = |packet: Leaving| u128::from(packet.wire) * u128::from(packet.at.since(now).0);
        self.leaving.iter().map(rest).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::MarkerSettings;
    use weft_core::Rate;

    #[test]
    fn packets_leave_one_after_the_other() {
        let marker = AnyMarker::new(&MarkerSettings::default(), Rate::from_gbps(10));
        let mut port = Foresight::new(Transmission::at(Rate::from_gbps(10)), marker);
        let slot = |start, end| Slot { start: Time(start), end: Time(end) };
        assert_eq!(port.join(Time(0), 100), slot(0, 80_000));
        assert_eq!(port.join(Time(50_000), 200), slot(80_000, 240_000));
        assert_eq!(port.left(Time(80_000)), None, "at one instant packets arrive before others leave");
        assert_eq!(port.waiting(Time(80_000)), (1, 200), "its first bit leaves now, not before");
        assert_eq!(port.waiting(Time(80_001)), (0, 0));
        assert_eq!(port.left(Time(80_001)), Some(100));
        assert_eq!(port.left(Time(80_001)), None);
        assert_eq!(port.join(Time(1_000_000), 100), slot(1_000_000, 1_080_000));
        assert_eq!(port.left(Time(2_000_000)), Some(200));
        assert_eq!(port.left(Time(2_000_000)), Some(100));
    }
}
