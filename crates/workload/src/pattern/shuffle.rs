//! Shuffle: every host sends to every other, each in its own random order (the exchange of a data-parallel job).
//!
//! A host sends one flow at a time: the next starts when the sender of the previous one is done, with all bytes
//! acknowledged and, if the connection closes (`close`), the receiver's FIN answered. With `spacing`, flows start at
//! that interval instead, whether or not the previous one has finished; spacing 0 is all to all.

use super::{Pattern, Stream, all_to_all};
use crate::Flow;
use crate::site::PatternSite;
use weft_core::Problem;
use weft_core::{Purpose, Span};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Every host sends to every other in a random order, one after the other";

weft_core::settings! {
    /// Shuffle.
    pub struct ShuffleSettings {
        /// What each pair sends: a size, a bundled name, a file of points or a formula.
        sizes: String,
        /// Time from the start of a host's flow to the start of its next, finished or not; absent: the next starts
        /// when the previous one is acknowledged and closed.
        spacing: Option<Span> = None,
    }
}

/// Every ordered pair of hosts in random order.
pub struct Shuffle(ShuffleSettings);

impl Shuffle {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &ShuffleSettings, _site: ()) -> Shuffle {
        Shuffle(settings.clone())
    }
}

impl Pattern for Shuffle {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        let hosts = all_to_all::everybody(site).map_err(|problem| vec![problem])?;
        let [mut who, mut how_much] = [Purpose::Pairs, Purpose::Sizes].map(|purpose| site.random(purpose));
        // Flows that take turns start a moment apart, which defines their order.
        let spacing = self.0.spacing.unwrap_or(Span(1));
        let mut flows = Vec::new();
        for &from in &hosts {
            let mut others: Vec<_> = hosts.iter().copied().filter(|&to| to != from).collect();
            who.shuffle(&mut others);
            for (turn, to) in others.into_iter().enumerate() {
                let start = site.start + spacing * turn as u64;
                flows.push(Flow::new(site.tag, start, (from, to), sizes.draw(&mut how_much)));
            }
        }
        Ok(Stream::of(flows))
    }

    fn is_in_turn(&self) -> bool {
        self.0.spacing.is_none()
    }
}
