//! NewReno: one segment more per round trip, half the window less per congestion event.
//!
//! *Standards*: RFC 5681 (growth and halving), RFC 3465 (bytes are counted, not acknowledgements), RFC 3168 (a mark
//! counts as a loss). The recovery that gave the law its name (RFC 6582) is the sender's. *Parameters*: none of its own;
//! the limit L of slow start is common to all laws and comes with the site. *Limits*: the window follows
//! `sqrt(1.5 / p)` at loss rate `p`, so a long fat path needs very few losses.

use weft_core::settings;

use super::growth::{Gathered, at_least_two_segments, flight, reno};
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, Window};

/// One sentence for lists.
pub const SUMMARY: &str =
    "additive increase of one segment per round trip, halving on loss or mark (RFC 5681)";

settings! {
    /// NewReno has no parameters of its own.
    pub struct Settings {}
}

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    site: LawSite,
    gathered: Gathered,
}

impl NewReno {
    /// From the settings.
    #[must_use]
    pub fn new(_settings: &Settings, site: LawSite) -> NewReno {
        NewReno { site, gathered: Gathered::default() }
    }
}

impl CongestionLaw for NewReno {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        reno(window, ack, &self.site, &mut self.gathered);
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.gathered.clear();
        let from = match event.cause {
            Cause::Mark => window.cwnd,
            Cause::Loss | Cause::Timeout => flight(window, event),
        };
        at_least_two_segments(from / 2, window)
    }
}
