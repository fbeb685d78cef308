//! `weft fluid margin`: fixed point, phase, gain and delay margin, and the curves behind them.

mod caution;
mod cut;
mod missing;

use cut::{ControlLoop, Cuts, cuts};

use std::fmt::Write;

use weft_draw::figure::{Axis, Figure, Series};
use weft_draw::text::number;
use weft_fluid::Complex;
use weft_fluid::linear::{Margins, Response, response};
use weft_report::page::{Card, Page, Section};

use crate::figures::{line, lines, rounded};
use crate::notes::of_margins;
use crate::subject::Subject;
use crate::table::on_page;
use weft_draw::Columns;
use weft_prepare::Error;

/// Maximum number of flows in the plot over flows.
const MOST_FLOWS: u32 = 100;

/// A case's loop and its margins.
pub(crate) struct CaseMargins {
    subject: Subject,
    name: &'static str,
    margins: Margins,
    response: Response,
    /// Queue in packets, and the other steady-state values.
    queue: f64,
    steady: String,
    /// Roots in the right half-plane; unknown for the published form.
    unstable: Option<u32>,
    beyond: bool,
    /// Whether the flows react to round trips rather than marks.
    by_trips: bool,
}

/// The name of the loop whose marks are drawn from packets that leave.
const AT_DEPARTURE: &str = "departures";

/// All loops of all cases.
pub(crate) fn compute(subjects: &[Subject]) -> Result<Vec<CaseMargins>, Error> {
    let mut all = Vec::new();
    for subject in subjects {
        if !subject.alike {
            let text = "the flows have different delays; a margin assumes equal flows. `--delay` sets one for all, and `weft \
                        fluid run` shows them as they are";
            return Err(Error::BadInput(text.to_owned()));
        }
        if let Some(why) = missing::why(subject) {
            return Err(Error::BadInput(format!("{}: no steady state: {why}", subject.title())));
        }
        let cuts = cuts(subject, subject.flows(), subject.delay);
        all.extend(cuts.into_iter().map(|(name, cut)| CaseMargins::new(subject, name, cut)));
    }
    Ok(all)
}

impl CaseMargins {
    fn new(subject: &Subject, name: &'static str, cut: ControlLoop) -> CaseMargins {
        let (queue, steady, beyond) = match &cut {
            ControlLoop::Exact(of) => {
                let at = of.at;
                let steady =
                    format!("marked {} %, alpha {}", number(at.probability * 100.0), number(at.estimate));
                (at.queue, steady, at.beyond_ramp)
            }
            ControlLoop::Departing(of) => (of.at().queue, String::new(), of.at().beyond_ramp),
            ControlLoop::Patched(of) => (of.at.queue, String::new(), of.at.beyond),
            ControlLoop::Integrated(of) => (of.at.queue, String::new(), of.at.beyond),
            ControlLoop::Published(_) => (f64::NAN, "approximate probability".to_owned(), false),
        };
        let subject = subject.clone();
        CaseMargins {
            subject,
            name,
            margins: cut.margins(),
            response: response(&cut),
            queue,
            steady,
            unstable: cut.unstable_roots(),
            beyond,
            by_trips: matches!(cut, ControlLoop::Patched(_)),
        }
    }

    /// The results by name.
    pub(crate) fn numbers(&self) -> Vec<(&'static str, f64)> {
        let margin = self.margins.phase().map_or(f64::NAN, |crossing| crossing.margin);
        match self.unstable {
            None => vec![("fluid.margin.published", margin)],
            Some(_) if self.name == AT_DEPARTURE => vec![("fluid.margin.departures", margin)],
            Some(roots) => vec![
                ("fluid.margin.exact", margin),
                ("fluid.unstable", f64::from(roots)),
                ("fluid.rest.queue", self.subject.unit.bytes(self.queue) / 1e3),
            ],
        }
    }

    fn title(&self) -> String {
        if self.subject.label.is_empty() {
            return self.name.to_owned();
        }
        format!("{}, {}", self.subject.label, self.name)
    }

    fn queue_kb(&self) -> String {
        if self.queue.is_nan() { "-".to_owned() } else { number(self.subject.unit.bytes(self.queue) / 1e3) }
    }

    fn row(&self) -> Vec<String> {
        let phase = self.margins.phase();
        let or_dash = |value: Option<f64>| value.map_or("-".to_owned(), number);
        let decibels = self.margins.gain().map(|crossing| 20.0 * crossing.margin.log10());
        vec![
            self.title(),
            number(self.subject.delay * 1e6),
            self.queue_kb(),
            or_dash(phase.map(|crossing| crossing.margin)),
            or_dash(phase.map(|crossing| crossing.omega)),
            or_dash(decibels),
            or_dash(self.margins.delay().map(|delay| delay * 1e6)),
            self.words(),
        ]
    }

    fn words(&self) -> String {
        let by_margin = self.margins.phase().is_none_or(|crossing| crossing.margin > 0.0);
        match (self.beyond, self.unstable) {
            (true, _) => "no steady state".to_owned(),
            (false, Some(0)) => "stable".to_owned(),
            (false, Some(_)) => "unstable".to_owned(),
            (false, None) => if by_margin { "margin > 0" } else { "margin < 0" }.to_owned(),
        }
    }
}

const HEADER: [&str; 8] =
    ["loop", "delay us", "queue kB", "phase deg", "at rad/s", "gain dB", "left us", "verdict"];

fn sentence(found: &[CaseMargins]) -> String {
    let exact: Vec<&CaseMargins> =
        found.iter().filter(|one| one.unstable.is_some() && one.name != AT_DEPARTURE).collect();
    if let [one] = exact[..] {
        let margin =
            one.margins.phase().map_or("no crossing".to_owned(), |c| format!("{} degrees", number(c.margin)));
        return format!(
            "{} with {} us of delay{}: {}, phase margin {margin}.{}",
            one.subject.counted(),
            number(one.subject.delay * 1e6),
            if one.subject.jitter.most > 0.0 { ", without jitter" } else { "" },
            one.words(),
            departing_words(one, found)
        );
    }
    let stable = exact.iter().filter(|one| one.unstable == Some(0) && !one.beyond).count();
    format!("{stable} of {} cases are stable by the exact linearisation.", exact.len())
}

/// What the loop does if packets are marked as they leave, as simulated switches may do, where that decides otherwise.
fn departing_words(exact: &CaseMargins, found: &[CaseMargins]) -> String {
    let other = found.iter().find(|one| one.name == AT_DEPARTURE && one.words() != exact.words());
    other.map_or(String::new(), |one| {
        let margin =
            one.margins.phase().map(|crossing| format!(", phase margin {}", number(crossing.margin)));
        format!(" With marks as packets leave: {}{}.", one.words(), margin.unwrap_or_default())
    })
}

fn notes(found: &[CaseMargins]) -> Vec<String> {
    let mut notes = of_margins(found.iter().map(|one| &one.subject));
    notes.extend(found.iter().filter_map(CaseMargins::waits));
    if found.iter().any(|one| one.beyond && one.by_trips) {
        let text = "The steady state lies above the upper threshold (`high`), where every rate falls: there the margin means nothing \
                    and the queue oscillates. Raise `high`.";
        notes.push(text.to_owned());
    }
    if found.iter().any(|one| one.beyond && !one.by_trips) {
        let text = "The steady state lies beyond the end of the ramp, where everything is marked: there the margin means \
                    nothing and the queue oscillates. Raise the top of the ramp, or use --continue-ramp.";
        notes.push(text.to_owned());
    }
    notes.extend(found.iter().filter_map(CaseMargins::caution));
    notes.sort();
    notes.dedup();
    notes
}

/// Headline and table.
pub(crate) fn terminal(found: &[CaseMargins]) -> String {
    let rows: Vec<Vec<String>> = found.iter().map(CaseMargins::row).collect();
    let steady = found.iter().filter(|one| one.unstable.is_some() && !one.steady.is_empty());
    let steady: String = steady.map(|one| format!("{}: {}\n", one.title(), one.steady)).collect();
    let notes: String = notes(found).iter().map(|note| format!("{note}\n")).collect();
    format!("{}\n\n{}\n{steady}{notes}", sentence(found), Columns::table(&HEADER, &rows))
}

/// The responses, row by row.
pub(crate) fn csv(found: &[CaseMargins]) -> String {
    let mut text = "loop,omega_rad_s,gain,phase_deg,real,imaginary\n".to_owned();
    for one in found {
        let phase = one.response.phase();
        for ((omega, gain), phase) in one.response.omega.iter().zip(&one.response.gain).zip(phase) {
            let name = one.title().replace(',', ";");
            let _ = writeln!(
                text,
                "{name},{omega:.6e},{:.6e},{phase:.4},{:.6e},{:.6e}",
                gain.abs(),
                gain.re,
                gain.im
            );
        }
    }
    text
}

/// The relevant range of a response: gains from 1/100 to 100.
fn near_one(one: &CaseMargins) -> std::ops::Range<usize> {
    let inside = |gain: &Complex| (0.01..=100.0).contains(&gain.abs());
    let from = one.response.gain.iter().position(inside).unwrap_or(0);
    let to = one.response.gain.iter().rposition(inside).map_or(0, |at| at + 1);
    from..to.max(from)
}

fn bode(found: &[CaseMargins]) -> [Figure; 2] {
    let curve = |values: &dyn Fn(&CaseMargins) -> Vec<f64>| -> Vec<Series> {
        let of = |(n, one): (usize, &CaseMargins)| {
            let range = near_one(one);
            line(&one.title(), Some(n), &one.response.omega[range.clone()], &values(one)[range])
        };
        found.iter().enumerate().map(of).collect()
    };
    let gains = curve(&|one| one.response.gain.iter().map(|gain| gain.abs()).collect());
    let phases = curve(&|one| one.response.phase().into_iter().map(shown_phase).collect());
    let omega = || Axis::log("frequency", "rad/s");
    [
        lines(
            "gain",
            "Gain of the open loop",
            (omega(), Axis::log("gain", "")),
            gains,
            "Where it is 1, the phase decides.",
        ),
        lines(
            "phase",
            "Phase of the open loop",
            (omega(), Axis::linear("phase", "deg")),
            phases,
            "Above -180 degrees where the gain is 1: stable.",
        ),
    ]
}

/// Hides the phase far beyond half a turn, where a delay makes it fall without end.
fn shown_phase(degrees: f64) -> f64 {
    if degrees < -450.0 { f64::NAN } else { degrees }
}

/// The Nyquist curve around the critical point, cut off far away from it.
fn nyquist(found: &[CaseMargins]) -> Figure {
    let of = |(n, one): (usize, &CaseMargins)| {
        let near = one.response.gain.iter().filter(|gain| gain.re.abs() <= 3.0 && gain.im.abs() <= 3.0);
        let near: Vec<&Complex> = near.collect();
        Series {
            name: one.title(),
            scheme: Some(n),
            x: near.iter().map(|gain| rounded(gain.re)).collect(),
            y: near.iter().map(|gain| Some(rounded(gain.im))).collect(),
            ..Series::default()
        }
    };
    let critical = Series { name: "-1".to_owned(), x: vec![-1.0], y: vec![Some(0.0)], ..Series::default() };
    let series = found.iter().enumerate().map(of).chain([critical]).filter(|one| !one.x.is_empty()).collect();
    let axes = (Axis::linear("real part", ""), Axis::linear("imaginary part", ""));
    let caption = "Positive frequencies; points more than 3 from the origin are omitted.";
    lines("nyquist", "Nyquist curve and the critical point", axes, series, caption)
}

/// The smallest margin of each loop as a function of `xs`.
fn over(found: &[CaseMargins], xs: &[f64], cut: &dyn Fn(&Subject, f64) -> Cuts) -> Vec<Series> {
    let of = |(n, one): (usize, &CaseMargins)| {
        let at = |x: &f64| {
            let cuts = cut(&one.subject, *x);
            let cut = cuts.into_iter().find(|(name, _)| *name == one.name)?.1;
            Some(rounded(cut.margins().phase()?.margin))
        };
        Series {
            name: one.title(),
            scheme: Some(n),
            x: xs.to_vec(),
            y: xs.iter().map(at).collect(),
            ..Series::default()
        }
    };
    found.iter().enumerate().map(of).filter(|one: &Series| one.y.iter().any(Option::is_some)).collect()
}

fn margin_figures(found: &[CaseMargins]) -> [Figure; 2] {
    let flows: Vec<f64> = (1..=MOST_FLOWS).map(f64::from).collect();
    let delays: Vec<f64> = (0..=60).map(|n| f64::from(n) * 4.0).collect();
    let by_flows = over(found, &flows, &|subject, flows| cuts(subject, flows, subject.delay));
    let by_delay = over(found, &delays, &|subject, us| cuts(subject, subject.flows(), us * 1e-6));
    let margin = || Axis::linear("phase margin", "deg");
    let caption =
        "The smallest margin over all frequencies at which the gain is 1; below zero the loop oscillates.";
    [
        lines(
            "by-flows",
            "Margin by number of flows",
            (Axis::linear("flows", ""), margin()),
            by_flows,
            caption,
        ),
        lines("by-delay", "Margin by loop delay", (Axis::linear("delay", "us"), margin()), by_delay, caption),
    ]
}

/// The page, without the scenario.
pub(crate) fn page(found: &[CaseMargins]) -> Page {
    let first = &found[0];
    let row = first.row();
    let card = |label: &str, value: String, note: &str| Card {
        label: label.to_owned(),
        value,
        note: note.to_owned(),
        ..Card::default()
    };
    let rows: Vec<Vec<String>> = found.iter().map(CaseMargins::row).collect();
    let mut curves = bode(found).to_vec();
    curves.push(nyquist(found));
    Page {
        warnings: notes(found),
        headline: sentence(found),
        cards: vec![
            card("Phase margin", format!("{} deg", row[3]), &format!("at {} rad/s", row[4])),
            card("Gain margin", format!("{} dB", row[5]), &first.title()),
            card("Delay left", format!("{} us", row[6]), &format!("beyond {} us", row[1])),
            card("Queue", format!("{} kB", row[2]), &first.steady),
        ],
        schemes: found.iter().map(CaseMargins::title).collect(),
        scheme_name: "loop".to_owned(),
        sections: vec![
            Section {
                id: "answer".to_owned(),
                title: "The answer".to_owned(),
                lead: "How far the loop is from instability.".to_owned(),
                figures: margin_figures(found).to_vec(),
            },
            Section {
                id: "why".to_owned(),
                title: "Why".to_owned(),
                lead: "The open loop.".to_owned(),
                figures: curves,
            },
        ],
        numbers: on_page("Fixed points and margins", &HEADER, &rows),
        ..Page::default()
    }
}
