//! Open loop: flows arrive independently of the network's state, between random hosts, at a given fraction of its
//! capacity.
//!
//! λ = load · C / E\[bytes of a flow\], on the wire or of payload (`load_counts`), where C is the capacity of all
//! working leaf uplinks divided by the fraction of flows that leave their leaf, or of the hosts that send or receive.
//! If hosts can send less than that (undersubscribed fabric, or no uplinks at all), C is what hosts can send, and a
//! note says so. Hosts are drawn uniformly, so a failed uplink lowers the total but not its leaf's share of it
//! (DRILL's load with failures); with `shares = "uplinks"` it lowers that share. Acknowledgements and connection
//! set-up are not counted. If not all hosts send, C counts only the senders' leaves and cables.

use super::{LeafDemand, Pattern, Stream};
use crate::Flow;
use crate::arrivals::{Bursty, Clock};
use crate::framing::Framing;
use crate::site::{Pairs, Participants, PatternSite};
use crate::skew::Skew;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_core::Problem;
use weft_core::settings::Share;
use weft_core::{Bytes, HostId, Purpose, Random, Rate, Span};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Flows between random hosts at a fraction of the network's capacity";

pub use crate::arrivals::Arrivals;
pub use crate::skew::HotLeaves;

weft_core::choice! {
    /// The capacity of which the load is a fraction.
    pub enum LoadOf {
        /// The working uplinks of all leaves: the core capacity in load-balancing papers. Without switches above the
        /// leaves, all cables between switches in both directions: where flows cross several of them, the busiest are
        /// offered more than the load.
        Uplinks = "uplinks",
        /// The cables of the hosts that send.
        Hosts = "hosts",
        /// The cables of the hosts that receive: with one receiver, its cable.
        Receivers = "receivers",
    }
}

weft_core::choice! {
    /// The bytes of a flow that count towards the load.
    pub enum LoadCounts {
        /// All bytes on the wire: payload with headers and framing.
        Wire = "wire",
        /// Payload only; the wire carries more.
        Payload = "payload",
    }
}

weft_core::choice! {
    /// How often a host takes part.
    pub enum Shares {
        /// All hosts equally.
        Equal = "equal",
        /// By the working uplinks of its leaf, as sender and as receiver: a pair is drawn by the product of both. If
        /// only hosts of different leaves communicate, a leaf that has lost uplinks keeps slightly more than its
        /// share (with four leaves and one of eight uplinks lost, 1/6 instead of 1/7).
        Uplinks = "uplinks",
    }
}

weft_core::settings! {
    /// Flows at random.
    pub struct OpenLoopSettings {
        /// When flows arrive.
        arrivals: Arrivals = Arrivals::Poisson,
        /// Standard deviation of the logarithm of the gaps (`lognormal`), 0.01 to 5: 1 is bursty, 2 very.
        burstiness: Option<f64> = None,
        /// Offered load, in the bytes chosen by `load_counts`, as a fraction of the capacity chosen by `load_of`;
        /// above 1 is overload.
        load: Share [0.0, 10.0],
        /// The capacity of which the load is a fraction.
        load_of: LoadOf = LoadOf::Uplinks,
        /// The bytes that count towards the load; sources often do not say.
        load_counts: LoadCounts = LoadCounts::Wire,
        /// Flow sizes: a bundled name, a size, a file of points or a formula.
        sizes: String,
        /// Which hosts communicate (published code uses only other leaves).
        pairs: Pairs = Pairs::OtherLeaf,
        /// Numbers of the hosts that send; empty: all that have a possible destination.
        from: Vec<u32> = Vec::new(),
        /// Numbers of the hosts that receive; empty: all.
        to: Vec<u32> = Vec::new(),
        /// Fraction of the leaves, counted from the first and rounded up, whose hosts send, as with racks of servers
        /// and racks of clients. All hosts receive; the load is a fraction of what these leaves can send.
        sending_leaves: Share [0.0, 1.0] = Share(1.0),
        /// How often a host takes part; matters if uplinks have failed or leaves differ.
        shares: Shares = Shares::Equal,
        /// Leaves that send more than the others; absent: none.
        hot: Option<HotLeaves> = None,
        /// Flow sizes are rounded up to whole segments, as in simulators whose packets have one size.
        whole_segments: bool = false,
    }
}

/// Who sends and who receives.
type Ends = (Arc<Participants>, Arc<Participants>);

/// Open-loop arrivals.
pub struct OpenLoop(OpenLoopSettings);

impl OpenLoop {
    /// Arrivals as in `settings`.
    #[must_use]
    pub fn new(settings: &OpenLoopSettings, _site: ()) -> OpenLoop {
        OpenLoop(settings.clone())
    }

    /// The senders and receivers: every sender has a possible destination. If senders are not listed, those without
    /// one do not send.
    fn ends(&self, site: &PatternSite<'_>) -> Result<Ends, Problem> {
        if self.all_send() && self.0.to.is_empty() {
            site.partners(self.0.pairs)?;
        }
        let (mut from, to) = (self.senders(site)?, site.listed(&self.0.to, "to")?);
        let reaches = |host: &&HostId| to.partners(**host, self.0.pairs) > 0;
        let able: Vec<HostId> = from.all().iter().filter(reaches).copied().collect();
        if self.0.from.is_empty() && !able.is_empty() && able.len() < from.all().len() {
            from = Arc::new(Participants::among(site.shape, able));
        }
        site.reach((&from, &to), self.0.pairs)?;
        Ok((from, to))
    }

    /// Whether every host sends.
    fn all_send(&self) -> bool {
        self.0.from.is_empty() && self.0.sending_leaves == Share(1.0)
    }

    /// Those listed, or those under the leaves that send.
    fn senders(&self, site: &PatternSite<'_>) -> Result<Arc<Participants>, Problem> {
        if self.0.sending_leaves == Share(1.0) {
            return site.listed(&self.0.from, "from");
        }
        if !self.0.from.is_empty() {
            return Err(Problem::new("sending_leaves", "the senders are listed already (from)"));
        }
        let leaves = (self.0.sending_leaves.0 * site.shape.uplink_capacity.len() as f64).ceil() as usize;
        let sends = |host: &&HostId| usize::from(site.shape.leaf_of_host[host.index()]) < leaves;
        let senders: Vec<HostId> = site.hosts.all().iter().filter(sends).copied().collect();
        match senders.is_empty() {
            true => Err(Problem::new("sending_leaves", "then no host sends; it must be above 0")),
            false => Ok(Arc::new(Participants::among(site.shape, senders))),
        }
    }

    /// Capacity in bits per second, and whether hosts limit what should be a fraction of the uplinks.
    fn capacity(&self, site: &PatternSite<'_>, (from, to): &Ends) -> (f64, bool) {
        let shape = site.shape;
        let sends =
            |leaf: usize| from.all().iter().any(|host| usize::from(shape.leaf_of_host[host.index()]) == leaf);
        let all_send = self.all_send() && from.len() == site.hosts.len();
        let counted = |(leaf, rate): (usize, &Rate)| (all_send || sends(leaf)).then_some(rate.0 as f64);
        let uplinks = shape.uplink_capacity.iter().enumerate().filter_map(counted).sum::<f64>();
        let cables = |ends: &Participants| {
            ends.all().iter().map(|host| shape.host_rate[host.index()].0 as f64).sum::<f64>()
        };
        let hosts = cables(from);
        let core = uplinks / from.leaving(to, self.0.pairs);
        match self.0.load_of {
            LoadOf::Uplinks if core > 0.0 && core <= hosts => (core, false),
            LoadOf::Uplinks => (hosts, true),
            LoadOf::Hosts => (hosts, false),
            LoadOf::Receivers => (cables(to), false),
        }
    }
}

impl Pattern for OpenLoop {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let sizes = site.sizes(&self.0.sizes);
        let ends = self.ends(site);
        let load = match self.0.load.0 > 0.0 {
            true => Ok(self.0.load.0),
            false => Err(Problem::new("load", "a load of 0 means no traffic; it must be above 0")),
        };
        let burstiness = self.burstiness();
        let ends = ends.and_then(|ends| self.somebody_takes_part(site, &ends).map(|()| ends));
        let skew = ends.as_ref().map_or(Ok(None), |(from, _)| self.skew(site, from));
        let (sizes, ends, load) = match (sizes, ends, load, burstiness, &skew) {
            (Ok(sizes), Ok(ends), Ok(load), Ok(()), Ok(_)) => (sizes, ends, load),
            (sizes, ends, load, other, _) => {
                let problems = [sizes.err(), ends.err(), load.err(), other.err(), skew.err()];
                return Err(problems.into_iter().flatten().collect());
            }
        };
        let gap = 8.0 * self.mean_bytes(&sizes, self.counted(site)) / (load * self.capacity(site, &ends).0);
        Ok(self.stream((site, ends), sizes, gap * weft_core::units::PS_PER_S as f64))
    }

    fn note(&self, site: &PatternSite<'_>) -> Option<String> {
        let ends = self.ends(site).ok()?;
        let (capacity, by_hosts) = self.capacity(site, &ends);
        let rate = Rate(capacity as u64);
        let limited = by_hosts.then(|| {
            format!(
                "hosts, not uplinks, limit the load: it is a fraction of the {rate} that the senders can send"
            )
        });
        let skew = self.skew(site, &ends.0).ok()?;
        let skew = skew.map(|skew| skew.note(self.0.load.0));
        let told: Vec<String> =
            limited.into_iter().chain(skew).chain(self.beyond(site, &ends, capacity)).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn demand(&self, site: &PatternSite<'_>) -> LeafDemand {
        match (self.ends(site), site.sizes(&self.0.sizes)) {
            (Ok(ends), Ok(sizes)) => {
                let counted = self.mean_bytes(&sizes, self.counted(site));
                let on_the_wire = self.mean_bytes(&sizes, site.shape.framing) / counted;
                self.between_leaves(site, &ends, self.0.load.0 * self.capacity(site, &ends).0 * on_the_wire)
            }
            _ => LeafDemand::new(),
        }
    }
}

impl OpenLoop {
    /// The cables that cannot carry the load, although it is at most 1 as a fraction of the capacity.
    fn beyond(&self, site: &PatternSite<'_>, (from, to): &Ends, capacity: f64) -> Option<String> {
        let load = self.0.load.0;
        let times = |ends: &Participants| {
            let rates = ends.all().iter().map(|host| site.shape.host_rate[host.index()].0 as f64);
            load * capacity / rates.sum::<f64>()
        };
        let ends = [("senders", times(from)), ("receivers", times(to))];
        let (name, times) = ends.into_iter().filter(|_| load <= 1.0).find(|(_, times)| *times > 1.0)?;
        Some(format!("the load is {times:.2} times what the cables of the {name} carry"))
    }

    /// The framing that counts towards the load.
    fn counted(&self, site: &PatternSite<'_>) -> Framing {
        let framing = site.shape.framing;
        match self.0.load_counts {
            LoadCounts::Wire => framing,
            LoadCounts::Payload => Framing { overhead: Bytes(0), least: Bytes(0), ..framing },
        }
    }

    /// Mean bytes of a flow with this framing.
    fn mean_bytes(&self, sizes: &crate::SizeDistribution, framing: Framing) -> f64 {
        match self.0.whole_segments {
            true => sizes.mean_packets(framing.mss) * (framing.mss + framing.overhead).0 as f64,
            false => sizes.mean_wire(framing),
        }
    }

    /// A rate of all flows, divided among pairs of leaves as hosts are drawn.
    fn between_leaves(&self, site: &PatternSite<'_>, (from, to): &Ends, rate: f64) -> LeafDemand {
        let leaf = |host: &HostId| site.shape.leaf_of_host[host.index()];
        let (sent, kept) = (self.sent(site, from), self.kept(site));
        let weight =
            |all: &Option<Vec<f64>>, leaf: u16| all.as_ref().map_or(1.0, |all| all[usize::from(leaf)]);
        let mut receivers: BTreeMap<u16, f64> = BTreeMap::new();
        to.all().iter().for_each(|host| *receivers.entry(leaf(host)).or_default() += 1.0);
        let (mut demand, mut all) = (LeafDemand::new(), 0.0);
        for host in from.all() {
            let partners = to.partners(*host, self.0.pairs);
            let near = partners - to.partners(*host, Pairs::OtherLeaf);
            let each = weight(&sent, leaf(host)) / f64::from(partners);
            for (under, count) in &receivers {
                let is_own = *under == leaf(host);
                let reached = each * weight(&kept, *under) * if is_own { f64::from(near) } else { *count };
                all += reached;
                if !is_own {
                    *demand.entry((*under, leaf(host))).or_default() += reached;
                }
            }
        }
        demand.values_mut().for_each(|share| *share *= rate / all);
        demand
    }

    /// Checks that drawing hosts terminates: some host sends to a host under another leaf.
    fn somebody_takes_part(&self, site: &PatternSite<'_>, (from, to): &Ends) -> Result<(), Problem> {
        let Some(kept) = self.kept(site) else { return Ok(()) };
        let leaf = |host: &HostId| usize::from(site.shape.leaf_of_host[host.index()]);
        let takes_part = |host: &&HostId| kept[leaf(host)] > 0.0;
        let source = from.all().iter().find(takes_part);
        let reached = |source| to.all().iter().filter(takes_part).any(|host| leaf(host) != leaf(source));
        match source.is_some_and(reached) {
            true => Ok(()),
            false => Err(Problem::new("shares", "fewer than two leaves have a working uplink")),
        }
    }

    /// Sending rates of hosts, if some leaves are hot.
    fn skew(&self, site: &PatternSite<'_>, from: &Participants) -> Result<Option<Skew>, Problem> {
        self.0.hot.as_ref().map(|hot| hot.skew(site, from)).transpose()
    }

    /// Checks that burstiness is given exactly if it has an effect.
    fn burstiness(&self) -> Result<(), Problem> {
        let wrong = |says: &str| Err(Problem::new("burstiness", says));
        match (self.0.arrivals, self.0.burstiness) {
            (Arrivals::Lognormal, None) => wrong("lognormal arrivals need it; for example 2"),
            (Arrivals::Poisson | Arrivals::Fixed, Some(_)) => {
                wrong("it applies only to arrivals = \"lognormal\"")
            }
            (_, Some(deviation)) if !(0.01..=5.0).contains(&deviation) => {
                wrong(&format!("{deviation} is not between 0.01 and 5"))
            }
            _ => Ok(()),
        }
    }

    /// The clock of all arrivals, with a mean gap in picoseconds.
    fn clock(&self, (site, (from, to)): (&PatternSite<'_>, &Ends), gap: f64, when: &mut Random) -> Clock {
        match self.0.arrivals {
            Arrivals::Poisson => Clock::Poisson(site.start, gap),
            Arrivals::Fixed => Clock::Fixed(site.start, Span(gap.round() as u64)),
            Arrivals::Lognormal => {
                let weights = self.weights(site, (from, to));
                let deviation = self.0.burstiness.unwrap_or_default();
                Clock::Bursty(Bursty::new((site.start, gap), deviation, &weights, when))
            }
        }
    }

    /// For each sender, its frequency up to a factor: its probability of being kept times that of its possible
    /// destinations.
    fn weights(&self, site: &PatternSite<'_>, (from, to): (&Participants, &Participants)) -> Vec<f64> {
        let leaf = |host: HostId| usize::from(site.shape.leaf_of_host[host.index()]);
        let weighs = |weights: &Option<Vec<f64>>, host| weights.as_ref().map_or(1.0, |all| all[leaf(host)]);
        let (sent, kept) = (self.sent(site, from), self.kept(site));
        let weight = |host: &HostId| {
            let reached = kept.as_ref().map_or(1.0, |_| {
                let partners = to.partners(*host, self.0.pairs);
                let all = (0..partners).map(|n| weighs(&kept, to.partner(*host, self.0.pairs, n)));
                all.sum::<f64>() / f64::from(partners)
            });
            weighs(&sent, *host) * reached
        };
        from.all().iter().map(weight).collect()
    }

    /// For each leaf, the probability that a host drawn under it is kept; `None` if all are kept.
    fn kept(&self, site: &PatternSite<'_>) -> Option<Vec<f64>> {
        let capacity = site.shape.uplink_capacity.iter().map(|rate| rate.0 as f64);
        let most = capacity.clone().fold(0.0, f64::max);
        (self.0.shares == Shares::Uplinks && most > 0.0).then(|| capacity.map(|rate| rate / most).collect())
    }

    /// For each leaf, the probability that a host drawn under it as a sender is kept; `None` if all are kept.
    fn sent(&self, site: &PatternSite<'_>, from: &Participants) -> Option<Vec<f64>> {
        let kept = self.kept(site);
        let Some(skew) = self.skew(site, from).ok().flatten() else { return kept };
        let most = skew.of_leaf.iter().copied().fold(0.0, f64::max);
        let keep =
            |(leaf, weight): (usize, &f64)| weight / most * kept.as_ref().map_or(1.0, |kept| kept[leaf]);
        Some(skew.of_leaf.iter().enumerate().map(keep).collect())
    }

    /// Endless arrivals with a mean gap in picoseconds.
    fn stream(
        &self,
        (site, (from, to)): (&PatternSite<'_>, Ends),
        sizes: crate::SizeDistribution,
        gap: f64,
    ) -> Stream {
        let (pairs, tag) = (self.0.pairs, site.tag);
        let (sent, kept, leaf) = (self.sent(site, &from), self.kept(site), site.shape.leaf_of_host.to_vec());
        let segment = Bytes(if self.0.whole_segments { site.shape.framing.mss.0 } else { 1 });
        let [mut when, mut how_much, mut who] =
            [Purpose::Arrivals, Purpose::Sizes, Purpose::Pairs].map(|purpose| site.random(purpose));
        let mut clock = self.clock((site, &(Arc::clone(&from), Arc::clone(&to))), gap, &mut when);
        let keeps = move |kept: &Option<Vec<f64>>, host: HostId, who: &mut Random| {
            kept.as_ref().is_none_or(|kept| who.unit() < kept[usize::from(leaf[host.index()])])
        };
        let next = move || {
            let (now, sender) = clock.next(&mut when);
            let (source, destination) = loop {
                let source = sender.map_or_else(|| from.draw(&mut who), |sender| from.all()[sender]);
                let destination = to.draw_partner(source, pairs, &mut who);
                if (sender.is_some() || keeps(&sent, source, &mut who)) && keeps(&kept, destination, &mut who)
                {
                    break (source, destination);
                }
            };
            let size = sizes.draw(&mut how_much).0.next_multiple_of(segment.0);
            Some(Flow::new(tag, now, (source, destination), Bytes(size)))
        };
        Stream { flows: Box::new(std::iter::from_fn(next)), endless: true }
    }
}
