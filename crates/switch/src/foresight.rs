//! Departures that are known when a packet arrives. A port that serves one queue in order of arrival, marks on arrival
//! and keeps its link needs no event for the end of a transmission: the last bit of a packet leaves one transmission
//! time after the packet before it. What has left is given back when somebody looks.
//!
//! Nothing else changes: the same packets are admitted, marked and sent at the same instants as by a port that is asked
//! for each packet. Must not depend on other ports.

use weft_core::{Ring, Time, Transmission};
use weft_mark::AnyMarker;

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
    /// All but the newest.
    leaving: Ring<Leaving>,
    /// The transmitter is busy until then: the last bit of the newest packet leaves.
    busy_until: Time,
    /// Packets with which the port holds at most so many bytes are neither refused nor the marker's business.
    calm_up_to: u64,
    transmission: Transmission,
    /// If the port is observed: the last bit of the oldest packet that has not been given back leaves; never, if there is none.
    oldest: Time,
    /// Somebody looks at what the port holds: an engine, or the rule of sharing.
    observed: bool,
    /// Size of the newest packet; zero if it has been given back. Most packets find an idle port, and the next one does too:
    /// they never enter the ring.
    newest: u16,
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
    /// An idle port of this line, which is refused nothing with which it holds at most so many bytes.
    pub(crate) fn new(transmission: Transmission, marker: AnyMarker, admits_up_to: u64) -> Foresight {
        let calm_up_to = marker.passes_up_to().min(admits_up_to);
        Foresight {
            leaving: Ring::new(),
            busy_until: Time::ZERO,
            calm_up_to,
            transmission,
            oldest: Time::NEVER,
            observed: false,
            newest: 0,
            marker,
        }
    }

    /// Whether neither the rule of sharing nor the marker need be asked about a packet with which the port holds so many bytes.
    #[inline]
    pub(crate) fn is_calm(&self, bytes: u64) -> bool {
        bytes <= self.calm_up_to
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
        self.newest = 0;
    }

    /// A packet joins the queue at `now`.
    #[inline]
    pub(crate) fn join(&mut self, now: Time, wire: u16) -> Slot {
        let start = now.max(self.busy_until);
        let end = Time(start.0 + self.transmission.time(wire).0);
        if self.newest == 0 {
            self.oldest = end;
        } else {
            self.leaving.push(Leaving { at: self.busy_until, wire: self.newest });
        }
        (self.busy_until, self.newest) = (end, wire);
        Slot { start, end }
    }

    /// Whether somebody looks at what the port holds.
    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        self.observed
    }

    /// Somebody looks at what the port holds from now on, or nobody does.
    pub(crate) fn observe(&mut self, observed: bool) {
        self.observed = observed;
        self.find_oldest();
    }

    /// Whether the last bit of anything has left an observed port before `now` that has not been given back.
    #[inline]
    pub(crate) fn has_left(&self, now: Time) -> bool {
        self.oldest < now
    }

    /// To be called when packets have been given back.
    #[inline]
    pub(crate) fn find_oldest(&mut self) {
        let newest = if self.newest == 0 { Time::NEVER } else { self.busy_until };
        self.oldest = self.leaving.front().map_or(newest, |first| first.at);
    }

    /// The next packet whose last bit left before `now`: its size. At `now` itself packets arrive first and leave
    /// afterwards.
    #[inline]
    pub(crate) fn left(&mut self, now: Time) -> Option<u16> {
        if let Some(first) = self.leaving.pop_if(|first| first.at < now) {
            return Some(first.wire);
        }
        let newest_left = self.leaving.is_empty() && self.busy_until < now && self.newest != 0;
        newest_left.then(|| std::mem::take(&mut self.newest))
    }

    /// The bytes of all packets of which that holds, while the newest is still here.
    #[inline]
    pub(crate) fn bytes_left(&mut self, now: Time) -> u64 {
        let mut bytes = 0;
        while let Some(first) = self.leaving.pop_if(|first| first.at < now) {
            bytes += u64::from(first.wire);
        }
        bytes
    }

    /// The same for all packets.
    #[inline]
    pub(crate) fn all_bytes_left(&mut self, now: Time) -> u64 {
        let mut bytes = self.bytes_left(now);
        if self.all_have_left(now) {
            bytes += u64::from(std::mem::take(&mut self.newest));
        }
        self.find_oldest();
        bytes
    }

    /// All that have joined and are not known to have left, the first to leave first.
    fn all(&self) -> impl Iterator<Item = Leaving> + '_ {
        let newest = Leaving { at: self.busy_until, wire: self.newest };
        self.leaving.iter().chain((self.newest != 0).then_some(newest))
    }

    /// Fetches what the next packet needs.
    pub(crate) fn prefetch(&self) {
        self.leaving.prefetch_front();
        self.leaving.prefetch_back();
    }

    /// Packets that have joined and are not known to have left.
    pub(crate) fn len(&self) -> u64 {
        self.leaving.len() as u64 + u64::from(self.newest != 0)
    }

    /// Packets, and their bytes, whose first bit has not left before `now`.
    pub(crate) fn waiting(&self, now: Time) -> (u64, u64) {
        let waits = |packet: &Leaving| packet.at.since(now) >= self.transmission.time(packet.wire);
        let waiting = self.all().filter(|packet| packet.at >= now).filter(waits);
        waiting.fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
    }

    /// What the packets that are still here at `now` will hold from then on, in byte-picoseconds.
    pub(crate) fn byte_time_after(&self, now: Time) -> u128 {
        let rest = |packet: Leaving| u128::from(packet.wire) * u128::from(packet.at.since(now).0);
        self.all().map(rest).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;
    use weft_mark::MarkerSettings;

    #[test]
    fn packets_leave_one_after_the_other() {
        let marker = AnyMarker::new(&MarkerSettings::default(), Rate::from_gbps(10));
        let mut port = Foresight::new(Transmission::at(Rate::from_gbps(10)), marker, 0);
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
