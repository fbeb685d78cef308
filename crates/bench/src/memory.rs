//! Bytes per flow, host and port: compares the heap of two networks that differ in the number of one of these only.

use std::path::Path;

use serde::{Deserialize, Serialize};
use weft::Error;

use crate::cases::{self, BenchCase, CASES};
use crate::pass::{self, Pass};

/// Bytes on the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryCosts {
    /// A flow that has not started.
    pub unstarted_flow: f64,
    /// A flow that has finished and whose record was handed out.
    pub finished_flow: f64,
    /// A host without traffic, with its card and its link, without the switch's port.
    pub idle_host: f64,
    /// A port of a switch without traffic, with its link.
    pub idle_port: f64,
}

/// The flows (a power of two, so that lists that grow by doubling are full), hosts per leaf and spines of the smaller
/// network, and the leaves of both networks.
const FLOWS: u64 = 16_384;
const HOSTS_PER_LEAF: u64 = 20;
const SPINES: u64 = 4;
const LEAVES: u64 = 16;

/// Measures all four.
///
/// # Errors
/// If the scenarios cannot be read.
pub(crate) fn measure(folder: &Path) -> Result<MemoryCosts, Error> {
    let [few, many] = twice(folder, "million", "measure.flows", FLOWS)?;
    let per_flow = |bytes: fn(&Pass) -> u64| difference(bytes(&few), bytes(&many), FLOWS);
    let [small, spines] = twice(folder, "r1", "topology.leaf-spine.spines", SPINES)?;
    let idle_port = difference(small.built_bytes, spines.built_bytes, 2 * SPINES * LEAVES);
    let [small, hosts] = twice(folder, "r1", "topology.leaf-spine.hosts_per_leaf", HOSTS_PER_LEAF)?;
    let with_port = difference(small.built_bytes, hosts.built_bytes, HOSTS_PER_LEAF * LEAVES);
    Ok(MemoryCosts {
        unstarted_flow: per_flow(|pass| pass.built_bytes),
        finished_flow: per_flow(|pass| pass.ended_bytes),
        idle_host: with_port - idle_port,
        idle_port,
    })
}

/// The reduced form of a case with a setting at `number`, and at twice `number`.
fn twice(folder: &Path, case: &str, setting: &str, number: u64) -> Result<[Pass; 2], Error> {
    let case: &BenchCase = CASES.iter().find(|known| known.name == case).expect("it is in the list");
    let at = |number: u64| pass::run(&cases::load(folder, case, true, &[format!("{setting}={number}")])?, 1);
    Ok([at(number)?, at(2 * number)?])
}

fn difference(less: u64, more: u64, things: u64) -> f64 {
    (more as f64 - less as f64) / things as f64
}
