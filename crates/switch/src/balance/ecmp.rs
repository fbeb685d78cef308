//! ECMP: a static hash of the five-tuple chooses the port; all packets of a flow take one path.
//!
//! *Standard*: RFC 2992. *Parameters*: the hash function and its seeding, and how hash values map to ports. When a
//! port is lost, `modulo` also moves most of the other ports' flows, `multiply` some, `resilient` (rendezvous
//! hashing) none. *State*: none beyond the routes. *Limits*: blind to load and flow size; equal seeds at two stages
//! polarise.

use weft_core::random::mix;
use weft_core::{Header, PortId, Random, Time, choice, settings};

use super::{Balancer, BalancerSite, Candidates};
use weft_forwarding::hash::{FlowHash, HashFunction};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "a hash of the flow chooses the port (RFC 2992)";

choice! {
    /// How a hash value becomes a port.
    pub enum Mapping {
        /// The high bits: hash times ports, divided by 2^32.
        Multiply = "multiply",
        /// The hash modulo the number of ports.
        Modulo = "modulo",
        /// Rendezvous hashing: the port with the highest hash of port and flow; only flows of a lost port move.
        Resilient = "resilient",
    }
}

choice! {
    /// Which seed a switch's hash gets.
    pub enum Seeding {
        /// Each switch its own, drawn from the run's seed.
        PerSwitch = "per-switch",
        /// One seed for all switches, as many fabrics are shipped: polarises over stages.
        Same = "same",
    }
}

settings! {
    /// Flow hashing.
    pub struct EcmpSettings {
        /// The hash function over the five-tuple.
        hash: HashFunction = HashFunction::Mix,
        /// Which seed each switch uses.
        seeding: Seeding = Seeding::PerSwitch,
        /// How a hash value becomes a port.
        mapping: Mapping = Mapping::Multiply,
    }
}

/// ECMP.
#[derive(Clone, Debug)]
pub struct Ecmp {
    hash: FlowHash,
    mapping: Mapping,
}

impl Ecmp {
    /// Creates it from the settings. All engines of a switch share one seed, as they share one hash function in
    /// hardware.
    #[must_use]
    pub fn new(settings: &EcmpSettings, site: BalancerSite) -> Ecmp {
        let hash = match settings.seeding {
            Seeding::PerSwitch => FlowHash::of_switch(settings.hash, site),
            Seeding::Same => FlowHash::new(settings.hash, 0),
        };
        Ecmp { hash, mapping: settings.mapping }
    }
}

impl Balancer for Ecmp {
    fn keeps_paths(&self) -> bool {
        true
    }

    fn likely(&self, packet: &Header, ports: &[PortId]) -> Option<PortId> {
        (self.mapping == Mapping::Multiply).then(|| ports[self.hash.spread(packet, ports.len())])
    }

    fn decides_by(&self) -> Option<&FlowHash> {
        (self.mapping == Mapping::Multiply).then_some(&self.hash)
    }

    #[inline]
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        _now: Time,
        _random: &mut Random,
    ) -> usize {
        let hash = || u64::from(self.hash.of(&packet.tuple()));
        match self.mapping {
            Mapping::Multiply => self.hash.spread(packet, candidates.len()),
            Mapping::Modulo => (hash() % candidates.len() as u64) as usize,
            Mapping::Resilient => {
                let hash = hash();
                let weight = |index: &usize| mix(hash << 16 | u64::from(candidates.ports()[*index].0));
                (0..candidates.len()).max_by_key(weight).expect("a group with a choice has ports")
            }
        }
    }
}
