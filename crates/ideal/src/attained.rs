//! Least attained service (LAS, foreground-background): the flows that have received least are served, equally. It
//! needs no sizes; PIAS with ever more and ever smaller thresholds becomes it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::Time;

use crate::{FlowCompletion, LinkDemand, Schedule};

/// Flows that have received equal service.
#[derive(Clone, Debug)]
struct Level {
    attained: f64,
    /// By work; non-negative floating-point numbers sort like their bits.
    flows: BinaryHeap<Reverse<(u64, u64)>>,
}

/// A link that serves the flows with the least attained service.
#[derive(Clone, Debug, Default)]
pub struct LeastAttained {
    /// Picoseconds.
    now: f64,
    /// The last has received least.
    levels: Vec<Level>,
}

impl LeastAttained {
    fn serve(&mut self, until: f64, done: &mut Vec<FlowCompletion>) {
        while let Some(level) = self.levels.last() {
            let Some(Reverse((bits, flow))) = level.flows.peek().copied() else {
                self.levels.pop();
                continue;
            };
            let sharers = level.flows.len() as f64;
            let above =
                self.levels.len().checked_sub(2).map_or(f64::INFINITY, |above| self.levels[above].attained);
            let finish = f64::from_bits(bits);
            let (attained, target) = (level.attained, finish.min(above));
            let end = self.now + (target - attained) * sharers;
            if end > until {
                self.raise(attained + (until - self.now) / sharers);
                break;
            }
            self.now = end;
            self.raise(target);
            if finish <= above {
                self.complete(flow, done);
            } else {
                self.merge();
            }
        }
        if until.is_finite() {
            self.now = self.now.max(until);
        }
    }

    fn raise(&mut self, attained: f64) {
        self.levels.last_mut().expect("a level is served").attained = attained;
    }

    fn complete(&mut self, flow: u64, done: &mut Vec<FlowCompletion>) {
        self.levels.last_mut().expect("a level is served").flows.pop();
        done.push((flow, Time(self.now.round() as u64)));
    }

    /// The two lowest levels have received equal service: the smaller joins the larger.
    fn merge(&mut self) {
        let (Some(mut small), Some(large)) = (self.levels.pop(), self.levels.last_mut()) else { return };
        if small.flows.len() > large.flows.len() {
            std::mem::swap(&mut small.flows, &mut large.flows);
        }
        large.flows.append(&mut small.flows);
    }
}

impl Schedule for LeastAttained {
    fn arrive(&mut self, demand: LinkDemand, done: &mut Vec<FlowCompletion>) {
        self.serve(demand.arrival.0 as f64, done);
        let entry = Reverse(((demand.work.0 as f64).to_bits(), demand.flow));
        match self.levels.last_mut() {
            Some(level) if level.attained == 0.0 => level.flows.push(entry),
            _ => self.levels.push(Level { attained: 0.0, flows: BinaryHeap::from([entry]) }),
        }
    }

    fn finish(&mut self, done: &mut Vec<FlowCompletion>) {
        self.serve(f64::INFINITY, done);
    }
}
