//! The list of topologies: one file each, one line here. Must not depend on routes or traffic.
//!
//! A topology's file has `SUMMARY`, its settings and a struct that adds the cables; the order in which it adds nodes
//! and cables fixes all numbers and is described in the file.

pub mod diamond;
pub mod dumbbell;
pub mod explicit;
pub mod fat_tree;
pub mod full_mesh;
pub mod leaf_spine;
pub mod parking_lot;
pub mod pods_and_planes;
pub mod single_switch;
pub mod vl2;

use crate::graph::Graph;
use crate::wiring::{MAX_CABLES, Wiring};
use std::path::Path;
use weft_core::Problem;

/// A generator of networks.
pub trait Topology {
    /// How many cables there will be, so that a typing error is found before memory is allocated.
    fn cables(&self) -> u64;

    /// Adds hosts, switches and cables in the order of their numbers. Returned problems have paths relative to the
    /// topology's own table.
    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem>;
}

weft_core::family! {
    /// All topologies.
    pub enum AnyTopology: Topology;
    /// Which topology, and its sizes and cables.
    pub enum TopologySettings;
    called "topology" built at ();
    members {
        "leaf-spine" => leaf_spine::LeafSpine(LeafSpineSettings),
        "fat-tree" => fat_tree::FatTree(FatTreeSettings),
        "vl2" => vl2::Vl2(Vl2Settings),
        "pods-and-planes" => pods_and_planes::PodsAndPlanes(PodsAndPlanesSettings),
        "single-switch" => single_switch::SingleSwitch(SingleSwitchSettings),
        "dumbbell" => dumbbell::Dumbbell(DumbbellSettings),
        "parking-lot" => parking_lot::ParkingLot(ParkingLotSettings),
        "diamond" => diamond::Diamond(DiamondSettings),
        "full-mesh" => full_mesh::FullMesh(FullMeshSettings),
        "graph" => explicit::Explicit(ExplicitSettings),
    }
    methods {
        fn cables(&self) -> u64;
        fn wire(&self, wiring: &mut Wiring) -> Vec<Problem>;
    }
}

/// Builds the network of seed 1; relative file names start at the current folder.
///
/// # Errors
/// Everything wrong with the combination of settings, each with its path below `topology`.
pub fn build(settings: &TopologySettings) -> Result<Graph, Vec<Problem>> {
    build_in(settings, Path::new(""), 1)
}

/// Builds the network of a run with this seed, which decides where cables are drawn at random; relative file names start
/// at `folder`.
///
/// # Errors
/// Everything wrong with the combination of settings, each with its path below `topology`.
pub fn build_in(settings: &TopologySettings, folder: &Path, seed: u64) -> Result<Graph, Vec<Problem>> {
    let topology = AnyTopology::new(settings, ());
    let prefix = format!("topology.{}", settings.name());
    let cables = topology.cables();
    if cables > MAX_CABLES {
        let message = format!("this network would have {cables} cables; at most {MAX_CABLES} are possible");
        return Err(vec![Problem::new(prefix, message)]);
    }
    let mut wiring = Wiring::new(folder, seed);
    let problems = topology.wire(&mut wiring);
    let built = if problems.is_empty() { wiring.finish() } else { Err(problems) };
    built.map_err(|problems| problems.into_iter().map(|problem| problem.within(&prefix)).collect())
}
