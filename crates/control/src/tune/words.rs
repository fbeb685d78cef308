//! The result of tuning as text: the sentence, its reasons or what would help, the tables, the settings to copy, the
//! page.

use std::fmt::Write;

use weft_draw::Columns;
use weft_draw::figure::{Axis, Series};
use weft_draw::text::number;
use weft_fluid::linear::{Characteristic, dcqcn, smallest_margin};
use weft_fluid::model::dcqcn::Bottleneck;
use weft_fluid::model::marking::{Marking, Ramp};
use weft_report::page::{Page, Repeat, Section};

use super::trial::{self, ENOUGH, Trial};
use super::{Candidate, HYPER, ROOM, Tuning, settings, worst, worst_departing};
use crate::convert::Unit;
use crate::figures::{line, lines, rounded};
use crate::notes::of_margins;
use crate::range;
use crate::subject::plural;
use crate::table::on_page;

const HEADER: [&str; 8] =
    ["step", "timer us", "Kmax kB", "Pmax %", "queue kB", "margin deg", "fair ms", "start ms"];

impl Tuning {
    pub(super) fn unit(&self) -> Unit {
        self.subject.unit
    }

    fn kb(&self, packets: f64) -> String {
        number(self.unit().bytes(packets) / 1e3)
    }

    fn row(&self, one: &Candidate) -> Vec<String> {
        vec![
            range::rate(self.unit().bits(one.law.step)),
            number(one.law.increase_timer * 1e6),
            format!("{}{}", self.kb(one.ramp.high), if one.fits { "" } else { " *" }),
            number(one.ramp.top * 100.0),
            format!("{}..{}", self.kb(one.queues.0), self.kb(one.queues.1)),
            format!("{} at {}", number(one.worst.0), one.worst.1),
            number(one.convergence * 1e3),
            format!("{}{}", number(one.recovery * 1e3), if one.in_time { "" } else { " *" }),
        ]
    }

    /// The best candidates, answers first.
    fn rows(&self) -> Vec<Vec<String>> {
        self.candidates.iter().take(8).map(|one| self.row(one)).collect()
    }

    /// The rows of packets.
    fn trial_rows(&self) -> Vec<Vec<String>> {
        self.trials.iter().map(Trial::row).collect()
    }

    /// The bottleneck with the settings of a candidate, which marks at departure.
    fn tuned(&self, one: &Candidate) -> Bottleneck {
        let marking = Marking::Ramp(one.ramp);
        Bottleneck { law: one.law, marking, marks_at_arrival: false, ..self.base }
    }

    fn sentence(&self) -> String {
        let (from, to, margin) = self.wanted;
        let Some(best) = self.best.map(|n| &self.candidates[n]) else {
            return format!(
                "No setting keeps {margin} degrees for {from} to {to} flows with a ramp that ends within {} kB and a start that \
                 is over within {} ms{}.",
                self.kb(self.allowed.0),
                number(self.allowed.1 * 1e3),
                if self.trials.is_empty() { "" } else { " with packets" }
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

    /// What would help where there is no answer.
    fn help(&self) -> Vec<String> {
        if let Some(worst) = self.trials.iter().min_by(|a, b| a.share.total_cmp(&b.share)) {
            return vec![format!(
                "The model has answers, but packets of {} flows reach {} % of the link {} ms after their start; {} % are \
                 wanted. Allow a longer `--recovery`, or start flows below line rate (`initial_rates`).",
                worst.flows,
                number(100.0 * worst.share),
                number(self.allowed.1 * 1e3),
                number(100.0 * ENOUGH)
            )];
        }
        let Marking::Ramp(Ramp { low: least, .. }) = self.base.marking else { return Vec::new() };
        if self.allowed.0 <= least {
            return vec![format!(
                "The queue is the limit: {} kB are allowed, and marks begin only at {} kB (Kmin). Allow a longer one (`--queue`), or \
                 lower `switch.ecn.red.min`.",
                self.kb(self.allowed.0),
                self.kb(least)
            )];
        }
        let shortest = self.candidates.iter().filter(|one| one.in_time);
        let shortest = shortest.min_by(|a, b| a.ramp.high.total_cmp(&b.ramp.high));
        let queue = shortest.map(|one| format!("allow a queue of {} kB (`--queue`)", self.kb(one.ramp.high)));
        let fastest = self.candidates.iter().filter(|one| one.fits);
        let fastest = fastest.min_by(|a, b| a.recovery.total_cmp(&b.recovery));
        let time = fastest.map(|one| format!("{} ms to recover (`--recovery`)", number(one.recovery * 1e3)));
        let ways: Vec<String> = queue.into_iter().chain(time).collect();
        if ways.is_empty() {
            return vec![self.limit()];
        }
        vec![
            format!("What would help: {}.", ways.join(", or ")),
            "Fewer flows or a smaller margin help as well; `pi` marks at one queue for any number of flows."
                .to_owned(),
        ]
    }

    /// The obstacle where no candidate is within one of the two limits.
    fn limit(&self) -> String {
        let nearest = self.candidates.iter().min_by(|a, b| a.ramp.high.total_cmp(&b.ramp.high));
        nearest.map_or_else(
            || "The delay is the limit: accept a smaller margin, or fewer flows.".to_owned(),
            |one| {
                format!(
                    "Queue and recovery are both too short: {} kB (`--queue`) and {} ms (`--recovery`) would do together.",
                    self.kb(one.ramp.high),
                    number(one.recovery * 1e3)
                )
            },
        )
    }

    /// All steps and timers tried, best first.
    pub(crate) fn csv(&self) -> String {
        let mut text = "step_Mbps,timer_us,Kmin_kB,Kmax_kB,Pmax,queue_fewest_kB,queue_most_kB,margin_deg,margin_flows,fair_ms,\
                        recovery_ms\n"
            .to_owned();
        let kb = |packets: f64| self.unit().bytes(packets) / 1e3;
        for one in &self.candidates {
            let _ = writeln!(
                text,
                "{:.6},{:.3},{:.6},{:.6},{:.6e},{:.6},{:.6},{:.4},{},{:.6},{:.6}",
                self.unit().bits(one.law.step) / 1e6,
                one.law.increase_timer * 1e6,
                kb(one.ramp.low),
                kb(one.ramp.high),
                one.ramp.top,
                kb(one.queues.0),
                kb(one.queues.1),
                one.worst.0,
                one.worst.1,
                one.convergence * 1e3,
                one.recovery * 1e3
            );
        }
        text
    }

    /// The result of packets, and the effect of hyper increase on it.
    fn trial_words(&self) -> Option<String> {
        let least = |hyper: &str| {
            let of = self.trials.iter().filter(|one| one.hyper == hyper).map(|one| 100.0 * one.share);
            of.min_by(f64::total_cmp).map(number)
        };
        let (without, with) = (least(HYPER[0])?, least(HYPER[1])?);
        Some(format!(
            "With packets, from {} ms after a start at line rate on, at least {without} % of the link is used without hyper \
             increase{}; the model has none.",
            number(self.allowed.1 * 1e3),
            if without == with {
                ", and as much with it".to_owned()
            } else {
                format!(" and {with} % with it")
            }
        ))
    }

    /// Why this one was chosen, and what prevents a better one.
    fn reasons(&self) -> Vec<String> {
        let (from, to, margin) = self.wanted;
        let Some(best) = self.best.map(|n| &self.candidates[n]) else { return self.help() };
        let slope = best.ramp.slope() / self.unit().bytes(1.0) * 1e5;
        let now = worst(&self.base, (from, to)).map_or("-".to_owned(), |(now, flows)| {
            let enough = if now >= margin { ", which already is enough" } else { "" };
            format!("{} degrees with {}{enough}", number(now), plural(flows.into()))
        });
        let mut reasons = vec![
            format!("Now the worst margin is {now}."),
            format!(
                "The margin depends on the slope, here {} % per 100 kB; it is worst with {}. A steeper ramp falls \
                 below {margin} degrees.",
                number(slope * 100.0),
                plural(best.worst.1.into())
            ),
            format!(
                "Pmax is {ROOM} times what {} need; with less, their queue would exceed Kmax, where everything is \
                 marked.",
                plural(to.into())
            ),
            format!(
                "The queue settles at {} kB with {} and at {} kB with {to}.",
                self.kb(best.queues.0),
                plural(from.into()),
                self.kb(best.queues.1)
            ),
        ];
        let at = Bottleneck { flows: f64::from(best.worst.1), ..self.tuned(best) };
        if let Some(longest) =
            dcqcn::Exact::new(&at).filter(|of| of.unstable_roots() == 0).and_then(|of| of.longest_delay())
        {
            reasons.push(format!(
                "It would oscillate with {} us of delay and {}.",
                number(longest * 1e6),
                plural(best.worst.1.into())
            ));
        }
        reasons.push(format!(
            "After a start at line rate it takes {} about {} ms to fill the link by additive increases.",
            plural(from.into()),
            number(best.recovery * 1e3)
        ));
        let tuned = self.tuned(best);
        if let Some((least, flows)) = worst_departing(&tuned, (from, to)) {
            reasons.push(format!(
                "With marks drawn at departures and the memory of fast recovery the margin is {} degrees with {} \
                 (`weft fluid margin`).",
                number(least),
                plural(flows.into())
            ));
        }
        reasons.extend(self.trial_words());
        if best.law.step < self.base.law.step || best.law.increase_timer > self.base.law.increase_timer {
            let text = "Increases are slower than the scenario's, because with those no ramp within the allowed queue keeps \
                        the margin; the cost is a longer time until flows are equal.";
            reasons.push(text.to_owned());
        }
        reasons
    }

    /// Settings to copy.
    fn settings(&self) -> String {
        let Some(best) = self.best.map(|n| &self.candidates[n]) else { return String::new() };
        let hyper = (!self.trials.is_empty()).then_some(self.hyper);
        let mut text = String::new();
        let mut section = String::new();
        for setting in settings(self.unit(), best, hyper) {
            let Some((path, value)) = setting.split_once('=') else { continue };
            let Some((table, key)) = path.rsplit_once('.') else { continue };
            if table != section {
                let _ = writeln!(text, "{}[{table}]", if text.is_empty() { "" } else { "\n" });
                section = table.to_owned();
            }
            let bare = value.parse::<f64>().is_ok();
            let _ =
                writeln!(text, "{key} = {}", if bare { value.to_owned() } else { format!("\"{value}\"") });
        }
        text
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
        for reason in self.reasons().into_iter().chain(of_margins(std::iter::once(&self.subject))) {
            let _ = writeln!(text, "{reason}");
        }
        let rows = self.rows();
        let starred = rows.iter().flatten().any(|cell| cell.ends_with('*'));
        let legend = if starred { "* more than allowed\n" } else { "" };
        let _ = writeln!(text, "\n{}{legend}", Columns::table(&HEADER, &rows));
        if !self.trials.is_empty() {
            let legend = format!("* less than {} %\n", number(100.0 * ENOUGH));
            let rows = self.trial_rows();
            let short = rows.iter().flatten().any(|cell| cell.ends_with('*'));
            let legend = if short { legend } else { String::new() };
            let _ = writeln!(text, "{}{legend}", Columns::table(&trial::HEADER, &rows));
        }
        text + &self.settings()
    }

    fn curve(&self, name: &str, scheme: usize, of: &Bottleneck) -> Series {
        let flows: Vec<u32> =
            (self.wanted.0..=self.wanted.1).step_by((self.wanted.1 / 150).max(1) as usize).collect();
        let margin = |flows: &u32| {
            let exact = dcqcn::Exact::new(&Bottleneck { flows: f64::from(*flows), ..*of })?;
            Some(rounded(smallest_margin(&exact)))
        };
        Series {
            name: name.to_owned(),
            scheme: Some(scheme),
            x: flows.iter().copied().map(f64::from).collect(),
            y: flows.iter().map(margin).collect(),
            ..Series::default()
        }
    }

    fn warnings(&self) -> Vec<String> {
        let reasons = if self.best.is_none() { self.reasons() } else { Vec::new() };
        reasons.into_iter().chain(of_margins(std::iter::once(&self.subject))).collect()
    }

    /// The page, without the scenario.
    pub(crate) fn page(&self) -> Page {
        let mut curves = vec![self.curve("as it is", 0, &self.base)];
        if let Some(best) = self.best.map(|n| &self.candidates[n]) {
            curves.push(self.curve("tuned", 1, &self.tuned(best)));
        }
        let schemes = curves.iter().map(|curve| curve.name.clone()).collect();
        curves.retain(|curve| curve.y.iter().any(Option::is_some));
        let wanted = line("wanted", None, &[self.wanted.0.into(), self.wanted.1.into()], &[self.wanted.2; 2]);
        curves.push(Series { reference: true, ..wanted });
        let caption = "Exact linearisation; below zero the loop oscillates.";
        let axes = (Axis::linear("flows", ""), Axis::linear("phase margin", "deg"));
        Page {
            headline: self.sentence(),
            warnings: self.warnings(),
            schemes,
            scheme_name: "settings".to_owned(),
            sections: vec![Section {
                id: "answer".to_owned(),
                title: "The answer".to_owned(),
                lead: self.reasons().join(" "),
                figures: vec![lines("margin", "Margin by number of flows", axes, curves, caption)],
            }],
            numbers: on_page(
                "The best of the steps and timers tried, which are all in tried.csv; * more than allowed",
                &HEADER,
                &self.rows(),
            ),
            repeat: Repeat { facts: self.facts(), ..Repeat::default() },
            ..Page::default()
        }
    }
}
