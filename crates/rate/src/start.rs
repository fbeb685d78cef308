//! The initial rate of a flow.

use weft_core::Rate;

use crate::RateLawSite;

/// The rate of this flow in a list that repeats; `None` if the list is empty. Never above the line rate.
pub(crate) fn listed(rates: &[Rate], site: &RateLawSite) -> Option<f64> {
    let rate = *rates.get(site.flow as usize % rates.len().max(1))?;
    Some(rate.min(site.line_rate).0.max(1) as f64)
}

/// An equal share of the card among the flows that send from this host, including this one (TIMELY, section 4).
pub(crate) fn fair_share(site: &RateLawSite) -> f64 {
    site.line_rate.0 as f64 / f64::from(site.others + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::site;

    #[test]
    fn lists_repeat_and_stay_below_the_line_rate() {
        let rates = [Rate::from_gbps(7), Rate::from_gbps(30)];
        let start = |flow| listed(&rates, &RateLawSite { flow, ..site(10) });
        assert_eq!([0, 1, 2].map(start), [Some(7e9), Some(10e9), Some(7e9)]);
        assert_eq!(listed(&[], &site(10)), None);
        assert_eq!(fair_share(&RateLawSite { others: 3, ..site(10) }), 2.5e9);
    }
}
