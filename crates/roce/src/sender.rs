//! The sending end of a queue pair: which packet is sent next, and when. Answers are in `sender/answers.rs`, the rate
//! in `sender/pace.rs`.

mod answers;
mod pace;

use std::ops::Range;
use std::sync::Arc;

use weft_core::bitmap::Bitmap;
use weft_core::segment::{Flags, Needs, Segment, ports};
use weft_core::telemetry::Telemetry;
use weft_core::{Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, SenderReport, Span, Time};

use crate::flags;
use crate::marker::TltMarker;
use crate::queue_pairs::QueuePairs;

use self::pace::Pace;

/// Selective retransmission.
#[derive(Clone, Debug, Default)]
struct Repair {
    /// Packets that arrived beyond the first gap.
    arrived: Bitmap,
    /// The recovery ends when all bytes below this have arrived.
    until: u64,
    /// The first packet that may need retransmission.
    next: u64,
    /// After a time-out: everything below is retransmitted, packets.
    all_below: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retransmitted: u64,
    timeouts: u32,
    /// Maximum number of these without progress in between.
    timeouts_in_a_row: u32,
    recoveries: u32,
    notifications: u32,
}

/// The settings needed for each packet.
#[derive(Clone, Copy, Debug)]
struct Rules {
    mss: u64,
    /// Maximum payload in flight.
    window: u64,
    class: Class,
    ecn: Ecn,
    selective: bool,
    cut_on_nack: bool,
}

/// The sending end of a queue pair.
pub struct QueueSender {
    pairs: Arc<QueuePairs>,
    flow: FlowId,
    seed: u64,
    rules: Rules,
    /// The window that the settings allow.
    most_window: u64,
    size: u64,
    /// The first unacknowledged byte.
    una: u64,
    /// The next byte to send in order; go-back-N moves it back.
    next: u64,
    /// The first byte never sent.
    fresh: u64,
    /// Start of the next packet; `u64::MAX`: there is none.
    choice: u64,
    /// Whether the next packet is forced by TLT; `Some(true)`: and empty.
    forced: Option<bool>,
    /// Present under TLT.
    marker: Option<Box<TltMarker>>,
    pace: Pace,
    repair: Repair,
    retry_at: Time,
    /// Consecutive time-outs.
    backoff: u32,
    srtt: Span,
    /// When the last byte was acknowledged.
    completed: Option<Time>,
    counts: Counts,
}

/// There is nothing to send.
const NOTHING: u64 = u64::MAX;

impl QueueSender {
    /// The sender of a message that the application starts now.
    #[must_use]
    pub fn new(pairs: &Arc<QueuePairs>, site: &FlowSite, now: Time) -> QueueSender {
        let settings = &pairs.settings;
        let rules = Rules {
            mss: pairs.mss(),
            window: settings.window.map_or(u64::MAX, |window| window.0.max(pairs.mss())),
            class: site.class.unwrap_or(Class(settings.class as u8)),
            ecn: if pairs.goes_by_marks() { Ecn::Capable } else { Ecn::NotCapable },
            selective: pairs.selective(),
            cut_on_nack: settings.cut_on_nack,
        };
        let mut sender = QueueSender {
            most_window: rules.window,
            flow: site.flow,
            seed: site.seed,
            rules,
            size: site.size.0.max(1),
            una: 0,
            next: 0,
            fresh: 0,
            choice: NOTHING,
            forced: None,
            marker: TltMarker::new(pairs),
            pace: Pace::new(pairs, site, now),
            repair: Repair::default(),
            retry_at: Time::NEVER,
            backoff: 0,
            srtt: Span::ZERO,
            completed: None,
            counts: Counts::default(),
            pairs: Arc::clone(pairs),
        };
        sender.set_window();
        sender.choose();
        sender
    }

    /// Passes the reports of the acknowledgement just handled to the law. Not inlined: most laws have none.
    #[inline(never)]
    fn follow_reports(&mut self, acknowledged: u64) {
        self.pace.reported(acknowledged, self.fresh);
        self.set_window();
    }

    /// The window is the smaller of the settings' and the law's.
    fn set_window(&mut self) {
        if let Some(window) = self.pace.window() {
            self.rules.window = self.most_window.min(self.pairs.payload_of(window));
        }
    }

    /// An answer arrived.
    pub fn on_packet(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(flags::NOTIFICATION) {
            self.counts.notifications += 1;
            return self.pace.notified(now);
        }
        self.answered(now, segment);
        if self.pace.hears() {
            self.follow_reports(segment.ack.min(self.size));
        }
        self.pace.on_time(now);
        self.choose();
    }

    /// Whether its packets collect the reports of links.
    pub(crate) fn collects_reports(&self) -> bool {
        self.pairs.collects_reports()
    }

    /// The acknowledgement about to be passed to [`QueueSender::on_packet`] brings these reports of links.
    pub(crate) fn hear(&mut self, links: &Telemetry) {
        self.pace.hear(links);
    }

    /// Chooses the next packet.
    #[inline]
    fn choose(&mut self) {
        if self.marker.is_some() || self.una < self.repair.until {
            return self.choose_among();
        }
        self.choice = if self.has_new() { self.next } else { NOTHING };
    }

    /// Whether there is new payload and room for it in the window.
    #[inline]
    fn has_new(&self) -> bool {
        let window = self.rules.window;
        // The rest of a message, with its short last packet, may fit where a full packet does not.
        self.next < self.size
            && (self.next + self.rules.mss - self.una <= window || self.size - self.una <= window)
    }

    /// Chooses the next packet during a recovery or under TLT.
    #[inline(never)]
    fn choose_among(&mut self) {
        self.forced = None;
        self.choice = match self.next_missing() {
            Some(start) => start,
            None => self.next_unasked(),
        };
    }

    /// The next packet if the receiver requests none: packets that TLT proved lost, new payload, packets that TLT
    /// forces.
    fn next_unasked(&mut self) -> u64 {
        if let Some(start) = self.marker.as_ref().and_then(|marker| marker.lost()) {
            return start;
        }
        if self.has_new() {
            return self.next;
        }
        let Some(marker) = &self.marker else { return NOTHING };
        match marker.forced(self.una, self.fresh, self.rules.mss) {
            Some((start, empty)) => {
                self.forced = Some(empty);
                start
            }
            None => NOTHING,
        }
    }

    /// The first missing packet, during a recovery.
    fn next_missing(&mut self) -> Option<u64> {
        if self.una >= self.repair.until {
            return None;
        }
        let (mss, repair) = (self.rules.mss, &mut self.repair);
        repair.next = repair.arrived.first_missing(repair.next.max(self.una / mss));
        let limit = repair.arrived.top().max(repair.all_below);
        (repair.next < limit && repair.next * mss < self.fresh).then_some(repair.next * mss)
    }

    /// Writes the next packet; [`Needs::ready`] must hold.
    pub fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        if self.retry_at <= now {
            self.expire(now);
        }
        let (start, forced) = (self.choice, self.forced);
        let length = if forced == Some(true) { 0 } else { self.rules.mss.min(self.size - start) };
        let again = start < self.fresh;
        let wire = self.pairs.data_wire(length);
        self.account(start, length, again);
        let last = start + length == self.size;
        let kind = self.color_and_choose(start..start + length, last);
        let departure = self.pace.sent(now, wire, last);
        let request = departure.closes || self.choice == NOTHING;
        *segment = Segment {
            flow: self.flow,
            length: length as u16,
            flags: Flags::default()
                .with_if(last, Flags::FIN)
                .with_if(again, Flags::AGAIN)
                .with_if(request, flags::REQUEST)
                .with_if(departure.closes, flags::MEASURED)
                .with_if(forced.is_some(), flags::FORCED),
            sequence: start,
            sent: departure.counted,
            ..Segment::default()
        };
        if self.retry_at == Time::NEVER {
            self.restart(now);
        }
        header.ports = ports(self.flow);
        header.wire = wire;
        (header.kind, header.class) = (kind, self.rules.class);
        header.marks = Marks { ecn: self.rules.ecn };
    }

    /// A packet is sent.
    fn account(&mut self, start: u64, length: u64, again: bool) {
        if again {
            self.counts.retransmitted += length;
        }
        if start == self.next {
            self.next += length;
        } else if self.forced.is_none() {
            self.repair.next = self.repair.next.max(start / self.rules.mss + 1);
        }
        self.fresh = self.fresh.max(start + length);
    }

    /// Colours the packet being sent, and chooses the next.
    #[inline]
    fn color_and_choose(&mut self, bytes: Range<u64>, last: bool) -> PacketKind {
        let Some(marker) = &mut self.marker else {
            self.choose();
            return PacketKind::Data;
        };
        let important = marker.sends(bytes.clone(), last);
        self.choose();
        let closes = self.choice == NOTHING && !important;
        let una = self.una;
        let exhausted = closes && self.marker.as_mut().is_some_and(|own| own.exhausted(una, &bytes));
        weft_tlt::kind(important || exhausted)
    }

    /// Called when the clock reaches an instant; does nothing if called early.
    pub fn on_wakeup(&mut self, now: Time) {
        self.pace.on_time(now);
        if self.retry_at <= now {
            self.expire(now);
        }
    }

    /// The sender's current needs.
    #[must_use]
    #[inline]
    pub fn needs(&self) -> Needs {
        let done = self.una >= self.size;
        let ready = self.choice != NOTHING && self.pace.open;
        // While there is payload to send, time-outs are checked when it is sent.
        let wake = match (ready || done, self.choice != NOTHING) {
            (true, _) => Time::NEVER,
            (false, true) => self.pace.at,
            (false, false) => self.retry_at,
        };
        Needs { wake, ready, complete: done, done, asks: false }
    }

    /// Its state and counts.
    #[must_use]
    pub fn report(&self) -> SenderReport {
        SenderReport {
            retransmitted: Bytes(self.counts.retransmitted),
            important: Bytes(self.marker.as_ref().map_or(0, |marker| marker.important())),
            timeouts: self.counts.timeouts,
            timeouts_in_a_row: self.counts.timeouts_in_a_row,
            completed: self.completed,
            recoveries: self.counts.recoveries,
            acknowledged: Bytes(self.una),
            in_flight: Bytes(self.next.max(self.una) - self.una),
            cwnd: Bytes(if self.rules.window == u64::MAX { 0 } else { self.rules.window }),
            ssthresh: Bytes(u64::MAX),
            srtt: self.srtt,
            rto: self.timeout(),
            rate: Some(self.pace.rate()),
            notifications: self.counts.notifications,
            state: self.state(),
            ..SenderReport::default()
        }
    }
}
