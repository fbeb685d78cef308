//! The receive window that tunes itself, as in Linux (dynamic right-sizing: Fisk and Feng, Dynamic right-sizing in TCP, 2001;
//! `tcp_rcv_space_adjust`): twice the payload that the application took in a round trip, and more while that grows.
//!
//! The application takes payload as soon as it is in order. A round trip is the shortest time in which a whole window
//! arrived, as in Linux without time stamps. The window never shrinks. Must not depend on segments.

use weft_core::{Span, Time};

use crate::settings::AutotuneSettings;

/// Segments that the window has room for beyond twice the payload of a round trip.
const SPARE: u64 = 16;
/// Segments in the first round trip: the usual initial window.
const FIRST: u64 = 10;

/// A receive window that tunes itself.
#[derive(Clone, Debug)]
pub(super) struct TunedWindow {
    size: u64,
    most: u64,
    mss: u64,
    round_trip: Option<Span>,
    /// A round trip ends when everything below this has arrived, and began at this instant.
    lap: (u64, Time),
    /// Payload is counted from this byte and instant on.
    count: (u64, Time),
    /// The most payload taken in a round trip so far.
    taken: u64,
}

impl TunedWindow {
    /// The window of a connection, of which nothing has arrived.
    pub(super) fn new(settings: &AutotuneSettings, mss: u64) -> TunedWindow {
        let size = settings.initial.0.max(mss);
        TunedWindow {
            size,
            most: settings.max.0.max(size),
            mss,
            round_trip: None,
            lap: (0, Time::NEVER),
            count: (0, Time::NEVER),
            taken: size.min(FIRST * mss),
        }
    }

    /// What the receiver advertises.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Everything below `expected` has arrived by `now`.
    pub(super) fn arrived(&mut self, now: Time, expected: u64) {
        if self.count.1 == Time::NEVER {
            self.count = (0, now);
        }
        self.measure(now, expected);
        let lasted = |round_trip: Span| now.since(self.count.1) >= round_trip;
        if self.round_trip.is_some_and(lasted) {
            self.adjust(expected - self.count.0);
            self.count = (expected, now);
        }
    }

    /// Ends a round trip if its window has arrived.
    fn measure(&mut self, now: Time, expected: u64) {
        let (end, began) = self.lap;
        if began != Time::NEVER && expected < end {
            return;
        }
        if began != Time::NEVER {
            let took = now.since(began);
            self.round_trip = Some(self.round_trip.map_or(took, |least| least.min(took)));
        }
        self.lap = (expected + self.size, now);
    }

    /// The application has taken this much in a round trip.
    fn adjust(&mut self, taken: u64) {
        if taken > self.taken {
            let window = 2 * taken + SPARE * self.mss;
            let growth = u128::from(window) * u128::from(taken - self.taken) / u128::from(self.taken);
            let wanted = (u128::from(window) + 2 * growth).min(u128::from(self.most));
            self.size = self.size.max(wanted as u64);
            self.taken = taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Bytes;

    const MSS: u64 = 1_000;

    fn window(initial: u64, max: u64) -> TunedWindow {
        let settings = AutotuneSettings { initial: Bytes(initial), max: Bytes(max) };
        TunedWindow::new(&settings, MSS)
    }

    fn at(microseconds: u64) -> Time {
        Time::ZERO + Span::from_us(microseconds)
    }

    /// Rounds of 100 us, each with the window of the one before: Linux's rule, by hand.
    #[test]
    fn a_round_trip_with_more_payload_opens_the_window() {
        let mut window = window(20_000, 1_000_000);
        window.arrived(at(0), 1_000);
        window.arrived(at(100), 21_000);
        // 21 kB in 100 us, where 10 kB were expected: 2 x 21 + 16 kB = 58 kB, and 2 x 58 x 11/10 kB more.
        assert_eq!(window.size(), 58_000 + 2 * 63_800);
        window.arrived(at(150), 40_000);
        assert_eq!(window.size(), 185_600, "half a round trip says nothing");
        window.arrived(at(250), 222_000);
        assert_eq!(window.size(), 1_000_000, "and more than ever before opens it to the most allowed");
    }

    #[test]
    fn the_window_stays_where_payload_does_not_grow_and_never_shrinks() {
        let mut window = window(20_000, 1_000_000);
        let mut sizes = (0..50).map(|round| {
            window.arrived(at(100 * round), 20_000 * (round + 1));
            window.size()
        });
        let opened = sizes.nth(1).expect("fifty rounds");
        assert!(opened > 2 * 20_000 && opened < 1_000_000);
        assert!(sizes.all(|size| size == opened), "20 kB in every round trip");
        let mut last = opened;
        for step in 0..2_000 {
            window.arrived(at(5_000 + 10 * step), 1_000_000 + 100 * (step % 7) + 9_000 * step);
            assert!((last..=1_000_000).contains(&window.size()));
            last = window.size();
        }
        assert!(last > opened, "90 kB now");
    }
}
