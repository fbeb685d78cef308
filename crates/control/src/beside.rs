//! `weft fluid compare`: packets and fluid model of one scenario side by side, and how far they differ.

use std::fmt::Write as _;

use weft_core::Span;
use weft_draw::figure::{self, Axis, Figure};
use weft_draw::text::number;
use weft_fluid::FluidSeries;
use weft_plan::Engine;
use weft_report::page::{Card, Page, Section};

use crate::FluidOptions;
use crate::course::{self, UNTIL};
use crate::figures::{line, lines};
use crate::notes::of_runs;
use crate::packets::{self, PacketSeries};
use crate::subject::Subject;
use crate::swing::{Swing, swing};
use crate::table::on_page;
use weft_draw::Columns;
use weft_prepare::{Error, Prepared, prepare};

/// Number of flows drawn per case.
const DRAWN: usize = 4;
const HEADER: [&str; 4] = ["", "packets", "fluid", "deviation"];
/// The schemes, in the order of their colours.
const SCHEMES: [&str; 2] = ["packets", "fluid"];

/// A case run as packets and as fluid.
pub(crate) struct BothEngines {
    subject: Subject,
    packets: PacketSeries,
    fluid: FluidSeries,
    queue: [Swing; 2],
}

/// Runs every case as packets and as fluid.
pub(crate) fn compute(
    (path, options): (&std::path::Path, &FluidOptions),
    subjects: &[Subject],
    until: Option<Span>,
    engine: &dyn Engine,
) -> Result<Vec<BothEngines>, Error> {
    let cases = prepare(path, &options.set, false)?;
    let pair = |(case, subject): (&Prepared, &Subject)| {
        let until = until.map(Span::seconds).or(subject.until).unwrap_or(UNTIL);
        let packets = packets::simulate((case, subject), Span::from_seconds_rounded(until), engine)?;
        let fluid = course::of(subject, packets.until)?;
        let kilobytes = subject.unit.bytes(1.0) / 1e3;
        let levels: Vec<f64> = fluid.queue.iter().map(|queue| queue * kilobytes).collect();
        let swings = swing(half(&packets.queue)).zip(swing(half(&levels)));
        let told = || Error::BadInput(format!("{}: too short for a comparison", path.display()));
        let (mut seen, mut solved) = swings.ok_or_else(told)?;
        let step = |time: &[f64]| (time[time.len() - 1] - time[0]) / (time.len() - 1).max(1) as f64;
        seen.period = seen.period.map(|steps| steps * step(&packets.time));
        solved.period = solved.period.map(|steps| steps * step(&fluid.time));
        Ok(BothEngines { subject: subject.clone(), packets, fluid, queue: [seen, solved] })
    };
    cases.iter().zip(subjects).map(pair).collect()
}

/// The second half of a series.
fn half(values: &[f64]) -> &[f64] {
    &values[values.len() / 2..]
}

/// A quantity of a case under both models; `None`: it has no value.
struct Quantity {
    name: &'static str,
    values: [Option<f64>; 2],
}

impl Quantity {
    /// The relative deviation of packets from fluid.
    fn deviation(&self) -> Option<f64> {
        match self.values {
            [Some(packets), Some(fluid)] if fluid.abs() > 1e-9 => Some(packets / fluid - 1.0),
            _ => None,
        }
    }

    fn row(&self) -> Vec<String> {
        let told = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let deviation = self.deviation().filter(|share| share.abs() < 10.0);
        let deviation = deviation.map_or_else(|| "-".to_owned(), |share| format!("{:+.1} %", share * 100.0));
        vec![self.name.to_owned(), told(self.values[0]), told(self.values[1]), deviation]
    }
}

impl BothEngines {
    fn quantities(&self) -> Vec<Quantity> {
        let of = |name, values: [f64; 2]| Quantity {
            name,
            values: values.map(|value| Some(value).filter(|value| value.is_finite())),
        };
        let queue = |of: &dyn Fn(&Swing) -> f64| [of(&self.queue[0]), of(&self.queue[1])];
        let [packets, fluid] = self.rates();
        vec![
            of("queue, mean, kB", queue(&|swing| swing.mean)),
            of("queue, standard deviation, kB", queue(&|swing| swing.deviation)),
            of("queue, amplitude, kB", queue(&|swing| swing.amplitude)),
            of("queue, period, us", queue(&|swing| swing.period.map_or(f64::NAN, |seconds| seconds * 1e6))),
            of("rate of a flow, Gb/s", [mean(&packets), self.weighted(&fluid)]),
            of("fastest to slowest flow", [spread(&packets), spread(&fluid)]),
        ]
    }

    /// Mean rates in Gb/s in the second half: per flow for packets, per group for fluid.
    fn rates(&self) -> [Vec<f64>; 2] {
        let unit = self.subject.unit.bits(1.0) / 1e9;
        let fluid = self.fluid.rates.iter().map(|rates| mean(half(rates)) * unit);
        [self.packets.flows.iter().map(|flow| flow.mean).collect(), fluid.collect()]
    }

    /// The mean over flows of a quantity given per group.
    fn weighted(&self, groups: &[f64]) -> f64 {
        let sum: f64 = self.fluid.counts.iter().zip(groups).map(|(count, rate)| count * rate).sum();
        sum / self.subject.flows()
    }

    /// Queues and rates as CSV, one row per instant of the packets' series.
    pub(crate) fn csv(&self) -> (String, String) {
        let unit = self.subject.unit;
        let mut queue = "time_us,packets_kB,fluid_kB\n".to_owned();
        for (time, packets) in self.packets.time.iter().zip(&self.packets.queue) {
            let fluid = unit.bytes(self.at(&self.fluid.queue, *time)) / 1e3;
            let _ = writeln!(queue, "{:.3},{packets:.4},{fluid:.4}", time * 1e6);
        }
        let mut rates = "model,flow_or_group,time_us,rate_Gbps\n".to_owned();
        for (number, flow) in self.packets.flows.iter().enumerate() {
            for (time, rate) in flow.time.iter().zip(&flow.rate) {
                let _ = writeln!(rates, "packets,{number},{:.3},{rate:.6}", time * 1e6);
            }
        }
        (queue, rates + &self.fluid_rates())
    }

    /// The fluid's rates in the format of the packets', one row per group of equal flows.
    fn fluid_rates(&self) -> String {
        let mut text = String::new();
        let every = (self.fluid.time.len() / 1000).max(1);
        for (number, rates) in self.fluid.rates.iter().enumerate() {
            for (time, rate) in self.fluid.time.iter().zip(rates).step_by(every) {
                let _ = writeln!(
                    text,
                    "fluid,{number},{:.3},{:.6}",
                    time * 1e6,
                    self.subject.unit.bits(*rate) / 1e9
                );
            }
        }
        text
    }

    /// The value of a fluid series at an instant, interpolated linearly.
    fn at(&self, values: &[f64], time: f64) -> f64 {
        let after = self.fluid.time.partition_point(|row| *row <= time);
        let (Some(before), true) = (after.checked_sub(1), after < values.len()) else {
            return values.get(after.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0);
        };
        let share = (time - self.fluid.time[before]) / (self.fluid.time[after] - self.fluid.time[before]);
        values[before] + share * (values[after] - values[before])
    }

    fn queues(&self, id: &str, title: &str, from: f64) -> Figure {
        let unit = self.subject.unit.bytes(1.0) / 1e3;
        let drawn = |scheme: usize, time: &[f64], queue: &[f64], unit: f64| {
            let first = time.partition_point(|time| *time < from);
            let x: Vec<f64> = time[first..].iter().map(|time| time * 1e3).collect();
            let y: Vec<f64> = queue[first..].iter().map(|queue| queue * unit).collect();
            line(SCHEMES[scheme], Some(scheme), &x, &y)
        };
        let series = vec![
            drawn(0, &self.packets.time, &self.packets.queue, 1.0),
            drawn(1, &self.fluid.time, &self.fluid.queue, unit),
        ];
        let axes = (Axis::linear("time", "ms"), Axis::linear("queue", "kB"));
        let caption = "Packets: one run, the instantaneous queue at equal steps. Fluid: delay differential equations. Each \
                      stretch shows its minimum and maximum.";
        lines(id, &format!("{}: {title}", self.subject.title()), axes, series, caption)
    }

    fn rate_figure(&self, id: &str) -> Figure {
        let unit = self.subject.unit.bits(1.0) / 1e9;
        let of_packets = |(n, flow): (usize, &packets::RateTrace)| {
            line(&format!("packets, flow {}", n + 1), Some(0), &milliseconds(&flow.time), &flow.rate)
        };
        let of_fluid = |(n, rates): (usize, &Vec<f64>)| {
            let rates: Vec<f64> = rates.iter().map(|rate| rate * unit).collect();
            let name = format!("fluid, each of {} flows", self.fluid.counts[n]);
            line(&name, Some(1), &milliseconds(&self.fluid.time), &rates)
        };
        let mut drawn: Vec<figure::Series> =
            self.packets.flows.iter().enumerate().take(DRAWN).map(of_packets).collect();
        drawn.extend(self.fluid.rates.iter().enumerate().take(DRAWN).map(of_fluid));
        let caption = format!(
            "The rate the law allows, framing included; the first {DRAWN} flows and groups of equal flows. All are \
             in the CSV file."
        );
        let axes = (Axis::linear("time", "ms"), Axis::linear("rate", "Gbps"));
        lines(id, &format!("{}: rates", self.subject.title()), axes, drawn, &caption)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = of_runs(std::iter::once(&self.subject));
        let (title, packets) = (self.subject.title(), &self.packets);
        if packets.done > 0 {
            notes.push(format!(
                "{title}: {} of {} flows finish before the end; both are compared up to {} ms, when the first finishes.",
                packets.done,
                packets.flows.len(),
                number(packets.until * 1e3)
            ));
        }
        if packets.dropped > 0 {
            notes.push(format!("{title}: {} packets were dropped; the fluid loses none.", packets.dropped));
        }
        notes
    }

    fn sentence(&self) -> String {
        let [packets, fluid] = &self.queue;
        format!(
            "{} through {}: packets hold a queue of {} kB with a standard deviation of {}, the fluid model {} with {}.",
            self.subject.title(),
            self.subject.link,
            number(packets.mean),
            number(packets.deviation),
            number(fluid.mean),
            number(fluid.deviation)
        )
    }
}

fn milliseconds(time: &[f64]) -> Vec<f64> {
    time.iter().map(|time| time * 1e3).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Maximum divided by minimum.
fn spread(values: &[f64]) -> f64 {
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
    if least > 0.0 { most / least } else { f64::INFINITY }
}

/// The rows of a case, each starting with its title.
fn rows(pair: &BothEngines) -> Vec<Vec<String>> {
    pair.quantities().iter().map(Quantity::row).collect()
}

fn notes(pairs: &[BothEngines]) -> Vec<String> {
    let mut notes: Vec<String> = pairs.iter().flat_map(BothEngines::notes).collect();
    notes.sort();
    notes.dedup();
    notes
}

/// All quantities of all cases.
pub(crate) fn csv(pairs: &[BothEngines]) -> String {
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
    let mut text = "case,quantity,packets,fluid,deviation\n".to_owned();
    for pair in pairs {
        for quantity in pair.quantities() {
            let [packets, fluid] = quantity.values.map(cell);
            let (case, name) = (pair.subject.title(), quantity.name);
            let _ = writeln!(text, "\"{case}\",\"{name}\",{packets},{fluid},{}", cell(quantity.deviation()));
        }
    }
    text
}

/// Headline and tables.
pub(crate) fn terminal(pairs: &[BothEngines]) -> String {
    let table = |pair: &BothEngines| {
        let header = [&pair.subject.title(), HEADER[1], HEADER[2], HEADER[3]];
        let window = format!("Second half of {} ms.", number(pair.packets.until * 1e3));
        format!("{}\n\n{}{window}\n\n", pair.sentence(), Columns::table(&header, &rows(pair)))
    };
    let notes: String = notes(pairs).iter().map(|note| format!("{note}\n")).collect();
    pairs.iter().map(table).collect::<String>() + &notes
}

/// The page, without the scenario.
pub(crate) fn page(pairs: &[BothEngines]) -> Page {
    let each = |of: &dyn Fn(usize, &BothEngines) -> Figure| -> Vec<Figure> {
        pairs.iter().enumerate().map(|(number, pair)| of(number, pair)).collect()
    };
    let late = each(&|n, pair| {
        pair.queues(&format!("late-{n}"), "the queue in the second half", pair.packets.until / 2.0)
    });
    let whole = each(&|n, pair| pair.queues(&format!("queue-{n}"), "the queue from the start", 0.0));
    let rates = each(&|n, pair| pair.rate_figure(&format!("rates-{n}")));
    let section = |id: &str, title: &str, lead: &str, figures: Vec<Figure>| Section {
        id: id.to_owned(),
        title: title.to_owned(),
        lead: lead.to_owned(),
        figures,
    };
    let labelled = |pair: &BothEngines| {
        let title = pair.subject.title();
        rows(pair).into_iter().map(move |mut row| {
            row[0] = format!("{title}: {}", row[0]);
            row
        })
    };
    let all: Vec<Vec<String>> = pairs.iter().flat_map(labelled).collect();
    Page {
        warnings: notes(pairs),
        headline: pairs[0].sentence(),
        cards: pairs[0].quantities().iter().map(card).collect(),
        schemes: SCHEMES.map(str::to_owned).to_vec(),
        scheme_name: "model".to_owned(),
        sections: vec![
            section("answer", "The answer", "The queue at the bottleneck, in both.", [late, whole].concat()),
            section("why", "Why", "The rates of the flows, in both.", rates),
        ],
        numbers: on_page("The second half", &HEADER, &all),
        ..Page::default()
    }
}

fn card(quantity: &Quantity) -> Card {
    let [_, packets, fluid, deviation] = &quantity.row()[..] else { return Card::default() };
    Card {
        label: quantity.name.to_owned(),
        value: packets.clone(),
        note: format!("fluid {fluid}, deviation {deviation}"),
        ..Card::default()
    }
}
