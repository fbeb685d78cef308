//! CoDel (RFC 8289) with ECN: marks when packets have waited too long for a whole interval.
//!
//! A packet that waits less than `target`, or leaves at most `least` bytes behind, ends an episode. Once packets have
//! waited longer for an `interval`, one is marked, then the n-th after another `interval / sqrt(n)`, until the
//! episode ends (sections 4.4 and 5.5). An episode that starts within 16 intervals of the last one resumes its rate.
//! The RFC's own numbers, for the Internet, are 5 ms and 100 ms. Decides at dequeue; if it drops a packet that cannot
//! be marked, it examines the next one immediately.

use weft_core::{Bytes, Random, Rate, Span, Time, settings};

use super::{Action, Marker, NonEct, Sight};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "marks increasingly often while packets wait longer than a target (CoDel, RFC 8289)";

settings! {
    /// CoDel with marks.
    pub struct CodelSettings {
        /// Waiting time that never leads to a mark (TARGET).
        target: Span = Span::from_us(50),
        /// How long packets may wait longer than `target` before one is marked (INTERVAL); about the longest round
        /// trip.
        interval: Span = Span::from_ms(1),
        /// A packet that leaves at most this many bytes behind is not marked: one full packet on the wire (maxpacket).
        least: Bytes = Bytes(1_538),
        /// What happens to packets that cannot be marked.
        non_ect: NonEct = NonEct::Drop,
    }
}

/// An episode that starts within this many intervals of the last one resumes its rate (section 5.5).
const MEMORY: u64 = 16;

/// CoDel with marks.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    least: u64,
    non_ect: NonEct,
    /// When waiting times will have been too long for an interval; `None` while they are not.
    long_at: Option<Time>,
    marking: bool,
    /// When the next mark is due.
    next: Time,
    /// Marks in this episode, and in the previous one.
    count: u32,
    last_count: u32,
}

impl Codel {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &CodelSettings, _line: Rate) -> Codel {
        Codel {
            target: settings.target,
            interval: settings.interval,
            least: settings.least.0,
            non_ect: settings.non_ect,
            long_at: None,
            marking: false,
            next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Whether packets have waited too long for an interval.
    fn too_long(&mut self, sight: &Sight<'_>) -> bool {
        let waited = sight.now.since(sight.packet.arrived);
        if waited < self.target || sight.queue <= self.least {
            self.long_at = None;
            return false;
        }
        let long_at = *self.long_at.get_or_insert(sight.now + self.interval);
        sight.now >= long_at
    }

    fn chooses(&mut self, sight: &Sight<'_>) -> bool {
        let too_long = self.too_long(sight);
        if !too_long {
            self.marking = false;
        } else if !self.marking {
            self.begin(sight.now);
        } else if sight.now >= self.next {
            self.count += 1;
            self.next = self.after(self.next);
        } else {
            return false;
        }
        too_long
    }

    fn begin(&mut self, now: Time) {
        let since_last = self.count - self.last_count;
        let recent = now.since(self.next) < self.interval * MEMORY;
        self.count = if recent && since_last > 1 { since_last } else { 1 };
        self.last_count = self.count;
        self.marking = true;
        self.next = self.after(now);
    }

    /// The control law: the next mark is due `interval / sqrt(count)` later.
    fn after(&self, time: Time) -> Time {
        time + Span::from_seconds_rounded(self.interval.seconds() / f64::from(self.count).sqrt())
    }
}

impl Marker for Codel {
    fn leaving(&mut self, sight: &Sight<'_>, _random: &mut Random) -> Action {
        if self.chooses(sight) { sight.chosen(self.non_ect) } else { Action::Pass }
    }

    fn looks_at_departures(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
