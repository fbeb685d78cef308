//! The state of one output of a fabric: its credits, and what is due when.

use std::collections::VecDeque;

use weft_core::{PacketId, Time};

use crate::credits::Credits;
use crate::key::VoqKey;

/// An event at an output.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    Request(VoqKey),
    Withdrawal(VoqKey),
    /// The next credit may be granted.
    Grant,
    Credit(VoqKey),
    /// A queue sends on the credit it has.
    Spending(VoqKey),
    Arrival {
        packet: PacketId,
        wire: u16,
        marked: bool,
    },
}

/// The state of one output.
pub(crate) struct Egress {
    pub(crate) credits: Credits,
    /// Events in order of time; at one instant, in the order in which they were caused.
    pub(crate) due: VecDeque<(Time, Due)>,
    /// When the owner will call; never, if it was not asked to.
    pub(crate) called: Time,
    /// Whether a grant is due.
    pub(crate) granting: bool,
    /// Bytes in the virtual output queues for this output.
    pub(crate) waiting: u64,
    /// Bytes of credits on their way, and of packets on their way across the fabric.
    pub(crate) under_way: u64,
    pub(crate) limit: u64,
}

impl Egress {
    pub(crate) fn new(credits: Credits, limit: u64) -> Egress {
        Egress {
            credits,
            due: VecDeque::new(),
            called: Time::NEVER,
            granting: false,
            waiting: 0,
            under_way: 0,
            limit,
        }
    }

    pub(crate) fn add(&mut self, at: Time, due: Due) {
        let position = self.due.partition_point(|(other, _)| *other <= at);
        self.due.insert(position, (at, due));
    }

    /// If any queue has a request, schedules a grant as soon as the interval allows.
    pub(crate) fn grant_soon(&mut self, now: Time) {
        if !self.granting && self.credits.is_wanted() {
            self.granting = true;
            let at = self.credits.next(now);
            self.add(at, Due::Grant);
        }
    }

    /// When the owner must call, if it must be asked to now.
    pub(crate) fn call(&mut self) -> Option<Time> {
        let first = self.due.front()?.0;
        (first < self.called).then(|| {
            self.called = first;
            first
        })
    }
}
