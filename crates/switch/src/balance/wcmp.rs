//! WCMP: a hash of the flow chooses the port, in proportion to the capacity of the shortest paths that start there.
//!
//! *Paper*: Zhou et al., EuroSys'14. Hardware repeats a port in its table according to its weight; weights are
//! reduced to keep the tables small. *Parameters*: `oversubscription` is theta_max, `table_size` the entries of a
//! group. Equal weights are ECMP with the same hash. *State*: one entry of 2 bytes per unit of reduced weight and
//! group, none per flow. *Limits*: blind to load and flow size; weights change only when routing does.

use weft_core::group::part;
use weft_core::{Bytes, Grouping, Header, PortId, Random, Time, settings};

use super::{Balancer, BalancerSite, Candidates, Choices, State};
use weft_forwarding::hash::{FlowHash, HashFunction};

mod reduce;

pub use reduce::{oversubscription, reduce, reduce_to};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "a hash of the flow chooses the port, weighted by the capacity beyond it (EuroSys'14)";

settings! {
    /// WCMP.
    pub struct WcmpSettings {
        /// The hash function over the five-tuple.
        hash: HashFunction = HashFunction::Mix,
        /// How far reduced weights may exceed a port's exact share of the flows (theta_max); 1 keeps weights exact.
        /// The paper tries 1.002 to 1.1.
        oversubscription: f64 [1.0, 1000.0] = 1.05,
        /// Maximum entries per group in the table, but at least one per port; absent: no limit.
        table_size: Option<u32> = None,
    }
}

/// WCMP.
#[derive(Clone, Debug)]
pub struct Wcmp {
    hash: FlowHash,
    oversubscription: f64,
    table_size: Option<u64>,
    /// By component: the sums of the reduced weights up to each port. Empty until the first packet.
    sums: Vec<Vec<u64>>,
}

impl Wcmp {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &WcmpSettings, site: BalancerSite) -> Wcmp {
        Wcmp {
            hash: FlowHash::of_switch(settings.hash, site),
            oversubscription: settings.oversubscription,
            table_size: settings.table_size.map(u64::from),
            sums: Vec::new(),
        }
    }

    #[cold]
    fn fill(&mut self, component: usize, shares: &[u64]) {
        if component >= self.sums.len() {
            self.sums.resize(component + 1, Vec::new());
        }
        let mut sum = 0;
        let up_to = |weight: u64| {
            sum += weight;
            sum
        };
        self.sums[component] = self.weights(shares).into_iter().map(up_to).collect();
    }
}

impl Balancer for Wcmp {
    fn keeps_paths(&self) -> bool {
        true
    }

    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        _now: Time,
        _random: &mut Random,
    ) -> usize {
        let component = candidates.group.index();
        if self.sums.get(component).is_none_or(Vec::is_empty) {
            self.fill(component, &candidates.component.shares);
        }
        let sums = &self.sums[component];
        let whole = *sums.last().expect("a group with a choice has ports");
        let hash = self.hash.of(&packet.tuple()) << (32 - self.hash.bits());
        let entry = part(hash, whole);
        sums.iter().position(|sum| entry < *sum).expect("the entry lies below the whole")
    }

    fn groups_changed(&mut self) {
        self.sums.clear();
    }

    fn grouping(&self) -> Grouping {
        Grouping::Weighted
    }

    /// Those of the table.
    fn weights(&self, shares: &[u64]) -> Vec<u64> {
        let reduced = reduce(shares, self.oversubscription);
        match self.table_size {
            Some(entries) if reduced.iter().sum::<u64>() > entries => reduce_to(shares, entries),
            _ => reduced,
        }
    }

    fn entries(&self, shares: &[u64]) -> u64 {
        self.weights(shares).iter().sum()
    }

    /// As in hardware: a port name in each table entry.
    fn state(&self, choices: Choices) -> State {
        State { fixed: Bytes(choices.entries * size_of::<PortId>() as u64), ..State::default() }
    }
}
