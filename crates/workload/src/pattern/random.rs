//! Random pairs: every host sends to random hosts; some receive several flows, some none.

use super::mice::Mice;
use super::{Pattern, Stream};
use crate::listed::MAX_LISTED;
use crate::site::{Pairs, PatternSite};
use weft_core::Problem;
use weft_core::{HostId, Purpose};

/// One sentence for lists.
pub const SUMMARY: &str = "Every host sends to random hosts, all at once";

weft_core::settings! {
    /// Random destinations.
    pub struct RandomPairsSettings {
        /// What each flow carries: a size, a bundled name, a file of points or a formula.
        sizes: String,
        /// Flows of each host.
        flows_per_host: u32 [1, 100000] = 1,
        /// Which hosts communicate.
        pairs: Pairs = Pairs::Any,
        /// Small flows to the same destinations.
        mice: Option<Mice> = None,
    }
}

/// Random destinations.
pub struct RandomPairs(RandomPairsSettings);

impl RandomPairs {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &RandomPairsSettings, _site: ()) -> RandomPairs {
        RandomPairs(settings.clone())
    }
}

impl Pattern for RandomPairs {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        site.partners(self.0.pairs).map_err(|problem| vec![problem])?;
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        if u64::from(site.hosts.len()) * u64::from(self.0.flows_per_host) > MAX_LISTED as u64 {
            return Err(vec![Problem::new(
                "flows_per_host",
                format!("this makes more than {MAX_LISTED} flows"),
            )]);
        }
        let mut random = site.random(Purpose::Pairs);
        let mut pairs: Vec<(HostId, HostId)> = Vec::new();
        for source in site.hosts.in_order() {
            let draw = |_| (source, site.hosts.draw_partner(source, self.0.pairs, &mut random));
            pairs.extend((0..self.0.flows_per_host).map(draw));
        }
        Stream::at_once(site, pairs.clone(), &sizes).with_mice(site, &pairs, self.0.mice.as_ref())
    }
}
