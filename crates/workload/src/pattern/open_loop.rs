//! Open loop: flows arrive whatever the network does, between random hosts, at a given share of its capacity.
//!
//! λ = load · C / E\[wire bytes of a flow\], where C is the capacity of all working leaf uplinks divided by the share
//! of flows that leave their leaf, or of all hosts. Where hosts can send less than that (undersubscribed fabric, or
//! no uplinks at all) C is what hosts can send, and a note says so. Sources are drawn uniformly, so a failed uplink
//! lowers the total but not one leaf's part of it (DRILL's load with failures). Acknowledgements and connection
//! set-up are not counted.

use super::{Pattern, Stream, flow};
use crate::site::{Pairs, Site};
use std::sync::Arc;
use weft_core::Problem;
use weft_core::settings::Share;
use weft_core::{Purpose, Rate, Span};

/// One sentence for lists.
pub const SUMMARY: &str = "Flows between random hosts at a share of the network's capacity";

weft_core::choice! {
    /// When flows arrive.
    pub enum Arrivals {
        /// As a Poisson process.
        Poisson = "poisson",
        /// At equal intervals.
        Fixed = "fixed",
    }
}

weft_core::choice! {
    /// What the load is a share of.
    pub enum LoadOf {
        /// The uplinks of all leaves that work: the core capacity of load-balancing papers.
        Uplinks = "uplinks",
        /// The cables of all hosts.
        Hosts = "hosts",
    }
}

weft_core::settings! {
    /// Flows at random.
    pub struct Settings {
        /// When flows arrive.
        arrivals: Arrivals = Arrivals::Poisson,
        /// Offered load, bytes on the wire, as a share of the capacity named by `load_of`; above 1 is overload.
        load: Share [0.0, 100.0],
        /// What the load is a share of.
        load_of: LoadOf = LoadOf::Uplinks,
        /// Flow sizes: a bundled name, a size, a file of points or a formula.
        sizes: String,
        /// Which hosts talk to each other (published code uses other leaves only).
        pairs: Pairs = Pairs::OtherLeaf,
    }
}

/// Open-loop arrivals.
pub struct OpenLoop(Settings);

impl OpenLoop {
    /// Arrivals as in `settings`.
    #[must_use]
    pub fn new(settings: &Settings, _site: ()) -> OpenLoop {
        OpenLoop(settings.clone())
    }

    /// Capacity in bits per second, and whether hosts limit what was to be a share of the uplinks.
    fn capacity(&self, site: &Site<'_>) -> (f64, bool) {
        let sum = |rates: &[Rate]| rates.iter().map(|rate| rate.0 as f64).sum::<f64>();
        let (hosts, uplinks) = (sum(site.shape.host_rate), sum(site.shape.uplink_capacity));
        let core = uplinks / site.hosts.leaving(self.0.pairs);
        match self.0.load_of {
            LoadOf::Uplinks if uplinks > 0.0 && core <= hosts => (core, false),
            LoadOf::Uplinks => (hosts, true),
            LoadOf::Hosts => (hosts, false),
        }
    }
}

impl Pattern for OpenLoop {
    fn flows(&self, site: &Site<'_>) -> Result<Stream, Vec<Problem>> {
        let sizes = site.sizes(&self.0.sizes);
        let partners = site.partners(self.0.pairs);
        let load = match self.0.load.0 > 0.0 {
            true => Ok(self.0.load.0),
            false => Err(Problem::new("load", "a load of 0 is no traffic; it must be above 0")),
        };
        let (sizes, load) = match (sizes, partners, load) {
            (Ok(sizes), Ok(()), Ok(load)) => (sizes, load),
            (sizes, partners, load) => {
                return Err([sizes.err(), partners.err(), load.err()].into_iter().flatten().collect());
            }
        };
        let gap = 8.0 * sizes.mean_wire(site.shape.framing) / (load * self.capacity(site).0);
        Ok(self.stream(site, sizes, gap * weft_core::units::PS_PER_S as f64))
    }

    fn note(&self, site: &Site<'_>) -> Option<String> {
        let (capacity, by_hosts) = self.capacity(site);
        let rate = Rate(capacity as u64);
        by_hosts.then(|| {
            format!(
                "hosts and not uplinks limit the load: it is a share of the {rate} that all hosts can send"
            )
        })
    }
}

impl OpenLoop {
    /// Endless arrivals with a mean gap in picoseconds.
    fn stream(&self, site: &Site<'_>, sizes: crate::Sizes, gap: f64) -> Stream {
        let Settings { arrivals, pairs, .. } = self.0;
        let (hosts, tag) = (Arc::clone(&site.hosts), site.tag);
        let [mut when, mut how_much, mut who] =
            [Purpose::Arrivals, Purpose::Sizes, Purpose::Pairs].map(|purpose| site.random(purpose));
        let mut now = site.start;
        let next = move || {
            now += Span(match arrivals {
                Arrivals::Poisson => when.exponential(gap).round() as u64,
                Arrivals::Fixed => gap.round() as u64,
            });
            let source = hosts.draw(&mut who);
            let destination = hosts.draw_partner(source, pairs, &mut who);
            Some(flow(tag, now, (source, destination), sizes.draw(&mut how_much)))
        };
        Stream { flows: Box::new(std::iter::from_fn(next)), endless: true }
    }
}
