//! The equations over time, flow by flow or for groups of equal flows (CoNEXT 2016, equations 1 to 9, figure 1). As in
//! the paper, quantities that depend on the packets passing the switch are delayed, the sender's own state is not.

use super::{Bottleneck, DcqcnParameters, Terms};
use crate::dde::{Past, System};
use crate::model::marking::Marking;
use crate::model::{Jitter, Model, Start, StateLayout, clip, queue_change};
use std::ops::Range;
use weft_core::{Random, random::Purpose};

/// A flow, or several equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnFlow {
    /// Their number, start and initial rate.
    pub start: Start,
    /// The parameters of the sender.
    pub law: DcqcnParameters,
    /// From the switch to the sender and back, without queueing, in seconds.
    pub delay: f64,
    /// The line rate of its host, in packets per second.
    pub line: f64,
    /// The rate below which no cut leads, in packets per second (R_min); a flow that starts below it stays above its
    /// initial rate.
    pub least: f64,
    /// The estimate before the first notification (alpha); 1 in the paper.
    pub estimate: f64,
}

impl DcqcnFlow {
    /// The bounds of the rate at `t`; zero before the start.
    fn bounds(&self, t: f64) -> (f64, f64) {
        let least = self.least.min(self.start.rate).min(self.line);
        (if t < self.start.at { 0.0 } else { least }, self.line)
    }
}

/// DCQCN flows and their queue, over time.
#[derive(Clone, Debug)]
pub struct DcqcnModel {
    /// Packets per second.
    pub capacity: f64,
    /// How the switch marks.
    pub marking: Marking,
    /// Whether a mark reflects the queue when the packet arrived, not when it left: the loop then includes the queueing
    /// delay.
    pub marks_at_arrival: bool,
    /// The flows.
    pub flows: Vec<DcqcnFlow>,
    /// Jitter added to each delay, redrawn after every step or when the time of a draw ends.
    jitter: Jitter,
    /// Initial queue in packets.
    pub queue: f64,
    draws: Random,
    extra: Vec<f64>,
    drawn_at: f64,
}

const QUEUE: usize = 0;

impl DcqcnModel {
    /// A model of these flows through one bottleneck, with an empty queue and no jitter.
    #[must_use]
    pub fn new(capacity: f64, marking: Marking, flows: Vec<DcqcnFlow>) -> DcqcnModel {
        let draws = Random::new(0, Purpose::Fluid, 0);
        let extra = vec![0.0; flows.len()];
        DcqcnModel {
            capacity,
            marking,
            marks_at_arrival: false,
            flows,
            jitter: Jitter::NONE,
            queue: 0.0,
            draws,
            extra,
            drawn_at: f64::NEG_INFINITY,
        }
    }

    /// A model of equal flows that start together at line rate.
    #[must_use]
    pub fn alike(of: &Bottleneck) -> DcqcnModel {
        let start = Start { count: of.flows, at: 0.0, rate: of.capacity };
        let flow =
            DcqcnFlow { start, law: of.law, delay: of.delay, line: of.capacity, least: 0.0, estimate: 1.0 };
        let model = DcqcnModel::new(of.capacity, of.marking, vec![flow]);
        DcqcnModel { marks_at_arrival: of.marks_at_arrival, ..model }
    }

    /// Draws the jitter from the stream of this seed.
    pub fn jittered(&mut self, jitter: Jitter, seed: u64) {
        (self.jitter, self.draws) = (jitter, Random::new(seed, Purpose::Fluid, 0));
    }

    /// Time has advanced to `t`; returns true if the jitter has changed.
    fn draw(&mut self, t: f64) -> bool {
        let from = std::mem::replace(&mut self.drawn_at, t);
        let holds = |every| Jitter::number(every, from) == Jitter::number(every, t);
        if self.jitter.most == 0.0 || (from >= 0.0 && self.jitter.every.is_some_and(holds)) {
            return false;
        }
        self.extra.iter_mut().for_each(|extra| *extra = self.jitter.most * self.draws.unit());
        true
    }

    fn integrates(&self) -> bool {
        matches!(self.marking, Marking::Integrator(_))
    }

    fn rates(&self) -> Range<usize> {
        let first = 1 + usize::from(self.integrates());
        first..first + self.flows.len()
    }

    fn targets(&self) -> usize {
        self.rates().end
    }

    fn estimates(&self) -> usize {
        self.rates().end + self.flows.len()
    }

    /// The marking probability that applies to a packet that left the switch at `left`, and the time at which that
    /// packet was marked.
    fn signal(&self, left: f64, past: &Past<'_>) -> (f64, f64) {
        let at = if self.marks_at_arrival { self.arrival(left, past) } else { left };
        let probability = match self.marking {
            Marking::Ramp(ramp) => ramp.probability(past.value(at, QUEUE)),
            Marking::Integrator(_) => past.value(at, 1).clamp(0.0, 1.0),
        };
        (probability, at)
    }

    /// When the packet that left the queue at `left` joined it: solves `t + q(t) / C = left`, whose left side never
    /// decreases.
    fn arrival(&self, left: f64, past: &Past<'_>) -> f64 {
        let leaves = |t: f64| t + past.value(t, QUEUE).max(0.0) / self.capacity;
        let (mut early, mut late) = (left - past.value(left, QUEUE).max(0.0) / self.capacity, left);
        while leaves(early) > left {
            early -= (late - early).max(1e-7);
        }
        for _ in 0..40 {
            let middle = 0.5 * (early + late);
            *(if leaves(middle) > left { &mut late } else { &mut early }) = middle;
        }
        0.5 * (early + late)
    }

    fn flow_change(&self, (t, n): (f64, usize), state: &[f64], signal: (f64, f64), change: &mut [f64]) {
        let flow = &self.flows[n];
        let (rate_at, target_at, estimate_at) =
            (self.rates().start + n, self.targets() + n, self.estimates() + n);
        let (p, delayed) = signal;
        if delayed <= 0.0 {
            [rate_at, target_at, estimate_at].into_iter().for_each(|at| change[at] = 0.0);
            return;
        }
        let (rate, target, estimate) = (state[rate_at], state[target_at], state[estimate_at]);
        let law = &flow.law;
        let terms = Terms::new(law, p, delayed);
        let cuts = terms.notified / law.notification;
        let increases = delayed * (terms.by_volume + terms.by_time);
        let additive = delayed * (terms.additive_by_volume + terms.additive_by_time);
        change[estimate_at] = law.gain / law.estimate_timer * (terms.noticed - estimate);
        change[target_at] = bounded(target, (0.0, flow.line), law.step * additive - (target - rate) * cuts);
        let rate_change = 0.5 * (target - rate) * increases - 0.5 * rate * estimate * cuts;
        change[rate_at] = bounded(rate, flow.bounds(t), rate_change);
    }

    fn begin(&self, n: usize, state: &mut [f64]) {
        let flow = &self.flows[n];
        state[self.rates().start + n] = flow.start.rate;
        state[self.targets() + n] = flow.start.rate;
        state[self.estimates() + n] = flow.estimate;
    }
}

/// The derivative of a quantity that must stay within its bounds.
fn bounded(value: f64, (least, most): (f64, f64), change: f64) -> f64 {
    if value >= most {
        change.min(0.0)
    } else if value <= least {
        change.max(0.0)
    } else {
        change
    }
}

impl System for DcqcnModel {
    fn initial(&self) -> Vec<f64> {
        let mut state = vec![0.0; self.estimates() + self.flows.len()];
        state[QUEUE] = self.queue;
        for (n, flow) in self.flows.iter().enumerate() {
            if flow.start.at <= 0.0 {
                self.begin(n, &mut state);
            }
        }
        state
    }

    fn scales(&self) -> Vec<f64> {
        let flows = self.flows.len();
        let count: f64 = self.flows.iter().map(|flow| flow.start.count).sum();
        let mut scales = vec![self.capacity / count; self.estimates() + flows];
        scales[QUEUE] = 10.0;
        if self.integrates() {
            scales[1] = 1e-3;
        }
        scales[self.estimates()..].fill(0.1);
        scales
    }

    fn remembered(&self) -> usize {
        self.rates().end
    }

    fn before(&self, _: f64, component: usize) -> f64 {
        match component {
            QUEUE => self.queue,
            n if self.rates().contains(&n) => {
                let start = &self.flows[n - self.rates().start].start;
                if start.at <= 0.0 { start.rate } else { 0.0 }
            }
            _ => 0.0,
        }
    }

    fn derivative(&self, t: f64, state: &[f64], past: &Past<'_>, change: &mut [f64]) {
        let rates = self.rates();
        let inflow: f64 =
            self.flows.iter().zip(&state[rates.clone()]).map(|(f, rate)| f.start.count * rate).sum();
        change[QUEUE] = queue_change(state[QUEUE], inflow, self.capacity);
        if let Marking::Integrator(rule) = self.marking {
            let push = rule.proportional * change[QUEUE] + rule.integral * (state[QUEUE] - rule.reference);
            change[1] = bounded(state[1], (0.0, 1.0), push);
        }
        let mut known = (f64::NAN, past.find(0.0), 0.0);
        for (n, flow) in self.flows.iter().enumerate() {
            let left = t - flow.delay - self.extra[n];
            if left != known.0 {
                let (probability, at) = self.signal(left, past);
                known = (left, past.find(at), probability);
            }
            let delayed = past.at(known.1, rates.start + n);
            self.flow_change((t, n), state, (known.2, delayed), change);
        }
    }

    fn settle(&mut self, t: f64, state: &mut [f64]) -> bool {
        let mut jumped = clip(&mut state[QUEUE], 0.0, f64::INFINITY);
        if self.integrates() {
            jumped |= clip(&mut state[1], 0.0, 1.0);
        }
        for n in 0..self.flows.len() {
            if self.flows[n].start.at > 0.0 && self.flows[n].start.at == t {
                self.begin(n, state);
                jumped = true;
            }
            let (least, line) = self.flows[n].bounds(t);
            jumped |= clip(&mut state[self.rates().start + n], least, line);
            jumped |= clip(&mut state[self.targets() + n], 0.0, line);
        }
        jumped | self.draw(t)
    }

    fn breaks(&self) -> Vec<f64> {
        let of = |flow: &DcqcnFlow| {
            (0..4).map(move |times| flow.start.at + f64::from(times) * flow.delay).collect::<Vec<_>>()
        };
        let mut breaks: Vec<f64> = self.flows.iter().flat_map(of).collect();
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        breaks
    }

    fn memory(&self) -> f64 {
        // a queue of this length would be a delay beyond every buffer
        let queueing = if self.marks_at_arrival { 0.1 } else { 0.0 };
        let longest = self.flows.iter().map(|flow| flow.delay).fold(0.0, f64::max);
        longest + self.jitter.most + queueing
    }
}

impl Model for DcqcnModel {
    fn layout(&self) -> StateLayout {
        let estimates = self.estimates();
        StateLayout { rates: self.rates(), estimates: estimates..estimates + self.flows.len() }
    }

    fn counts(&self) -> Vec<f64> {
        self.flows.iter().map(|flow| flow.start.count).collect()
    }

    fn marking(&self, state: &[f64]) -> Option<f64> {
        Some(match self.marking {
            Marking::Ramp(ramp) => ramp.probability(state[QUEUE]),
            Marking::Integrator(_) => state[1],
        })
    }
}
