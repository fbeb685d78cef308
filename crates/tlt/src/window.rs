//! Marking for window-based senders: while anything is in flight, exactly one important packet or its echo is.
//!
//! The echo of an important packet proves that everything sent before it has arrived or is lost, because packets of
//! one flow keep their order. So the sender keeps its unimportant bytes in two generations, those sent before the
//! important packet in flight and those sent since.

use std::ops::Range;

use crate::ranges::Ranges;
use crate::settings::Clocking;

/// The state of the important packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Important {
    /// None has been sent: the last packet of the first window will be the important one, unless the window closes before.
    First,
    /// The packet or its echo is in flight.
    InFlight,
    /// Its echo has arrived: the next packet will be important.
    Due,
}

/// Marks the packets of a window-based sender.
#[derive(Clone, Debug)]
pub struct WindowMarker {
    important: Important,
    /// Bytes sent before the last echo arrived, or before the important packet in flight.
    older: Ranges,
    /// Bytes sent since.
    recent: Ranges,
}

/// The range of bytes in flight.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    /// The first unacknowledged byte.
    pub una: u64,
    /// The first byte never sent.
    pub next: u64,
    /// Payload of a full packet.
    pub mss: u64,
}

impl Default for WindowMarker {
    fn default() -> WindowMarker {
        WindowMarker::new()
    }
}

impl WindowMarker {
    /// A marker for a sender that has sent nothing.
    #[must_use]
    pub fn new() -> WindowMarker {
        WindowMarker { important: Important::First, older: Ranges::default(), recent: Ranges::default() }
    }

    /// Called when payload is sent, for the first time or again. Returns whether it is important.
    pub fn sends(&mut self, bytes: Range<u64>) -> bool {
        self.older.remove(&bytes);
        self.recent.remove(&bytes);
        let important = self.important == Important::Due;
        if important {
            self.departs();
        } else {
            self.recent.add(bytes);
        }
        important
    }

    /// Called when the payload just sent is the last that may be sent for now. Returns whether that makes it
    /// important.
    pub fn exhausted(&mut self, bytes: &Range<u64>) -> bool {
        let important = self.important == Important::First;
        if important {
            self.recent.remove(bytes);
            self.departs();
        }
        important
    }

    /// Called when payload is in flight and nothing may be sent. Returns whether an important packet is due for that reason: the
    /// first window was closed, by a mark or a loss, before its last packet was sent.
    pub fn closed(&mut self) -> bool {
        let first = self.important == Important::First;
        if first {
            self.important = Important::Due;
        }
        first
    }

    /// Called when the important packet is sent: all bytes sent before it become older.
    fn departs(&mut self) {
        self.important = Important::InFlight;
        let before = std::mem::take(&mut self.recent);
        self.older.add_all(before);
    }

    /// Records that everything below `una` has arrived, and these bytes beyond it.
    pub fn arrived(&mut self, una: u64, beyond: impl Iterator<Item = (u64, u64)>) {
        let all = std::iter::once((0, una)).chain(beyond);
        for (start, end) in all {
            self.older.remove(&(start..end));
            self.recent.remove(&(start..end));
        }
    }

    /// Called when the echo of the important packet has arrived; its acknowledgement has already been passed to
    /// [`WindowMarker::arrived`]. Returns the bytes it proves lost.
    pub fn echoed(&mut self) -> Ranges {
        if self.important != Important::InFlight {
            return Ranges::default();
        }
        self.important = Important::Due;
        std::mem::replace(&mut self.older, std::mem::take(&mut self.recent))
    }

    /// Whether the next packet is important.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.important == Important::Due
    }

    /// The payload to send although the window is closed, so that an echo returns: bytes that are probably lost, or as
    /// few as possible. `None`: the important packet is in flight, or nothing is.
    #[must_use]
    pub fn forced(&self, clocking: Clocking, flight: InFlight) -> Option<Range<u64>> {
        let InFlight { una, next, mss } = flight;
        if !self.is_due() || una >= next {
            return None;
        }
        let segment = |from: Range<u64>| from.start..from.end.min(from.start + mss);
        Some(match (clocking, self.older.first()) {
            (Clocking::Byte, _) | (Clocking::Adaptive, None) => una..una + 1,
            (Clocking::Segment, None) => segment(una..next),
            (_, Some(likely)) => segment(likely),
        })
    }

    /// Called when the retransmission timer has expired: an important packet was lost, and the transport considers
    /// everything lost.
    pub fn timed_out(&mut self) {
        *self = WindowMarker { important: Important::Due, ..WindowMarker::new() };
    }
}
