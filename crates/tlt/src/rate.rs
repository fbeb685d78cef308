//! Marking for rate-based senders: the last packet of a message, the first of each retransmission, and one in every
//! `every` packets are important, so that a gap is detected within a round trip. A window may close within fewer packets:
//! then the packet that closes it is important, unless another is still unacknowledged.

/// Marks the packets of a rate-based sender.
#[derive(Clone, Copy, Debug)]
pub struct RateMarker {
    every: u32,
    /// Packets since the last important one.
    since: u32,
    /// Whether the next packet starts a retransmission.
    begins: bool,
    /// The end of the last important packet.
    until: u64,
}

impl RateMarker {
    /// A marker that makes one in every `every` packets important.
    #[must_use]
    pub fn new(every: u32) -> RateMarker {
        RateMarker { every, since: 0, begins: false, until: 0 }
    }

    /// Records that a retransmission starts with the next packet.
    pub fn goes_back(&mut self) {
        self.begins = true;
    }

    /// Called when a packet with payload up to `end` is sent; `last` if it is the last of its message. Returns whether it
    /// is important.
    pub fn sends(&mut self, end: u64, last: bool) -> bool {
        self.since += 1;
        let important = last || self.begins || self.since >= self.every;
        if important {
            self.departs(end);
        }
        important
    }

    /// Called when the packet just sent, with payload up to `end`, is the last that may be sent for now; `una` is the first
    /// unacknowledged byte. Returns whether that makes it important.
    pub fn exhausted(&mut self, una: u64, end: u64) -> bool {
        let important = una >= self.until;
        if important {
            self.departs(end);
        }
        important
    }

    fn departs(&mut self, end: u64) {
        (self.since, self.begins, self.until) = (0, false, end);
    }
}
