//! Decides whether each domain of a run is simulated by its own thread or all by the first: whichever handles more
//! events per second. On a machine with other work, threads that wait for each other wait for whole time slices, and
//! one alone is faster. Affects speed only: the events of a domain between two meetings do not depend on the thread.

use std::time::Instant;

/// Number of meetings after which the slower way is tried again.
const LONG: u32 = 4_096;
/// Number of meetings for which each way is tried.
const TRIAL: u32 = 64;

/// The division of the domains among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Division {
    /// Each thread its own.
    Apart,
    /// The first thread simulates all of them, while the others sleep.
    Alone,
}

/// The speeds of both ways.
pub(super) struct Pace {
    pub(super) division: Division,
    /// Meetings left until the next decision.
    left: u32,
    /// Whether the current way is only on trial.
    trial: bool,
    began: Instant,
    events: u64,
    /// Events per second, when last measured: apart and alone.
    rates: [Option<f64>; 2],
}

impl Pace {
    /// Begins with one thread for each domain, if each has a core; otherwise one thread does all, and nothing else is tried.
    #[allow(clippy::disallowed_methods, reason = "time decides who does the work, never a result")]
    pub(super) fn new(cores_suffice: bool) -> Pace {
        let (division, left) =
            if cores_suffice { (Division::Apart, TRIAL) } else { (Division::Alone, u32::MAX) };
        Pace { division, left, trial: true, began: Instant::now(), events: 0, rates: [None; 2] }
    }

    /// A meeting is over, after this many events in all. Returns how to continue.
    #[inline]
    pub(super) fn next(&mut self, events: u64) -> Division {
        self.left -= 1;
        if self.left == 0 {
            self.decide(events);
        }
        self.division
    }

    #[cold]
    #[allow(clippy::disallowed_methods, reason = "time decides who does the work, never a result")]
    fn decide(&mut self, events: u64) {
        let now = Instant::now();
        let seconds = (now - self.began).as_secs_f64();
        self.rates[self.division as usize] = Some((events - self.events) as f64 / seconds.max(1e-9));
        (self.began, self.events) = (now, events);
        (self.division, self.trial) = chosen(self.division, self.trial, self.rates);
        self.left = if self.trial { TRIAL } else { LONG };
    }
}

/// How to continue after a stretch: the way that was not measured last is tried, then the faster one is kept for
/// longer.
fn chosen(division: Division, trial: bool, [apart, alone]: [Option<f64>; 2]) -> (Division, bool) {
    let other = match division {
        Division::Apart => Division::Alone,
        Division::Alone => Division::Apart,
    };
    match apart.zip(alone) {
        Some((apart, alone)) if trial => {
            (if alone > apart { Division::Alone } else { Division::Apart }, false)
        }
        _ => (other, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_tried_and_the_faster_one_is_kept() {
        use Division::{Alone, Apart};
        assert_eq!(chosen(Apart, true, [Some(2.0), None]), (Alone, true), "the other is not known yet");
        assert_eq!(chosen(Alone, true, [Some(2.0), Some(1.0)]), (Apart, false));
        assert_eq!(chosen(Apart, true, [Some(1.0), Some(2.0)]), (Alone, false));
        assert_eq!(chosen(Alone, false, [Some(1.0), Some(2.0)]), (Apart, true), "it may have changed");
    }
}
