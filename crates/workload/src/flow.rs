//! A flow to be carried. Must not depend on patterns or transports.

use weft_core::{Bytes, HostId, Rate, Span, Time};
use weft_jobs::Transfer;

/// A flow to be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// When the application starts it.
    pub start: Time,
    /// Payload.
    pub size: Bytes,
    /// For constant-rate senders, the payload rate; zero: as fast as the transport can.
    pub rate: Rate,
    /// Sender.
    pub source: HostId,
    /// Receiver, another host.
    pub destination: HostId,
    /// Index of its traffic entry.
    pub tag: u16,
    /// Its identifier in the flow file it was read from, or [`Flow::UNLISTED`].
    pub listed: u32,
    /// Its deadline, counted from its start; zero: none.
    pub deadline: Span,
    /// The last round trip of its connection, if that is open already; zero: it opens one.
    pub round_trip: Span,
    /// Whether its receiver has opened the connection, to fetch it.
    pub fetched: bool,
}

impl Flow {
    /// No flow file gave the flow an identifier.
    pub const UNLISTED: u32 = u32::MAX;

    /// A flow of a traffic entry, as fast as its transport can send, without deadline or identifier.
    #[must_use]
    pub fn new(tag: u16, start: Time, (source, destination): (HostId, HostId), size: Bytes) -> Flow {
        let (rate, listed, deadline, round_trip) = (Rate(0), Flow::UNLISTED, Span::ZERO, Span::ZERO);
        Flow { start, size, rate, source, destination, tag, listed, deadline, round_trip, fetched: false }
    }

    /// A transfer of a job that starts now.
    #[must_use]
    pub fn of_transfer(tag: u16, now: Time, transfer: &Transfer) -> Flow {
        Flow {
            round_trip: transfer.round_trip.unwrap_or_default(),
            fetched: transfer.fetched,
            ..Flow::new(tag, now, (transfer.from, transfer.to), transfer.size)
        }
    }

    /// Its identifier in the flow file it was read from, if that has one.
    #[must_use]
    pub fn listed_id(&self) -> Option<u32> {
        (self.listed != Flow::UNLISTED).then_some(self.listed)
    }

    /// Its deadline, counted from its start, if it has one.
    #[must_use]
    pub fn own_deadline(&self) -> Option<Span> {
        (self.deadline > Span::ZERO).then_some(self.deadline)
    }

    /// The last round trip of its connection, if that is already open.
    #[must_use]
    pub fn open_round_trip(&self) -> Option<Span> {
        (self.round_trip > Span::ZERO).then_some(self.round_trip)
    }

    /// The payload rate of a constant-rate sender.
    #[must_use]
    pub fn constant_rate(&self) -> Option<Rate> {
        (self.rate > Rate(0)).then_some(self.rate)
    }

    /// The total order in which flows are numbered.
    pub(crate) fn key(&self) -> (Time, u16, HostId, HostId, Bytes, Rate, u32) {
        (self.start, self.tag, self.source, self.destination, self.size, self.rate, self.listed)
    }
}
