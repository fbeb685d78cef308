//! The clock of a lab: the scenario's time, which runs slower than the machine's by the scale.

use std::time::Duration;

use weft_core::{Span, Time};
use weft_router::clock::RouterClock;

/// Real time before the scenario's time begins, for everything to get ready.
const LEAD: Span = Span::from_ms(100);

/// The scenario's time.
#[derive(Clone, Copy, Debug)]
pub struct LabClock {
    machine: RouterClock,
    scale: u64,
}

impl LabClock {
    /// A clock that shows zero for a moment and then runs `scale` times slower than the machine's.
    #[must_use]
    pub fn start(scale: u64) -> LabClock {
        LabClock { machine: RouterClock::start(), scale: scale.max(1) }
    }

    /// The scenario's time.
    #[must_use]
    pub fn now(&self) -> Time {
        let real = self.machine.now().since(Time::ZERO).0.saturating_sub(LEAD.0);
        Time::ZERO + Span(real / self.scale)
    }

    /// The real time until an instant of the scenario; zero if it has passed.
    #[must_use]
    pub fn until(&self, instant: Time) -> Duration {
        let real = u128::from(instant.0) * u128::from(self.scale) + u128::from(LEAD.0);
        let left = real.saturating_sub(u128::from(self.machine.now().0));
        Duration::from_nanos(u64::try_from(left.div_ceil(1_000)).unwrap_or(u64::MAX))
    }

    /// The real time that a span of the scenario takes.
    #[must_use]
    pub fn real(&self, span: Span) -> Span {
        Span(span.0.saturating_mul(self.scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_of_the_scenario_is_as_many_times_further_away_as_the_scale_says() {
        let clock = LabClock::start(100);
        assert_eq!(clock.now(), Time::ZERO);
        let second = clock.until(Time::ZERO + Span::from_s(1)).as_secs_f64();
        assert!((99.0..=100.2).contains(&second), "{second}");
        assert_eq!(clock.real(Span::from_us(3)), Span::from_us(300));
    }
}
