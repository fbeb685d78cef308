//! PIAS: a flow starts in the highest-priority class and is demoted by one at each threshold of bytes sent, so that
//! switches with strict priorities serve small flows first without knowing sizes (Bai et al., NSDI 2015, section 4).
//! The sender of a flow tags each packet; everything else is up to its transport.

use weft_core::{Bytes, Class, Span, Time, choice, settings};

choice! {
    /// What a sender counts.
    pub enum TagBy {
        /// The packet's position in the flow: a retransmitted packet keeps its class.
        Offset = "offset",
        /// All payload sent before, including retransmissions.
        Sent = "sent",
    }
}

settings! {
    /// PIAS.
    pub struct PiasSettings {
        /// Bytes, counted from its start, at which a flow is demoted to the next class: at most seven thresholds,
        /// ascending. Off unless given. Switches need one queue more than thresholds, and strict priority.
        thresholds: Vec<Bytes> = Vec::new(),
        /// What is counted.
        by: TagBy = TagBy::Offset,
        /// Counting starts again after this many bytes, as on a connection that carries messages of this size; absent: a flow is
        /// one message.
        message: Option<Bytes> = None,
        /// A flow idle for this long returns to the highest-priority class: on a long-lived connection, the next
        /// message; absent: never.
        reset_idle: Option<Span> = None,
        /// Consecutive time-outs after which a flow returns to the highest-priority class, against starvation;
        /// absent: never.
        reset_timeouts: Option<u32> = None,
    }
}

impl PiasSettings {
    /// Whether packets are tagged.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.thresholds.is_empty()
    }

    /// Whether the position of a packet alone decides its class.
    fn goes_by_position(&self) -> bool {
        let resets = self.reset_idle.is_some() || self.reset_timeouts.is_some();
        self.by == TagBy::Offset && self.message.is_none() && !resets
    }

    /// Number of classes used, starting with the flow's.
    #[must_use]
    pub fn classes(&self) -> u8 {
        self.thresholds.len().min(7) as u8 + 1
    }
}

/// A sender's state for tagging its packets.
#[derive(Clone, Debug)]
pub(crate) struct Tagger {
    /// All payload sent.
    sent: u64,
    /// Where counting starts.
    from: u64,
    last: Time,
    /// Number of thresholds passed by the last packet, which is rarely different for the next.
    passed: u8,
    /// Where only positions count: the first that has the class of the last packet, and how many follow it that have it too.
    known: (u64, u64),
    /// The class of the last packet.
    class: Class,
}

/// No position.
const NOWHERE: (u64, u64) = (u64::MAX, 0);

/// A packet about to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tagged {
    pub(crate) now: Time,
    /// Its position in the flow, and its payload.
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// Consecutive time-outs before it.
    pub(crate) timeouts: u32,
}

impl Tagger {
    pub(crate) fn new() -> Tagger {
        Tagger { sent: 0, from: 0, last: Time::NEVER, passed: 0, known: NOWHERE, class: Class(0) }
    }

    /// The class of a packet of a flow whose own class is `first`.
    pub(crate) fn class(&mut self, settings: &PiasSettings, first: Class, packet: Tagged) -> Class {
        let position = match settings.by {
            TagBy::Offset => packet.start,
            TagBy::Sent => self.sent,
        };
        let idle =
            settings.reset_idle.is_some_and(|idle| self.last != Time::NEVER && packet.now > self.last + idle);
        let starved = settings.reset_timeouts.is_some_and(|most| packet.timeouts >= most.max(1));
        if idle || starved {
            self.from = position;
        }
        self.sent += packet.length;
        self.last = packet.now;
        let counted = position.saturating_sub(self.from);
        // A message begins where it would without resets: one lasts until its message ends.
        let counted = settings.message.map_or(counted, |message| counted.min(position % message.0.max(1)));
        self.passed = passed(&settings.thresholds, counted, self.passed);
        self.class = Class((first.0 + self.passed).min(7));
        if settings.goes_by_position() {
            self.known = positions(&settings.thresholds, self.passed);
        }
        self.class
    }

    /// The class of the packet at a position, if it is that of the last packet and nothing else is counted.
    #[inline(always)]
    pub(crate) fn known(&self, start: u64) -> Option<Class> {
        let (first, more) = self.known;
        (start.wrapping_sub(first) <= more).then_some(self.class)
    }
}

/// The positions beyond the first `passed` thresholds and not beyond the next: the first, and how many follow it.
fn positions(thresholds: &[Bytes], passed: u8) -> (u64, u64) {
    let passed = usize::from(passed);
    let first = passed.checked_sub(1).map_or(0, |below| thresholds[below].0 + 1);
    let last = thresholds.get(passed).map_or(u64::MAX - 1, |next| next.0);
    (first, last - first)
}

/// The number of thresholds, which ascend, below `counted`; the search starts at a likely number.
#[inline]
fn passed(thresholds: &[Bytes], counted: u64, likely: u8) -> u8 {
    let lies_beyond = |number: usize| thresholds.get(number).is_some_and(|threshold| counted > threshold.0);
    let mut number = usize::from(likely);
    while lies_beyond(number) {
        number += 1;
    }
    while number > 0 && !lies_beyond(number - 1) {
        number -= 1;
    }
    number as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thresholds(by: TagBy) -> PiasSettings {
        PiasSettings { thresholds: vec![Bytes(20_000), Bytes(100_000)], by, ..PiasSettings::default() }
    }

    fn packet(start: u64, now: u64) -> Tagged {
        Tagged { now: Time(now), start, length: 1_000, timeouts: 0 }
    }

    #[test]
    fn a_flow_falls_when_it_has_sent_a_threshold() {
        let settings = thresholds(TagBy::Offset);
        let mut tagger = Tagger::new();
        let mut class = |start| tagger.class(&settings, Class(1), packet(start, 0)).0;
        assert_eq!([class(0), class(20_000), class(21_000), class(100_000), class(101_000)], [1, 1, 2, 2, 3]);
        assert_eq!(class(5_000), 1, "sent again, a packet has the class it had");
        let settings = thresholds(TagBy::Sent);
        let mut tagger = Tagger::new();
        let classes = (0..25).map(|_| tagger.class(&settings, Class(0), packet(0, 0)).0);
        assert_eq!(classes.filter(|class| *class == 0).count(), 21, "what is sent again counts");
    }

    /// What the last packet tells of others is what each of them would be told, at every threshold and around it; with anything else
    /// to count it tells nothing.
    #[test]
    fn a_known_class_is_the_class() {
        let settings = thresholds(TagBy::Offset);
        let starts = [0, 1, 19_999, 20_000, 20_001, 99_999, 100_000, 100_001, 1 << 40];
        for last in starts {
            let mut tagger = Tagger::new();
            assert_eq!(tagger.known(last), None, "nothing was sent yet");
            let class = tagger.class(&settings, Class(1), packet(last, 0));
            for start in starts {
                let own = Tagger::new().class(&settings, Class(1), packet(start, 0));
                assert_eq!(tagger.known(start), (own == class).then_some(own), "{start} after {last}");
            }
        }
        for more in [
            PiasSettings { message: Some(Bytes(50_000)), ..thresholds(TagBy::Offset) },
            PiasSettings { reset_idle: Some(Span(5)), ..thresholds(TagBy::Offset) },
            PiasSettings { reset_timeouts: Some(2), ..thresholds(TagBy::Offset) },
            thresholds(TagBy::Sent),
        ] {
            let mut tagger = Tagger::new();
            tagger.class(&more, Class(0), packet(0, 0));
            assert_eq!(tagger.known(0), None);
        }
    }

    #[test]
    fn whatever_is_likely_the_class_is_that_of_the_bytes() {
        let thresholds = [Bytes(10), Bytes(20), Bytes(20), Bytes(50)];
        for (counted, number) in [(0, 0), (10, 0), (11, 1), (20, 1), (21, 3), (50, 3), (51, 4)] {
            for likely in 0..=4 {
                assert_eq!(passed(&thresholds, counted, likely), number, "{counted} from {likely}");
            }
        }
    }

    #[test]
    fn every_message_begins_in_the_highest_class() {
        let settings = PiasSettings { message: Some(Bytes(50_000)), ..thresholds(TagBy::Offset) };
        let mut tagger = Tagger::new();
        let mut class = |start| tagger.class(&settings, Class(0), packet(start, 0)).0;
        assert_eq!([class(0), class(21_000), class(49_000), class(50_000), class(71_000)], [0, 1, 1, 0, 1]);
    }

    #[test]
    fn a_new_beginning_ends_with_its_message() {
        let settings = PiasSettings {
            message: Some(Bytes(50_000)),
            reset_timeouts: Some(1),
            ..thresholds(TagBy::Offset)
        };
        let mut tagger = Tagger::new();
        let mut class =
            |start, timeouts| tagger.class(&settings, Class(0), Tagged { timeouts, ..packet(start, 0) }).0;
        assert_eq!([class(25_000, 0), class(35_000, 1), class(49_000, 0)], [1, 0, 0]);
        assert_eq!([class(50_000, 0), class(70_000, 0), class(71_000, 0), class(100_000, 0)], [0, 0, 1, 0]);
    }

    #[test]
    fn a_pause_or_starvation_lets_a_flow_begin_anew() {
        let idle = Some(Span(500));
        let settings =
            PiasSettings { reset_idle: idle, reset_timeouts: Some(2), ..thresholds(TagBy::Offset) };
        let mut tagger = Tagger::new();
        assert_eq!(tagger.class(&settings, Class(0), packet(90_000, 0)).0, 1);
        assert_eq!(tagger.class(&settings, Class(0), packet(91_000, 500)).0, 1, "no longer than allowed");
        assert_eq!(tagger.class(&settings, Class(0), packet(92_000, 1_001)).0, 0);
        assert_eq!(tagger.class(&settings, Class(0), packet(113_000, 1_001)).0, 1, "counted from there");
        let starved = Tagged { timeouts: 2, ..packet(113_000, 1_001) };
        assert_eq!(tagger.class(&settings, Class(0), starved).0, 0);
    }
}
