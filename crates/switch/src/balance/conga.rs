//! CONGA: the leaf sends each flowlet on the uplink whose path to the destination leaf is least congested, as
//! reported by packets of the opposite direction.
//!
//! *Paper*: Alizadeh et al., SIGCOMM'14. *Parameters*: `metric_bits` is Q, `dre_period` T_dre, `dre_decay` alpha,
//! `gap` T_fl (13 ms: CONGA-Flow), `age_out` T_age. A flowlet moves only to a strictly better uplink. *State*: per
//! leaf 16 bytes per entry of the flowlet table and engine, two tables of 16 bytes per (leaf, uplink), about 100
//! bytes per fabric link. *Limits*: designed for two tiers. Only the source leaf decides; switches above spread flows
//! by a hash, so that in a three-tier network a metric mixes the paths that share an uplink. At most 1023 uplinks per
//! leaf are measured.

use weft_core::{Header, Random, Time, settings};

use super::{Balancer, BalancerSite, Candidates, Choices, State};
use crate::flowlet::{self, Flowlets};
use weft_congestion::CongestionSettings;
use weft_forwarding::hash::{FlowHash, HashFunction};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "each flowlet on the least congested path, learnt from feedback between leaves (SIGCOMM'14)";

settings! {
    /// CONGA.
    pub struct CongaSettings {
        /// When a flowlet ends, and how it is remembered.
        flowlets: flowlet::FlowletSettings [flatten],
        /// How congestion is measured.
        congestion: CongestionSettings [flatten],
    }
}

/// How long an exact flowlet table remembers a flow's last port, in flowlet gaps.
const REMEMBERED: u64 = 16;

/// CONGA.
#[derive(Clone, Debug)]
pub struct Conga {
    flowlets: Flowlets,
    congestion: CongestionSettings,
    /// The hash for switches that do not decide.
    hash: FlowHash,
    /// Metrics of the current flowlet's candidates.
    metrics: Vec<u8>,
}

impl Conga {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &CongaSettings, site: BalancerSite) -> Conga {
        Conga {
            flowlets: Flowlets::new(&settings.flowlets, site).remembering(REMEMBERED),
            congestion: settings.congestion.clone(),
            hash: FlowHash::of_switch(HashFunction::Mix, site),
            metrics: Vec::new(),
        }
    }
}

/// Among the candidates with the lowest metric, the flow's last port, otherwise a fair draw.
fn least(metrics: &[u8], last: Option<usize>, random: &mut Random) -> usize {
    let least = *metrics.iter().min().expect("a group with a choice has ports");
    if let Some(last) = last.filter(|last| metrics[*last] == least) {
        return last;
    }
    let tied = metrics.iter().filter(|metric| **metric == least).count();
    let nth = if tied > 1 { random.below(tied as u32) as usize } else { 0 };
    let mut places = (0..metrics.len()).filter(|place| metrics[*place] == least);
    places.nth(nth).expect("fewer than were counted")
}

impl Balancer for Conga {
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        now: Time,
        random: &mut Random,
    ) -> usize {
        if !candidates.knows_paths() {
            return self.hash.spread(packet, candidates.len());
        }
        let metrics = &mut self.metrics;
        let ports = candidates.ports();
        self.flowlets.keep(packet, now, ports, |flowlet| {
            metrics.clear();
            metrics.extend((0..ports.len()).map(|index| candidates.congestion(index)));
            least(metrics, flowlet.last(ports), random)
        })
    }

    fn measures(&self) -> Option<&CongestionSettings> {
        Some(&self.congestion)
    }

    fn state(&self, _choices: Choices) -> State {
        self.flowlets.state()
    }
}
