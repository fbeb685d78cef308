//! A run: its plan, its domains, and the view of all of them together. Must not depend on how it runs.

use std::sync::Arc;

use weft_core::Time;
use weft_core::record::Stop;
use weft_plan::Setup;
use weft_recorder::deadlock::Deadlocks;
use weft_recorder::sample::Sampler;

use crate::domain::Domain;
use crate::plan::RunPlan;

/// Events between two calls of the watcher.
pub(crate) const WATCH_EVERY: u64 = 1 << 16;
/// Samples, or meetings of threads, between two calls of the watcher if fewer events happen.
pub(crate) const LOOKS_AT_ONCE: u32 = 1 << 12;

/// A run, ready to go.
pub struct Simulation {
    pub(crate) plan: Arc<RunPlan>,
    pub(crate) domains: Vec<Domain>,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) deadlocks: Deadlocks,
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    pub(crate) stop: Stop,
    pub(crate) at: Time,
}

impl Simulation {
    /// Builds the network in its first state.
    #[must_use]
    pub fn new(setup: Setup) -> Simulation {
        let plan = Arc::new(RunPlan::new(setup));
        let build = |number| Domain::new(&plan, number);
        Simulation {
            domains: (0..plan.partition.domains).map(build).collect(),
            sampler: Sampler::new(&plan.setup),
            deadlocks: Deadlocks::default(),
            plan,
        }
    }

    /// The number of threads it will use: one per domain, possibly fewer than requested.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.domains.len()
    }

    /// Whether it looks ahead for memory; by default only in large networks. Affects only speed.
    #[must_use]
    pub fn looking_ahead(mut self, looks: bool) -> Simulation {
        for domain in &mut self.domains {
            domain.look_ahead(looks);
        }
        self
    }
}
