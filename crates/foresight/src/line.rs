//! A port that serves one queue in order of arrival: the last bit of a packet leaves one transmission time after that
//! of the packet before it.

use weft_core::{Ring, Span, Time, Transmission};
use weft_mark::AnyMarker;

use crate::{Leaving, Slot, byte_time_after, to_start};

/// The future departures of one port, and past ones not yet released. The fields every packet touches come last.
#[repr(C)]
pub struct Foresight {
    /// Limit of the port's only queue.
    pub marker: AnyMarker,
    /// No marker is consulted about a packet while the port, including it, holds at most this many bytes.
    unmarked_up_to: u64,
    /// If the port is observed: when the last bit of the oldest unreleased packet leaves; never if there is none.
    oldest: Time,
    /// All but the newest.
    leaving: Ring<Leaving>,
    /// The transmitter is busy until then, when the last bit of the newest packet leaves.
    busy_until: Time,
    /// Neither sharing rule nor marker is consulted about a packet while the port, including it, holds at most this
    /// many bytes.
    calm_up_to: u64,
    transmission: Transmission,
    /// Whether an engine or the sharing rule reads the contents of the port.
    observed: bool,
    /// Size of the newest packet; zero if it has been released. Most packets find an idle port, as does the next one:
    /// they never enter the ring.
    newest: u16,
}

impl Foresight {
    /// Where the bytes that every packet touches begin; they extend to the end.
    pub const HOT_FROM: usize = std::mem::offset_of!(Foresight, leaving);

    /// An idle port of this link; a packet is admitted without a check if the port then holds at most `admits_up_to`
    /// bytes.
    pub fn new(transmission: Transmission, marker: AnyMarker, admits_up_to: u64) -> Foresight {
        let calm_up_to = marker.passes_up_to().min(admits_up_to);
        Foresight {
            leaving: Ring::new(),
            busy_until: Time::ZERO,
            calm_up_to,
            unmarked_up_to: marker.passes_up_to(),
            transmission,
            oldest: Time::NEVER,
            observed: false,
            newest: 0,
            marker,
        }
    }

    /// Whether neither sharing rule nor marker needs to be consulted about a packet if the port, including it, holds
    /// this many bytes.
    #[inline]
    pub fn is_calm(&self, bytes: u64) -> bool {
        bytes <= self.calm_up_to
    }

    /// Whether the marker must be consulted about a packet if the port, including it, holds this many bytes.
    #[inline]
    pub fn may_mark(&self, bytes: u64) -> bool {
        bytes > self.unmarked_up_to
    }

    /// Whether the port is empty at `now`.
    #[inline]
    pub fn all_have_left(&self, now: Time) -> bool {
        self.busy_until < now
    }

    /// Until when the transmitter is busy with the packets that have joined.
    #[inline]
    #[must_use]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Discards packets that have left.
    #[inline]
    pub fn clear(&mut self) {
        self.leaving.clear();
        self.newest = 0;
    }

    /// Called when a packet joins the queue at `now`.
    #[inline]
    pub fn join(&mut self, now: Time, wire: u16) -> Slot {
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

    /// Called when a packet joins an unobserved port that is empty at `now`.
    #[inline]
    pub fn join_idle(&mut self, now: Time, wire: u16) -> Slot {
        self.leaving.clear();
        let end = Time(now.0 + self.transmission.time(wire).0);
        (self.busy_until, self.newest) = (end, wire);
        Slot { start: now, end }
    }

    /// Whether the port is observed.
    #[inline]
    pub fn is_observed(&self) -> bool {
        self.observed
    }

    /// Sets whether the port is observed.
    pub fn observe(&mut self, observed: bool) {
        self.observed = observed;
        self.find_oldest();
    }

    /// Whether anything has left an observed port before `now` and is not yet released.
    #[inline]
    pub fn has_left(&self, now: Time) -> bool {
        self.oldest < now
    }

    /// Must be called after packets have been released.
    #[inline]
    pub fn find_oldest(&mut self) {
        let newest = if self.newest == 0 { Time::NEVER } else { self.busy_until };
        self.oldest = self.leaving.front().map_or(newest, |first| first.at);
    }

    /// The bytes of all packets whose last bit left before `now`, while the newest is still here. At `now` itself packets arrive
    /// first and leave afterwards.
    #[inline]
    pub fn bytes_left(&mut self, now: Time) -> u64 {
        let mut bytes = 0;
        while let Some(first) = self.leaving.pop_if(|first| first.at.0 < now.0) {
            bytes += u64::from(first.wire);
        }
        bytes
    }

    /// Removes all packets that left before `now`; returns their bytes.
    #[inline]
    pub fn all_bytes_left(&mut self, now: Time) -> u64 {
        let mut bytes = self.bytes_left(now);
        if self.all_have_left(now) {
            bytes += u64::from(std::mem::take(&mut self.newest));
        }
        self.find_oldest();
        bytes
    }

    /// All packets that have joined and are not known to have left, in order of departure.
    pub fn all(&self) -> impl Iterator<Item = Leaving> + '_ {
        let newest = Leaving { at: self.busy_until, wire: self.newest };
        self.leaving.iter().chain((self.newest != 0).then_some(newest))
    }

    /// Prefetches the memory that the next packet needs.
    pub fn prefetch(&self) {
        self.leaving.prefetch_front();
        self.leaving.prefetch_back();
    }

    /// Packets that have joined and are not known to have left.
    pub fn packets(&self) -> u64 {
        self.leaving.len() as u64 + u64::from(self.newest != 0)
    }

    /// The transmission time of a packet.
    pub fn time_of(&self, wire: u16) -> Span {
        self.transmission.time(wire)
    }

    /// Packets, and their bytes, whose first bit has not left before `now`.
    pub fn waiting(&self, now: Time) -> (u64, u64) {
        to_start(self.all(), &self.transmission, now)
    }

    /// The byte-picoseconds that the packets still here at `now` will add from then on.
    pub fn byte_time_after(&self, now: Time) -> u128 {
        byte_time_after(self.all(), now)
    }

    /// Of the packets that have not left before `after`: the bytes of the first, if its first bit has left (no
    /// other's can have), and the byte-picoseconds that all add from `now`.
    #[must_use]
    pub fn to_come(&self, (after, now): (Time, Time)) -> (u64, u128) {
        let mut packets = self.all();
        let rest = |packet: &Leaving| u128::from(packet.wire) * u128::from(packet.at.since(now).0);
        let Some(first) = packets.next() else { return (0, 0) };
        let waits = first.at.since(after) >= self.time_of(first.wire);
        let started = if waits { 0 } else { u64::from(first.wire) };
        (started, packets.fold(rest(&first), |sum, packet| sum + rest(&packet)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;
    use weft_mark::MarkerSettings;

    /// A packet of 1538 bytes takes three hours and a half at one bit per second: its byte-picoseconds exceed 64 bits.
    #[test]
    fn the_slowest_link_counts_what_waits() {
        let slowest = Rate(1);
        let marker = AnyMarker::new(&MarkerSettings::default(), slowest);
        let mut port = Foresight::new(Transmission::at(slowest), marker, 0);
        let Slot { end, .. } = port.join(Time(0), 1_538);
        port.join(Time(0), 1_538);
        let (_, rest) = port.to_come((Time(0), Time(0)));
        assert!(rest > u128::from(end.0) * 1_538 && rest > u128::from(u64::MAX), "{rest}");
    }

    #[test]
    fn packets_leave_one_after_the_other() {
        let marker = AnyMarker::new(&MarkerSettings::default(), Rate::from_gbps(10));
        let mut port = Foresight::new(Transmission::at(Rate::from_gbps(10)), marker, 0);
        let slot = |start, end| Slot { start: Time(start), end: Time(end) };
        assert_eq!(port.join(Time(0), 100), slot(0, 80_000));
        assert_eq!(port.join(Time(50_000), 200), slot(80_000, 240_000));
        assert_eq!(port.all_bytes_left(Time(80_000)), 0, "at one instant packets arrive before others leave");
        assert_eq!(port.waiting(Time(80_000)), (1, 200), "its first bit leaves now, not before");
        assert_eq!(port.waiting(Time(80_001)), (0, 0));
        assert_eq!(port.all_bytes_left(Time(80_001)), 100);
        assert_eq!(port.all_bytes_left(Time(80_001)), 0);
        assert_eq!(port.join(Time(1_000_000), 100), slot(1_000_000, 1_080_000));
        assert_eq!(port.all_bytes_left(Time(2_000_000)), 300);
    }
}
