//! In-band telemetry (INT): each link adds to passing packets what it has sent, what waits, and when.
//!
//! *Paper*: Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, section 3.1. The values are exact; on the wire
//! they have 24 bits of nanoseconds, 20 of bytes and 16 of queue length.

use weft_core::telemetry::{LinkReport, Telemetry};
use weft_core::{Bytes, settings};

use super::{Arbiter, ArbiterSite, Starting};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "in-band telemetry: links report to senders what they send and what waits (HPCC, SIGCOMM 2019)";

settings! {
    /// No settings.
    pub struct TelemetryArbiterSettings {}
}

/// What a link has sent so far.
#[derive(Clone, Debug)]
pub struct TelemetryArbiter {
    site: ArbiterSite,
    sent: Bytes,
}

impl TelemetryArbiter {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &TelemetryArbiterSettings, site: ArbiterSite) -> TelemetryArbiter {
        TelemetryArbiter { site, sent: Bytes::ZERO }
    }
}

impl Arbiter for TelemetryArbiter {
    fn sends(&mut self, starting: &Starting, reports: Option<&mut Telemetry>) {
        if let Some(reports) = reports {
            let (Starting { now: at, queued, .. }, ArbiterSite { number, line, .. }) = (*starting, self.site);
            reports.push(LinkReport { link: number, at, sent: self.sent, queued, line });
        }
        self.sent += Bytes(u64::from(starting.wire));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Rate, Time};

    /// All packets count, but only those that collect reports are written to.
    #[test]
    fn a_link_reports_what_it_sent_before() {
        let line = Rate::from_gbps(10);
        let site = ArbiterSite { number: 9, line, full_packet: Bytes(1_538) };
        let mut link = TelemetryArbiter::new(&TelemetryArbiterSettings {}, site);
        let mut sent = |collects: bool, wire, at, queued| {
            let mut reports = Telemetry::EMPTY;
            let starting = Starting { now: Time(at), wire, queued: Bytes(queued) };
            link.sends(&starting, collects.then_some(&mut reports));
            reports
        };
        assert!(sent(false, 1_000, 5, 70).links().is_empty());
        assert!(sent(false, 84, 6, 71).links().is_empty());
        let report = LinkReport { link: 9, at: Time(7), sent: Bytes(1_084), queued: Bytes(72), line };
        assert_eq!(sent(true, 500, 7, 72).links(), [report]);
        let next = LinkReport { at: Time(8), sent: Bytes(1_584), queued: Bytes::ZERO, ..report };
        assert_eq!(sent(true, 500, 8, 0).links(), [next]);
    }
}
