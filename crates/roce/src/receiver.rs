//! The receiving end of a queue pair: which packets are kept, what is delivered, and which answers result.
//! `receiver/answers.rs` sends them.

mod answers;

use std::sync::Arc;

use weft_core::bitmap::Bitmap;
use weft_core::order::ReorderCounts;
use weft_core::segment::{BlockCount, Flags, Needs, Segment};
use weft_core::telemetry::Telemetry;
use weft_core::{Bytes, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, ReceiverReport, Span, Time};
use weft_rate::notification::NotificationPoint;

use crate::flags;
use crate::queue_pairs::QueuePairs;

use self::answers::{Answer, Answers};

/// What happens to packets beyond a gap.
#[derive(Clone, Copy, Debug)]
enum Beyond {
    /// Dropped; the first one triggers an answer.
    Drop,
    /// Kept and reported.
    Name,
    /// Kept up to this many bytes, for this long.
    Hold { bytes: u64, time: Span },
}

/// What the sender learns of the path, besides what has arrived.
#[derive(Clone, Debug)]
pub(crate) enum Feedback {
    /// Nothing.
    None,
    /// That packets were marked, as notifications.
    Marks(NotificationPoint),
    /// What the links reported to the last packet: the next answer returns it.
    Reports(Box<Telemetry>),
}

impl Feedback {
    fn new(pairs: &QueuePairs) -> Feedback {
        match pairs.notification_point() {
            Some(point) => Feedback::Marks(point),
            None if pairs.collects_reports() => Feedback::Reports(Box::new(Telemetry::EMPTY)),
            None => Feedback::None,
        }
    }

    fn point(&mut self) -> Option<&mut NotificationPoint> {
        if let Feedback::Marks(point) = self { Some(point) } else { None }
    }
}

/// The receiving end of a queue pair.
pub struct QueueReceiver {
    pairs: Arc<QueuePairs>,
    flow: FlowId,
    size: u64,
    mss: u64,
    beyond: Beyond,
    /// The first byte that has not arrived in order.
    expected: u64,
    /// Packets kept beyond it.
    kept: Bitmap,
    /// When a negative acknowledgement may next request the expected packet; zero: none has.
    ask_from: Time,
    /// When the expected packet counts as missing, if it is awaited.
    missing_at: Time,
    /// In-order packets since the last acknowledgement.
    unanswered: u32,
    ack_every: u32,
    /// Whether TLT is in use: important packets are answered at once.
    tlt: bool,
    /// Flags of the answer to the current packet that report its importance.
    echo: Flags,
    pub(crate) feedback: Feedback,
    answers: Answers,
    completed: Option<Time>,
    order: ReorderCounts,
    marks: u32,
    nacks: u32,
    notifications: u32,
}

impl QueueReceiver {
    /// The receiver of a message whose first packet is about to be passed to it.
    #[must_use]
    pub fn new(pairs: &Arc<QueuePairs>, site: &FlowSite) -> QueueReceiver {
        let settings = &pairs.settings;
        let beyond = match (pairs.selective(), settings.reorder_buffer) {
            (true, _) => Beyond::Name,
            (false, None) => Beyond::Drop,
            (false, Some(bytes)) => Beyond::Hold { bytes: bytes.0, time: settings.reorder_timeout },
        };
        QueueReceiver {
            flow: site.flow,
            size: site.size.0.max(1),
            mss: pairs.mss(),
            beyond,
            expected: 0,
            kept: Bitmap::default(),
            ask_from: Time::ZERO,
            missing_at: Time::NEVER,
            unanswered: 0,
            ack_every: settings.ack_every,
            tlt: settings.tlt.is_some(),
            echo: Flags::default(),
            feedback: Feedback::new(pairs),
            answers: Answers::new(pairs, site),
            completed: None,
            order: ReorderCounts::default(),
            marks: 0,
            nacks: 0,
            notifications: 0,
            pairs: Arc::clone(pairs),
        }
    }

    /// Called when a packet of the flow arrives. Under TLT, an important packet is answered at once, with an echo.
    pub fn on_packet(&mut self, now: Time, header: &Header, segment: &Segment) {
        let important = self.tlt && header.kind == PacketKind::Data;
        if important {
            let forced = segment.flags.has(flags::FORCED);
            self.echo = flags::ECHO.with_if(forced, flags::FORCED_ECHO);
        }
        self.take(now, header.marks.ecn, segment);
        self.echo = Flags::default();
    }

    fn take(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        if segment.length == 0 {
            return self.answer(now, segment, Flags::default());
        }
        self.order.arrived(segment.end(), segment.flags.has(Flags::AGAIN), self.mss);
        if ecn == Ecn::Marked {
            self.marked(now);
        }
        if segment.sequence == self.expected {
            self.in_order(now, segment);
        } else if segment.sequence < self.expected {
            self.answer(now, segment, Flags::default());
        } else {
            self.out_of_order(now, segment);
        }
    }

    fn marked(&mut self, now: Time) {
        self.marks += 1;
        if self.feedback.point().is_some_and(|point| point.on_mark(now)) {
            self.answers.notify(now);
        }
    }

    /// Called when the expected packet arrives: delivers it, and any packets kept beyond it.
    fn in_order(&mut self, now: Time, segment: &Segment) {
        self.expected = segment.end();
        let jumped = self.deliver_kept();
        self.ask_from = Time::ZERO;
        self.wait_for_gap(now);
        if self.expected >= self.size {
            self.completed.get_or_insert(now);
        }
        self.unanswered += 1;
        let at_once = segment.flags.has(flags::REQUEST) || self.echo != Flags::default();
        if jumped || at_once || self.unanswered >= self.ack_every {
            self.answer(now, segment, Flags::default());
        }
    }

    /// Delivers kept packets that are now in order; returns whether there were any.
    fn deliver_kept(&mut self) -> bool {
        if !self.keeps_beyond() {
            return false;
        }
        let first = self.expected / self.mss;
        let next = self.kept.first_missing(first);
        self.kept.advance(next);
        self.expected = (next * self.mss).min(self.size).max(self.expected);
        next > first
    }

    /// Whether any packet beyond the expected one is kept.
    fn keeps_beyond(&self) -> bool {
        self.kept.top() > self.expected.div_ceil(self.mss)
    }

    /// If packets are kept beyond the expected one, starts its timer.
    fn wait_for_gap(&mut self, now: Time) {
        self.missing_at = match self.beyond {
            Beyond::Hold { time, .. } if self.keeps_beyond() => now + time,
            _ => Time::NEVER,
        };
    }

    fn out_of_order(&mut self, now: Time, segment: &Segment) {
        let asked = match self.beyond {
            Beyond::Drop => self.ask(now, segment.sent),
            Beyond::Name => {
                self.kept.insert(segment.sequence / self.mss);
                self.nacks += 1;
                self.answer(now, segment, flags::NEGATIVE);
                true
            }
            Beyond::Hold { bytes, .. } if segment.end() - self.expected > bytes => {
                self.ask(now, segment.sent)
            }
            Beyond::Hold { time, .. } => {
                self.kept.insert(segment.sequence / self.mss);
                if self.missing_at == Time::NEVER && self.ask_from == Time::ZERO {
                    self.missing_at = now + time;
                }
                false
            }
        };
        // TLT: the sender learns the fate of an important packet at once.
        if !asked && self.echo != Flags::default() {
            self.answer(now, segment, Flags::default());
        }
    }

    /// Requests the expected packet: once until it arrives, or again after each interval. Returns whether it did.
    fn ask(&mut self, now: Time, echo: Time) -> bool {
        self.missing_at = Time::NEVER;
        let due = now >= self.ask_from;
        if due {
            self.ask_from = self.pairs.settings.nack_every.map_or(Time::NEVER, |every| now + every);
            self.nacks += 1;
            let flags = Flags::ACK.with(flags::NEGATIVE).with(Flags::AGAIN);
            self.answers.add(now, Answer { flags, ack: self.expected, echo, start: 0, length: 0 });
        }
        due
    }

    /// Answers a packet.
    fn answer(&mut self, now: Time, segment: &Segment, more: Flags) {
        self.unanswered = 0;
        let flags = Flags::ACK
            .with(more)
            .with(self.echo)
            .with_if(segment.flags.has(Flags::AGAIN), Flags::AGAIN)
            .with_if(segment.flags.has(flags::MEASURED), flags::MEASURED);
        let names = more.has(flags::NEGATIVE);
        let (start, length) = if names { (segment.sequence, segment.length) } else { (0, 0) };
        self.answers.add(now, Answer { flags, ack: self.expected, echo: segment.sent, start, length });
    }

    /// Called when the clock reaches an instant; does nothing if called early.
    pub fn on_wakeup(&mut self, now: Time) {
        if self.feedback.point().is_some_and(|point| point.on_time(now)) {
            self.answers.notify(now);
        }
        if self.missing_at <= now {
            self.ask(now, now);
        }
        self.answers.on_time(now);
    }

    /// The receiver's current needs.
    #[must_use]
    #[inline]
    pub fn needs(&self) -> Needs {
        let due = if let Feedback::Marks(point) = &self.feedback { point.due() } else { Time::NEVER };
        let complete = self.completed.is_some();
        let ready = self.answers.ready();
        Needs {
            wake: due.min(self.missing_at).min(self.answers.due()),
            ready,
            complete,
            done: complete && self.answers.nothing_left(),
            asks: false,
        }
    }

    /// Writes the next answer; [`Needs::ready`] must hold.
    pub fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        let answer = self.answers.take();
        let notification = answer.flags.has(flags::NOTIFICATION);
        *segment = Segment {
            flow: self.flow,
            flags: answer.flags,
            ack: answer.ack,
            sent: now,
            echo: answer.echo,
            ..Segment::default()
        };
        if answer.length > 0 {
            segment.blocks_used = BlockCount::One;
            segment.blocks[0].offset = (answer.start - answer.ack) as u32;
            segment.blocks[0].length = u32::from(answer.length);
        }
        header.ports = weft_core::segment::reverse_ports(self.flow);
        header.marks = Marks { ecn: Ecn::NotCapable };
        (header.wire, header.kind, header.class) = if notification {
            self.notifications += 1;
            (self.pairs.notification_wire(), PacketKind::Control, weft_core::Class(0))
        } else {
            (self.pairs.ack_wire(), PacketKind::Ack, self.pairs.ack_class())
        };
    }

    /// The card did not send the notification just written.
    pub(crate) fn notification_refused(&mut self) {
        self.notifications -= 1;
    }

    /// When the last byte was delivered.
    #[must_use]
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }

    /// Counts.
    #[must_use]
    pub fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered: Bytes(self.expected),
            completed: self.completed,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            displaced: self.order.displaced.into(),
            notifications: self.notifications,
            nacks: self.nacks,
            ecn_marks: self.marks,
            ..ReceiverReport::default()
        }
    }
}
