//! Builds a page from a run or a sweep: the plots, their order and their headings.

use super::incidents;
use super::parts::{cards_of_run, cards_of_sweep, case_runs, numbers, repeat, slow_table};
use super::{NetworkView, Page, Section, SlowTable, TextTable, Views};
use crate::by_traffic::{self, TrafficTable};
use crate::contrast::Duel;
use crate::figure::{Figure, FigureKind};
use crate::figures::measure::{IdealTime, Measure, measure, speed_up};
use crate::figures::{
    Samples, course, deadlines, distribution, pauses, run as single, slowest, why, windows,
};
use crate::headline::endless::endless;
use crate::headline::{Headline, tail_metric, tail_name};
use crate::listing::ExpectationVerdict;
use crate::sweep::{MEAN_WITH_OPEN, Run, Sweep};

/// The results of each traffic entry; `None` unless there are several.
fn traffic(sweep: &Sweep) -> Option<TextTable> {
    let TrafficTable { header, rows } = by_traffic::table(sweep, 0)?;
    Some(TextTable { title: "By traffic entry: means over seeds".to_owned(), header, rows, is_prose: false })
}

fn section(id: &str, title: &str, lead: &str, mut figures: Vec<Figure>) -> Section {
    figures.retain(tells_something);
    Section { id: id.to_owned(), title: title.to_owned(), lead: lead.to_owned(), figures }
}

/// A plot of a single bar or point, of zeros alone, or of a speedup that is 1 everywhere shows nothing that a sentence would not.
fn tells_something(figure: &Figure) -> bool {
    let values: Vec<f64> = figure.series.iter().flat_map(|one| one.y.iter().flatten().copied()).collect();
    let alike = figure.id == "speed-up" && values.iter().all(|ratio| (ratio - 1.0).abs() < 0.005);
    let bars = matches!(figure.kind, FigureKind::Bars | FigureKind::Dots);
    let single = if bars { figure.rows.len() < 2 && figure.series.len() < 2 } else { values.len() < 2 };
    !(alike || single || values.iter().all(|value| *value == 0.0))
}

/// The page of one run.
#[must_use]
pub fn of_run(run: &Run, verdicts: &[ExpectationVerdict]) -> Page {
    let sweep = Sweep::new(vec![run.clone()]);
    let headline = Headline::of_run(run, verdicts);
    let answer = [single::slowdown(run), distribution::tail(&sweep, 0), deadlines::deadlines(run)];
    let heat = run.detail.heat.as_ref();
    let queues = [heat.map(single::heat), heat.and_then(|heat| single::spread(run, heat))];
    let why = single::waiting(run).into_iter().chain(single::drops(run)).chain(slowest::slowest(run));
    let why = why.chain(queues.into_iter().flatten());
    let windows = run.detail.windows.as_ref().map(windows::windows);
    let why = why.chain(single::reordering(run)).chain(windows);
    let pauses = pauses::pauses(run);
    let paused = (!pauses.is_empty())
        .then(|| section("pauses", "Pauses", "Which flows were held up, and where it began.", pauses));
    Page {
        name: run.manifest.title(),
        about: run.manifest.about.clone(),
        warnings: headline.warnings,
        headline: headline.sentence,
        cards: cards_of_run(run),
        schemes: sweep.schemes.clone(),
        networks: vec![NetworkView { scheme: 0, view: 0, network: run.detail.network.clone() }],
        quiver: run.quiver.clone(),
        jobs: run.detail.jobs.clone(),
        open_tasks: run.summary.unfinished_tasks.clone(),
        sections: [
            section("answer", "The answer", "How long flows take.", answer.into_iter().flatten().collect()),
            section(
                "why",
                "Why",
                "Where packets wait, where they are dropped, and how much they are reordered.",
                why.collect(),
            ),
        ]
        .into_iter()
        .chain(over_time(course::course(run)))
        .chain(paused)
        .collect(),
        slow: slow_table(run),
        traffic: traffic(&sweep),
        incidents: incidents::table(&run.summary),
        numbers: numbers(&sweep),
        repeat: repeat(&sweep, verdicts),
        ..Page::default()
    }
}

/// The run over time; empty without a time series.
fn over_time(figures: Vec<Figure>) -> Option<Section> {
    let lead =
        "Throughput, loads, queues, drops and marks over time, with failures, repairs and pause storms.";
    (!figures.is_empty()).then(|| section("time", "Over time", lead, figures))
}

/// The page of a sweep.
#[must_use]
pub fn of_sweep(sweep: &Sweep, verdicts: &[ExpectationVerdict]) -> Page {
    if let [run] = sweep.runs.as_slice() {
        return of_run(run, verdicts);
    }
    let headline = Headline::of_sweep(sweep, verdicts);
    let last = sweep.points() - 1;
    let best = Duel::at(sweep, last).map(|duel| duel.best);
    let lead = match endless(&sweep.runs) {
        true => "How much flows get under each scheme.",
        false => "How long flows take under each scheme.",
    };
    Page {
        name: sweep.runs[0].manifest.name.clone(),
        about: sweep.runs[0].manifest.about.clone(),
        warnings: headline.warnings,
        headline: headline.sentence,
        cards: cards_of_sweep(sweep),
        schemes: sweep.schemes.clone(),
        scheme_name: sweep.scheme_name.clone(),
        side: None,
        pair: std::iter::once(0).chain(best).collect(),
        views: views(sweep),
        networks: networks(sweep),
        quiver: String::new(),
        jobs: Vec::new(),
        open_tasks: Vec::new(),
        sections: vec![
            section("answer", "The answer", lead, answer(sweep)),
            section(
                "why",
                "Why",
                "Where packets wait, where they are dropped, and how much they are reordered.",
                reasons(sweep),
            ),
        ]
        .into_iter()
        .chain(over_time((0..sweep.points()).flat_map(|at| course::courses(sweep, at)).collect()))
        .collect(),
        runs: case_runs(sweep),
        slow: SlowTable::default(),
        traffic: traffic(sweep),
        incidents: None,
        numbers: numbers(sweep),
        repeat: repeat(sweep, verdicts),
    }
}

fn views(sweep: &Sweep) -> Views {
    let Some(axis) = &sweep.axis else {
        return Views::default();
    };
    let labels: Vec<String> = (0..axis.values.len()).map(|at| axis.label(at)).collect();
    Views { name: axis.name.clone(), selected: labels.len() - 1, labels }
}

/// The first seed's network of every case.
fn networks(sweep: &Sweep) -> Vec<NetworkView> {
    let cases =
        (0..sweep.points()).flat_map(|view| (0..sweep.schemes.len()).map(move |scheme| (scheme, view)));
    let drawn = |(scheme, view)| {
        let network = sweep.case(scheme, view).first()?.detail.network.clone();
        Some(NetworkView { scheme, view, network })
    };
    cases.filter_map(drawn).collect()
}

fn answer(sweep: &Sweep) -> Vec<Figure> {
    if endless(&sweep.runs) {
        return measure(sweep, &GOODPUT).into_iter().collect();
    }
    let tail = tail_metric(&sweep.runs);
    let mean = Measure {
        id: "mean",
        metric: "fct.mean",
        name: "Mean FCT",
        caption: "Mean completion time of measured, finished flows.",
        share: false,
        samples: Samples::Finished,
        ideals: OF_MEANS,
    };
    let ranked = match sweep.mean_metric() {
        metric @ MEAN_WITH_OPEN => Measure {
            metric,
            name: "Mean FCT with open flows",
            caption: "Mean completion time of measured flows; those that did not finish count with their age at the end, those given up \
                      with their deadline.",
            samples: Samples::Started,
            ideals: [None; 5],
            ..mean
        },
        _ => mean,
    };
    let tail = Measure {
        id: "percentile",
        metric: tail,
        ideals: alone(tail),
        name: tail_name(&sweep.runs),
        caption: "Nearest rank over a run's measured, finished flows.",
        ..mean
    };
    let (metric, name, caption) = of_small(sweep);
    let small = Measure {
        id: "small",
        metric,
        name,
        caption,
        samples: Samples::Small,
        ideals: alone(metric),
        ..mean
    };
    let small_mean = Measure {
        id: "small-mean",
        metric: "fct.small.mean",
        name: "Mean FCT of flows up to 100 kB",
        caption: "Mean completion time of measured, finished flows of at most 100 kB.",
        samples: Samples::Small,
        ideals: [mean_bound("ideal.bound.small"), None, None, None, None],
        ..mean
    };
    let met = Measure {
        id: "deadlines",
        metric: "deadline.met",
        name: "Deadlines met",
        caption: "Fraction of measured flows with a deadline that finished in time; unfinished flows missed theirs.",
        share: true,
        samples: Samples::Dated,
        ideals: [None; 5],
    };
    let job = Measure {
        id: "job",
        metric: "job.seconds",
        name: "Time of the job",
        caption: "From the submission of the first job to the end of the last. Runs that ended before are in no mean.",
        share: false,
        samples: Samples::Runs,
        ideals: [None; 5],
    };
    let against = [
        measure(sweep, &job),
        measure(sweep, &ranked),
        speed_up(sweep),
        measure(sweep, &tail),
        measure(sweep, &small),
        measure(sweep, &small_mean),
        measure(sweep, &met),
    ];
    let places = (0..sweep.points()).flat_map(|at| {
        let fates = deadlines::by_scheme(sweep, at);
        [fates, distribution::tail(sweep, at), distribution::slowdown_by_size(sweep, at)]
    });
    against.into_iter().chain(places).flatten().collect()
}

/// A schedule that is not a bound.
const fn order(metric: &'static str, name: &'static str) -> Option<IdealTime> {
    Some(IdealTime { metric, name, bound: None })
}

/// The references for means.
const OF_MEANS: [Option<IdealTime>; 5] = [
    mean_bound("ideal.bound"),
    order("ideal.sjf", "SJF"),
    order("ideal.las", "LAS"),
    order("ideal.ps", "PS"),
    order("ideal.big_switch", "big switch"),
];

const fn mean_bound(metric: &'static str) -> Option<IdealTime> {
    let why = "no schedule of these flows has a lower mean: it is the greater of shortest remaining first (SRPT) at the links of hosts, \
               without headers and delays, and each flow alone in the empty network";
    Some(IdealTime { metric, name: "lower bound", bound: Some(why) })
}

/// The percentile of the flows alone that bounds a percentile of their completion times. Schedules have none, because
/// their mean bounds no percentile.
fn alone(metric: &str) -> [Option<IdealTime>; 5] {
    let known = [
        ("fct.p99_99", "alone.p99_99"),
        ("fct.p99_9", "alone.p99_9"),
        ("fct.p99", "alone.p99"),
        ("fct.p95", "alone.p95"),
        ("fct.p50", "alone.p50"),
        ("fct.small.p99", "alone.small.p99"),
        ("fct.small.p95", "alone.small.p95"),
        ("fct.small.p50", "alone.small.p50"),
    ];
    let metric = known.iter().find(|(of, _)| *of == metric).map(|(_, alone)| *alone);
    let why = "the percentile of the same flows, each alone in the empty network";
    let bound = metric.map(|metric| IdealTime { metric, name: "lower bound (alone)", bound: Some(why) });
    [bound, None, None, None, None]
}

/// Metric, name and caption of the furthest percentile of small flows that has 100 of them beyond it in every run.
fn of_small(sweep: &Sweep) -> (&'static str, &'static str, &'static str) {
    let certain = |name: &str| {
        let of = |run: &Run| {
            let small = &run.summary.fct_us.small;
            small.count >= 100 && !small.few_samples_beyond.iter().any(|few| few == name)
        };
        sweep.runs.iter().all(of)
    };
    if certain("p99") {
        let caption = "99th percentile over measured, finished flows of at most 100 kB.";
        ("fct.small.p99", "p99 FCT of flows up to 100 kB", caption)
    } else if certain("p95") {
        let caption = "95th percentile over measured, finished flows of at most 100 kB; fewer than 100 lie beyond the 99th.";
        ("fct.small.p95", "p95 FCT of flows up to 100 kB", caption)
    } else {
        let caption = "Median over measured, finished flows of at most 100 kB; too few flows for a tail.";
        ("fct.small.p50", "Median FCT of flows up to 100 kB", caption)
    }
}

/// Metrics that explain completion times, and are the answer if no flow finishes.
const GOODPUT: Measure = Measure {
    id: "goodput",
    metric: "goodput",
    name: "Goodput",
    caption: "Payload of measured flows delivered after the warm-up while flows arrive; over the whole run \
              where they start together.",
    share: false,
    samples: Samples::Started,
    ideals: [None; 5],
};

/// The metrics that explain the answer.
const EXPLAINING: [Measure; 8] = [
    Measure {
        id: "imbalance",
        metric: "imbalance.hop1",
        name: "Spread of parallel queues",
        caption: "Population standard deviation of the queue lengths of parallel ports of the first switch, averaged \
                  over samples and switches.",
        share: false,
        samples: Samples::Runs,
        ideals: [None; 5],
    },
    Measure {
        id: "dupacks",
        metric: "reordering.flows_with_dupacks",
        name: "Flows with duplicate ACKs",
        caption: "Fraction of measured, finished flows with at least one duplicate acknowledgement, whatever the cause.",
        share: true,
        samples: Samples::Finished,
        ideals: [None; 5],
    },
    Measure {
        id: "over-3",
        metric: "reordering.over_3",
        name: "Flows with more than 3 duplicate ACKs",
        caption: "Fraction of measured, finished flows with more than three duplicate acknowledgements, where a sender with the usual \
                  threshold retransmits.",
        share: true,
        samples: Samples::Finished,
        ideals: [None; 5],
    },
    Measure {
        id: "lost",
        metric: "drops.share",
        name: "Drop rate",
        caption: "Packets dropped at any hop, divided by link traversals.",
        share: true,
        samples: Samples::Runs,
        ideals: [None; 5],
    },
    Measure {
        id: "timed-out",
        metric: "flows.timed_out",
        name: "Flows with time-outs",
        caption: "Measured flows of a run that waited for the retransmission timer at least once, for the opening packet or for data.",
        share: false,
        samples: Samples::Started,
        ideals: [None; 5],
    },
    Measure {
        id: "marks",
        metric: "marks",
        name: "Packets with ECN marks",
        caption: "Packets marked by switches in a run.",
        share: false,
        samples: Samples::Runs,
        ideals: [None; 5],
    },
    Measure {
        id: "victims",
        metric: "pause.victims",
        name: "Victims of pauses",
        caption: "Measured flows held up by pauses they had no part in causing.",
        share: false,
        samples: Samples::Started,
        ideals: [None; 5],
    },
    GOODPUT,
];

fn reasons(sweep: &Sweep) -> Vec<Figure> {
    let places =
        (0..sweep.points()).flat_map(|at| [why::queueing(sweep, at), why::drops(sweep, at)]).flatten();
    let happened =
        |of: &&Measure| sweep.runs.iter().any(|run| run.summary.metric(of.metric).unwrap_or(0.0) > 0.0);
    let is_answer = |of: &&Measure| of.id == GOODPUT.id && endless(&sweep.runs);
    let reasons = EXPLAINING.iter().filter(happened).filter(|of| !is_answer(of));
    let against = reasons.filter_map(|of| measure(sweep, of));
    places.chain(against).collect()
}
