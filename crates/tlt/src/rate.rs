//! Marking for rate-based senders: the last packet of a message, the first of each retransmission, and one in every
//! `every` packets are important, so that a gap is detected within a round trip.

/// Marks the packets of a rate-based sender.
#[derive(Clone, Copy, Debug)]
pub struct RateMarker {
    every: u32,
    /// Packets since the last important one.
    since: u32,
    /// Whether the next packet starts a retransmission.
    begins: bool,
}

impl RateMarker {
    /// A marker that makes one in every `every` packets important.
    #[must_use]
    pub fn new(every: u32) -> RateMarker {
        RateMarker { every, since: 0, begins: false }
    }

    /// Records that a retransmission starts with the next packet.
    pub fn goes_back(&mut self) {
        self.begins = true;
    }

    /// Called when a packet is sent; `last` if it is the last of its message. Returns whether it is important.
    pub fn sends(&mut self, last: bool) -> bool {
        self.since += 1;
        let important = last || std::mem::take(&mut self.begins) || self.since >= self.every;
        if important {
            (self.since, self.begins) = (0, false);
        }
        important
    }
}
