//! When the next packet may be sent, by the rate law: packet by packet, or segment by segment. Must not depend on
//! sequence numbers.

use weft_core::telemetry::Telemetry;
use weft_core::{Bytes, FlowSite, Rate, Span, Time};
use weft_rate::{AnyRateLaw, PathReport};

use crate::queue_pairs::QueuePairs;

/// A packet that was sent.
pub(super) struct Departure {
    /// Whether it ends a measured segment, or the message.
    pub(super) closes: bool,
    /// The instant from which the round trip counts: the packet's or burst's own transmission time is excluded.
    pub(super) counted: Time,
}

/// The rate limiter of a queue pair.
pub(super) struct Pace {
    law: AnyRateLaw,
    line: Rate,
    /// The next packet may be sent at this instant,
    pub(super) at: Time,
    /// and that instant has passed.
    pub(super) open: bool,
    /// Whether bursts are sent at line rate.
    bursts: bool,
    /// Bytes of a segment; `u64::MAX`: none is measured.
    segment: u64,
    /// Bytes of the current segment sent,
    gone: u64,
    /// and when it started.
    began: Time,
    /// Subtracted from every round trip.
    base: Span,
    /// What the links of the path last reported, if they report.
    reports: Option<Box<Telemetry>>,
}

impl Pace {
    pub(super) fn new(pairs: &QueuePairs, site: &FlowSite, now: Time) -> Pace {
        let measured = pairs.measured.as_ref();
        Pace {
            law: pairs.law_of(site, now),
            line: Rate(site.line_rate.0.max(1)),
            at: now,
            open: true,
            bursts: pairs.burst().is_some(),
            segment: measured.map_or(u64::MAX, |own| own.segment.0.max(1)),
            gone: 0,
            began: now,
            base: measured.map_or(Span::ZERO, |own| own.base_rtt),
            reports: pairs.collects_reports().then(|| Box::new(Telemetry::EMPTY)),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.law.rate()
    }

    pub(super) fn notified(&mut self, now: Time) {
        self.law.advance(now);
        self.law.on_notification(now);
    }

    /// Wire bytes that may be in flight; `None`: the law sets no limit.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.law.window()
    }

    /// The acknowledgement about to be handled brings these reports.
    pub(super) fn hear(&mut self, links: &Telemetry) {
        if let Some(reports) = &mut self.reports {
            **reports = *links;
        }
    }

    /// Whether acknowledgements bring reports.
    #[inline]
    pub(super) fn hears(&self) -> bool {
        self.reports.is_some()
    }

    /// Called when an acknowledgement with reports has been handled.
    pub(super) fn reported(&mut self, acknowledged: u64, sent: u64) {
        if let Some(links) = self.reports.as_deref().filter(|links| !links.links().is_empty()) {
            self.law.on_report(&PathReport { links, acknowledged, sent });
        }
    }

    /// Called when a segment counted from `since` was acknowledged.
    pub(super) fn measured(&mut self, now: Time, since: Time) {
        if self.segment != u64::MAX {
            self.law.advance(now);
            let trip = now.since(since);
            self.law.on_round_trip(now, Span(trip.0.saturating_sub(self.base.0)));
        }
    }

    /// Called when a packet of `wire` bytes is sent: the current rate gives the time of the next.
    pub(super) fn sent(&mut self, now: Time, wire: u16, last: bool) -> Departure {
        let size = Bytes(u64::from(wire));
        self.law.advance(now);
        self.law.on_sent(now, size);
        if self.gone == 0 {
            self.began = now;
        }
        self.gone += size.0;
        let closes = self.gone >= self.segment || last;
        let gone = Bytes(self.gone);
        if closes {
            self.gone = 0;
        }
        if !self.bursts {
            self.wait(now, now, size);
            return Departure { closes, counted: now + self.line.time_for(size) };
        }
        if closes {
            self.wait(now, self.began, gone);
        }
        Departure { closes, counted: self.began + self.line.time_for(gone) }
    }

    /// Sends nothing more until `size` bytes, begun at `from`, would have been sent at the current rate. The card
    /// itself enforces the line rate.
    #[inline]
    fn wait(&mut self, now: Time, from: Time, size: Bytes) {
        let rate = self.law.rate();
        if rate >= self.line {
            return;
        }
        self.at = from + rate.time_for(size);
        self.open = self.at <= now;
    }

    pub(super) fn on_time(&mut self, now: Time) {
        self.open |= self.at <= now;
    }
}
