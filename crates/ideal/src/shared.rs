//! Processor sharing: all open flows are served at once, each at an equal share of the link.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::Time;

use crate::{FlowCompletion, LinkDemand, Schedule};

/// A link that is shared equally. Since a flow's arrival, it has received the same service as every other open flow,
/// so one *attained* time, which advances at 1/n, determines when each is done.
#[derive(Clone, Debug, Default)]
pub struct ProcessorSharing {
    /// Picoseconds.
    now: f64,
    attained: f64,
    /// By the attained time at which a flow is done; non-negative floating-point numbers sort like their bits.
    open: BinaryHeap<Reverse<(u64, u64)>>,
}

impl ProcessorSharing {
    fn serve(&mut self, until: f64, done: &mut Vec<FlowCompletion>) {
        while let Some(Reverse((bits, flow))) = self.open.peek().copied() {
            let (finish, sharers) = (f64::from_bits(bits), self.open.len() as f64);
            let end = self.now + (finish - self.attained) * sharers;
            if end > until {
                self.attained += (until - self.now) / sharers;
                break;
            }
            (self.now, self.attained) = (end, finish);
            self.open.pop();
            done.push((flow, Time(end.round() as u64)));
        }
        if until.is_finite() {
            self.now = self.now.max(until);
        }
    }
}

impl Schedule for ProcessorSharing {
    fn arrive(&mut self, demand: LinkDemand, done: &mut Vec<FlowCompletion>) {
        self.serve(demand.arrival.0 as f64, done);
        let finish = self.attained + demand.work.0 as f64;
        self.open.push(Reverse((finish.to_bits(), demand.flow)));
    }

    fn finish(&mut self, done: &mut Vec<FlowCompletion>) {
        self.serve(f64::INFINITY, done);
    }
}
