//! Constant rate: senders that ignore the network, for background traffic. Their transport is the scenario's
//! transport for flows with a rate.

use super::{Pattern, Stream};
use crate::flow::Flow;
use crate::site::{Pairs, PatternSite};
use weft_core::Problem;
use weft_core::{Bytes, HostId, Purpose, Rate, Span};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Constant-rate senders between given or random hosts";

weft_core::settings! {
    /// Constant-rate flows, all starting with the entry.
    pub struct ConstantSettings {
        /// Payload rate of each flow.
        rate: Rate,
        /// How long each flow lasts.
        duration: Span = Span::from_ms(10),
        /// Number of flows.
        count: u32 [1, 1000000] = 1,
        /// The sending host; absent: drawn for every flow.
        from: Option<u32> = None,
        /// The receiving host; absent: drawn for every flow.
        to: Option<u32> = None,
        /// The hosts among which senders and receivers are drawn.
        pairs: Pairs = Pairs::Any,
    }
}

/// Constant-rate flows.
pub struct Constant(ConstantSettings);

impl Constant {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &ConstantSettings, _site: ()) -> Constant {
        Constant(settings.clone())
    }

    /// The given hosts.
    fn ends(&self, site: &PatternSite<'_>) -> Result<[Option<HostId>; 2], Problem> {
        let from = self.0.from.map(|n| site.host(n, "from")).transpose()?;
        let to = self.0.to.map(|n| site.host(n, "to")).transpose()?;
        if from.is_some() && from == to {
            return Err(Problem::new("to", "a host cannot send to itself"));
        }
        Ok([from, to])
    }

    fn size(&self) -> Result<Bytes, Problem> {
        match self.0.rate.bytes_in(self.0.duration) {
            Bytes(0) => Err(Problem::new("rate", "at this rate not even one byte is sent in the duration")),
            size => Ok(size),
        }
    }
}

impl Pattern for Constant {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let pairs = if self.0.from.is_some() && self.0.to.is_some() { Pairs::Any } else { self.0.pairs };
        let (ends, size, partners) = (self.ends(site), self.size(), site.partners(pairs));
        let (ends, size) = match (ends, size, partners) {
            (Ok(ends), Ok(size), Ok(())) => (ends, size),
            (ends, size, partners) => {
                return Err([ends.err(), size.err(), partners.err()].into_iter().flatten().collect());
            }
        };
        let mut random = site.random(Purpose::Pairs);
        let pair = |_| match ends {
            [Some(from), Some(to)] => (from, to),
            [Some(from), None] => (from, site.hosts.draw_partner(from, pairs, &mut random)),
            [None, Some(to)] => (site.hosts.draw_partner(to, pairs, &mut random), to),
            [None, None] => {
                let from = site.hosts.draw(&mut random);
                (from, site.hosts.draw_partner(from, pairs, &mut random))
            }
        };
        let flow = |hosts| Flow { rate: self.0.rate, ..Flow::new(site.tag, site.start, hosts, size) };
        Ok(Stream::of((0..self.0.count).map(pair).map(flow).collect()))
    }

    fn note(&self, site: &PatternSite<'_>) -> Option<String> {
        let least = site.hosts.all().iter().map(|host| site.shape.host_rate[host.index()]);
        let cable = match self.0.from {
            Some(from) => *site.shape.host_rate.get(from as usize)?,
            None => least.min()?,
        };
        let beyond = self.0.rate > cable;
        beyond.then(|| format!("the rate of {} exceeds a cable of {cable}: flows take longer", self.0.rate))
    }
}
