//! The state of one output of a fabric: its credits and pending events.

use weft_core::{PacketId, Ring, Span, Time};

use crate::credits::Credits;
use crate::key::VoqKey;

/// An event at an output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Due {
    Request(VoqKey),
    Withdrawal(VoqKey),
    /// The next credit may be granted.
    #[default]
    Grant,
    Credit(VoqKey),
    /// A queue sends on the credit it has.
    Spending(VoqKey),
}

/// A packet on its way across the fabric.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketCrossing {
    pub(crate) at: Time,
    pub(crate) packet: PacketId,
    pub(crate) wire: u16,
    pub(crate) marked: bool,
    /// Its class is behind a shaper of its own.
    pub(crate) shaped: bool,
}

/// Bytes that an output accounts for: of classes that only the line slows down, and of classes behind a shaper of their own.
/// Neither part takes credit from the other.
pub type ByShaping = [u64; 2];

/// The state of one output.
pub(crate) struct Egress {
    pub(crate) credits: Credits,
    /// Events in order of time; at one instant, in the order in which they were caused.
    pub(crate) due: Ring<(Time, Due)>,
    /// Packets in order of arrival; at one instant, in the order in which they were sent.
    pub(crate) crossing: Ring<PacketCrossing>,
    /// When the owner will call; never if it was not asked to.
    pub(crate) called: Time,
    /// Whether a grant is due.
    pub(crate) granting: bool,
    /// Bytes in the virtual output queues for this output.
    pub(crate) waiting: u64,
    /// Packets in those queues that are in deep memory.
    pub(crate) deep: usize,
    /// Bytes of credits on their way, and of packets on their way across the fabric.
    under_way: ByShaping,
    /// Bit c: class c is behind a shaper that does not slow down all classes.
    pub(crate) shaped: u8,
    pub(crate) limit: u64,
    /// With foreseen departures: up to this many waiting bytes, including the new packet, no limit or marker needs
    /// asking, and the packet stays on the chip.
    pub(crate) calm_up_to: u64,
    /// If the owner foresees departures: the least time from a grant to an arrival, and from a credit.
    patience: Option<(Span, Span)>,
}

impl Egress {
    pub(crate) fn new(credits: Credits, limit: u64) -> Egress {
        Egress {
            credits,
            due: Ring::new(),
            crossing: Ring::new(),
            called: Time::NEVER,
            granting: false,
            waiting: 0,
            deep: 0,
            under_way: [0; 2],
            shaped: 0,
            limit,
            calm_up_to: 0,
            patience: None,
        }
    }

    /// Processes events late from now on, but early enough for every arriving packet that can be sent.
    pub(crate) fn foresee(&mut self, credit_delay: Span, crossing: Span) {
        self.patience = Some((credit_delay + crossing, crossing));
    }

    /// Whether events are processed late.
    pub(crate) fn foresees(&self) -> bool {
        self.patience.is_some()
    }

    /// Whether a packet with credit can pass: no limit or marker needs asking, no event is pending, and no packet has
    /// still to be handed over.
    #[inline]
    pub(crate) fn is_calm(&self, now: Time, wire: u16) -> bool {
        self.waiting + u64::from(wire) <= self.calm_up_to
            && self.crossing.is_empty()
            && self.due.front().is_none_or(|(at, _)| at >= now)
    }

    pub(crate) fn add(&mut self, at: Time, due: Due) {
        self.due.insert((at, due), |(at, _)| *at);
    }

    pub(crate) fn cross(&mut self, packet: PacketCrossing) {
        self.crossing.insert(packet, |packet| packet.at);
    }

    /// The next packet that has crossed by an instant.
    #[inline]
    pub(crate) fn arrive(&mut self, until: Time) -> Option<PacketCrossing> {
        let crossed = self.crossing.pop_if(|first| first.at <= until)?;
        self.under_way[usize::from(crossed.shaped)] -= u64::from(crossed.wire);
        Some(crossed)
    }

    /// Whether a class is behind a shaper that does not slow down all classes.
    #[inline]
    pub(crate) fn is_shaped(&self, class: u8) -> bool {
        self.shaped >> class & 1 == 1
    }

    /// Bytes of a credit or of a packet for a class are under way.
    #[inline]
    pub(crate) fn add_under_way(&mut self, class: u8, bytes: u64) {
        self.under_way[usize::from(self.is_shaped(class))] += bytes;
    }

    /// A credit for a class has reached its queue.
    #[inline]
    pub(crate) fn credit_arrived(&mut self, class: u8, bytes: u64) {
        self.under_way[usize::from(self.is_shaped(class))] -= bytes;
    }

    /// The classes that may get credit, as bits, if the output accounts for at most `limit` bytes of either part and holds
    /// `behind` already.
    #[inline]
    pub(crate) fn open_classes(&self, behind: ByShaping, limit: u64) -> u8 {
        let has_room = |part: usize| behind[part] + self.under_way[part] < limit;
        let open = if has_room(0) { !self.shaped } else { 0 };
        if self.shaped != 0 && has_room(1) { open | self.shaped } else { open }
    }

    /// If any queue has a request, schedules a grant as soon as the interval allows.
    pub(crate) fn grant_soon(&mut self, now: Time) {
        if !self.granting && self.credits.requests() > 0 {
            self.granting = true;
            let at = self.credits.next(now);
            self.add(at, Due::Grant);
        }
    }

    /// Whether a grant would be the next event, now.
    #[inline]
    pub(crate) fn may_grant_at_once(&self, now: Time) -> bool {
        !self.granting && self.credits.next(now) == now && self.due.front().is_none_or(|(at, _)| at > now)
    }

    /// When the owner, whose transmitter is busy until `free`, must call; `None` if it need not be asked now.
    pub(crate) fn call(&mut self, free: Time) -> Option<Time> {
        let first = self.deadline(free);
        (first < self.called).then(|| {
            self.called = first;
            first
        })
    }

    /// Latest time to process the next event. Packets that arrive before `free` cannot be sent until then, so they
    /// need not be known earlier. Packets in deep memory share its channel with those of other outputs, so the order
    /// of all events decides then.
    fn deadline(&self, free: Time) -> Time {
        let arrival = self.crossing.front().map_or(Time::NEVER, |first| first.at.max(free));
        match self.patience.filter(|_| self.deep == 0) {
            None => self.due.front().map_or(arrival, |(at, _)| arrival.min(at)),
            Some(patience) => self.last_call(arrival, patience).max(free),
        }
    }

    /// The earliest arrival to which an event can lead, if that is before `arrival`. A grant without a request leads
    /// to no arrival; neither does a request whose grant is already due.
    fn last_call(&self, arrival: Time, (from_grant, from_credit): (Span, Span)) -> Time {
        let (mut last, mut requests, mut granting) = (arrival, self.credits.requests(), self.granting);
        for (at, due) in self.due.iter() {
            if at >= last {
                break;
            }
            last = last.min(match due {
                Due::Request(_) if granting => Time::NEVER,
                Due::Request(_) => self.credits.next(at) + from_grant,
                Due::Grant if requests > 0 => at + from_grant,
                Due::Credit(_) | Due::Spending(_) => at + from_credit,
                Due::Grant | Due::Withdrawal(_) => Time::NEVER,
            });
            match due {
                Due::Request(_) => requests += 1,
                Due::Withdrawal(_) => requests -= 1,
                Due::Grant => granting &= requests > 0,
                Due::Credit(_) | Due::Spending(_) => {}
            }
        }
        last
    }
}
