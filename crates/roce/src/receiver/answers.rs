//! Pending answers: those that may leave, and those delayed on purpose (a card's time for a notification, and
//! jitter). Notifications go first. Must not depend on payload.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weft_core::segment::Flags;
use weft_core::{FlowSite, Purpose, Random, Span, Time};

use crate::flags;
use crate::queue_pairs::QueuePairs;

/// An acknowledgement, or a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) flags: Flags,
    pub(super) ack: u64,
    pub(super) echo: Time,
    /// The first byte that arrived beyond a gap,
    pub(super) start: u64,
    /// and how many; 0: none.
    pub(super) length: u16,
}

const NOTIFICATION: Answer =
    Answer { flags: Flags::ACK.with(flags::NOTIFICATION), ack: 0, echo: Time::ZERO, start: 0, length: 0 };

impl Answer {
    /// Whether a later answer makes it redundant.
    fn is_plain(&self) -> bool {
        !self.flags.has(flags::NEGATIVE) && !self.flags.has(flags::MEASURED) && !self.flags.has(flags::ECHO)
    }
}

/// Delayed answers: by the instant at which they may leave, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Late {
    due: Time,
    number: u64,
    answer: Answer,
}

impl Ord for Late {
    fn cmp(&self, other: &Late) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Late) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The answers of one receiver.
pub(super) struct Answers {
    /// Notifications that may leave.
    notifications: u32,
    /// The acknowledgement that leaves next.
    first: Option<Answer>,
    /// Acknowledgements behind it.
    more: VecDeque<Answer>,
    late: BinaryHeap<Reverse<Late>>,
    /// How many were late.
    number: u64,
    delay: Span,
    /// Jitter of notifications, and of acknowledgements.
    jitter: (Span, Span),
    random: Random,
}

impl Answers {
    pub(super) fn new(pairs: &QueuePairs, site: &FlowSite) -> Answers {
        Answers {
            notifications: 0,
            first: None,
            more: VecDeque::new(),
            late: BinaryHeap::new(),
            number: 0,
            delay: pairs.notification_delay(),
            jitter: pairs.jitter(),
            random: Random::new(site.seed, Purpose::Feedback, u64::from(site.flow.0)),
        }
    }

    /// Called when the sender must be notified of congestion.
    pub(super) fn notify(&mut self, now: Time) {
        let late = self.delay + self.drawn(self.jitter.0);
        self.leave(now, late, NOTIFICATION);
    }

    pub(super) fn add(&mut self, now: Time, answer: Answer) {
        let late = self.drawn(self.jitter.1);
        self.leave(now, late, answer);
    }

    /// A random time between zero and `most`.
    fn drawn(&mut self, most: Span) -> Span {
        if most == Span::ZERO { Span::ZERO } else { Span((most.0 as f64 * self.random.unit()) as u64) }
    }

    fn leave(&mut self, now: Time, late: Span, answer: Answer) {
        if late == Span::ZERO {
            return self.release(answer);
        }
        self.number += 1;
        self.late.push(Reverse(Late { due: now + late, number: self.number, answer }));
    }

    /// Called when an answer may leave. A plain one replaces an earlier plain one.
    fn release(&mut self, answer: Answer) {
        if answer.flags.has(flags::NOTIFICATION) {
            self.notifications += 1;
            return;
        }
        let last = if self.more.is_empty() { self.first.as_mut() } else { self.more.back_mut() };
        match last {
            None => self.first = Some(answer),
            Some(last) if last.is_plain() && last.ack <= answer.ack => *last = answer,
            Some(_) => self.more.push_back(answer),
        }
    }

    pub(super) fn on_time(&mut self, now: Time) {
        while let Some(Reverse(late)) = self.late.peek().copied().filter(|Reverse(late)| late.due <= now) {
            self.late.pop();
            self.release(late.answer);
        }
    }

    #[inline]
    pub(super) fn ready(&self) -> bool {
        self.notifications > 0 || self.first.is_some()
    }

    /// When the next delayed answer may leave.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.late.peek().map_or(Time::NEVER, |Reverse(late)| late.due)
    }

    /// Whether no acknowledgement remains, now or later. Notifications are irrelevant to a message that has arrived.
    #[inline]
    pub(super) fn nothing_left(&self) -> bool {
        self.first.is_none()
            && self.late.iter().all(|Reverse(late)| late.answer.flags.has(flags::NOTIFICATION))
    }

    /// The answer that leaves now; must not be called without one.
    pub(super) fn take(&mut self) -> Answer {
        if self.notifications > 0 {
            self.notifications -= 1;
            return NOTIFICATION;
        }
        let answer = self.first.take().expect("a receiver that is ready has an answer");
        self.first = self.more.pop_front();
        answer
    }
}
