//! The view that a pattern has of the network and of the run. Must not depend on graphs.

use crate::framing::Framing;
use crate::sizes::SizeDistribution;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use weft_core::Problem;
use weft_core::{Checksum, HostId, Purpose, Random, Rate, Time};

/// The properties of the network on which traffic depends.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// For each host, the index of its leaf.
    pub leaf_of_host: &'a [u16],
    /// For each host, the rate of its cable; zero: it is cut off and does not take part.
    pub host_rate: &'a [Rate],
    /// For each leaf, the total rate of its working uplinks; all zero: there is nothing above the leaves.
    pub uplink_capacity: &'a [Rate],
    /// Packet sizes, because load is counted in bytes on the wire.
    pub framing: Framing,
    /// Where relative file names start.
    pub folder: &'a Path,
    /// The names of hosts by number; empty: each has its default name, such as `host3`.
    pub host_names: &'a [String],
}

weft_core::choice! {
    /// Which hosts may communicate.
    pub enum Pairs {
        /// Source and destination are under different leaves: all traffic crosses the fabric.
        OtherLeaf = "other-leaf",
        /// Any two different hosts.
        Any = "any",
    }
}

/// The hosts that take part.
#[derive(Clone, Debug)]
pub struct Participants {
    /// Sorted by (leaf, host).
    by_leaf: Vec<HostId>,
    /// For each host of the network, its own range in `by_leaf`; empty for one that does not take part.
    own: Vec<(u32, u32)>,
    /// For each host of the network, the range of its leaf.
    neighbours: Vec<(u32, u32)>,
}

impl Participants {
    /// The connected hosts of a network.
    fn new(shape: &Shape<'_>) -> Participants {
        let all = (0..shape.host_rate.len() as u32).map(HostId);
        Participants::among(shape, all.filter(|host| shape.host_rate[host.index()] > Rate(0)).collect())
    }

    /// These hosts of a network; duplicates count once.
    #[must_use]
    pub fn among(shape: &Shape<'_>, mut hosts: Vec<HostId>) -> Participants {
        let leaf = |host: &HostId| shape.leaf_of_host[host.index()];
        hosts.sort_by_key(|host| (leaf(host), *host));
        hosts.dedup();
        let before = |key: (u16, u32)| hosts.partition_point(|host| (leaf(host), host.0) < key) as u32;
        let all = || (0..shape.host_rate.len() as u32).map(HostId);
        let own = all().map(|host| {
            let from = before((leaf(&host), host.0));
            (from, from + u32::from(hosts.get(from as usize) == Some(&host)))
        });
        let neighbours = all().map(|host| {
            let up_to = hosts.partition_point(|other| leaf(other) <= leaf(&host));
            (before((leaf(&host), 0)), up_to as u32)
        });
        Participants { own: own.collect(), neighbours: neighbours.collect(), by_leaf: hosts }
    }

    /// The number of hosts that take part.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.by_leaf.len() as u32
    }

    /// Whether no host takes part.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_leaf.is_empty()
    }

    /// The hosts that take part, by (leaf, host).
    #[must_use]
    pub fn all(&self) -> &[HostId] {
        &self.by_leaf
    }

    /// The hosts that take part, in the order of their numbers.
    #[must_use]
    pub fn in_order(&self) -> Vec<HostId> {
        let mut hosts = self.by_leaf.clone();
        hosts.sort_unstable();
        hosts
    }

    /// The range that `host` may not send to: itself, or its whole leaf.
    fn excluded(&self, host: HostId, pairs: Pairs) -> (u32, u32) {
        match pairs {
            Pairs::OtherLeaf => self.neighbours[host.index()],
            Pairs::Any => self.own[host.index()],
        }
    }

    /// The number of hosts that `host` may send to.
    #[must_use]
    pub fn partners(&self, host: HostId, pairs: Pairs) -> u32 {
        let (from, to) = self.excluded(host, pairs);
        self.len() - (to - from)
    }

    /// The `n`-th of the hosts that `host` may send to.
    #[must_use]
    pub fn partner(&self, host: HostId, pairs: Pairs, n: u32) -> HostId {
        let (from, to) = self.excluded(host, pairs);
        self.by_leaf[if n < from { n } else { n + to - from } as usize]
    }

    /// A random host.
    pub fn draw(&self, random: &mut Random) -> HostId {
        self.by_leaf[random.below(self.len()) as usize]
    }

    /// A random host that `host` may send to.
    pub fn draw_partner(&self, host: HostId, pairs: Pairs, random: &mut Random) -> HostId {
        let n = random.below(self.partners(host, pairs));
        self.partner(host, pairs, n)
    }

    /// The probability that one of these hosts and its destination among `to`, drawn uniformly, are under different
    /// leaves.
    #[must_use]
    pub fn leaving(&self, to: &Participants, pairs: Pairs) -> f64 {
        let count = |host: &HostId, pairs| f64::from(to.partners(*host, pairs));
        let share = |host| count(host, Pairs::OtherLeaf) / count(host, pairs);
        self.by_leaf.iter().map(share).sum::<f64>() / f64::from(self.len())
    }
}

/// The context of a pattern: the network, its own random streams and its start.
pub struct PatternSite<'a> {
    /// The network.
    pub shape: &'a Shape<'a>,
    /// The hosts that take part.
    pub hosts: Arc<Participants>,
    /// Index of the traffic entry.
    pub tag: u16,
    /// No flow starts before this instant.
    pub start: Time,
    seed: u64,
    key: u64,
}

impl<'a> PatternSite<'a> {
    /// The context of the traffic entry number `tag` called `name`.
    #[must_use]
    pub fn new(shape: &'a Shape<'a>, (tag, name): (u16, &str), start: Time, seed: u64) -> PatternSite<'a> {
        PatternSite { shape, hosts: Arc::new(Participants::new(shape)), tag, start, seed, key: key(name) }
    }

    /// The entry's own stream for a purpose: it depends on the entry's name, not on its neighbours.
    #[must_use]
    pub fn random(&self, purpose: Purpose) -> Random {
        Random::new(self.seed, purpose, self.key)
    }

    /// Reads the size distribution of the key `sizes`.
    ///
    /// # Errors
    /// If there is no such distribution.
    pub fn sizes(&self, text: &str) -> Result<SizeDistribution, Problem> {
        SizeDistribution::read(text, self.shape.folder).map_err(|message| Problem::new("sizes", message))
    }

    /// Checks that every host has a possible destination.
    ///
    /// # Errors
    /// If there are too few hosts, or all are wrongly under one leaf.
    pub fn partners(&self, pairs: Pairs) -> Result<(), Problem> {
        if self.hosts.len() < 2 {
            return Err(Problem::new("", "at least two hosts must be connected"));
        }
        match self.hosts.all().iter().all(|host| self.hosts.partners(*host, pairs) > 0) {
            true => Ok(()),
            false => Err(Problem::new("pairs", "all hosts are under one leaf; write pairs = \"any\"")),
        }
    }

    /// Checks that every sender has a possible destination.
    ///
    /// # Errors
    /// If one has none.
    pub fn reach(&self, (from, to): (&Participants, &Participants), pairs: Pairs) -> Result<(), Problem> {
        match from.all().iter().find(|host| to.partners(**host, pairs) == 0) {
            None => Ok(()),
            Some(host) => Err(Problem::new("to", format!("host {} has no other host to send to", host.0))),
        }
    }

    /// The hosts that a setting lists; without one, all that take part.
    ///
    /// # Errors
    /// If one of them does not exist, is cut off or is given twice; `path` is the setting.
    pub fn listed(&self, numbers: &[u32], path: &str) -> Result<Arc<Participants>, Problem> {
        if numbers.is_empty() {
            return Ok(Arc::clone(&self.hosts));
        }
        let mut known = BTreeSet::new();
        if let Some(twice) = numbers.iter().find(|number| !known.insert(**number)) {
            return Err(Problem::new(path, format!("host {twice} is given twice: a host takes part once")));
        }
        let hosts: Result<Vec<HostId>, Problem> = numbers.iter().map(|n| self.host(*n, path)).collect();
        Ok(Arc::new(Participants::among(self.shape, hosts?)))
    }

    /// The host number `n`, if it takes part.
    ///
    /// # Errors
    /// If there is no such host or it is cut off; `path` is the setting that names it.
    pub fn host(&self, n: u32, path: &str) -> Result<HostId, Problem> {
        match self.shape.host_rate.get(n as usize) {
            None => {
                let last = self.shape.host_rate.len().saturating_sub(1);
                Err(Problem::new(path, format!("there is no host {n}; they are numbered 0 to {last}")))
            }
            Some(Rate(0)) => Err(Problem::new(path, format!("host {n} is cut off by a failure"))),
            Some(_) => Ok(HostId(n)),
        }
    }
}

/// A number for a name, small enough to leave room for the purpose of a stream.
fn key(name: &str) -> u64 {
    Checksum::default().with(name.as_bytes()).value() & ((1 << 56) - 1)
}
