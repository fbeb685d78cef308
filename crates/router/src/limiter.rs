//! A token bucket that limits packets that a router sends on its own initiative.

use weft_core::{Span, Time};

/// A bucket of tokens that fills at a steady rate.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    /// Time for one token.
    interval: Span,
    depth: Span,
    /// When the bucket would be full.
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket: `per_second` tokens per second, at most `burst` at once. A rate of zero gives no tokens.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> TokenBucket {
        let interval = Span(Span::from_s(1).0.checked_div(per_second.into()).unwrap_or(0));
        TokenBucket { interval, depth: Span(interval.0 * u64::from(burst)), full_at: Time::ZERO }
    }

    /// Takes a token, if there is one.
    pub fn take(&mut self, now: Time) -> bool {
        let full_at = self.full_at.max(now) + self.interval;
        let has = self.interval > Span::ZERO && full_at <= now + self.depth;
        if has {
            self.full_at = full_at;
        }
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut bucket = TokenBucket::new(100, 5);
        let mut taken = |ms: u64| (0..50).filter(|_| bucket.take(Time::ZERO + Span::from_ms(ms))).count();
        assert_eq!((taken(0), taken(9), taken(10), taken(30), taken(10_000)), (5, 0, 1, 2, 5));
        assert!(!TokenBucket::new(0, 5).take(Time::ZERO));
    }
}
