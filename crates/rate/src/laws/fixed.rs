//! No rate control: the line rate, or one fixed rate.

use weft_core::{Rate, settings};

use crate::{RateLaw, RateLawSite, rate_of, start};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "no rate control: the line rate, or one fixed rate";

settings! {
    /// A constant rate.
    pub struct FixedRateSettings {
        /// Rates of the flows in order of their numbers; the list repeats. Empty: the line rate.
        initial_rates: Vec<Rate> = Vec::new(),
    }
}

/// A constant rate.
#[derive(Clone, Debug)]
pub struct FixedRate(Rate);

impl FixedRate {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &FixedRateSettings, site: RateLawSite) -> FixedRate {
        FixedRate(start::listed(&settings.initial_rates, &site).map_or(site.line_rate, rate_of))
    }
}

impl RateLaw for FixedRate {
    fn rate(&self) -> Rate {
        self.0
    }
}
