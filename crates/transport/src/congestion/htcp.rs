//! H-TCP: the longer the last congestion is past, the faster the window grows; how far it falls follows the ratio of the
//! smallest to the largest round trip.
//!
//! *Sources*: Leith and Shorten, draft-leith-tcp-htcp; Linux `tcp_htcp`. *Parameters*: the increase is alpha, the share
//! kept is beta. *State*: time of the last congestion event, extremes of the round trip, throughput achieved. *Limits*:
//! the Linux form counts time in jiffies of 1 ms and lets beta leave one half only at round trips above 10 ms; in a data
//! centre it is Reno for 2.8 s after each event. Windows are bytes; alpha is in segments per round trip.

use weft_core::{Time, choice, settings};

use super::growth::{at_least_two_segments, slow_start};
use super::{AckEvent, CongestionEvent, CongestionLaw, LawSite, Window};
use form::Form;
use measure::{RoundTrips, Throughput};

mod form;
mod measure;

/// One sentence for lists.
pub const SUMMARY: &str = "increase grows with the time since the last congestion (draft-leith-tcp-htcp)";

choice! {
    /// Whose H-TCP.
    pub enum Variant {
        /// Integers, jiffies of 1 ms and guards as in Linux.
        Linux = "linux",
        /// The formulas of the draft, in real numbers.
        Draft = "draft",
    }
}

choice! {
    /// Whether the increase shrinks with the round trip, so that flows of different round trips share fairly.
    pub enum RttScaling {
        /// As the variant has it: Linux yes, draft no.
        AsVariant = "as-variant",
        /// The increase is multiplied by the smallest round trip over 100 ms, within 0.1 and 2, but stays at least 1.
        On = "on",
        /// No scaling.
        Off = "off",
    }
}

settings! {
    /// H-TCP.
    pub struct Settings {
        /// Whose formulas; Linux's is what runs on hosts.
        variant: Variant = Variant::Linux,
        /// Whether the increase follows the round trip.
        rtt_scaling: RttScaling = RttScaling::AsVariant,
        /// Halve if the throughput achieved changed by more than a fifth since the last congestion event; both the draft
        /// and Linux do.
        bandwidth_switch: bool = true,
        /// The share kept is the ratio of smallest to largest round trip within 0.5 and 0.8; if not, always one half.
        adaptive_backoff: bool = true,
    }
}

/// H-TCP.
#[derive(Clone, Debug)]
pub struct Htcp {
    site: LawSite,
    form: Form,
    bandwidth_switch: bool,
    adaptive_backoff: bool,
    /// Increase in segments per round trip.
    alpha: f64,
    /// Share of the window kept.
    beta: f64,
    /// End of the last congestion event, or the first acknowledgement.
    epoch: Option<Time>,
    /// A congestion event is going on.
    recovering: bool,
    /// Linux: an event passed without a change of throughput, so beta may adapt at the next.
    settled: bool,
    round_trips: RoundTrips,
    throughput: Throughput,
    /// Acknowledged bytes times alpha that are not yet a windowful.
    gathered: f64,
}

impl Htcp {
    /// From the settings.
    #[must_use]
    pub fn new(settings: &Settings, site: LawSite) -> Htcp {
        Htcp {
            site,
            form: Form::new(settings.variant, settings.rtt_scaling),
            bandwidth_switch: settings.bandwidth_switch,
            adaptive_backoff: settings.adaptive_backoff,
            alpha: 1.0,
            beta: 0.5,
            epoch: None,
            recovering: false,
            settled: false,
            round_trips: RoundTrips::default(),
            throughput: Throughput::default(),
            gathered: 0.0,
        }
    }

    /// Segments per round trip by which the window grows at present (alpha).
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The share of the window kept at the last event (beta).
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Ticks since the end of the last congestion event (Delta).
    fn age(&self, now: Time) -> u64 {
        self.epoch.map_or(0, |epoch| self.form.ticks(now) - self.form.ticks(epoch))
    }

    fn update_alpha(&mut self, now: Time) {
        self.alpha = self.form.alpha(self.age(now), self.round_trips.shortest, self.beta);
    }

    /// Beta for the event at hand.
    fn update_beta(&mut self) {
        let steady = self.throughput.was_steady();
        self.throughput.close_epoch();
        if self.bandwidth_switch && !steady {
            (self.beta, self.settled) = (0.5, false);
            return;
        }
        let adapts = self.adaptive_backoff && self.form.may_adapt(self.settled, &self.round_trips);
        self.beta = if adapts { self.form.beta(&self.round_trips) } else { 0.5 };
        self.settled = true;
    }

    /// One windowful of acknowledged bytes is worth alpha segments.
    fn avoid(&mut self, window: &mut Window, acked: u64, now: Time) {
        self.gathered += acked as f64 * self.alpha;
        let before = window.cwnd;
        while self.gathered >= window.cwnd as f64 {
            self.gathered -= window.cwnd as f64;
            window.cwnd += window.mss;
        }
        if window.cwnd > before {
            self.update_alpha(now);
        }
    }
}

impl CongestionLaw for Htcp {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if self.recovering {
            (self.recovering, self.epoch) = (false, Some(ack.now));
            self.update_alpha(ack.now);
        }
        if !ack.cwnd_limited {
            return;
        }
        let left = slow_start(window, ack.acked, &self.site);
        if !window.in_slow_start() {
            self.avoid(window, left, ack.now);
        }
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.update_beta();
        self.form.fade(&mut self.round_trips);
        (self.recovering, self.epoch, self.gathered) = (true, Some(event.now), 0.0);
        at_least_two_segments((window.cwnd as f64 * self.beta) as u64, window)
    }

    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        self.epoch.get_or_insert(ack.now);
        if let Some(rtt) = ack.rtt {
            self.form.measure(&mut self.round_trips, rtt, self.recovering);
        }
        let now = self.form.ticks(ack.now);
        if self.recovering {
            self.throughput.restart(now);
            return;
        }
        let enough = window.cwnd.saturating_sub(self.alpha.max(1.0) as u64 * window.mss);
        let sample = self.throughput.add(ack.acked, enough, now, self.round_trips.shortest);
        if sample > 0 {
            let fresh = self.age(ack.now) / self.round_trips.shortest <= 3;
            self.throughput.take(sample, fresh);
        }
    }
}
