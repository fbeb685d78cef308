//! Queue pairs as a stack: the ends at a host, and the state that its card keeps for all flows.

use std::sync::Arc;

use weft_core::segment::{Needs, Segment};
use weft_core::stack::{ClassSet, Classes, End, HostPart, Receiving, Sending, Sizes, Stack};
use weft_core::telemetry::Telemetry;
use weft_core::{
    Class, FlowSite, Header, InBand, PacketKind, Rate, ReceiverReport, SenderReport, Span, Time,
};

use crate::receiver::Feedback;
use crate::{QueuePairs, QueueReceiver, QueueSender};

/// A card that limits the congestion notifications of all its flows together.
#[derive(Clone, Copy, Debug)]
pub struct NotificationLimit {
    /// Minimum time between two notifications; zero: no common limit.
    interval: Span,
    quiet_until: Time,
}

impl HostPart for NotificationLimit {
    fn and(&mut self, other: NotificationLimit) {
        self.interval = self.interval.max(other.interval);
    }

    fn admits(&mut self, now: Time, kind: PacketKind) -> bool {
        let due = kind != PacketKind::Control || now >= self.quiet_until;
        if due && kind == PacketKind::Control {
            self.quiet_until = now + self.interval;
        }
        due
    }
}

impl End for QueueSender {
    type Body = Segment;
    type Host = NotificationLimit;

    #[inline]
    fn needs(&self) -> Needs {
        self.needs()
    }

    #[inline]
    fn on_packet(&mut self, now: Time, _header: &Header, body: &Segment) {
        self.on_packet(now, body);
    }

    #[inline]
    fn send(&mut self, now: Time, header: &mut Header, body: &mut Segment) {
        self.send(now, header, body);
    }

    #[inline]
    fn on_wakeup(&mut self, now: Time) {
        self.on_wakeup(now);
    }

    fn in_band(&self) -> InBand {
        if self.collects_reports() { InBand::Collecting(Telemetry::EMPTY) } else { InBand::NOTHING }
    }

    fn on_in_band(&mut self, _now: Time, carried: &InBand) {
        if let InBand::Reported(links) = carried {
            self.hear(links);
        }
    }
}

impl Sending for QueueSender {
    fn report(&self) -> SenderReport {
        self.report()
    }
}

impl End for QueueReceiver {
    type Body = Segment;
    type Host = NotificationLimit;

    #[inline]
    fn needs(&self) -> Needs {
        self.needs()
    }

    #[inline]
    fn on_packet(&mut self, now: Time, header: &Header, body: &Segment) {
        self.on_packet(now, header, body);
    }

    #[inline]
    fn send(&mut self, now: Time, header: &mut Header, body: &mut Segment) {
        self.send(now, header, body);
    }

    #[inline]
    fn on_wakeup(&mut self, now: Time) {
        self.on_wakeup(now);
    }

    fn in_band(&self) -> InBand {
        if let Feedback::Reports(links) = &self.feedback {
            InBand::Reported(**links)
        } else {
            InBand::NOTHING
        }
    }

    fn on_in_band(&mut self, _now: Time, carried: &InBand) {
        if let (Feedback::Reports(links), InBand::Collecting(collected)) = (&mut self.feedback, carried) {
            **links = *collected;
        }
    }
}

impl Receiving for QueueReceiver {
    fn completed(&self) -> Option<Time> {
        self.completed()
    }

    fn report(&self) -> ReceiverReport {
        self.report()
    }

    fn refused(&mut self) {
        self.notification_refused();
    }
}

impl Stack for QueuePairs {
    type Sender = QueueSender;
    type Receiver = QueueReceiver;

    fn sender(this: &Arc<QueuePairs>, site: &FlowSite, now: Time) -> QueueSender {
        QueueSender::new(this, site, now)
    }

    fn receiver(this: &Arc<QueuePairs>, site: &FlowSite) -> QueueReceiver {
        QueueReceiver::new(this, site)
    }

    fn host(&self, _line: Rate) -> NotificationLimit {
        NotificationLimit { interval: self.port_interval().unwrap_or(Span::ZERO), quiet_until: Time::ZERO }
    }

    fn sizes(&self) -> Sizes {
        self.settings.sizes()
    }

    /// Acknowledgements have their own class, congestion notifications the first.
    fn classes(&self, own: Option<Class>) -> Classes {
        let payload = own.unwrap_or(Class(self.settings.class as u8));
        Classes { sender: ClassSet::of(payload), receiver: ClassSet::of(self.ack_class()).and(Class(0)) }
    }

    fn reply_after_close(&self, _header: &Header, body: &Segment, now: Time) -> Option<(Header, Segment)> {
        self.reply_after_close(body, now).map(|out| (out.header(), out.segment))
    }

    fn arbiter(&self) -> Option<&'static str> {
        self.collects_reports().then_some("telemetry")
    }

    fn reads_marks(&self) -> bool {
        self.goes_by_marks()
    }

    fn goes_by_marks(&self) -> bool {
        self.goes_by_marks()
    }
}
