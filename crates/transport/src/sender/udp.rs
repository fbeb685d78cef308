//! Datagrams at a constant rate: each starts a fixed time after the one before; nothing is repeated, nobody answers.

use std::sync::Arc;

use weft_core::{Bytes, Class, Ecn, Kind, Rate, Time};

use crate::segment::{Flags, Outgoing, Segment, ports};
use crate::transport::{FlowSite, Transport};

/// The sender of a constant-rate flow.
pub struct UdpSender {
    transport: Arc<Transport>,
    site: FlowSite,
    rate: Rate,
    next: u64,
    /// The next datagram may start now or later.
    at: Time,
    /// It has to wait for `at`.
    waiting: bool,
}

impl UdpSender {
    pub(super) fn new(transport: &Arc<Transport>, site: &FlowSite, now: Time) -> UdpSender {
        let rate = transport.datagram_rate(site).unwrap_or(Rate(u64::MAX)).min(site.line_rate);
        UdpSender {
            transport: Arc::clone(transport),
            site: site.clone(),
            rate,
            next: 0,
            at: now,
            waiting: false,
        }
    }

    pub(super) fn ready(&self, now: Time) -> bool {
        !self.finished() && self.at <= now
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if !self.ready(now) {
            return None;
        }
        let len = self.transport.datagram_mss().min(self.site.size.0 - self.next);
        let last = self.next + len == self.site.size.0;
        let segment = Segment {
            sequence: self.next,
            sent: now,
            flow: self.site.flow,
            length: len as u16,
            flags: Flags::DATAGRAM.with_if(last, Flags::FIN),
            ..Segment::default()
        };
        self.next += len;
        self.at += self.rate.time_for(Bytes(len));
        self.waiting = self.at > now;
        Some(Outgoing {
            segment,
            wire: self.transport.datagram_wire(len),
            kind: Kind::Data,
            class: Class(0),
            ecn: Ecn::NotCapable,
            ports: ports(self.site.flow),
        })
    }

    pub(super) fn next_wakeup(&self) -> Time {
        if self.waiting && !self.finished() { self.at } else { Time::NEVER }
    }

    pub(super) fn on_wakeup(&mut self, now: Time) {
        self.waiting &= self.at > now;
    }

    pub(super) fn finished(&self) -> bool {
        self.next == self.site.size.0
    }
}
