//! Which quantities a record holds. An engine that does not measure one leaves its fields empty and says so, so that
//! an empty field is not mistaken for zero.

/// What an engine may or may not measure. It always measures flows: sizes, starts, ends, payload delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Bytes and packets sent over links.
    Loads,
    /// Queue lengths: peaks, means, series, their spread over parallel ports.
    Queues,
    /// Waiting times by hop.
    Waits,
    /// Packets dropped.
    Drops,
    /// Packets marked, and congestion notifications.
    Marks,
    /// Senders' observations: last acknowledgements, retransmissions, time-outs and negative acknowledgements.
    Recovery,
    /// Reordering: duplicate acknowledgements, displacement, receive offload.
    Reordering,
    /// Pauses of priority flow control, and deadlocks.
    Pauses,
    /// Duplicate acknowledgements, which only some transports send.
    DuplicateAcks,
}

impl Quantity {
    /// All quantities, in their order.
    pub const ALL: [Quantity; 9] = [
        Quantity::Loads,
        Quantity::Queues,
        Quantity::Waits,
        Quantity::Drops,
        Quantity::Marks,
        Quantity::Recovery,
        Quantity::Reordering,
        Quantity::Pauses,
        Quantity::DuplicateAcks,
    ];

    /// The name, in texts and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Loads => "link loads",
            Quantity::Queues => "queue lengths",
            Quantity::Waits => "waiting times",
            Quantity::Drops => "drops",
            Quantity::Marks => "marks",
            Quantity::Recovery => "retransmissions",
            Quantity::Reordering => "reordering",
            Quantity::Pauses => "pauses",
            Quantity::DuplicateAcks => "duplicate ACKs",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// The quantities that an engine measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured(u16);

impl Measured {
    /// Everything.
    pub const ALL: Measured = Measured(u16::MAX);
    /// Flows alone.
    pub const FLOWS: Measured = Measured(0);

    /// These quantities and one more.
    #[must_use]
    pub const fn with(self, quantity: Quantity) -> Measured {
        Measured(self.0 | quantity.bit())
    }

    /// All of these except one.
    #[must_use]
    pub const fn without(self, quantity: Quantity) -> Measured {
        Measured(self.0 & !quantity.bit())
    }

    /// Whether a quantity is among them.
    #[must_use]
    pub const fn has(self, quantity: Quantity) -> bool {
        self.0 & quantity.bit() != 0
    }

    /// The quantities that are not.
    pub fn missing(self) -> impl Iterator<Item = Quantity> {
        Quantity::ALL.into_iter().filter(move |quantity| !self.has(*quantity))
    }
}

impl Default for Measured {
    fn default() -> Measured {
        Measured::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_and_what_is_missing_make_up_everything() {
        let some = Measured::FLOWS.with(Quantity::Loads).with(Quantity::Pauses);
        for quantity in Quantity::ALL {
            assert_ne!(some.has(quantity), some.missing().any(|missing| missing == quantity), "{quantity:?}");
            assert!(Measured::ALL.has(quantity) && !Measured::FLOWS.has(quantity));
        }
        assert_eq!(some.missing().count(), Quantity::ALL.len() - 2);
    }
}
