//! DCTCP: falls in proportion to the share of marked bytes.
//!
//! *Sources*: Alizadeh et al., SIGCOMM'10; RFC 8257. *Parameters*: `gain` is g. *State*: alpha, the running estimate of
//! the marked share, refreshed once per window of data; bytes acknowledged and bytes acknowledged with an echo in the
//! window at hand. *Limits*: needs step marking in the switches and a receiver that reports marks byte for byte; a window
//! without a mark never falls, whatever alpha. Growth and the answer to losses are Reno's.

use weft_core::settings::Share;
use weft_core::{choice, settings};

use super::growth::{Gathered, at_least_two_segments, flight, reno};
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, MarkUse, Window};

/// One sentence for lists.
pub const SUMMARY: &str = "window cut in proportion to the share of marked bytes (SIGCOMM'10, RFC 8257)";

choice! {
    /// How alpha is computed.
    pub enum Arithmetic {
        /// Real numbers, and a window of data ends beyond its last byte, as RFC 8257 says.
        Exact = "exact",
        /// Whole 1024ths with Linux's rounding (an alpha too small for a fraction g of it to be a unit falls to zero), and
        /// a window of data ends with its last byte; `gain` counts as the nearest power of two.
        Linux = "linux",
    }
}

settings! {
    /// DCTCP.
    pub struct Settings {
        /// Weight of the newest window in the estimate (g); RFC 8257 recommends 1/16.
        gain: Share [0.001, 1.0] = Share(1.0 / 16.0),
        /// Estimate at the start (alpha); RFC 8257 begins with 1, so that the first mark halves the window.
        initial_alpha: Share = Share(1.0),
        /// Segments below which a mark does not push the window; Linux has 2.
        minimum_window: u32 [1, 1000] = 2,
        /// How alpha is computed.
        arithmetic: Arithmetic = Arithmetic::Exact,
    }
}

/// Alpha, in one of two arithmetics.
#[derive(Clone, Copy, Debug)]
enum Alpha {
    /// The share, and g.
    Exact { share: f64, gain: f64 },
    /// 1024ths, and -log2 of g.
    Linux { units: u64, shift: u32 },
}

/// Alpha of one in Linux's arithmetic.
const LINUX_ONE: u64 = 1024;

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    site: LawSite,
    gathered: Gathered,
    alpha: Alpha,
    /// Bytes acknowledged, and those of them with an echoed mark, in this window of data.
    acked: u64,
    marked: u64,
    /// The window of data ends here: what was the next byte to send at its start.
    window_end: u64,
    minimum: u64,
}

impl Alpha {
    fn new(settings: &Settings) -> Alpha {
        match settings.arithmetic {
            Arithmetic::Exact => Alpha::Exact { share: settings.initial_alpha.0, gain: settings.gain.0 },
            Arithmetic::Linux => Alpha::Linux {
                units: (settings.initial_alpha.0 * LINUX_ONE as f64).round() as u64,
                shift: (-settings.gain.0.log2()).round() as u32,
            },
        }
    }

    /// Takes in a window of data of which `marked` bytes of `acked` were marked.
    fn update(&mut self, acked: u64, marked: u64) {
        match self {
            Alpha::Exact { share, gain } => *share += *gain * (marked as f64 / acked as f64 - *share),
            Alpha::Linux { units, shift } => {
                let decay = *units >> *shift;
                let kept = if decay == 0 { 0 } else { *units - decay };
                *units = (kept + marked * (LINUX_ONE >> *shift) / acked).min(LINUX_ONE);
            }
        }
    }

    fn share(self) -> f64 {
        match self {
            Alpha::Exact { share, .. } => share,
            Alpha::Linux { units, .. } => units as f64 / LINUX_ONE as f64,
        }
    }

    /// The part of `cwnd` bytes that a mark takes: half of alpha.
    fn cut(self, cwnd: u64) -> u64 {
        match self {
            Alpha::Exact { share, .. } => (cwnd as f64 * share / 2.0) as u64,
            Alpha::Linux { units, .. } => (cwnd * units) >> 11,
        }
    }
}

impl Dctcp {
    /// From the settings.
    #[must_use]
    pub fn new(settings: &Settings, site: LawSite) -> Dctcp {
        Dctcp {
            site,
            gathered: Gathered::default(),
            alpha: Alpha::new(settings),
            acked: 0,
            marked: 0,
            window_end: 0,
            minimum: u64::from(settings.minimum_window) * site.mss,
        }
    }

    /// The estimate of the marked share, 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha.share()
    }

    /// The whole window of data that was in flight at the last refreshment is acknowledged.
    fn window_passed(&self, una: u64) -> bool {
        match self.alpha {
            Alpha::Exact { .. } => una > self.window_end,
            Alpha::Linux { .. } => una >= self.window_end,
        }
    }
}

impl CongestionLaw for Dctcp {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        reno(window, ack, &self.site, &mut self.gathered);
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.gathered.clear();
        match event.cause {
            Cause::Mark => (window.cwnd - self.alpha.cut(window.cwnd)).max(self.minimum),
            Cause::Loss | Cause::Timeout => at_least_two_segments(flight(window, event) / 2, window),
        }
    }

    fn observe(&mut self, _window: &mut Window, ack: &AckEvent) {
        self.acked += ack.acked;
        if ack.marked {
            self.marked += ack.acked;
        }
        if self.acked > 0 && self.window_passed(ack.una) {
            self.alpha.update(self.acked, self.marked);
            (self.acked, self.marked, self.window_end) = (0, 0, ack.next);
        }
    }

    fn mark_use(&self) -> MarkUse {
        MarkUse::Accurate
    }
}
