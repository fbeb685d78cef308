//! Per-packet random: every packet takes a uniformly random port of its group, at every switch with a choice.
//!
//! *Paper*: the oblivious baseline of DRILL (SIGCOMM'17 section 4); DRILL(1, 0). *State*: none. *Limits*: reorders;
//! queues behave like M/G/1 at each port.

use weft_core::{Header, Random, Time, settings};

use super::{Balancer, BalancerSite, Candidates};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "each packet on a random port";

settings! {
    /// No settings.
    pub struct RandomSettings {}
}

/// Per-packet random.
#[derive(Clone, Debug)]
pub struct PerPacketRandom;

impl PerPacketRandom {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &RandomSettings, _site: BalancerSite) -> PerPacketRandom {
        PerPacketRandom
    }
}

impl Balancer for PerPacketRandom {
    fn choose(
        &mut self,
        _packet: &Header,
        candidates: &mut Candidates<'_>,
        _now: Time,
        random: &mut Random,
    ) -> usize {
        random.below(candidates.len() as u32) as usize
    }
}
