//! Proportional rate reduction (RFC 6937): during a reduction, packets leave in proportion to those delivered, so that
//! the flight shrinks to the new threshold within a round trip and the ACK clock never stops.

/// The counters of one reduction, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reduction {
    delivered: u64,
    sent: u64,
    flight_at_start: u64,
}

impl Reduction {
    /// Begins with `flight` bytes outstanding.
    pub(crate) fn new(flight: u64) -> Reduction {
        Reduction { delivered: 0, sent: 0, flight_at_start: flight.max(1) }
    }

    /// Nothing has left yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.sent == 0
    }

    /// A packet left.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// `newly` bytes were delivered and `pipe` are in flight: the window now. `first` makes room for at least one
    /// segment, because the first retransmission must not wait.
    pub(crate) fn window(&mut self, (newly, pipe): (u64, u64), ssthresh: u64, mss: u64, first: bool) -> u64 {
        self.delivered += newly;
        let allowed = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let wanted = share.div_ceil(u128::from(self.flight_at_start)) as u64;
            wanted.saturating_sub(self.sent)
        } else {
            let bound = self.delivered.saturating_sub(self.sent).max(newly) + mss;
            (ssthresh - pipe).min(bound)
        };
        pipe + if first { allowed.max(mss) } else { allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of ten segments is lost and the threshold is half: one leaves for every two delivered, until the flight is
    /// the threshold.
    #[test]
    fn the_flight_halves_in_step_with_deliveries() {
        let mut reduction = Reduction::new(10);
        let (mut pipe, mut left) = (9, 0);
        for delivery in 0..9 {
            pipe -= u64::from(delivery > 0);
            let window = reduction.window((1, pipe), 5, 1, delivery == 0);
            while pipe < window {
                pipe += 1;
                left += 1;
                reduction.sent(1);
            }
        }
        assert_eq!((left, pipe), (4, 5));
    }
}
