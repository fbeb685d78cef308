//! Kinds of host pairs: two pairs are of one kind if their senders are alike and their receivers are. Hosts that
//! other traffic neither sends to nor receives from are alike if they are at the same switch and have the same
//! transport. Every other host is a kind of its own, because its queues are like no other host's; if there are too
//! many such hosts, those with equal loads share a kind.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::{HostId, SwitchId};
use weft_plan::Setup;
use weft_topology::Node;
use weft_workload::ClusterJob;

use crate::background::Background;

/// Maximum number of hosts with other traffic that are distinguished.
const MOST_APART: usize = 48;

/// What makes hosts alike: switch, group of transports, flows sent and received, and the host itself if it is distinguished.
type Likeness = (SwitchId, u16, (u32, u32), Option<u32>);

/// The kinds of pairs that the jobs of a setup use.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairKinds {
    host: Vec<usize>,
    numbers: BTreeMap<(usize, usize), usize>,
    /// By kind, its pairs in order.
    pub(crate) pairs: Vec<Vec<(HostId, HostId)>>,
    /// By kind, the share of all expected calls.
    pub(crate) shares: Vec<f64>,
}

impl PairKinds {
    /// The kinds of all pairs between which the jobs may transfer something, and of those that answer.
    pub(crate) fn of(setup: &Setup, background: &Background) -> PairKinds {
        let loads = background.loads();
        let apart = loads.len() <= MOST_APART;
        let likeness = |number: u32| -> Likeness {
            let host = HostId(number);
            let load = loads.get(&host).copied();
            let group = setup.stacks.group_of_host.get(host.index()).copied().unwrap_or_default();
            let own = load.filter(|_| apart).map(|_| number);
            (setup.graph.switch_of_host(host), group, load.unwrap_or_default(), own)
        };
        let all: Vec<Likeness> = (0..setup.graph.hosts()).map(likeness).collect();
        let different: Vec<Likeness> = all.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let number = |of: &Likeness| different.binary_search(of).unwrap_or_default();
        let mut kinds = PairKinds { host: all.iter().map(number).collect(), ..PairKinds::default() };
        let jobs = setup.flows.jobs();
        let pairs: BTreeSet<_> = jobs.iter().flat_map(ClusterJob::pairs).flat_map(both_ways).collect();
        pairs.into_iter().for_each(|pair| kinds.add(pair));
        kinds.share(jobs);
        kinds
    }

    fn add(&mut self, (from, to): (HostId, HostId)) {
        let key = (self.host[from.index()], self.host[to.index()]);
        let kind = *self.numbers.entry(key).or_insert(self.pairs.len());
        if kind == self.pairs.len() {
            self.pairs.push(Vec::new());
        }
        self.pairs[kind].push((from, to));
    }

    fn share(&mut self, jobs: &[ClusterJob]) {
        self.shares = vec![0.0; self.pairs.len()];
        for ((from, to), calls) in jobs.iter().flat_map(ClusterJob::expected_calls) {
            if let Some(kind) = self.kind(from, to) {
                self.shares[kind] += calls;
            }
        }
        let all: f64 = self.shares.iter().sum();
        self.shares.iter_mut().for_each(|share| *share /= all.max(1.0));
    }

    /// The kind of a pair, if the jobs use it.
    pub(crate) fn kind(&self, from: HostId, to: HostId) -> Option<usize> {
        self.numbers.get(&(self.host[from.index()], self.host[to.index()])).copied()
    }

    /// The kind of the opposite direction.
    pub(crate) fn reverse(&self, kind: usize) -> usize {
        let (from, to) = self.pairs[kind][0];
        self.kind(to, from).unwrap_or(kind)
    }

    /// `leaf0 to leaf1`: the switches of a pair of a kind.
    pub(crate) fn switches(&self, kind: usize, setup: &Setup) -> String {
        let (from, to) = self.pairs[kind][0];
        let name = |host: HostId| setup.graph.name(Node::Switch(setup.graph.switch_of_host(host)));
        format!("{} to {}", name(from), name(to))
    }
}

fn both_ways((from, to): (HostId, HostId)) -> [(HostId, HostId); 2] {
    [(from, to), (to, from)]
}
