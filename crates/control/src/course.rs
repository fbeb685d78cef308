//! `weft fluid run`: queue and rates over time, and whether they settle.

use std::fmt::Write;

use weft_core::Span;
use weft_draw::figure::{Axis, Figure};
use weft_draw::text::{number, plural};
use weft_fluid::dde::Stepping;
use weft_fluid::model::Model;
use weft_fluid::series::{Extent, extent};
use weft_fluid::{FluidSeries, Steadiness, record};
use weft_report::page::{Card, Page, Section};

use crate::figures::{line, lines};
use crate::jitter;
use crate::notes::of_runs;
use crate::subject::Subject;
use crate::table::on_page;
use weft_draw::Columns;
use weft_prepare::Error;

/// Default length of a run, seconds.
pub(crate) const UNTIL: f64 = 0.2;
/// Rows of a series.
const ROWS: f64 = 20_000.0;
/// Error of a step, relative to each component.
const TOLERANCE: f64 = 1e-6;
/// Number of flows drawn per case.
const DRAWN: usize = 8;

/// A case, integrated over time.
pub(crate) struct FluidRun {
    subject: Subject,
    series: FluidSeries,
    until: f64,
}

/// Integrates every case.
///
/// # Errors
/// As [`of`]; [`Error::BadInput`] for a time too short for any sender to hear of the queue.
pub(crate) fn compute(subjects: &[Subject], until: Option<Span>) -> Result<Vec<FluidRun>, Error> {
    let course = |subject: &Subject| {
        let until = until.map(Span::seconds).or(subject.until).unwrap_or(UNTIL);
        if until <= subject.delay {
            return Err(Error::BadInput(format!(
                "{}: {} us are too short: senders hear of the queue after {} us",
                subject.title(),
                number(until * 1e6),
                number(subject.delay * 1e6)
            )));
        }
        Ok(FluidRun { subject: subject.clone(), series: of(subject, until)?, until })
    };
    subjects.iter().map(course).collect()
}

/// Integrates the model of a case over `until` seconds.
///
/// # Errors
/// [`Error::Failed`] if the equations overflow, with settings beyond what they describe.
pub(crate) fn of(subject: &Subject, until: f64) -> Result<FluidSeries, Error> {
    let found = match (subject.dcqcn_model(), subject.timely_model()) {
        (Some(mut model), _) => series(&mut model, subject, until),
        (None, Some(mut model)) => series(&mut model, subject, until),
        (None, None) => FluidSeries::default(),
    };
    match found.ends_being_finite() {
        None => Ok(found),
        Some(at) => Err(Error::Failed(format!(
            "{}: the equations give no numbers for queue and rates from {} us on; a setting is outside their range",
            subject.title(),
            number(at * 1e6)
        ))),
    }
}

fn series<M: Model>(model: &mut M, subject: &Subject, until: f64) -> FluidSeries {
    let stepping = if subject.jitter.most > 0.0 {
        Stepping::Fixed(jitter::step(&subject.jitter))
    } else {
        Stepping::Adaptive { tolerance: TOLERANCE, longest: 20e-6 }
    };
    record(model, until, stepping, until / ROWS)
}

const HEADER: [&str; 9] =
    ["case", "queue kB", "least", "most", "rate Gbps", "least", "most", "unfair", "at the end"];

impl FluidRun {
    /// The queue in kB in the second half.
    fn queue(&self) -> Extent {
        let half = extent(self.series.tail(&self.series.queue, 0.5));
        let unit = self.subject.unit.bytes(1.0) / 1e3;
        Extent { least: half.least * unit, greatest: half.greatest * unit, mean: half.mean * unit }
    }

    /// The rate of a flow in Gb/s in the second half, over all groups.
    fn rate(&self) -> Extent {
        let of = |rates: &Vec<f64>| extent(self.series.tail(rates, 0.5));
        let all: Vec<Extent> = self.series.rates.iter().map(of).collect();
        let unit = self.subject.unit.bits(1.0) / 1e9;
        let total = self.series.total();
        let mean = extent(self.series.tail(&total, 0.5)).mean / self.subject.flows();
        Extent {
            least: all.iter().map(|e| e.least).fold(f64::INFINITY, f64::min) * unit,
            greatest: all.iter().map(|e| e.greatest).fold(0.0, f64::max) * unit,
            mean: mean * unit,
        }
    }

    /// Maximum over minimum of the flows' mean rates.
    fn unfairness(&self) -> f64 {
        let mean = |rates: &Vec<f64>| extent(self.series.tail(rates, 0.5)).mean;
        let (least, most) = self
            .series
            .rates
            .iter()
            .map(mean)
            .fold((f64::INFINITY, 0.0_f64), |(l, m), rate| (l.min(rate), m.max(rate)));
        if least > 0.0 { most / least } else { f64::INFINITY }
    }

    /// All numbers of the second half by name, and the rates at the end.
    pub(crate) fn numbers(&self) -> Vec<(&'static str, f64)> {
        let (queue, rate) = (self.queue(), self.rate());
        let unit = self.subject.unit.bits(1.0) / 1e9;
        let mean = |rates: Option<&Vec<f64>>| {
            rates.map_or(f64::NAN, |rates| extent(self.series.tail(rates, 0.5)).mean * unit)
        };
        let end = |rates: Option<&Vec<f64>>| {
            rates.and_then(|rates| rates.last()).map_or(f64::NAN, |rate| rate * unit)
        };
        let (first, last) = (self.series.rates.first(), self.series.rates.last());
        vec![
            ("fluid.queue.mean", queue.mean),
            ("fluid.queue.least", queue.least),
            ("fluid.queue.most", queue.greatest),
            ("fluid.rate.mean", rate.mean),
            ("fluid.rate.least", rate.least),
            ("fluid.rate.most", rate.greatest),
            ("fluid.rate.first", mean(first)),
            ("fluid.rate.last", mean(last)),
            ("fluid.end.first", end(first)),
            ("fluid.end.last", end(last)),
            ("fluid.unfairness", self.unfairness()),
        ]
    }

    fn verdict(&self) -> Steadiness {
        self.series.steadiness()
    }

    fn words(&self) -> &'static str {
        match self.verdict() {
            Steadiness::Settled => "settled",
            Steadiness::RingingDown => "ringing down",
            Steadiness::Oscillating => "oscillating",
            Steadiness::Drifting => "rates still moving",
            Steadiness::Growing => "growing",
            Steadiness::Shrinking => "shrinking",
        }
    }

    fn row(&self) -> Vec<String> {
        let (queue, rate) = (self.queue(), self.rate());
        let numbers = [queue.mean, queue.least, queue.greatest, rate.mean, rate.least, rate.greatest];
        let mut row = vec![self.subject.title()];
        row.extend(numbers.map(number));
        row.extend([format!("{}x", number(self.unfairness())), self.words().to_owned()]);
        row
    }

    /// All rows as CSV; the header has the units.
    pub(crate) fn csv(&self) -> String {
        let (series, unit) = (&self.series, self.subject.unit);
        let mut text = "time_us,queue_kB".to_owned();
        let marks = if series.marking.is_empty() { "" } else { ",marking" };
        text += marks;
        for (n, group) in self.subject.groups.iter().enumerate() {
            let _ = write!(text, ",rate{n}_Gbps_of_{}_flows,estimate{n}", group.count);
        }
        text.push('\n');
        for row in 0..series.time.len() {
            let _ = write!(text, "{:.3},{:.6}", series.time[row] * 1e6, unit.bytes(series.queue[row]) / 1e3);
            if let Some(marking) = series.marking.get(row) {
                let _ = write!(text, ",{marking:.6e}");
            }
            for (rates, estimates) in series.rates.iter().zip(&series.estimates) {
                let _ = write!(text, ",{:.6},{:.6e}", unit.bits(rates[row]) / 1e9, estimates[row]);
            }
            text.push('\n');
        }
        text
    }

    fn times(&self) -> Vec<f64> {
        self.series.time.iter().map(|t| t * 1e3).collect()
    }

    /// The rates of one case, one line per group of flows.
    fn rates(&self, number: usize) -> Figure {
        let unit = self.subject.unit.bits(1.0) / 1e9;
        let of = |(n, rates): (usize, &Vec<f64>)| {
            let values: Vec<f64> = rates.iter().map(|rate| rate * unit).collect();
            let count = self.subject.groups[n].count;
            let name = if count > 1.0 { format!("each of {count} flows") } else { format!("flow {}", n + 1) };
            line(&name, None, &self.times(), &values)
        };
        let drawn = self.series.rates.iter().enumerate().take(DRAWN).map(of).collect();
        let left_out = self.series.rates.len().saturating_sub(DRAWN);
        let caption = match left_out {
            0 => "Rate of each flow, framing included.".to_owned(),
            more => format!("Rates of the first {DRAWN} kinds of flows; {more} more are in the CSV file."),
        };
        let axes = (Axis::linear("time", "ms"), Axis::linear("rate", "Gbps"));
        lines(&format!("rates-{number}"), &format!("{}: rates", self.subject.title()), axes, drawn, &caption)
    }
}

/// One quantity of all cases in one figure.
fn together(
    courses: &[FluidRun],
    id: &str,
    (title, axis): (&str, Axis),
    of: &dyn Fn(&FluidRun) -> Vec<f64>,
) -> Option<Figure> {
    let drawn = courses.iter().enumerate().filter_map(|(n, course)| {
        let values = of(course);
        let from = values.iter().position(|value| value.is_finite())?;
        Some(line(&course.subject.title(), Some(n), &course.times()[from..], &values[from..]))
    });
    let series: Vec<_> = drawn.collect();
    if series.is_empty() {
        return None;
    }
    let caption = "Delay differential equations, embedded pair of orders 2 and 3; each stretch shows its \
                  minimum and maximum.";
    Some(lines(id, title, (Axis::linear("time", "ms"), axis), series, caption))
}

fn sentence(courses: &[FluidRun]) -> String {
    let [course] = courses else { return ends(courses) };
    let (queue, rate) = (course.queue(), course.rate());
    let [mean, least, most, each] = [queue.mean, queue.least, queue.greatest, rate.mean].map(number);
    let course_of_queue = match course.verdict() {
        Steadiness::Growing => format!("the queue grows, from {least} to {most} kB in the second half"),
        Steadiness::Shrinking => {
            format!("the queue still shrinks, from {most} to {least} kB in the second half")
        }
        _ => format!("{} around a queue of {mean} kB ({least} to {most})", course.words()),
    };
    format!(
        "{} through {}: {course_of_queue}, {each} Gbps for each flow.",
        course.subject.counted(),
        course.subject.link
    )
}

/// How the cases end, in numbers.
fn ends(courses: &[FluidRun]) -> String {
    let of = |word: Steadiness| courses.iter().filter(|course| course.verdict() == word).count();
    let moving = [(Steadiness::Growing, "grows"), (Steadiness::Shrinking, "shrinks")];
    let moving = moving.map(|(word, verb)| match of(word) {
        0 => String::new(),
        count => format!(", in {count} the queue {verb}"),
    });
    format!(
        "{} of {} cases settle, {} ring down, {} oscillate, in {} rates still move{}.",
        of(Steadiness::Settled),
        courses.len(),
        of(Steadiness::RingingDown),
        of(Steadiness::Oscillating),
        of(Steadiness::Drifting),
        moving.concat()
    )
}

fn rows(courses: &[FluidRun]) -> Vec<Vec<String>> {
    courses.iter().map(FluidRun::row).collect()
}

fn notes(courses: &[FluidRun]) -> Vec<String> {
    let mut notes = of_runs(courses.iter().map(|course| &course.subject));
    let forced: u64 = courses.iter().map(|course| course.series.effort.forced).sum();
    if forced > 0 {
        notes.push(format!(
            "{} of minimum length exceed the tolerance: the law jumps there.",
            plural(forced, "step")
        ));
    }
    notes
}

/// Headline and table.
pub(crate) fn terminal(courses: &[FluidRun]) -> String {
    let notes: String = notes(courses).iter().map(|note| format!("{note}\n")).collect();
    let until = courses.iter().map(|course| course.until).fold(0.0, f64::max);
    format!(
        "{}\n\n{}\nSecond half of {} ms. {notes}",
        sentence(courses),
        Columns::table(&HEADER, &rows(courses)),
        number(until * 1e3)
    )
}

/// The page, without the scenario.
pub(crate) fn page(courses: &[FluidRun]) -> Page {
    let queue = |course: &FluidRun| {
        let unit = course.subject.unit.bytes(1.0) / 1e3;
        course.series.queue.iter().map(|queue| queue * unit).collect::<Vec<f64>>()
    };
    let marking = |course: &FluidRun| course.series.marking.iter().map(|p| p * 100.0).collect();
    let axis = |name: &str, unit: &str| Axis::linear(name, unit);
    let late = |course: &FluidRun| {
        let mut values: Vec<f64> = queue(course);
        let half = values.len() / 2;
        values[..half].fill(f64::NAN);
        values
    };
    let answer = [
        together(courses, "late", ("The queue in the second half", axis("queue", "kB")), &late),
        together(courses, "queue", ("The queue from the start", axis("queue", "kB")), &queue),
        together(courses, "marking", ("Marked packets", axis("marked", "%")), &marking),
    ];
    let rates = courses.iter().enumerate().map(|(n, course)| course.rates(n));
    let section = |id: &str, title: &str, lead: &str, figures: Vec<Figure>| Section {
        id: id.to_owned(),
        title: title.to_owned(),
        lead: lead.to_owned(),
        figures,
    };
    let first = &courses[0];
    let card = |label: &str, value: String, note: &str| Card {
        label: label.to_owned(),
        value,
        note: note.to_owned(),
        ..Card::default()
    };
    let (queue_now, rate_now) = (first.queue(), first.rate());
    Page {
        warnings: notes(courses),
        headline: sentence(courses),
        cards: vec![
            card(
                "Queue",
                format!("{} kB", number(queue_now.mean)),
                &format!("{} to {}", number(queue_now.least), number(queue_now.greatest)),
            ),
            card(
                "Rate of a flow",
                format!("{} Gbps", number(rate_now.mean)),
                &format!("{} to {}", number(rate_now.least), number(rate_now.greatest)),
            ),
            card(
                "Fastest to slowest",
                format!("{}x", number(first.unfairness())),
                "means of the second half",
            ),
            card("At the end", first.words().to_owned(), &first.subject.title()),
        ],
        schemes: courses.iter().map(|course| course.subject.title()).collect(),
        scheme_name: "case".to_owned(),
        sections: vec![
            section(
                "answer",
                "The answer",
                "The queue at the bottleneck.",
                answer.into_iter().flatten().collect(),
            ),
            section("why", "Why", "The rates of the flows.", rates.collect()),
        ],
        numbers: on_page("Mean, minimum and maximum over the second half", &HEADER, &rows(courses)),
        ..Page::default()
    }
}
