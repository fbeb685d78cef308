//! Groups: periodically, random hosts send to other random hosts at the same time; incast over a whole fabric, as in
//! Fig. 14 of the DRILL paper (SIGCOMM 2017). Requests are not modelled: the replies are the flows.

use super::{Pattern, Stream};
use crate::Flow;
use crate::site::{Pairs, Participants, PatternSite};
use std::sync::Arc;
use weft_core::{HostId, Problem, Purpose, Random, Span};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "Periodically, a group of hosts sends to another group, all at once; both are redrawn";

weft_core::choice! {
    /// The pairing of senders and receivers.
    pub enum Matching {
        /// Every sender sends to every receiver.
        All = "all",
        /// Sender n sends to receiver n, wrapping around.
        Pairwise = "pairwise",
    }
}

weft_core::settings! {
    /// Bursts from one group of hosts to another.
    pub struct GroupsSettings {
        /// Hosts that send in one event.
        senders: u32 [1, 1000000],
        /// Hosts that receive in one event; none of them sends in the same event.
        receivers: u32 [1, 1000000],
        /// What each flow carries: a size, a bundled name, a file of points or a formula.
        sizes: String,
        /// Who sends to whom.
        matching: Matching = Matching::All,
        /// Number of events.
        count: u32 [1, 1000000000] = 1,
        /// Time from one event to the next.
        period: Span = Span::from_ms(10),
    }
}

/// Bursts between random groups.
pub struct Groups(GroupsSettings);

impl Groups {
    /// Events as in `settings`.
    #[must_use]
    pub fn new(settings: &GroupsSettings, _site: ()) -> Groups {
        Groups(settings.clone())
    }
}

impl Pattern for Groups {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        site.partners(Pairs::Any).map_err(|problem| vec![problem])?;
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        let (wanted, hosts) = (u64::from(self.0.senders) + u64::from(self.0.receivers), site.hosts.len());
        if wanted > u64::from(hosts) {
            let message = format!("senders and receivers need {wanted} different hosts; there are {hosts}");
            return Err(vec![Problem::new("senders", message)]);
        }
        let (hosts, settings, tag) = (Arc::clone(&site.hosts), self.0.clone(), site.tag);
        let [mut who, mut how_much] = [Purpose::Pairs, Purpose::Sizes].map(|purpose| site.random(purpose));
        let start = site.start;
        let event = move |number: u32| {
            let now = start + settings.period * u64::from(number);
            let pairs = settings.pairs(&hosts, &mut who);
            let burst = pairs.into_iter().map(|pair| Flow::new(tag, now, pair, sizes.draw(&mut how_much)));
            burst.collect::<Vec<_>>()
        };
        Ok(Stream { flows: Box::new((0..self.0.count).flat_map(event)), endless: false })
    }
}

impl GroupsSettings {
    /// The flows of one event: different hosts, drawn without replacement.
    fn pairs(&self, hosts: &Participants, random: &mut Random) -> Vec<(HostId, HostId)> {
        let drawn = random.distinct(self.senders + self.receivers, hosts.len());
        let host = |place: &u32| hosts.all()[*place as usize];
        let (senders, receivers) = drawn.split_at(self.senders as usize);
        match self.matching {
            Matching::All => senders
                .iter()
                .flat_map(|from| receivers.iter().map(move |to| (host(from), host(to))))
                .collect(),
            Matching::Pairwise => senders
                .iter()
                .zip(receivers.iter().cycle())
                .map(|(from, to)| (host(from), host(to)))
                .collect(),
        }
    }
}
