//! Random pairs: hosts send to random hosts; some receive several flows, some none.

use super::mice::Mice;
use super::{Pattern, Stream};
use crate::listed::MAX_LISTED;
use crate::site::{Pairs, Participants, PatternSite};
use std::sync::Arc;
use weft_core::Problem;
use weft_core::{HostId, Purpose};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Every host sends to random hosts, all at once";

weft_core::settings! {
    /// Random destinations.
    pub struct RandomPairsSettings {
        /// What each flow carries: a size, a bundled name, a file of points or a formula.
        sizes: String,
        /// Number of destinations of each host, drawn one by one, so the same may recur.
        flows_per_host: u32 [1, 100000] = 1,
        /// Parallel flows to each destination.
        flows_per_pair: u32 [1, 100000] = 1,
        /// Which hosts communicate.
        pairs: Pairs = Pairs::Any,
        /// The hosts that send, by number; empty: all.
        from: Vec<u32> = Vec::new(),
        /// The hosts that receive, by number; empty: all.
        to: Vec<u32> = Vec::new(),
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

    /// The hosts that send and those that receive.
    fn ends(&self, site: &PatternSite<'_>) -> Result<[Arc<Participants>; 2], Problem> {
        if self.0.from.is_empty() && self.0.to.is_empty() {
            site.partners(self.0.pairs)?;
        }
        let (from, to) = (site.listed(&self.0.from, "from")?, site.listed(&self.0.to, "to")?);
        site.reach((&from, &to), self.0.pairs)?;
        Ok([from, to])
    }

    /// Checks that the flows can be listed.
    fn check_count(&self, senders: u32) -> Result<(), Problem> {
        let RandomPairsSettings { flows_per_host, flows_per_pair, .. } = self.0;
        let flows = u64::from(senders) * u64::from(flows_per_host) * u64::from(flows_per_pair);
        let setting = if flows_per_pair > flows_per_host { "flows_per_pair" } else { "flows_per_host" };
        match flows <= MAX_LISTED as u64 {
            true => Ok(()),
            false => Err(Problem::new(setting, format!("this makes more than {MAX_LISTED} flows"))),
        }
    }
}

impl Pattern for RandomPairs {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let [from, to] = self.ends(site).map_err(|problem| vec![problem])?;
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        self.check_count(from.len()).map_err(|problem| vec![problem])?;
        let mut random = site.random(Purpose::Pairs);
        let mut pairs: Vec<(HostId, HostId)> = Vec::new();
        for source in from.in_order() {
            let draw = |_| (source, to.draw_partner(source, self.0.pairs, &mut random));
            pairs.extend((0..self.0.flows_per_host).map(draw));
        }
        let parallel = |pair| std::iter::repeat_n(pair, self.0.flows_per_pair as usize);
        let all: Vec<_> = pairs.iter().copied().flat_map(parallel).collect();
        Stream::at_once(site, all, &sizes).with_mice(site, &pairs, self.0.mice.as_ref())
    }
}
