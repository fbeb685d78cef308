//! Senders that go by a rate: the last packet of a message is important, the first of each retransmission, and one of every so
//! many, so that a gap shows within a round trip.

/// Marks the packets of a sender with a rate.
#[derive(Clone, Copy, Debug)]
pub struct RateMarker {
    every: u32,
    /// Packets since the last important one.
    since: u32,
    /// A retransmission begins with the next packet.
    begins: bool,
}

impl RateMarker {
    /// One of every so many packets is important.
    #[must_use]
    pub fn new(every: u32) -> RateMarker {
        RateMarker { every, since: 0, begins: false }
    }

    /// A retransmission begins with the next packet.
    pub fn goes_back(&mut self) {
        self.begins = true;
    }

    /// A packet goes, the `last` of its message or not. Whether it is important.
    pub fn sends(&mut self, last: bool) -> bool {
        self.since += 1;
        let important = last || std::mem::take(&mut self.begins) || self.since >= self.every;
        if important {
            (self.since, self.begins) = (0, false);
        }
        important
    }
}
