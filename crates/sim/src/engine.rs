//! The packet-level engine behind the interface all engines share.

use weft_plan::{Engine, Finished, Setup, Sink, Watch};

use crate::simulation::Simulation;

/// Simulates every packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packets;

impl Engine for Packets {
    fn name(&self) -> &'static str {
        "packets"
    }

    fn run(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Finished {
        let simulation = Simulation::new(setup);
        let threads = simulation.threads();
        Finished { record: simulation.run_into(sink, watch), threads, facts: Vec::new() }
    }
}
