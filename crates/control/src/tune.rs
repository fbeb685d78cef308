//! `weft fluid tune`: finds a marking ramp and increases that keep a required margin for every number of flows and
//! recover in time, or what limits them. The margin depends on the ramp's slope alone, so the steepest slope with the
//! margin is sought first, and then a length that holds the steady state of the most flows. An answer is tried with
//! packets before it is reported.

mod trial;
mod words;

pub(crate) use trial::Trials;
use trial::{Trial, WITHOUT_HYPER};

use weft_fluid::cycles::Cycles;
use weft_fluid::linear::{dcqcn, smallest_margin};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnParameters};
use weft_fluid::model::marking::{Marking, Ramp};

use crate::convert::Unit;
use crate::subject::Subject;
use crate::{TuneOptions, range};
use weft_prepare::Error;

/// Additive steps tried, as fractions of the scenario's.
const STEPS: [f64; 7] = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625];
/// Answers tried with packets before giving up.
const TRIED: usize = 3;
/// Hyper increase as in the model, and as in the paper.
const HYPER: [&str; 2] = [WITHOUT_HYPER, "both"];
/// Increase timers tried, as multiples of the scenario's.
const TIMERS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// The ramp ends at the steady-state probability of the largest number of flows times this.
const ROOM: f64 = 1.25;
/// Range of slopes searched, per packet.
const SLOPES: std::ops::Range<f64> = 1e-7..1e-1;

/// A choice of step and timer, with the steepest ramp that it allows.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    law: DcqcnParameters,
    ramp: Ramp,
    /// The smallest margin, and the number of flows at which it occurs.
    worst: (f64, u32),
    /// Steady queues of the smallest and the largest number of flows, in packets.
    queues: (f64, f64),
    /// Time in seconds for unequal flows to converge.
    convergence: f64,
    /// Seconds in which the fewest flows climb from nothing to their share by additive increases.
    recovery: f64,
    /// The ramp ends within the allowed queue.
    fits: bool,
    /// Recovery is within the allowed time.
    in_time: bool,
}

/// The result.
pub(crate) struct Tuning {
    subject: Subject,
    base: Bottleneck,
    wanted: (u32, u32, f64),
    /// The longest queue in packets, the longest recovery in seconds.
    allowed: (f64, f64),
    candidates: Vec<Candidate>,
    best: Option<usize>,
    /// The result of packets with the answer, or with the last one tried.
    trials: Vec<Trial>,
    /// Hyper increase of the answer.
    hyper: &'static str,
}

/// The smallest margin of the exact loop, and with how many flows.
fn worst(base: &Bottleneck, flows: (u32, u32)) -> Option<(f64, u32)> {
    worst_of(base, flows, &|of| Some(smallest_margin(&dcqcn::Exact::new(of)?)))
}

/// The smallest margin of the loop with marks drawn at departures, and with how many flows.
fn worst_departing(base: &Bottleneck, flows: (u32, u32)) -> Option<(f64, u32)> {
    worst_of(base, flows, &|of| Some(smallest_margin(&dcqcn::Departing::new(of)?)))
}

fn worst_of(
    base: &Bottleneck,
    flows: (u32, u32),
    margin: &dyn Fn(&Bottleneck) -> Option<f64>,
) -> Option<(f64, u32)> {
    let margin = |flows: u32| Some((margin(&with(base, flows))?, flows));
    looked_at(flows).map(margin).collect::<Option<Vec<_>>>()?.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))
}

/// About forty numbers of flows, both ends among them.
fn looked_at((from, to): (u32, u32)) -> impl Iterator<Item = u32> {
    let step = (to - from + 1).div_ceil(40);
    (from..=to).step_by(step as usize).chain([to])
}

fn with(base: &Bottleneck, flows: u32) -> Bottleneck {
    Bottleneck { flows: f64::from(flows), ..*base }
}

/// The bottleneck with another slope; the margin does not depend on the length of the ramp.
fn sloped(base: &Bottleneck, low: f64, slope: f64) -> Bottleneck {
    Bottleneck { marking: Marking::Ramp(Ramp::new(low, low + 1.0 / slope, 1.0, false)), ..*base }
}

/// The steepest slope that keeps the margin. Searches from above, because on very flat ramps the slow estimate reduces
/// the margin again.
fn steepest(base: &Bottleneck, low: f64, (from, to, margin): (u32, u32, f64)) -> Option<f64> {
    let enough = |of: &Bottleneck| dcqcn::Exact::new(of).is_some_and(|of| smallest_margin(&of) >= margin);
    let kept = |slope: f64| {
        let of = sloped(base, low, slope);
        looked_at((from, to)).all(|flows| enough(&with(&of, flows)))
    };
    let mut good = SLOPES.end;
    while !kept(good) {
        good /= 2.0;
        if good < SLOPES.start {
            return None;
        }
    }
    let mut bad = 2.0 * good;
    for _ in 0..10 {
        let middle = (good * bad).sqrt();
        *(if kept(middle) { &mut good } else { &mut bad }) = middle;
    }
    Some(good)
}

fn candidate(
    base: &Bottleneck,
    low: f64,
    wanted: (u32, u32, f64),
    (queue, time): (f64, f64),
) -> Option<Candidate> {
    let slope = steepest(base, low, wanted)?;
    let at = |flows: u32| dcqcn::Exact::new(&with(&sloped(base, low, slope), flows));
    let (few, many) = (at(wanted.0)?.at, at(wanted.1)?.at);
    let top = (ROOM * many.probability).min(1.0);
    let ramp = Ramp::new(low, low + top / slope, top, true);
    let cycles = Cycles {
        capacity: base.capacity,
        flows: f64::from(wanted.0.max(2)),
        gain: base.law.gain,
        interval: base.law.increase_timer,
        step: base.law.step,
        queue: ramp.high,
    };
    let climb = base.capacity / f64::from(wanted.0) / base.law.step;
    let recovery = base.law.increase_timer * (base.law.recovery + climb);
    Some(Candidate {
        law: base.law,
        ramp,
        recovery,
        in_time: recovery <= time,
        worst: worst(&sloped(base, low, slope), (wanted.0, wanted.1))?,
        queues: (few.queue, many.queue),
        convergence: cycles.steady()?.convergence,
        fits: ramp.high <= queue,
    })
}

/// The settings of a candidate, `path=value` each.
fn settings(unit: Unit, one: &Candidate, hyper: Option<&str>) -> Vec<String> {
    let bytes = |packets: f64| weft_core::Bytes(unit.bytes(packets).round() as u64);
    let timer = |seconds: f64| weft_core::Span::from_ns((seconds * 1e9).round() as u64);
    let mut settings = vec![
        format!("switch.ecn.red.min={}", bytes(one.ramp.low)),
        format!("switch.ecn.red.max={}", bytes(one.ramp.high)),
        format!("switch.ecn.red.max_probability={:.5}", one.ramp.top),
        "switch.ecn.red.at=dequeue".to_owned(),
        format!("transport.dcqcn.additive_step={}", range::rate(unit.bits(one.law.step))),
        format!("transport.dcqcn.increase_timer={}", timer(one.law.increase_timer)),
        format!("transport.dcqcn.alpha_timer={}", timer(one.law.estimate_timer)),
    ];
    settings.extend(hyper.map(|hyper| format!("transport.dcqcn.hyper_increase={hyper}")));
    settings
}

/// Tries all steps and timers.
pub(crate) fn compute(subject: &Subject, options: &TuneOptions, trials: Trials<'_>) -> Result<Tuning, Error> {
    let bad = |text: &str| Error::BadInput(text.to_owned());
    let base = subject.dcqcn().ok_or_else(|| bad("`weft fluid tune` is for `transport = \"dcqcn\"`"))?;
    let Marking::Ramp(ramp) = base.marking else {
        return Err(bad("`weft fluid tune` is for marking by `switch.ecn = \"red\"`"));
    };
    if options.from == 0
        || options.to < options.from
        || options.to > 4096
        || !(0.0..90.0).contains(&options.margin)
    {
        return Err(bad("the number of flows must be 1 to 4096, and the margin between 0 and 90 degrees"));
    }
    let allowed =
        (subject.unit.packets(range::size(&options.queue)?), range::span(&options.recovery)?.seconds());
    let wanted = (options.from, options.to, options.margin);
    let mut candidates = Vec::new();
    for timer in TIMERS {
        for step in STEPS {
            let law = DcqcnParameters {
                step: base.law.step * step,
                increase_timer: base.law.increase_timer * timer,
                estimate_timer: base.law.estimate_timer.max(1.1 * base.law.notification),
                ..base.law
            };
            // settings to copy mark at departure, whatever the scenario does
            let of = Bottleneck { law, marks_at_arrival: false, ..base };
            candidates.extend(candidate(&of, ramp.low, wanted, allowed));
        }
    }
    candidates.sort_by(|a, b| (b.answers().cmp(&a.answers())).then(a.convergence.total_cmp(&b.convergence)));
    let best = candidates.first().filter(|one| one.answers()).map(|_| 0);
    let tuning = Tuning {
        subject: subject.clone(),
        base,
        wanted,
        allowed,
        candidates,
        best,
        trials: Vec::new(),
        hyper: HYPER[0],
    };
    if options.packets { tuning.tried(trials) } else { Ok(tuning) }
}

impl Candidate {
    fn answers(&self) -> bool {
        self.fits && self.in_time
    }
}

impl Tuning {
    /// Tries the answers in their order until packets confirm one, with hyper increase or without.
    fn tried(mut self, trials: Trials<'_>) -> Result<Tuning, Error> {
        let answers = self.candidates.iter().take_while(|one| one.answers()).count();
        self.best = None;
        for n in 0..answers.min(TRIED) {
            let set = settings(self.unit(), &self.candidates[n], None);
            self.trials.clear();
            for hyper in HYPER {
                for flows in [self.wanted.0, self.wanted.1] {
                    self.trials.push(trials.run(&set, flows, hyper, self.allowed.1)?);
                }
            }
            let passes = |hyper: &&str| self.trials.iter().all(|one| one.hyper != *hyper || one.passes());
            if let Some(hyper) = HYPER.iter().find(|hyper| passes(hyper)) {
                (self.best, self.hyper) = (Some(n), *hyper);
                break;
            }
        }
        Ok(self)
    }

    /// Whether nothing reaches the targets.
    pub(crate) fn unsolved(&self) -> bool {
        self.best.is_none()
    }
}
