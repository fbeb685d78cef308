//! How a sender adapts to reordering: it learns how far packets overtake each other and waits longer before declaring a
//! loss, and it detects spurious recoveries.
//!
//! *Sources*: E. Blanton, M. Allman: On Making TCP More Robust to Packet Reordering (CCR 2002); duplicates reported
//! by DSACK (RFC 2883) as proof (RFC 3708), the response that restores the window (RFC 4015, section 3.2).

/// The number of duplicate acknowledgements that indicate a loss, adapted to a network that reorders.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    least: u32,
    /// Upper limit of the threshold.
    most: u32,
    now: u32,
}

impl Patience {
    /// `most` absent: the threshold stays at `least`.
    #[inline]
    pub fn new(least: u32, most: Option<u32>) -> Patience {
        Patience { least, most: most.unwrap_or(least).max(least), now: least }
    }

    /// The threshold.
    #[inline]
    pub const fn threshold(&self) -> u32 {
        self.now
    }

    /// Called when a packet arrived after later ones; the last of these ends `extent` bytes after its first byte.
    #[inline]
    pub fn overtaken(&mut self, extent: u64, mss: u64) {
        let segments = u32::try_from(extent.div_ceil(mss)).unwrap_or(u32::MAX);
        self.now = segments.clamp(self.now, self.most);
    }

    /// Called at a time-out: resets the threshold, because a higher one may have hidden a loss.
    #[inline]
    pub const fn forget(&mut self) {
        self.now = self.least;
    }
}

/// A recovery that may prove spurious.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// Window before it.
    pub cwnd: u64,
    /// Threshold before it.
    pub ssthresh: u64,
    /// Retransmissions are at or above this byte.
    from: u64,
    /// Retransmitted packets not yet proved spurious.
    doubtful: u32,
    proofs: u32,
    /// How far retransmitted packets had been overtaken when their first copies arrived.
    pub extent: u64,
}

impl Undo {
    /// Starts a recovery, with everything below `una` acknowledged.
    #[inline]
    pub const fn new(una: u64, cwnd: u64, ssthresh: u64) -> Undo {
        Undo { cwnd, ssthresh, from: una, doubtful: 0, proofs: 0, extent: 0 }
    }

    /// A packet is retransmitted.
    #[inline]
    pub const fn sent_again(&mut self) {
        self.doubtful += 1;
    }

    /// Called when a packet starting at `start` arrived again.
    #[inline]
    pub fn duplicate(&mut self, start: u64) {
        if start >= self.from && self.doubtful > 0 {
            self.doubtful -= 1;
            self.proofs += 1;
        }
    }

    /// Whether every retransmitted packet had already arrived.
    #[inline]
    pub const fn is_proved(&self) -> bool {
        self.doubtful == 0 && self.proofs > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_to_the_longest_overtaking_and_no_further_than_allowed() {
        let mut patience = Patience::new(3, Some(10));
        let mut after = |extent| {
            patience.overtaken(extent, 1000);
            patience.threshold()
        };
        assert_eq!([2_000, 5_001, 4_000, 90_000].map(&mut after), [3, 6, 6, 10]);
        patience.forget();
        assert_eq!(patience.threshold(), 3);
    }

    #[test]
    fn without_a_limit_patience_stays() {
        let mut patience = Patience::new(3, None);
        patience.overtaken(90_000, 1000);
        assert_eq!(patience.threshold(), 3);
    }

    #[test]
    fn a_recovery_was_for_nothing_when_each_packet_sent_again_came_twice() {
        let mut undo = Undo::new(10, 8, 4);
        assert!(!undo.is_proved(), "nothing was sent again");
        undo.sent_again();
        undo.sent_again();
        undo.duplicate(11);
        undo.duplicate(9);
        assert!(!undo.is_proved(), "one from before the recovery does not count");
        undo.duplicate(12);
        assert!(undo.is_proved());
    }
}
