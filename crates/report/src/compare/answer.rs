//! The answer to a comparison in one sentence: how the metric that decides differs between the sides.

use super::{ComparedMetric, Comparison};
use crate::contrast::{MetricOrder, interval_words};
use crate::headline::given_up;
use crate::job_words::JOB_TIME;
use crate::statistics::Estimate;
use crate::sweep::MEAN_WITH_OPEN;
use crate::text::{capitalised, number, percent};

const MEAN: &str = "fct.mean";
const GOODPUT: &str = "goodput";

impl Comparison {
    /// Whether a row has the metric by which its case is judged: the time of jobs, the mean completion time (with the flows that
    /// did not finish, if there are any), or goodput where no flow finishes.
    pub(super) fn judges(&self, row: &ComparedMetric) -> bool {
        let has =
            |metric: &str| self.rows.iter().any(|other| other.case == row.case && other.metric == metric);
        let finishes = has(MEAN);
        let own = match () {
            () if has(JOB_TIME) => JOB_TIME,
            () if finishes && has(MEAN_WITH_OPEN) => MEAN_WITH_OPEN,
            () if finishes => MEAN,
            () => GOODPUT,
        };
        row.metric == own
    }

    /// The answer, and what is not compared because a side gives flows up.
    pub(super) fn sentence(&self) -> String {
        let given_up = given_up::of_sweep(&self.sweep, self.sweep.points() - 1);
        match self.judged().as_slice() {
            [] if !given_up.is_empty() => given_up.trim_start().to_owned(),
            known => self.of_ratios(known) + &given_up,
        }
    }

    /// The ratios of the metrics by which cases are judged.
    fn judged(&self) -> Vec<(&str, Estimate)> {
        let judging = self.rows.iter().filter(|row| self.judges(row));
        judging.filter_map(|row| Some((row.metric.as_str(), row.ratio?))).collect()
    }

    fn of_ratios(&self, known: &[(&str, Estimate)]) -> String {
        let [a, b] = &self.names;
        let metric = known.first().map_or(MEAN, |(metric, _)| *metric);
        let known: Vec<Estimate> = known.iter().map(|(_, ratio)| *ratio).collect();
        match known.as_slice() {
            [] if self.rows.iter().all(|row| row.ratio.is_none()) => {
                format!("{a} and {b} have no case and seed in common: nothing to compare.")
            }
            [] => {
                format!("{} of {b} and {a} has no ratio: one side has no value.", capitalised(name(metric)))
            }
            _ if self.is_of_equals() && known.len() == 1 => {
                format!("{a} and {b} are equal in every metric below.")
            }
            all if self.is_of_equals() => {
                format!("{a} and {b} are equal in every metric of all {} cases.", all.len())
            }
            [ratio] => of_one(ratio, metric, [a, b]),
            all => of_several(all, metric, [a, b]),
        }
    }

    /// Whether no metric differs in any case.
    fn is_of_equals(&self) -> bool {
        self.rows.iter().all(|row| row.a == row.b)
    }
}

/// A metric in a sentence.
fn name(metric: &str) -> &'static str {
    match metric {
        JOB_TIME => "the time of the jobs",
        MEAN_WITH_OPEN => "mean FCT (flows that did not finish at their age)",
        GOODPUT => "goodput",
        _ => "mean FCT",
    }
}

fn of_one(ratio: &Estimate, metric: &str, [a, b]: [&str; 2]) -> String {
    let words = match MetricOrder::of(ratio) {
        MetricOrder::Less | MetricOrder::Greater => "",
        MetricOrder::Unclear => ": no significant difference",
        MetricOrder::OneSeed => ": one seed cannot separate them",
        MetricOrder::Equal => {
            return format!("{a} and {b} have the same {}.", name(metric).trim_start_matches("the "));
        }
    };
    format!(
        "{} of {b} is {} ({}){words}.",
        capitalised(name(metric)),
        times_words(ratio, a),
        interval_words(ratio)
    )
}

/// Every case is judged by itself: no case is picked out.
fn of_several(all: &[Estimate], metric: &str, [a, b]: [&str; 2]) -> String {
    let logs = all.iter().map(|ratio| ratio.mean.ln()).sum::<f64>() / all.len() as f64;
    let many = |wanted: MetricOrder| all.iter().filter(|ratio| MetricOrder::of(ratio) == wanted).count();
    let counts = [
        ("significantly lower", MetricOrder::Less),
        ("significantly higher", MetricOrder::Greater),
        ("no significant difference", MetricOrder::Unclear),
        ("one seed only", MetricOrder::OneSeed),
        ("equal", MetricOrder::Equal),
    ];
    let counts = counts.map(|(words, order)| (words, many(order))).into_iter().filter(|(_, many)| *many > 0);
    let counts: Vec<String> = counts.map(|(words, many)| format!("{words} in {many}")).collect();
    let (cases, mean) = (all.len(), number(logs.exp()));
    format!(
        "Over {cases} cases, {} of {b} is {mean}× that of {a} (geometric mean); each by itself: {}.",
        name(metric),
        counts.join(", ")
    )
}

/// `0.5× that of old`; for ratios close to 1, in per cent: `0.193 % higher than that of old`.
fn times_words(ratio: &Estimate, than: &str) -> String {
    let clear = matches!(MetricOrder::of(ratio), MetricOrder::Less | MetricOrder::Greater);
    match ratio.mean - 1.0 {
        small if clear && small.abs() < 0.005 => {
            let word = if small < 0.0 { "lower" } else { "higher" };
            format!("{} {word} than that of {than}", percent(small.abs()))
        }
        _ => format!("{}× that of {than}", number(ratio.mean)),
    }
}
