//! Permutation: every host sends to exactly one other and receives from exactly one other, all at once.

use super::{Pattern, Stream};
use crate::site::{Pairs, PatternSite};
use weft_core::Problem;
use weft_core::{HostId, Purpose, Random};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Every host sends to one other and receives from one other, at random";

weft_core::settings! {
    /// Random permutation without fixed points.
    pub struct PermutationSettings {
        /// What each host sends: a size, a bundled name, a file of points or a formula.
        sizes: String,
    }
}

/// A random derangement of the hosts.
pub struct Permutation(PermutationSettings);

impl Permutation {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &PermutationSettings, _site: ()) -> Permutation {
        Permutation(settings.clone())
    }
}

impl Pattern for Permutation {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        site.partners(Pairs::Any).map_err(|problem| vec![problem])?;
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        let sources = site.hosts.in_order();
        let destinations = derangement(&sources, &mut site.random(Purpose::Pairs));
        Ok(Stream::at_once(site, sources.into_iter().zip(destinations), &sizes))
    }
}

/// A uniformly random derangement: permutations are drawn until one has no fixed point, e times on average.
fn derangement(hosts: &[HostId], random: &mut Random) -> Vec<HostId> {
    let mut shuffled = hosts.to_vec();
    loop {
        random.shuffle(&mut shuffled);
        if shuffled.iter().zip(hosts).all(|(a, b)| a != b) {
            return shuffled;
        }
    }
}
