//! Datagrams at a constant rate, from the application's clock: a late network card does not slow it down, what it missed
//! follows at once. Nothing is ever sent twice, whatever becomes of it.

use std::sync::Arc;

use weft_core::{Bytes, Class, FlowId, Header, Kind, Marks, Rate, Span, Time};

use super::SenderReport;
use crate::FlowSite;
use crate::segment::{Flags, Needs, Segment, ports};
use crate::transport::Transport;

/// The sending end.
pub(super) struct DatagramSender {
    transport: Arc<Transport>,
    flow: FlowId,
    size: u64,
    class: Class,
    /// The first byte not yet sent.
    next: u64,
    /// When the application has the next datagram.
    due: Time,
    /// That instant has passed: only the network card is waited for.
    awake: bool,
    /// Between full datagrams.
    interval: Span,
}

impl DatagramSender {
    pub(super) fn new(transport: &Arc<Transport>, site: &FlowSite, rate: Rate, now: Time) -> DatagramSender {
        let full = Bytes(transport.datagram_mss());
        // As fast as the network card sends: no clock.
        let interval = if rate == Rate(u64::MAX) { Span::ZERO } else { rate.time_for(full) };
        let transport = Arc::clone(transport);
        let (flow, size, class) = (site.flow, site.size.0.max(1), site.class.unwrap_or(Class(0)));
        DatagramSender { transport, flow, size, class, next: 0, due: now, awake: true, interval }
    }

    /// Sends the next datagram; there must be one.
    pub(super) fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        let length = self.transport.datagram_mss().min(self.size - self.next);
        let last = self.next + length == self.size;
        *segment = Segment {
            flow: self.flow,
            length: length as u16,
            flags: Flags::DATAGRAM.with_if(last, Flags::FIN),
            sequence: self.next,
            sent: now,
            ..Segment::default()
        };
        self.next += length;
        self.due += self.interval;
        self.awake = self.due <= now;
        header.ports = ports(self.flow);
        header.wire = self.transport.datagram_wire(length);
        (header.kind, header.class, header.marks) = (Kind::Data, self.class, Marks::default());
    }

    pub(super) fn on_wakeup(&mut self, now: Time) {
        self.awake |= self.due <= now;
    }

    pub(super) fn needs(&self) -> Needs {
        let complete = self.next == self.size;
        let wake = if complete || self.awake { Time::NEVER } else { self.due };
        Needs { wake, ready: !complete && self.awake, complete, done: complete }
    }

    pub(super) fn report(&self) -> SenderReport {
        let ssthresh = Bytes(u64::MAX);
        SenderReport { acknowledged: Bytes(self.next), ssthresh, ..SenderReport::default() }
    }
}
