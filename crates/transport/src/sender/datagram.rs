//! Sends datagrams at a constant rate, clocked by the application: a busy network card does not slow it down, and
//! delayed datagrams are sent as soon as it is free. Nothing is ever retransmitted.

use weft_core::stack::{End, Frames, Sending};
use weft_core::{Bytes, Class, FlowId, Header, Marks, PacketKind, Rate, Span, Time};

use super::SenderReport;
use crate::FlowSite;
use crate::segment::{Flags, Needs, Segment, ports};

/// The sending end.
pub struct DatagramSender {
    frames: Frames,
    flow: FlowId,
    size: u64,
    class: Class,
    /// The first byte not yet sent.
    next: u64,
    /// When the application has the next datagram.
    due: Time,
    /// Whether that instant has passed, so that only the network card is awaited.
    awake: bool,
    /// Interval between full datagrams.
    interval: Span,
}

impl DatagramSender {
    pub(crate) fn new(frames: Frames, site: &FlowSite, rate: Rate, now: Time) -> DatagramSender {
        let full = Bytes(frames.mss);
        // As fast as the network card sends: no clock.
        let interval = if rate == Rate(u64::MAX) { Span::ZERO } else { rate.time_for(full) };
        let (flow, size, class) = (site.flow, site.size.0.max(1), site.class.unwrap_or(Class(0)));
        DatagramSender { frames, flow, size, class, next: 0, due: now, awake: true, interval }
    }
}

impl End for DatagramSender {
    type Body = Segment;
    type Host = ();

    /// Datagrams are never answered.
    fn on_packet(&mut self, _now: Time, _header: &Header, _body: &Segment) {}

    fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        let length = self.frames.mss.min(self.size - self.next);
        *segment = Segment {
            flow: self.flow,
            length: length as u16,
            flags: Flags::DATAGRAM,
            sequence: self.next,
            sent: now,
            ..Segment::default()
        };
        self.next += length;
        self.due += self.interval;
        self.awake = self.due <= now;
        header.ports = ports(self.flow);
        header.wire = self.frames.wire(length);
        (header.kind, header.class, header.marks) = (PacketKind::Data, self.class, Marks::default());
    }

    fn on_wakeup(&mut self, now: Time) {
        self.awake |= self.due <= now;
    }

    fn needs(&self) -> Needs {
        let complete = self.next == self.size;
        let wake = if complete || self.awake { Time::NEVER } else { self.due };
        Needs { wake, ready: !complete && self.awake, complete, done: complete, asks: false }
    }
}

impl Sending for DatagramSender {
    fn report(&self) -> SenderReport {
        let ssthresh = Bytes(u64::MAX);
        SenderReport { acknowledged: Bytes(self.next), ssthresh, ..SenderReport::default() }
    }
}
