//! The interface of an engine: it takes a setup, hands out flows as they finish, and returns a record.

use weft_core::Time;
use weft_core::record::{FlowRecord, RunRecord};

use crate::setup::Setup;

/// Receives the record of each flow once it is done; `false` stops the run.
pub type Sink<'a> = &'a mut dyn FnMut(&FlowRecord) -> bool;

/// Called occasionally with the progress of a run; `false` stops it.
pub type Watch<'a> = &'a mut dyn FnMut(&EngineProgress) -> bool;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineProgress {
    /// Simulated time.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Flows finished.
    pub flows_done: usize,
    /// Flows of the whole run.
    pub flows_total: usize,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Everything but the flows, which went to the sink.
    pub record: RunRecord,
    /// The number of threads it used.
    pub threads: usize,
    /// Further facts needed to judge the results, as name and value, for the manifest. Reports begin with the one
    /// called `caution`.
    pub facts: Vec<(String, String)>,
}

/// Runs setups.
pub trait Engine: Sync {
    /// The engine's name in results: `packets`.
    fn name(&self) -> &'static str;

    /// The command that runs scenarios with it, with its own options.
    fn command(&self) -> String {
        "weft run".to_owned()
    }

    /// Whether equal setups give equal results. Otherwise its results are never reused.
    fn is_deterministic(&self) -> bool {
        true
    }

    /// Why it cannot run a setup, each reason with what it can run; empty if it can run the setup.
    fn misfits(&self, _setup: &Setup) -> Vec<String> {
        Vec::new()
    }

    /// [`Engine::run`] for an engine that may fail.
    ///
    /// # Errors
    /// The environment failed; the text says how.
    fn attempt(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Result<Finished, String> {
        Ok(self.run(setup, sink, watch))
    }

    /// Runs to the end: all flows finished, the time limit, or `sink` or `watch` returns false. Each flow goes to
    /// `sink` once it is done, in the order of those instants, then of flow numbers; unfinished flows follow at the
    /// end. `watch` does not change the result unless it stops the run.
    fn run(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Finished;

    /// [`Engine::run`] with the flows in the record, ordered by number.
    fn run_keeping_flows(&self, setup: Setup, watch: Watch<'_>) -> RunRecord {
        keeping_flows(|sink| self.run(setup, sink, watch).record)
    }
}

/// The record of a run together with its flows, ordered by their numbers.
pub fn keeping_flows(run: impl FnOnce(Sink<'_>) -> RunRecord) -> RunRecord {
    let mut flows = Vec::new();
    let record = run(&mut |flow| {
        flows.push(flow.clone());
        true
    });
    flows.sort_unstable_by_key(|flow| flow.flow);
    RunRecord { flows, ..record }
}
