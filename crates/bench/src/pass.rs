//! One pass of a case: builds the network, runs and observes its loop, and counts the records of its flows. Only the
//! loop, from the first event to the last, is measured. Must not depend on scenarios or tables.

use serde::{Deserialize, Serialize};
use weft::{Error, Prepared};
use weft_core::record::FlowRecord;
use weft_plan::{Division, EngineProgress, Setup};
use weft_sim::Simulation;

use crate::heap::{self, Heap};
use crate::{bound, clock};

/// The figures of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Flows of the run.
    pub flows: u64,
    /// Of these, finished.
    pub finished: u64,
    /// Events handled.
    pub events: u64,
    /// Link traversals by any packet.
    pub packet_hops: u64,
    /// Hosts of the network; 0 for the bound loop.
    #[serde(default)]
    pub hosts: u64,
    /// Seconds to build the network.
    #[serde(default)]
    pub build_seconds: f64,
    /// Seconds in the loop.
    pub seconds: f64,
    /// Allocations in the loop.
    pub allocations: u64,
    /// Of these, in the second half of the events.
    pub late_allocations: u64,
    /// Peak heap in use, sampled at the start of the loop, every 65 536 events and at its end, bytes.
    pub peak_bytes: u64,
    /// Heap in use for the network before the first event, including the scenario's flows, bytes.
    pub built_bytes: u64,
    /// Heap in use for the network after the last event, bytes.
    pub ended_bytes: u64,
}

/// A sample of the running loop.
#[derive(Clone, Copy)]
struct Look {
    events: u64,
    heap: Heap,
}

/// Capacity for samples, so that sampling does not allocate: enough for four billion events.
const LOOKS: usize = 1 << 16;

/// Seed of all cases.
pub(crate) const SEED: u64 = 1;

impl Pass {
    /// Nanoseconds per packet-hop.
    #[must_use]
    pub fn ns_per_hop(&self) -> f64 {
        self.seconds * 1e9 / self.packet_hops.max(1) as f64
    }

    /// Allocations per packet-hop in the second half of the loop.
    #[must_use]
    pub fn late_per_hop(&self) -> f64 {
        2.0 * self.late_allocations as f64 / self.packet_hops.max(1) as f64
    }
}

/// Runs a case on `threads` threads.
///
/// # Errors
/// Mistakes found only while building.
pub(crate) fn run(prepared: &Prepared, threads: usize) -> Result<Pass, Error> {
    let mut looks: Vec<Look> = Vec::with_capacity(LOOKS);
    let before = heap::now().bytes;
    let (build, build_seconds) = clock::timed(|| {
        let setup = Setup { division: Division::threads(threads), ..prepared.setup(SEED)? };
        let hosts = u64::from(setup.graph.hosts());
        Ok::<_, Error>((Simulation::new(setup), hosts))
    });
    let (simulation, hosts) = build?;
    let mut seconds = 0.0;
    let start = heap::now();
    looks.push(Look { events: 0, heap: start });
    loop_edge(0);
    let began = clock::now();
    let (mut flows, mut finished) = (0, 0);
    let count = &mut |flow: &FlowRecord| {
        flows += 1;
        finished += u64::from(flow.end.is_some());
        true
    };
    let record = simulation.run_into(count, &mut |progress: &EngineProgress| {
        if progress.flows_done == progress.flows_total {
            seconds = began.elapsed().as_secs_f64();
            loop_edge(progress.events);
        }
        if looks.len() < LOOKS {
            looks.push(Look { events: progress.events, heap: heap::now() });
        }
        true
    });
    if seconds == 0.0 {
        // The time limit has ended the run, not the last flow.
        seconds = began.elapsed().as_secs_f64();
        loop_edge(record.events);
    }
    let pass = Pass {
        flows,
        finished,
        events: record.events,
        packet_hops: record.packet_hops,
        hosts,
        build_seconds,
        seconds,
        ..Pass::default()
    };
    Ok(pass.with_heap(&looks, before))
}

impl Pass {
    /// Adds the figures of the heap, from the samples of the loop and the bytes in use before anything was built.
    fn with_heap(self, looks: &[Look], before: u64) -> Pass {
        let (first, last) = (looks[0], looks[looks.len() - 1]);
        let half = looks.iter().find(|look| 2 * look.events >= last.events).unwrap_or(&last);
        let above = |bytes: u64| bytes.saturating_sub(before);
        Pass {
            allocations: last.heap.calls - first.heap.calls,
            late_allocations: last.heap.calls - half.heap.calls,
            peak_bytes: above(looks.iter().map(|look| look.heap.bytes).max().unwrap_or(0)),
            built_bytes: above(first.heap.bytes),
            ended_bytes: above(last.heap.bytes),
            ..self
        }
    }
}

/// Runs the bound loop over the flows of a case.
///
/// # Errors
/// Mistakes found only while building.
pub(crate) fn run_bound(prepared: &Prepared) -> Result<Pass, Error> {
    let demands = demands(prepared)?;
    loop_edge(0);
    let (carried, seconds) = clock::timed(|| bound::carry(&demands));
    loop_edge(carried.packet_hops);
    let count = demands.len() as u64;
    let packet_hops = carried.packet_hops;
    Ok(Pass { flows: count, finished: count, events: packet_hops, packet_hops, seconds, ..Pass::default() })
}

/// The flows of a case as the bound loop takes them.
///
/// # Errors
/// Mistakes found only while building.
pub(crate) fn demands(prepared: &Prepared) -> Result<Vec<bound::BoundFlow>, Error> {
    let demand = |flow: weft_workload::Flow| bound::BoundFlow {
        start: flow.start.0,
        source: flow.source.0,
        destination: flow.destination.0,
        bytes: flow.size.0,
    };
    Ok(prepared.setup(SEED)?.flows.iter().map(demand).collect())
}

/// Marks the start and the end of the measured loop. The instruction count is split at calls of this function, so it
/// must remain a function with this name.
#[inline(never)]
pub(crate) fn loop_edge(events: u64) -> u64 {
    std::hint::black_box(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(events: u64, calls: u64, bytes: u64) -> Look {
        Look { events, heap: Heap { calls, bytes } }
    }

    #[test]
    fn allocations_are_counted_from_the_start_and_from_half_way() {
        let looks = [look(0, 100, 1_000), look(60, 130, 5_000), look(120, 131, 3_000)];
        let pass = Pass { packet_hops: 10, ..Pass::default() }.with_heap(&looks, 400);
        assert_eq!((pass.allocations, pass.late_allocations), (31, 1));
        assert_eq!((pass.built_bytes, pass.peak_bytes, pass.ended_bytes), (600, 4_600, 2_600));
        assert!((pass.late_per_hop() - 0.2).abs() < 1e-12);
    }
}
