//! Tail loss probe (RFC 8985 section 7): when nothing has been heard for two round trips, one more segment provokes an
//! acknowledgement, so that a lost tail is repaired by recovery and not by a time-out.

use weft_core::Span;

use crate::rto::RoundTrip;
use crate::settings::Tcp;

/// The state of probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// What had been sent when the probe left; 0: no probe is out.
    end: u64,
    /// The probe was old data.
    repeated: bool,
    /// It wants to be sent.
    pub(super) wanted: bool,
}

impl Probe {
    /// How long to wait for an acknowledgement before probing.
    pub(super) fn timeout(tcp: &Tcp, rtt: &RoundTrip, segments: usize) -> Span {
        let two = if rtt.measured() { rtt.smoothed() * 2 } else { Span::from_s(1) };
        two + if segments == 1 && tcp.delayed_ack > 1 { tcp.tlp_delayed_ack } else { tcp.tlp_slack }
    }

    /// Whether a probe may be planned: one at a time.
    pub(super) fn is_out(&self) -> bool {
        self.end > 0
    }

    /// The probe leaves.
    pub(super) fn sent(&mut self, end: u64, repeated: bool) {
        *self = Probe { end, repeated, wanted: false };
    }

    /// An acknowledgement. True: the probe itself repaired a loss, to which the window must answer.
    pub(super) fn acknowledged(&mut self, ack: u64, duplicate: bool) -> bool {
        if !self.is_out() || ack < self.end {
            return false;
        }
        let repaired = self.repeated && !duplicate;
        *self = Probe::default();
        repaired
    }

    /// Recovery or a time-out takes over.
    pub(super) fn forget(&mut self) {
        *self = Probe::default();
    }
}
