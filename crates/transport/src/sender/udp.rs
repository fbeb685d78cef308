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
        let own = transport.udp.as_ref().and_then(|udp| udp.rate);
        let rate = site.rate.or(own).unwrap_or(site.line_rate);
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
        let len = self.transport.mss().0.min(self.site.size.0 - self.next);
        let last = self.next + len == self.site.size.0;
        let segment = Segment {
            seq: self.next,
            sent: now,
            flow: self.site.flow,
            len: len as u16,
            flags: Flags::default().with(Flags::FIN, last),
            ..Segment::default()
        };
        self.next += len;
        self.at += self.rate.time_for(Bytes(len));
        self.waiting = self.at > now;
        Some(Outgoing {
            segment,
            wire: self.transport.wire(len),
            kind: Kind::Data,
            class: Class(0),
            ecn: Ecn::NotCapable,
            ports: ports(self.site.flow, false),
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
