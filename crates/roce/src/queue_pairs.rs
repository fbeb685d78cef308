//! The checked configuration that all queue pairs of a run share, and the resulting packet sizes. Holds no per-flow
//! state.

use weft_core::segment::{Flags, Outgoing, Segment, reverse_ports};
use weft_core::stack::Frames;
use weft_core::{Bytes, Class, Ecn, FlowSite, PacketKind, Rate, Span, Time};
use weft_rate::notification::{self, NotificationPoint, NotificationScope};
use weft_rate::segments::Pacing;
use weft_rate::{AnyRateLaw, RateLawSettings, RateLawSite, segments::SegmentSettings};

use crate::settings::{QueuePairSettings, RoceRecovery};

/// Bytes that an acknowledgement adds to the header (AETH).
const ACK_HEADER: u64 = 4;
/// Bytes that a congestion notification adds to the header.
const NOTIFICATION_PAYLOAD: u64 = 16;

/// The configuration of all queue pairs of a run.
#[derive(Clone, Debug)]
pub struct QueuePairs {
    pub(crate) law: RateLawSettings,
    notification: Option<notification::NotificationSettings>,
    pub(crate) settings: QueuePairSettings,
    frames: Frames,
    /// For RTT-based laws: what is measured.
    pub(crate) measured: Option<SegmentSettings>,
}

impl QueuePairs {
    /// Creates it from the settings. A scenario's checks reject impossible values; packet sizes are also clamped to
    /// their bounds here.
    #[must_use]
    pub fn new(
        law: RateLawSettings,
        notification: Option<notification::NotificationSettings>,
        mut settings: QueuePairSettings,
    ) -> QueuePairs {
        if let RateLawSettings::Hpcc(own) = &law {
            settings.header.0 = settings.header.0.saturating_add(own.report_header.0);
        }
        let measured = match &law {
            RateLawSettings::Timely(own) => Some(own.measured.segments.clone()),
            RateLawSettings::PatchedTimely(own) => Some(own.measured.segments.clone()),
            RateLawSettings::TimelyPi(own) => Some(own.measured.segments.clone()),
            RateLawSettings::FixedRate(_) | RateLawSettings::Dcqcn(_) | RateLawSettings::Hpcc(_) => None,
        };
        QueuePairs { law, notification, frames: Frames::from(settings.sizes()), measured, settings }
    }

    /// The rate law.
    #[must_use]
    pub fn law(&self) -> &RateLawSettings {
        &self.law
    }

    /// How marks become notifications, if the law uses them.
    #[must_use]
    pub fn notification(&self) -> Option<&notification::NotificationSettings> {
        self.notification.as_ref()
    }

    /// The settings of the scenario.
    #[must_use]
    pub fn settings(&self) -> &QueuePairSettings {
        &self.settings
    }

    /// Payload of a full packet, bytes.
    #[must_use]
    pub fn mss(&self) -> u64 {
        self.frames.mss
    }

    /// Wire size of a packet with `payload` bytes of payload.
    #[must_use]
    pub fn data_wire(&self, payload: u64) -> u16 {
        self.frames.wire(payload)
    }

    pub(crate) fn ack_wire(&self) -> u16 {
        self.data_wire(ACK_HEADER)
    }

    pub(crate) fn notification_wire(&self) -> u16 {
        self.data_wire(NOTIFICATION_PAYLOAD)
    }

    pub(crate) fn ack_class(&self) -> Class {
        Class(self.settings.ack_class as u8)
    }

    pub(crate) fn selective(&self) -> bool {
        self.settings.recovery == RoceRecovery::Selective
    }

    /// A fresh law for a flow.
    pub(crate) fn law_of(&self, site: &FlowSite, now: Time) -> AnyRateLaw {
        let line_rate = Rate(site.line_rate.0.max(1));
        let site = RateLawSite { line_rate, flow: site.flow.0, others: site.others, seed: site.seed, now };
        AnyRateLaw::new(&self.law, site)
    }

    /// Whether packets collect the reports of links.
    pub(crate) fn collects_reports(&self) -> bool {
        matches!(self.law, RateLawSettings::Hpcc(_))
    }

    /// Payload that fits into this many bytes on the wire in full packets; at least one packet's.
    pub(crate) fn payload_of(&self, wire: Bytes) -> u64 {
        let Frames { mss, .. } = self.frames;
        let payload = u128::from(wire.0) * u128::from(mss) / u128::from(self.frames.full_wire());
        (payload as u64).max(mss)
    }

    /// Whether marks become notifications; otherwise packets cannot be marked.
    pub(crate) fn goes_by_marks(&self) -> bool {
        self.notification.is_some()
    }

    pub(crate) fn notification_point(&self) -> Option<NotificationPoint> {
        self.notification.as_ref().map(NotificationPoint::new)
    }

    /// Time from the arrival of a mark to the notification.
    pub(crate) fn notification_delay(&self) -> Span {
        self.notification.as_ref().map_or(Span::ZERO, |settings| settings.cnp_delay)
    }

    /// Jitter of notifications, and of acknowledgements.
    pub(crate) fn jitter(&self) -> (Span, Span) {
        let jitter = self.settings.feedback_jitter;
        if self.notification.is_some() { (jitter, Span::ZERO) } else { (Span::ZERO, jitter) }
    }

    /// Minimum time between two congestion notifications of a card, for any flow; `None`: per flow.
    #[must_use]
    pub fn port_interval(&self) -> Option<Span> {
        let settings = self.notification.as_ref()?;
        (settings.np_scope == NotificationScope::Port).then_some(settings.cnp_interval)
    }

    /// Bytes of a burst at line rate, if the law sends in bursts.
    pub(crate) fn burst(&self) -> Option<Bytes> {
        let measured = self.measured.as_ref()?;
        (measured.pacing == Pacing::PerBurst).then_some(measured.segment)
    }

    /// The reply of a host with a closed receiver to retransmitted payload.
    #[must_use]
    pub fn reply_after_close(&self, segment: &Segment, now: Time) -> Option<Outgoing> {
        if segment.length == 0 {
            return None;
        }
        let reply = Segment {
            flow: segment.flow,
            flags: Flags::ACK.with(Flags::AGAIN),
            ack: Segment::EVERYTHING,
            sent: now,
            echo: segment.sent,
            ..Segment::default()
        };
        Some(Outgoing {
            segment: reply,
            wire: self.ack_wire(),
            kind: PacketKind::Ack,
            class: self.ack_class(),
            ecn: Ecn::NotCapable,
            ports: reverse_ports(segment.flow),
        })
    }
}
