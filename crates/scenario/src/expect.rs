//! `[[expect]]`: requirements on the results. Read and resolved against the cases of the sweep here; the caller
//! provides the measured values as a function.
//!
//! Must not depend on records or statistics, only on metric names.

mod limits;
mod quantity;
mod question;
mod resolve;

use std::collections::BTreeMap;
use weft_codec::{decode, join};
use weft_core::settings;
use weft_core::settings::{Setting as _, Table};
use weft_expression::{Expression, Term, Use, Values};
use weft_mistake::Mistake;
use weft_mistake::SourceSpan;
use weft_mistake::node::{Content, Toml, TomlEntry};

pub(crate) use question::Question;
pub(crate) use resolve::{Swept, resolve, unknown_metric};

settings! {
    /// A claim about the results, checked after the run. `where`, a table of paths and values, selects cases of the
    /// sweep; axes left open mean "in every case".
    pub struct ExpectSettings {
        /// What is measured: metrics of cases, numbers, `+ - * /`, parentheses, `min(..)` and `max(..)`, for example
        /// "fct.mean(ecmp) / fct.mean(drill)"; a word in parentheses selects the case with this value.
        value: Option<String> = None,
        /// The expected number, with `within`. Limits are numbers in the unit of the metric, or texts with a unit: "10 ms".
        about: Option<f64> = None,
        /// Tolerance: "15 %", or "x2" for a factor of two either way.
        within: Option<String> = None,
        /// The measured number must be less than this.
        below: Option<f64> = None,
        /// The measured number must be greater than this.
        above: Option<f64> = None,
        /// Also judged in the reduced form (`--demo`), which is too short for most expectations.
        reduced: bool = false,
    }
}

/// The section's declaration, for schema and reference.
pub(crate) const TABLE: &Table = &ExpectSettings::TABLE;
/// The key that selects cases.
pub(crate) const WHERE_KEY: &str = "where";
/// The earlier name of `value` for a quotient.
const RATIO: &str = "ratio";
/// Keys reserved for a later version.
const LATER: &[&str] = &["table", "check"];

/// The known metrics. They belong to the report, on which this crate must not depend.
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    /// Whether a path names a metric.
    pub known: fn(&str) -> bool,
    /// The metric that a misspelt path probably means.
    pub nearest: fn(&str) -> Option<String>,
    /// The unit of a metric; empty for counts, shares and ratios.
    pub unit: fn(&str) -> &'static str,
}

impl Metrics {
    /// Accepts every name: for tools and tests that do not measure.
    pub const ANY: Metrics = Metrics { known: |_| true, nearest: |_| None, unit: |_| "" };
}

/// Minimum and maximum number of digits after the point of a measured number.
const FEWEST_DIGITS: usize = 3;
const MOST_DIGITS: usize = 9;

/// Limits of a measured number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// At least this, by `about` and `within`.
    pub low: f64,
    /// At most this, by `about` and `within`.
    pub high: f64,
    /// More than this.
    pub above: f64,
    /// Less than this.
    pub below: f64,
}

impl Bound {
    /// Whether a measured number lies inside.
    #[must_use]
    pub fn holds(&self, x: f64) -> bool {
        self.low <= x && x <= self.high && self.above < x && x < self.below
    }

    /// Number of digits after the point that a number needs for its text to lie on the same side of the limits.
    fn digits(&self, x: f64) -> usize {
        let told = |digits: &usize| {
            let text = format!("{x:.digits$}");
            text.parse().is_ok_and(|shown| self.holds(shown) == self.holds(x))
        };
        (FEWEST_DIGITS..MOST_DIGITS).find(told).unwrap_or(MOST_DIGITS)
    }

    /// `1.3 to 2.2`, `less than 0.01`.
    #[must_use]
    pub fn words(&self) -> String {
        let (low, high) = (self.low.max(self.above), self.high.min(self.below));
        match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("{} to {}", short(low), short(high)),
            (true, false) => format!("more than {}", short(low)),
            _ => format!("less than {}", short(high)),
        }
    }
}

/// Six digits, without trailing zeros.
fn short(x: f64) -> String {
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A metric of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The metric's path in `summary.json`.
    pub metric: String,
    /// Index of the case in [`Scenario::cases`](crate::Scenario::cases).
    pub case: usize,
}

/// One comparison that must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is measured, in words: `fct.mean(ecmp) / fct.mean(drill) at traffic.trace.load = 0.8`.
    pub text: String,
    /// The expression that is computed.
    pub expression: Expression,
    /// The case and metric of each of its terms.
    pub measured: Vec<(Term, Measurement)>,
    /// Where it must lie.
    pub bound: Bound,
    /// The unit of both; may be empty.
    pub unit: &'static str,
    /// Whether the reduced form is also judged by it.
    pub reduced: bool,
    /// The line of its `[[expect]]` in the scenario file.
    pub line: usize,
}

/// The verdict on a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimVerdict {
    /// The measurement, in words.
    pub text: String,
    /// The value from the means over the seeds (so a quotient is mean over mean); `None` if a metric has no value.
    pub measured: Option<f64>,
    /// The value for every seed separately.
    pub per_seed: Vec<f64>,
    /// The unit of these values; may be empty.
    pub unit: &'static str,
    /// The metrics have values, but the expression has none: a division by zero.
    pub undefined: bool,
    /// Number of digits after the point with which the value shows the side of its limits on which it lies.
    pub digits: usize,
    /// The expected range, in words.
    pub allowed: String,
    /// Whether it holds. A claim that could not be measured does not hold.
    pub kept: bool,
    /// The line of its `[[expect]]` in the scenario file.
    pub line: usize,
}

impl Claim {
    /// Judges the claim against the results. `lookup` returns a metric of a case by seed; seeds that lack one of the
    /// metrics are excluded from all.
    pub fn judge(&self, lookup: &dyn Fn(&Measurement) -> BTreeMap<u64, f64>) -> ClaimVerdict {
        let values: Vec<(&Term, BTreeMap<u64, f64>)> =
            self.measured.iter().map(|(term, at)| (term, lookup(at))).collect();
        let all = |seed: &&u64| values.iter().all(|(_, values)| values.contains_key(*seed));
        let first = values.first().map(|(_, values)| values);
        let seeds: Vec<u64> = first.into_iter().flat_map(BTreeMap::keys).filter(all).copied().collect();
        let of = |seeds: &[u64]| self.expression.value(&Means { values: &values, seeds });
        let measured = if seeds.is_empty() { None } else { of(&seeds) };
        ClaimVerdict {
            text: self.text.clone(),
            measured,
            per_seed: seeds.iter().filter_map(|seed| of(&[*seed])).collect(),
            unit: self.unit,
            undefined: measured.is_none() && !seeds.is_empty(),
            digits: measured.map_or(FEWEST_DIGITS, |x| self.bound.digits(x)),
            allowed: format!("{} {}", self.bound.words(), self.unit).trim_end().to_owned(),
            kept: measured.is_some_and(|x| self.bound.holds(x)),
            line: self.line,
        }
    }
}

/// The means of terms over their common seeds.
struct Means<'a> {
    values: &'a [(&'a Term, BTreeMap<u64, f64>)],
    seeds: &'a [u64],
}

impl Values for Means<'_> {
    fn value(&self, term: &Term) -> Option<f64> {
        let (_, values) = self.values.iter().find(|(known, _)| *known == term)?;
        let sum: f64 = self.seeds.iter().filter_map(|seed| values.get(seed)).sum();
        Some(sum / self.seeds.len() as f64)
    }
}

/// Reads as much of one `[[expect]]` as is possible without the cases.
pub(crate) fn read(node: &Toml, index: usize, mistakes: &mut Vec<Mistake>) -> Option<Question> {
    let path = format!("expect[{index}]");
    let mut node = node.clone();
    let selection = node.take(WHERE_KEY);
    let before = mistakes.len();
    for key in LATER {
        if let Some(entry) = node.take(key) {
            let message = format!("`{key}` in an expectation is not supported yet");
            mistakes.push(Mistake::new(entry.place, &path, message).allowing("value with its limits"));
        }
    }
    let ratio = node.take(RATIO).map(|entry| {
        let text = entry.node.label();
        let message = "`ratio` is now `value`, which takes any arithmetic";
        mistakes.push(Mistake::new(entry.place, &path, message).allowing(format!("value = \"{text}\"")));
        text
    });
    let limits = quantity::without_units(&mut node);
    let decoded = decode(TABLE, &node, &path, &[WHERE_KEY]);
    mistakes.extend(decoded.mistakes);
    let mut settings = ExpectSettings::from_value(&decoded.value);
    settings.value = settings.value.or(ratio);
    let reading = Reading { node: &node, path: &path };
    let measured = reading.measured(&settings, mistakes);
    let bound = reading.bound(&settings, mistakes);
    let selection = reading.selection(selection.as_ref(), mistakes);
    if mistakes.len() > before {
        return None;
    }
    let (text, expression) = measured?;
    let subject = reading.place("value");
    let given = [settings.about, settings.below, settings.above].iter().flatten().count();
    let (reduced, place) = (settings.reduced, node.place);
    Some(Question {
        path,
        place,
        subject,
        text,
        expression,
        selection,
        limits,
        given,
        bound: bound?,
        reduced,
    })
}

/// A part of the expression that expectations do not support, if any.
fn unsupported(expression: &Expression) -> Option<(String, &'static str)> {
    let terms = expression.terms();
    if let Some(experiment) = terms.iter().find_map(|(term, _)| term.experiment.as_ref()) {
        let message = format!("`{experiment}:` names an experiment; only reproductions have experiments");
        return Some((message, "metrics of the cases of this scenario"));
    }
    if terms.iter().any(|(_, used)| *used != Use::Value) {
        let message = "`reach` interpolates between runs; only claims of reproductions can use it";
        return Some((message.to_owned(), "numbers, metrics, + - * /, parentheses, min and max"));
    }
    terms.is_empty().then(|| ("no metric is given".to_owned(), "the names that `weft list metrics` shows"))
}

struct Reading<'a> {
    node: &'a Toml,
    path: &'a str,
}

impl Reading<'_> {
    fn wrong(&self, place: SourceSpan, message: &str) -> Mistake {
        Mistake::new(place, self.path, message)
    }

    fn place(&self, key: &str) -> SourceSpan {
        self.node.get(key).map_or(self.node.place, |node| node.place)
    }

    /// What is measured: as written, and parsed.
    fn measured(
        &self,
        settings: &ExpectSettings,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<(String, Expression)> {
        let Some(text) = &settings.value else {
            let mistake = self.wrong(self.node.place, "an expectation needs a value");
            mistakes.push(mistake.allowing("value = \"fct.mean\", or any arithmetic with metrics"));
            return None;
        };
        let wrong = |message: &str| self.wrong(self.place("value"), message);
        match Expression::parse(text) {
            Err(why) => mistakes.push(wrong(&format!("cannot read `{text}`: {why}"))),
            Ok(expression) => match unsupported(&expression) {
                Some((message, allowed)) => mistakes.push(wrong(&message).allowing(allowed)),
                None => return Some((text.trim().to_owned(), expression)),
            },
        }
        None
    }

    fn bound(&self, settings: &ExpectSettings, mistakes: &mut Vec<Mistake>) -> Option<Bound> {
        let (low, high) = match (settings.about, &settings.within) {
            (None, None) => (f64::NEG_INFINITY, f64::INFINITY),
            (Some(about), Some(within)) => match around(about, within) {
                Ok(limits) => limits,
                Err(why) => {
                    let mistake = self.wrong(self.place("within"), &why);
                    let allowed = match about {
                        0.0 => "above and below instead of about and within",
                        _ => "a share such as \"15 %\" or a factor such as \"x2\"",
                    };
                    mistakes.push(mistake.allowing(allowed));
                    return None;
                }
            },
            (Some(_), None) => {
                mistakes.push(self.wrong(self.place("about"), "`about` needs `within`, the tolerance"));
                return None;
            }
            (None, Some(_)) => {
                mistakes.push(self.wrong(self.place("within"), "`within` has no effect without `about`"));
                return None;
            }
        };
        let above = settings.above.unwrap_or(f64::NEG_INFINITY);
        let below = settings.below.unwrap_or(f64::INFINITY);
        let unlimited = low.max(above).is_infinite() && high.min(below).is_infinite();
        if unlimited {
            mistakes
                .push(self.wrong(self.node.place, "an expectation needs about and within, below or above"));
        } else if low.max(above) > high.min(below) {
            mistakes.push(self.wrong(self.node.place, "no number satisfies these limits"));
        }
        Some(Bound { low, high, above, below })
    }

    /// The entries of `where`; nested tables are paths.
    fn selection(
        &self,
        entry: Option<&TomlEntry>,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<(String, Toml, SourceSpan)> {
        let Some(entry) = entry else { return Vec::new() };
        if !matches!(entry.node.content, Content::Table(_)) {
            mistakes.push(self.wrong(entry.node.place, "`where` is a table of paths and values"));
        }
        let mut pairs = Vec::new();
        entry.node.entries().iter().for_each(|entry| pairs_of(entry, "", &mut pairs));
        pairs
    }
}

fn pairs_of(entry: &TomlEntry, prefix: &str, pairs: &mut Vec<(String, Toml, SourceSpan)>) {
    let path = join(prefix, &entry.key);
    match &entry.node.content {
        Content::Table(inner) => inner.iter().for_each(|entry| pairs_of(entry, &path, pairs)),
        _ => pairs.push((path, entry.node.clone(), entry.place)),
    }
}

/// The limits that `within` draws around `about`.
fn around(about: f64, within: &str) -> Result<(f64, f64), String> {
    let within = within.trim();
    let positive = |text: &str| text.trim().parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
    if about == 0.0 {
        return Err(format!("`{within}` of 0 is 0: only 0 itself would pass"));
    }
    if let Some(percent) = within.strip_suffix('%').and_then(positive) {
        let margin = about.abs() * percent / 100.0;
        return Ok((about - margin, about + margin));
    }
    match within.strip_prefix('x').and_then(positive) {
        Some(factor) if factor >= 1.0 => {
            Ok(((about / factor).min(about * factor), (about / factor).max(about * factor)))
        }
        _ => Err(format!("`{within}` is not a tolerance")),
    }
}
