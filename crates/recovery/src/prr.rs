//! Proportional rate reduction (RFC 6937): during recovery the window follows deliveries, so that it reaches its
//! target at the end of the round trip without a pause or a burst. Below the target it grows quickly only after an acknowledgement
//! of progress without new losses, as in Linux and RFC 9937.

/// One recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduction {
    /// Payload delivered since it started (prr_delivered).
    delivered: u64,
    /// Payload sent since it started (prr_out).
    out: u64,
    /// Payload in flight when it started (RecoverFS).
    flight: u64,
}

/// The report of an acknowledgement to a recovery.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Payload it delivers (DeliveredData).
    pub bytes: u64,
    /// Payload in flight afterwards (pipe).
    pub pipe: u64,
    /// It advances the cumulative acknowledgement and reports no loss, so that the window may grow quickly.
    pub clean: bool,
}

impl Reduction {
    /// Starts a recovery with `flight` bytes of payload in flight.
    #[must_use]
    #[inline]
    pub const fn new(flight: u64) -> Reduction {
        Reduction { delivered: 0, out: 0, flight }
    }

    /// Payload was sent.
    #[inline]
    pub const fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// The window after an acknowledgement. At least one segment goes out when recovery begins.
    #[inline]
    pub fn window(&mut self, delivery: &Delivery, ssthresh: u64, mss: u64) -> u64 {
        self.delivered += delivery.bytes;
        let due = if delivery.pipe > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.flight.max(1)).saturating_sub(self.out)
        } else {
            let owed = self.delivered.saturating_sub(self.out).max(delivery.bytes);
            (owed + if delivery.clean { mss } else { 0 }).min(ssthresh - delivery.pipe)
        };
        delivery.pipe + if self.out == 0 { due.max(mss) } else { due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Segments sent in a round trip that begins with `flight` segments, `lost` of them lost, and the flight
    /// afterwards.
    fn recover(flight: u64, lost: u64, ssthresh: u64) -> (u64, u64) {
        let mut reduction = Reduction::new(flight * MSS);
        let (mut pipe, mut sent) = ((flight - lost) * MSS, 0);
        for _ in lost..flight {
            pipe -= MSS;
            let delivery = Delivery { bytes: MSS, pipe, clean: false };
            let window = reduction.window(&delivery, ssthresh * MSS, MSS);
            while pipe + MSS <= window {
                pipe += MSS;
                sent += 1;
                reduction.sent(MSS);
            }
        }
        (sent, pipe / MSS)
    }

    #[test]
    fn one_loss_sends_for_every_second_segment_that_arrives() {
        let (sent, pipe) = recover(20, 1, 10);
        assert!((9..=10).contains(&sent), "sent {sent}");
        assert!((9..=10).contains(&pipe), "in flight {pipe}");
    }

    #[test]
    fn after_heavy_loss_packets_are_conserved() {
        // 5 of 20 are left; each that arrives lets one out, so the flight stays at 5 although the target is 10.
        assert_eq!(recover(20, 15, 10), (5, 5));
    }

    #[test]
    fn an_acknowledgement_of_progress_regains_the_target_as_fast_as_slow_start() {
        let mut reduction = Reduction::new(20 * MSS);
        reduction.sent(MSS);
        let delivery = Delivery { bytes: MSS, pipe: 4 * MSS, clean: true };
        assert_eq!(reduction.window(&delivery, 10 * MSS, MSS), 6 * MSS);
    }
}
