//! When the application at the receiving end reads. It sleeps until something arrives, takes a random time to wake up,
//! then reads everything. Must not depend on segments.

use weft_core::{Purpose, Random, Span, Time};

use weft_core::FlowSite;

/// An application that reads.
#[derive(Debug)]
pub(super) struct Reading {
    /// Picoseconds.
    mean: f64,
    random: Random,
    /// When it reads; if in the past, it sleeps.
    next: Time,
}

impl Reading {
    /// An application that takes an exponentially distributed time of this mean to wake up.
    pub(super) fn new(mean: Span, site: &FlowSite) -> Reading {
        let random = Random::new(site.seed, Purpose::Reading, u64::from(site.flow.0));
        Reading { mean: mean.0 as f64, random, next: Time::ZERO }
    }

    /// Something arrives at `now`; returns when the application reads it.
    pub(super) fn when(&mut self, now: Time) -> Time {
        if self.next <= now {
            self.next = now + Span(self.random.exponential(self.mean) as u64);
        }
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_while_it_wakes_up_is_read_together() {
        let mut reading = Reading::new(Span::from_us(100), &FlowSite::default());
        let first = reading.when(Time(5));
        assert!(first >= Time(5));
        assert_eq!(reading.when(Time(first.0 - 1)), first);
        assert!(reading.when(first) > first, "it slept again");
    }

    #[test]
    fn it_needs_the_mean_time() {
        let mut reading = Reading::new(Span::from_us(100), &FlowSite::default());
        let waits = (1..=20_000).map(|n| Time::ZERO + Span::from_ms(10) * n);
        let total: f64 = waits.map(|now| reading.when(now).since(now).micros()).sum();
        // The standard deviation of the mean of 20 000 draws is 0.7 us.
        assert!((total / 20_000.0 - 100.0).abs() < 3.0, "{total}");
    }
}
