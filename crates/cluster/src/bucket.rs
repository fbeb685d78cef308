//! A token bucket in time: how much of the traffic for one output node may take the direct link.

use weft_core::{Bytes, Rate, Span, Time};

/// A bucket that fills at a rate and holds what the rate gives in `depth`.
#[derive(Clone, Copy, Debug)]
pub struct DirectBucket {
    rate: Rate,
    depth: Span,
    /// When the bucket is full again.
    full_at: Time,
}

impl DirectBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(rate: Rate, depth: Span) -> DirectBucket {
        DirectBucket { rate, depth, full_at: Time::ZERO }
    }

    /// Takes the tokens of a packet, if there are enough.
    #[inline]
    pub fn take(&mut self, now: Time, size: Bytes) -> bool {
        let full_at = self.full_at.max(now) + self.rate.time_for(size);
        let has = full_at <= now + self.depth;
        if has {
            self.full_at = full_at;
        }
        has
    }

    /// A packet goes direct whatever the bucket holds: takes the tokens that are there.
    #[inline]
    pub fn drain(&mut self, now: Time, size: Bytes) {
        let full_at = self.full_at.max(now) + self.rate.time_for(size);
        self.full_at = full_at.min(now + self.depth).max(self.full_at);
    }
}
