//! The equations over time (CoNEXT 2016, equations 20 to 24, 29 to 31, and the integrator behind figure 19).

use super::{TimelyLaw, TimelyParameters, weight};
use crate::dde::{Past, System};
use crate::model::jitter::Late;
use crate::model::{Jitter, Model, Start, StateLayout, clip, queue_change};

/// A flow, or several equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyFlow {
    /// Their number, start and initial rate.
    pub start: Start,
    /// The initial gradient, or initial state of the integrator.
    pub estimate: f64,
}

/// TIMELY flows and their queue, over time.
#[derive(Clone, Debug)]
pub struct TimelyModel {
    /// The law and its path.
    pub settings: TimelyParameters,
    /// The flows.
    pub flows: Vec<TimelyFlow>,
    /// Initial queue in packets.
    pub queue: f64,
    /// The jitter of each flow's samples; empty without jitter.
    late: Vec<Late>,
}

const QUEUE: usize = 0;

impl TimelyModel {
    /// A model of these flows, with an empty queue and no jitter.
    #[must_use]
    pub fn new(settings: TimelyParameters, flows: Vec<TimelyFlow>) -> TimelyModel {
        TimelyModel { settings, flows, queue: 0.0, late: Vec::new() }
    }

    /// Draws the jitter from streams of this seed, one for each flow.
    pub fn jittered(&mut self, jitter: Jitter, seed: u64) {
        let flows = if jitter.most > 0.0 { self.flows.len() } else { 0 };
        self.late = (0..flows).map(|flow| Late::new(jitter, seed, flow)).collect();
    }

    fn rate_at(&self) -> usize {
        1 + self.flows.len()
    }

    /// The derivatives of the estimate and of the rate.
    fn flow_change(&self, (estimate, rate): (f64, f64), newer: f64, older: f64) -> (f64, f64) {
        let settings = &self.settings;
        let interval = settings.interval(rate);
        if let TimelyLaw::Integrator { newer: a, older: b, reference } = settings.law {
            let change = a * (newer - reference) - b * (older - reference);
            return (change, (settings.step - 0.5 * estimate * rate) / interval);
        }
        let slope = (newer - older) / (settings.capacity * settings.base);
        ((slope - estimate) * settings.gain / interval, self.rate_change(estimate, rate, newer) / interval)
    }

    /// The change of the rate per sample.
    fn rate_change(&self, gradient: f64, rate: f64, queue: f64) -> f64 {
        let TimelyParameters { capacity, step, decrease, low, high, law, .. } = self.settings;
        if queue < capacity * low {
            return step;
        }
        if queue > capacity * high {
            return -decrease * (1.0 - capacity * high / queue) * rate;
        }
        match law {
            TimelyLaw::Patched { slope, reference, divisor } => {
                let weight = weight(gradient, slope);
                (1.0 - weight) * step - weight * decrease * rate * (queue - reference) / divisor
            }
            TimelyLaw::ZeroRises if gradient >= 0.0 => -decrease * gradient * rate,
            TimelyLaw::Original if gradient > 0.0 => -decrease * gradient * rate,
            _ => step,
        }
    }

    /// The current measurement of a flow and the one an interval ago, in packets of queue.
    fn samples(&self, n: usize, (t, age, rate): (f64, f64, f64), past: &Past<'_>) -> (f64, f64) {
        let interval = self.settings.interval(rate);
        let queue = |t: f64| past.value(t, QUEUE).max(0.0);
        let Some(late) = self.late.get(n) else { return (queue(t - age), queue(t - age - interval)) };
        let (present, before) = late.samples(interval);
        let measured = |t: f64, by: f64| queue(t - by) + late.counted(by) * self.settings.capacity;
        (measured(t - age, present), measured(t - age - interval, before))
    }

    /// Time has advanced to `t`; returns true if the jitter of any flow has changed.
    fn draw(&mut self, t: f64, state: &[f64]) -> bool {
        let rates = &state[self.rate_at()..];
        let mut drawn = false;
        for (late, rate) in self.late.iter_mut().zip(rates) {
            drawn |= late.advance(t, self.settings.interval(rate.max(1e-9)));
        }
        drawn
    }
}

impl System for TimelyModel {
    fn initial(&self) -> Vec<f64> {
        let mut state = vec![0.0; 1 + 2 * self.flows.len()];
        state[QUEUE] = self.queue;
        for (n, flow) in self.flows.iter().enumerate() {
            state[1 + n] = flow.estimate;
            state[self.rate_at() + n] = if flow.start.at <= 0.0 { flow.start.rate } else { 0.0 };
        }
        state
    }

    fn scales(&self) -> Vec<f64> {
        let flows = self.flows.len();
        let count: f64 = self.flows.iter().map(|flow| flow.start.count).sum();
        let mut scales = vec![self.settings.capacity / count; 1 + 2 * flows];
        scales[QUEUE] = 10.0;
        scales[1..=flows].fill(if matches!(self.settings.law, TimelyLaw::Integrator { .. }) {
            1e-3
        } else {
            0.1
        });
        scales
    }

    fn remembered(&self) -> usize {
        1
    }

    fn before(&self, _: f64, _: usize) -> f64 {
        self.queue
    }

    fn derivative(&self, t: f64, state: &[f64], past: &Past<'_>, change: &mut [f64]) {
        let (flows, rates) = (self.flows.len(), &state[self.rate_at()..]);
        let inflow: f64 = self.flows.iter().zip(rates).map(|(f, rate)| f.start.count * rate).sum();
        change[QUEUE] = queue_change(state[QUEUE], inflow, self.settings.capacity);
        let age = self.settings.age(state[QUEUE].max(0.0));
        for n in 0..flows {
            let (estimate, rate) = (state[1 + n], rates[n]);
            if rate <= 0.0 {
                (change[1 + n], change[1 + flows + n]) = (0.0, 0.0);
                continue;
            }
            let (newer, older) = self.samples(n, (t, age, rate), past);
            let (of_estimate, of_rate) = self.flow_change((estimate, rate), newer, older);
            let full = rate >= self.settings.capacity;
            (change[1 + n], change[1 + flows + n]) =
                (of_estimate, if full { of_rate.min(0.0) } else { of_rate });
        }
    }

    fn settle(&mut self, t: f64, state: &mut [f64]) -> bool {
        let mut jumped = clip(&mut state[QUEUE], 0.0, 2.0 * self.settings.capacity * self.settings.high);
        for n in 0..self.flows.len() {
            let (start, at) = (self.flows[n].start, self.rate_at() + n);
            if start.at > 0.0 && start.at == t {
                state[at] = start.rate;
                jumped = true;
            }
            jumped |= clip(&mut state[at], 0.0, self.settings.capacity);
            if matches!(self.settings.law, TimelyLaw::Integrator { .. }) {
                jumped |= clip(&mut state[1 + n], 0.0, f64::INFINITY);
            }
        }
        jumped | self.draw(t, state)
    }

    fn breaks(&self) -> Vec<f64> {
        self.flows.iter().map(|flow| flow.start.at).collect()
    }

    fn memory(&self) -> f64 {
        // the interval between two samples grows without bound as a rate falls
        f64::INFINITY
    }
}

impl Model for TimelyModel {
    fn layout(&self) -> StateLayout {
        let flows = self.flows.len();
        StateLayout { rates: 1 + flows..1 + 2 * flows, estimates: 1..1 + flows }
    }

    fn counts(&self) -> Vec<f64> {
        self.flows.iter().map(|flow| flow.start.count).collect()
    }

    fn marking(&self, _: &[f64]) -> Option<f64> {
        None
    }
}
