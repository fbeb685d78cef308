//! `weft fluid tune`: a marking ramp and rate increases that achieve the required margin for every number of flows, and
//! what limits them. The margin depends on the ramp's slope alone; so it searches for the steepest slope with the
//! margin, and then for a length that contains the steady state of the largest number of flows.

use std::fmt::Write;

use weft_draw::figure::{Axis, Series};
use weft_draw::text::number;
use weft_fluid::cycles::Cycles;
use weft_fluid::linear::margin::gain_margins;
use weft_fluid::linear::{Characteristic, dcqcn};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnParameters};
use weft_fluid::model::marking::{Marking, Ramp};
use weft_report::page::{Page, Repeat, Section};

use crate::convert::Unit;
use crate::figures::{line, lines, rounded};
use crate::subject::Subject;
use crate::table::on_page;
use crate::{TuneOptions, range};
use weft_draw::Columns;
use weft_prepare::Error;

/// Additive steps tried, as fractions of the scenario's.
const STEPS: [f64; 7] = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625];
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
    /// The smallest margin, and the number of flows that has it.
    worst: (f64, u32),
    /// Steady queues of the smallest and the largest number of flows, in packets.
    queues: (f64, f64),
    /// Time in seconds for unequal flows to converge.
    convergence: f64,
    fits: bool,
}

/// The result.
pub(crate) struct Tuning {
    subject: Subject,
    base: Bottleneck,
    wanted: (u32, u32, f64),
    allowed: f64,
    candidates: Vec<Candidate>,
    best: Option<usize>,
}

fn worst(base: &Bottleneck, (from, to): (u32, u32)) -> Option<(f64, u32)> {
    let all: Vec<u32> = (from..=to).collect();
    let step = all.len().div_ceil(40);
    let some = all.iter().copied().step_by(step).chain([to]);
    let margin = |flows: u32| {
        let exact = dcqcn::Exact::new(&Bottleneck { flows: f64::from(flows), ..*base })?;
        // there is no crossing if the gain is never 1
        Some((gain_margins(&exact).phase().map_or(180.0, |crossing| crossing.margin), flows))
    };
    some.map(margin).collect::<Option<Vec<_>>>()?.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The bottleneck with another slope; the margin does not depend on the length of the ramp.
fn sloped(base: &Bottleneck, low: f64, slope: f64) -> Bottleneck {
    Bottleneck { marking: Marking::Ramp(Ramp::new(low, low + 1.0 / slope, 1.0, false)), ..*base }
}

/// The steepest slope that keeps the margin. Searches from above, because on very flat ramps the slow estimate reduces
/// the margin again.
fn steepest(base: &Bottleneck, low: f64, (from, to, margin): (u32, u32, f64)) -> Option<f64> {
    let kept =
        |slope: f64| worst(&sloped(base, low, slope), (from, to)).is_some_and(|worst| worst.0 >= margin);
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

fn candidate(base: &Bottleneck, low: f64, wanted: (u32, u32, f64), allowed: f64) -> Option<Candidate> {
    let slope = steepest(base, low, wanted)?;
    let at =
        |flows: u32| dcqcn::Exact::new(&Bottleneck { flows: f64::from(flows), ..sloped(base, low, slope) });
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
    Some(Candidate {
        law: base.law,
        ramp,
        worst: worst(&sloped(base, low, slope), (wanted.0, wanted.1))?,
        queues: (few.queue, many.queue),
        convergence: cycles.steady()?.convergence,
        fits: ramp.high <= allowed,
    })
}

/// Tries all steps and timers.
pub(crate) fn compute(subject: &Subject, options: &TuneOptions) -> Result<Tuning, Error> {
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
    let allowed = subject.unit.packets(range::size(&options.queue)?);
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
            candidates.extend(candidate(&Bottleneck { law, ..base }, ramp.low, wanted, allowed));
        }
    }
    let fitting = candidates.iter().enumerate().filter(|(_, one)| one.fits);
    let best = fitting.min_by(|a, b| a.1.convergence.total_cmp(&b.1.convergence)).map(|(n, _)| n);
    Ok(Tuning { subject: subject.clone(), base, wanted, allowed, candidates, best })
}

const HEADER: [&str; 7] = ["step", "timer us", "Kmax kB", "Pmax %", "queue kB", "margin deg", "fair in ms"];

impl Tuning {
    fn unit(&self) -> Unit {
        self.subject.unit
    }

    fn kb(&self, packets: f64) -> String {
        number(self.unit().bytes(packets) / 1e3)
    }

    fn row(&self, one: &Candidate) -> Vec<String> {
        vec![
            range::rate(self.unit().bits(one.law.step)),
            number(one.law.increase_timer * 1e6),
            self.kb(one.ramp.high),
            number(one.ramp.top * 100.0),
            format!("{}..{}", self.kb(one.queues.0), self.kb(one.queues.1)),
            format!("{} at {}", number(one.worst.0), one.worst.1),
            format!("{}{}", number(one.convergence * 1e3), if one.fits { "" } else { " *" }),
        ]
    }

    /// The best candidates, fitting ones first.
    fn rows(&self) -> Vec<Vec<String>> {
        let mut order: Vec<&Candidate> = self.candidates.iter().collect();
        order.sort_by(|a, b| b.fits.cmp(&a.fits).then(a.convergence.total_cmp(&b.convergence)));
        order.into_iter().take(8).map(|one| self.row(one)).collect()
    }

    fn sentence(&self) -> String {
        let (from, to, margin) = self.wanted;
        let Some(best) = self.best.map(|n| &self.candidates[n]) else {
            return format!(
                "No setting keeps {margin} degrees for {from} to {to} flows with a ramp that ends within {} kB.",
                self.kb(self.allowed)
            );
        };
        format!(
            "Kmin {} kB, Kmax {} kB, Pmax {} %, additive step {}, increase timer {} us keep {} degrees for {from} to {to} \
             flows with {} us of delay.",
            self.kb(best.ramp.low),
            self.kb(best.ramp.high),
            number(best.ramp.top * 100.0),
            range::rate(self.unit().bits(best.law.step)),
            number(best.law.increase_timer * 1e6),
            number(best.worst.0),
            number(self.base.delay * 1e6)
        )
    }

    /// Why this candidate was chosen, and what prevents a better one.
    fn reasons(&self) -> Vec<String> {
        let (from, to, margin) = self.wanted;
        let Some(best) = self.best.map(|n| &self.candidates[n]) else {
            let nearest = self.candidates.iter().min_by(|a, b| a.ramp.high.total_cmp(&b.ramp.high));
            let told = |one: &Candidate| {
                format!(
                    "The queue limits: the shortest ramp with this margin ends at {} kB. Allow a longer queue, fewer flows or a \
                     smaller margin; or mark with `pi`, which holds the same queue for any number of flows.",
                    self.kb(one.ramp.high)
                )
            };
            return vec![
                nearest.map_or("No ramp slope has this margin: the delay is the limit.".to_owned(), told),
            ];
        };
        let slope = best.ramp.slope() / self.unit().bytes(1.0) * 1e5;
        let now = worst(&self.base, (from, to)).map_or("-".to_owned(), |(margin, flows)| {
            format!("{} degrees with {flows} flows", number(margin))
        });
        let mut reasons = vec![
            format!("Now the worst margin is {now}."),
            format!(
                "The margin depends on the slope, here {} % per 100 kB; it is worst with {} flows. A steeper ramp falls \
                 below {margin} degrees.",
                number(slope * 100.0),
                best.worst.1
            ),
            format!(
                "Pmax is {ROOM} times what {to} flows need; with less, their queue would exceed Kmax, where everything is \
                 marked."
            ),
            format!(
                "The queue settles at {} kB with {from} flows and at {} kB with {to}.",
                self.kb(best.queues.0),
                self.kb(best.queues.1)
            ),
        ];
        let at = Bottleneck {
            law: best.law,
            flows: f64::from(best.worst.1),
            marking: Marking::Ramp(best.ramp),
            ..self.base
        };
        if let Some(longest) =
            dcqcn::Exact::new(&at).filter(|of| of.unstable_roots() == 0).and_then(|of| of.longest_delay())
        {
            reasons.push(format!(
                "It would oscillate with {} us of delay and {} flows.",
                number(longest * 1e6),
                best.worst.1
            ));
        }
        if best.law.step < self.base.law.step || best.law.increase_timer > self.base.law.increase_timer {
            let text = "Increases are slower than the scenario's, because with those no ramp within the allowed queue keeps \
                        the margin; the cost is a longer time until flows are equal.";
            reasons.push(text.to_owned());
        }
        reasons
    }

    /// Settings to copy into a scenario.
    fn settings(&self) -> String {
        let Some(best) = self.best.map(|n| &self.candidates[n]) else { return String::new() };
        let bytes = |packets: f64| weft_core::Bytes(self.unit().bytes(packets).round() as u64);
        let timer = |seconds: f64| weft_core::Span::from_ns((seconds * 1e9).round() as u64);
        format!(
            "[switch.ecn.red]\nmin = \"{}\"\nmax = \"{}\"\nmax_probability = {:.5}\nat = \"dequeue\"\n\n[transport.dcqcn]\n\
             additive_step = \"{}\"\nincrease_timer = \"{}\"\nalpha_timer = \"{}\"\n",
            bytes(best.ramp.low),
            bytes(best.ramp.high),
            best.ramp.top,
            range::rate(self.unit().bits(best.law.step)),
            timer(best.law.increase_timer),
            timer(best.law.estimate_timer)
        )
    }

    /// The settings for the page: path and value.
    fn facts(&self) -> Vec<(String, String)> {
        let mut table = String::new();
        let mut facts = Vec::new();
        for line in self.settings().lines() {
            match (line.strip_prefix('['), line.split_once(" = ")) {
                (Some(name), _) => table = name.trim_end_matches(']').to_owned(),
                (None, Some((key, value))) => facts.push((format!("{table}.{key}"), value.to_owned())),
                (None, None) => {}
            }
        }
        facts
    }

    /// Headline, reasons, table, settings.
    pub(crate) fn terminal(&self) -> String {
        let mut text = format!("{}\n\n", self.sentence());
        for reason in self.reasons() {
            let _ = writeln!(text, "{reason}");
        }
        let rows = self.rows();
        let starred = rows.iter().flatten().any(|cell| cell.ends_with('*'));
        let legend = if starred { "* the ramp ends beyond the allowed queue\n" } else { "" };
        let _ = writeln!(text, "\n{}{legend}", Columns::table(&HEADER, &rows));
        text + &self.settings()
    }

    fn curve(&self, name: &str, scheme: usize, of: &Bottleneck) -> Series {
        let flows: Vec<u32> =
            (self.wanted.0..=self.wanted.1).step_by((self.wanted.1 / 150).max(1) as usize).collect();
        let margin = |flows: &u32| {
            let exact = dcqcn::Exact::new(&Bottleneck { flows: f64::from(*flows), ..*of })?;
            Some(rounded(gain_margins(&exact).phase()?.margin))
        };
        Series {
            name: name.to_owned(),
            scheme: Some(scheme),
            x: flows.iter().copied().map(f64::from).collect(),
            y: flows.iter().map(margin).collect(),
            ..Series::default()
        }
    }

    /// The page, without the scenario.
    pub(crate) fn page(&self) -> Page {
        let mut curves = vec![self.curve("as it is", 0, &self.base)];
        if let Some(best) = self.best.map(|n| &self.candidates[n]) {
            let of = Bottleneck { law: best.law, marking: Marking::Ramp(best.ramp), ..self.base };
            curves.push(self.curve("tuned", 1, &of));
        }
        let schemes = curves.iter().map(|curve| curve.name.clone()).collect();
        curves.retain(|curve| curve.y.iter().any(Option::is_some));
        let wanted = line("wanted", None, &[self.wanted.0.into(), self.wanted.1.into()], &[self.wanted.2; 2]);
        curves.push(Series { reference: true, ..wanted });
        let caption = "Exact linearisation; below zero the loop oscillates.";
        let axes = (Axis::linear("flows", ""), Axis::linear("phase margin", "deg"));
        Page {
            headline: self.sentence(),
            warnings: if self.best.is_none() { self.reasons() } else { Vec::new() },
            schemes,
            scheme_name: "settings".to_owned(),
            sections: vec![Section {
                id: "answer".to_owned(),
                title: "The answer".to_owned(),
                lead: self.reasons().join(" "),
                figures: vec![lines("margin", "Margin by number of flows", axes, curves, caption)],
            }],
            numbers: on_page("Steps and timers tried, best first; * does not fit", &HEADER, &self.rows()),
            repeat: Repeat { facts: self.facts(), ..Repeat::default() },
            ..Page::default()
        }
    }
}
