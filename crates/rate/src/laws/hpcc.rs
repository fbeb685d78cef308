//! HPCC (Li et al., SIGCOMM 2019, algorithm 1): links report what they send and what waits; the sender computes from two
//! reports how busy the busiest link of its path is, and sets its window so that this link is busy to `target` of its rate.
//!
//! *Limits*: the law compares consecutive reports of one path. When the path changes it only notes the new one, so that a
//! balancer that spreads the packets of a flow leaves the window as it is. *Uncertain*: the estimate before the first two
//! reports (here 1, as in the simulator released with the paper), and the smallest rate.

use weft_core::telemetry::{LinkReport, Telemetry};
use weft_core::{Bytes, Rate, Span, settings};

use crate::{PathReport, RateLaw, RateLawSite, rate_of};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "windows from what links report about themselves, HPCC (SIGCOMM 2019)";

settings! {
    /// HPCC.
    pub struct HpccSettings {
        /// Round-trip time of an empty network (T). Flows start with a window of one line rate times this, which is also
        /// the largest window.
        base_rtt: Span = Span::from_us(13),
        /// How busy the busiest link should be (eta).
        target: f64 [0.01, 1.0] = 0.95,
        /// Increases by `additive_step` alone, one per round trip, before the window follows the estimate of utilization
        /// again (maxStage); 0: it always does.
        most_stages: u32 [0, 1000] = 5,
        /// Additive increase of the window in bytes on the wire (W_AI). The queue stays near zero as long as this times the
        /// number of flows is less than (1 - `target`) of the first window.
        additive_step: Bytes = Bytes(80),
        /// Minimum rate; the simulator released with the paper has 100 Mb/s.
        min_rate: Rate = Rate::from_mbps(10),
        /// Bytes that the reports add to every packet and acknowledgement: two, and eight for each of five links.
        report_header: Bytes = Bytes(42),
    }
}

/// The window of one flow.
#[derive(Clone, Debug)]
pub struct Hpcc {
    rules: Rules,
    /// The window, bytes on the wire (W).
    window: f64,
    /// The window of the last round trip (W_c).
    reference: f64,
    /// Additive increases since the window last followed the estimate (incStage).
    stage: u32,
    /// How busy the busiest link is, averaged over a round trip (U).
    utilization: f64,
    /// A round trip is over when more than this many bytes have been acknowledged (lastUpdateSeq).
    round: u64,
    /// The reports before (L).
    known: Option<Box<Telemetry>>,
}

/// The settings in the form used for computing.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Seconds.
    base_rtt: f64,
    target: f64,
    most_stages: u32,
    step: f64,
    /// Windows, in bytes.
    least: f64,
    most: f64,
}

impl Rules {
    /// How busy a link was between two reports, and seconds between them (u' and tau). `None`: no time has passed.
    fn busy(&self, before: &LinkReport, now: &LinkReport) -> Option<(f64, f64)> {
        let time = (now.at > before.at).then(|| now.at.since(before.at).seconds())?;
        let line = now.line.0 as f64 / 8.0;
        let queued = now.queued.min(before.queued).0 as f64;
        let sent = now.sent.0.saturating_sub(before.sent.0) as f64;
        Some((queued / (line * self.base_rtt) + sent / (time * line), time))
    }

    /// The busiest link of a path. `None`: no time has passed.
    fn busiest(&self, before: &Telemetry, now: &Telemetry) -> Option<(f64, f64)> {
        let pairs = before.links().iter().zip(now.links());
        let busy = pairs.filter_map(|(before, now)| self.busy(before, now));
        busy.reduce(|most, link| if link.0 > most.0 { link } else { most })
    }
}

impl Hpcc {
    /// The law of a flow that starts at line rate.
    #[must_use]
    pub fn new(settings: &HpccSettings, site: RateLawSite) -> Hpcc {
        let base_rtt = settings.base_rtt.seconds().max(1e-9);
        let in_flight = |rate: Rate| rate.0 as f64 / 8.0 * base_rtt;
        let most = in_flight(site.line_rate);
        let rules = Rules {
            base_rtt,
            target: settings.target,
            most_stages: settings.most_stages,
            step: settings.additive_step.0 as f64,
            least: in_flight(settings.min_rate).min(most),
            most,
        };
        Hpcc { rules, window: most, reference: most, stage: 0, utilization: 1.0, round: 0, known: None }
    }

    /// MeasureInflight: brings the estimate up to date with the busiest link.
    fn average(&mut self, busy: f64, time: f64) {
        let weight = (time / self.rules.base_rtt).min(1.0);
        self.utilization = (1.0 - weight) * self.utilization + weight * busy;
    }

    /// ComputeWind: the new window; at the end of a round trip, also the next reference.
    fn adjust(&mut self, round_is_over: bool) {
        let Rules { target, most_stages, step, least, most, .. } = self.rules;
        let follows = self.utilization >= target || self.stage >= most_stages;
        let base =
            if follows { self.reference / (self.utilization / target).max(1e-9) } else { self.reference };
        self.window = (base + step).clamp(least, most);
        if round_is_over {
            self.stage = if follows { 0 } else { self.stage + 1 };
            self.reference = self.window;
        }
    }
}

impl RateLaw for Hpcc {
    fn rate(&self) -> Rate {
        rate_of(self.window * 8.0 / self.rules.base_rtt)
    }

    fn window(&self) -> Option<Bytes> {
        Some(Bytes(self.window as u64))
    }

    /// The first report of a path is only noted.
    fn on_report(&mut self, report: &PathReport<'_>) {
        let Some(known) = &mut self.known else {
            (self.known, self.round) = (Some(Box::new(*report.links)), report.sent);
            return;
        };
        let is_of_path = known.is_of_path(report.links);
        let busiest = is_of_path.then(|| self.rules.busiest(known, report.links)).flatten();
        if busiest.is_some() || !is_of_path {
            **known = *report.links;
        }
        let Some((busy, time)) = busiest else { return };
        self.average(busy, time);
        let round_is_over = report.acknowledged > self.round;
        self.adjust(round_is_over);
        if round_is_over {
            self.round = report.sent;
        }
    }
}

#[cfg(test)]
mod tests;
