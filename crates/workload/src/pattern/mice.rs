//! Mice among elephants: small flows that a pattern's hosts also send to the same destinations (Table 1 of the DRILL
//! paper, after Presto, SIGCOMM 2015). Not a pattern of its own.

use super::Stream;
use crate::Flow;
use crate::site::PatternSite;
use weft_core::{HostId, Problem, Purpose, Span};

weft_core::settings! {
    /// Small flows among the large ones.
    pub struct Mice {
        /// What each carries: a size, a bundled name, a file of points or a formula (DRILL: 50 kB).
        sizes: String,
        /// Time from one small flow of a host to its next; the first is sent after this time.
        every: Span = Span::from_ms(100),
        /// Number that each host sends to each of its destinations.
        count: u32 [1, 1000000],
    }
}

impl Stream {
    /// Adds mice between the same pairs; they are sent in the order of the pairs.
    pub(super) fn with_mice(
        self,
        site: &PatternSite<'_>,
        pairs: &[(HostId, HostId)],
        mice: Option<&Mice>,
    ) -> Result<Stream, Vec<Problem>> {
        let Some(mice) = mice else { return Ok(self) };
        let named = |problem: Problem| vec![Problem::new("mice.sizes", problem.message)];
        let sizes = site.sizes(&mice.sizes).map_err(named)?;
        if mice.every == Span::ZERO {
            let message = "small flows must be spread over time; give a time above zero";
            return Err(vec![Problem::new("mice.every", message)]);
        }
        let mut random = site.random(Purpose::Mice);
        let mut flows: Vec<_> = self.flows.collect();
        for round in 1..=u64::from(mice.count) {
            let start = site.start + mice.every * round;
            flows.extend(pairs.iter().map(|&pair| Flow::new(site.tag, start, pair, sizes.draw(&mut random))));
        }
        Ok(Stream::of(flows))
    }
}
