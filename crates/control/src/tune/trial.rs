//! Tuned settings tried with packets: the fewest and the most flows start at line rate and, once the time to recover
//! is over, must fill the link. They run with and without hyper increase, because the model has none.

use std::path::Path;

use weft_core::{Bytes, Span};
use weft_draw::text::number;
use weft_plan::Engine;
use weft_prepare::{Error, prepare};
use weft_rate::dcqcn::HyperIncrease;
use weft_transport::TransportSettings;
use weft_workload::{Flow, Flows};

use crate::FluidOptions;
use crate::packets;
use crate::subject::Subject;
use crate::swing::swing;

/// The share of the link that the flows must reach, on the wire.
pub(super) const ENOUGH: f64 = 0.9;
/// The model's word for hyper increase.
pub(super) const WITHOUT_HYPER: &str = "off";
/// As good as endless.
const ENDLESS: Bytes = Bytes(1 << 50);

/// The scenario whose packets are tried.
#[derive(Clone, Copy)]
pub(crate) struct Trials<'a> {
    pub(crate) path: &'a Path,
    pub(crate) options: &'a FluidOptions,
    pub(crate) engine: &'a dyn Engine,
}

/// One number of flows, with or without hyper increase.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) flows: u32,
    pub(super) hyper: String,
    /// Utilisation of the link after the recovery.
    pub(super) share: f64,
    /// Queue after the recovery, in kilobytes: mean and standard deviation.
    pub(super) queue: (f64, f64),
}

impl Trial {
    pub(super) fn passes(&self) -> bool {
        self.share >= ENOUGH
    }

    pub(super) fn row(&self) -> Vec<String> {
        vec![
            self.flows.to_string(),
            self.hyper.clone(),
            format!("{}{}", number(100.0 * self.share), if self.passes() { "" } else { " *" }),
            number(self.queue.0),
            number(self.queue.1),
        ]
    }
}

/// Heads of the rows.
pub(super) const HEADER: [&str; 5] = ["packets of flows", "hyper", "goodput %", "queue kB", "deviation kB"];

impl Trials<'_> {
    /// Simulates this number of flows in packets with these settings, over twice the time allowed for recovery.
    pub(super) fn run(&self, set: &[String], flows: u32, hyper: &str, recovery: f64) -> Result<Trial, Error> {
        let mut options = FluidOptions { delay: None, ..self.options.clone() };
        options.set.extend(self.options.law.iter().map(|law| format!("transport={law}")));
        options.law = None;
        let network = &Subject::all(self.path, &options)?[0];
        options.set.extend_from_slice(set);
        if self.options.delay.is_some() {
            // the loop's delay beyond the network's is a wait in front of the notification
            let wanted = Subject::all(self.path, self.options)?[0].delay;
            let late = network.late() + (wanted - network.delay).max(0.0);
            options.set.push(format!("transport.dcqcn.cnp_delay={}", Span::from_seconds_rounded(late)));
        }
        let mut case = prepare(self.path, &options.set, false)?.remove(0);
        // not by its path: a scenario may set the step of hyper increase, which then has no effect
        if let TransportSettings::Dcqcn(own) = &mut case.settings.transport {
            own.law.hyper_increase =
                if hyper == WITHOUT_HYPER { HyperIncrease::Off } else { HyperIncrease::Both };
        }
        let subject = &Subject::all(self.path, &options)?[0];
        let mut setup = case.setup(subject.seed)?;
        let known: Vec<Flow> = setup.flows.iter().collect();
        let endless = |n: usize| Flow { size: ENDLESS, ..known[n % known.len()] };
        setup.flows = (0..flows as usize).map(endless).collect::<Flows>();
        let until = Span::from_seconds_rounded(2.0 * recovery);
        let seen = packets::of_setup(setup, subject, until, self.engine)?;
        let link = subject.unit.bits(subject.capacity) / 1e9;
        let reached: f64 = seen.flows.iter().map(|flow| flow.mean).sum();
        let half = &seen.queue[seen.queue.len() / 2..];
        let queue = swing(half).map_or((f64::NAN, f64::NAN), |swing| (swing.mean, swing.deviation));
        Ok(Trial { flows, hyper: hyper.to_owned(), share: reached / link, queue })
    }
}
