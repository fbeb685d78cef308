//! CUBIC: the window follows a cubic of the time since the last congestion event, flat around the window at which that
//! happened.
//!
//! *Standard*: RFC 9438; slow start ends by HyStart as in Linux. *Parameters*: `scaling` is C, `beta` is the share kept
//! after an event. *State*: W_max, and per epoch K, its start and the window a Reno flow would have (W_est). *Limits*: at
//! round trips of a data centre the cubic rises far more slowly than W_est, so that the law is additive increase of
//! 3(1-beta)/(1+beta) with decrease to beta. Windows are counted in segments inside, and grow by whole segments.

use weft_core::settings::Share;
use weft_core::{Span, Time, settings};

use super::growth::{at_least_two_segments, flight, slow_start};
use super::hystart::HyStart;
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, Window};

/// One sentence for lists.
pub const SUMMARY: &str =
    "window as a cubic of the time since the last congestion (RFC 9438), the Linux default";

settings! {
    /// CUBIC.
    pub struct Settings {
        /// How steep the cubic is, in segments per second cubed (C); RFC 9438, section 5.1.
        scaling: f64 [0.000001, 1000000.0] = 0.4,
        /// The share of the window kept after a congestion event (beta); RFC 9438, section 4.6.
        beta: Share [0.1, 0.99] = Share(0.7),
        /// A flow that meets congestion below its last W_max aims lower still, to make room for newcomers; RFC 9438,
        /// section 4.7.
        fast_convergence: bool = true,
        /// Never slower than a Reno flow would be; RFC 9438, section 4.3.
        tcp_friendliness: bool = true,
        /// End slow start by long trains of acknowledgements or a rise of the round trip, as Linux does.
        hystart: bool = true,
    }
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    site: LawSite,
    scaling: f64,
    beta: f64,
    fast_convergence: bool,
    tcp_friendliness: bool,
    hystart: Option<HyStart>,
    /// The window around which the next epoch is flat, in segments (W_max); zero when unknown.
    plateau: f64,
    /// The window when the last congestion event began, in segments (cwnd_prior).
    prior: f64,
    epoch: Option<Epoch>,
    /// Growth of the cubic not yet paid out, in segments below one.
    credit: f64,
    /// When the last acknowledgement in avoidance came.
    latest: Time,
}

/// Congestion avoidance between two congestion events.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// W_max of this epoch, in segments.
    plateau: f64,
    /// Seconds from the start until the cubic reaches the plateau (K).
    k: f64,
    /// The window of a Reno flow, in segments (W_est).
    friendly: f64,
}

impl Cubic {
    /// From the settings.
    #[must_use]
    pub fn new(settings: &Settings, site: LawSite) -> Cubic {
        Cubic {
            site,
            scaling: settings.scaling,
            beta: settings.beta.0,
            fast_convergence: settings.fast_convergence,
            tcp_friendliness: settings.tcp_friendliness,
            hystart: settings.hystart.then(HyStart::default),
            plateau: 0.0,
            prior: 0.0,
            epoch: None,
            credit: 0.0,
            latest: Time::ZERO,
        }
    }

    /// Seconds from the start of the epoch at hand to its flat part (K); nothing between epochs.
    #[must_use]
    pub fn k(&self) -> Option<f64> {
        self.epoch.map(|epoch| epoch.k)
    }

    /// An epoch beginning with `cwnd` segments. Above the plateau, or without one, the flat part is here and now.
    fn begin_epoch(&self, now: Time, cwnd: f64) -> Epoch {
        let plateau = self.plateau.max(cwnd);
        let k = cube_root((plateau - cwnd) / self.scaling);
        Epoch { start: now, plateau, k, friendly: cwnd }
    }

    /// One epoch's step for `acked` bytes.
    fn avoid(&mut self, window: &mut Window, ack: &AckEvent, acked: u64) {
        let cwnd = segments(window.cwnd, window);
        let share = acked as f64 / window.cwnd as f64;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(ack.now, cwnd));
        epoch.friendly += self.friendly_slope(epoch.friendly) * share;
        self.epoch = Some(epoch);
        let age = ack.now.since(epoch.start);
        if self.tcp_friendliness && self.cubic(&epoch, age) < epoch.friendly {
            window.cwnd += (epoch.friendly - cwnd).max(0.0) as u64 * window.mss;
        } else {
            let target = self.cubic(&epoch, age + ack.srtt).clamp(cwnd, 1.5 * cwnd);
            self.credit += (target - cwnd) * share;
            window.cwnd += self.credit as u64 * window.mss;
            self.credit -= self.credit.floor();
        }
    }

    /// The cubic of RFC 9438, equation 1, in segments.
    fn cubic(&self, epoch: &Epoch, age: Span) -> f64 {
        let offset = age.seconds() - epoch.k;
        self.scaling * offset * offset * offset + epoch.plateau
    }

    /// Segments per round trip by which W_est grows: with a decrease to beta, what takes as much as Reno does; Reno's own
    /// pace once the window of the last congestion event is regained.
    fn friendly_slope(&self, friendly: f64) -> f64 {
        if friendly < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 }
    }

    /// Where the next epoch is flat after an event at `cwnd` segments.
    fn next_plateau(&self, cwnd: f64) -> f64 {
        if self.fast_convergence && cwnd < self.plateau { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd }
    }

    /// The window was not the limit: the epoch's clock stands still meanwhile (RFC 9438, section 5.8).
    fn stand_still(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.since(self.latest);
        }
    }

    /// After a time-out nothing is known of the path: the first epoch is flat where it begins (RFC 9438, section 4.8).
    fn forget(&mut self) {
        self.plateau = 0.0;
        if let Some(hystart) = &mut self.hystart {
            hystart.restart();
        }
    }
}

impl CongestionLaw for Cubic {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.cwnd_limited {
            let left = slow_start(window, ack.acked, &self.site);
            if !window.in_slow_start() {
                self.avoid(window, ack, left);
            }
        } else {
            self.stand_still(ack.now);
        }
        self.latest = ack.now;
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.prior = segments(window.cwnd, window);
        self.plateau = self.next_plateau(self.prior);
        (self.epoch, self.credit) = (None, 0.0);
        let from = match event.cause {
            Cause::Mark => window.cwnd,
            Cause::Loss => flight(window, event),
            Cause::Timeout => {
                self.forget();
                flight(window, event)
            }
        };
        at_least_two_segments((from as f64 * self.beta) as u64, window)
    }

    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        if let Some(hystart) = &mut self.hystart
            && hystart.ends_slow_start(window, ack)
        {
            window.ssthresh = window.cwnd;
        }
    }
}

fn segments(bytes: u64, window: &Window) -> f64 {
    bytes as f64 / window.mss as f64
}

/// The cube root by Newton's iteration from above, of basic operations only, so that every machine has the same bits.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut root = x.max(1.0);
    loop {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}
