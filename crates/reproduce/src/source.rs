//! `claims.toml`: the claims of a source, and how each is measured. Reads and checks the file; must not run anything.

mod check;

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;
use weft::Error;
use weft_expression::Expression;

use crate::drawing::FigureSource;
use crate::epoch;
use crate::folder::{CLAIMS, Folder};
use crate::form::Form;
use crate::grid::ClaimGrid;

/// A published source and its claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedSource {
    /// Heading of the page.
    pub(crate) title: String,
    /// Authors, title, venue.
    pub(crate) reference: String,
    /// An introduction: what the source leaves open, and what was assumed instead. Markdown.
    pub(crate) about: String,
    /// The findings in a few sentences; the page begins with it. Markdown.
    #[serde(default)]
    pub(crate) found: String,
    /// The cost of the full form; absent: about an hour of one core.
    pub(crate) takes: Option<String>,
    /// Values of axes that no case has yet, each with the reason: claims that need them are not run.
    #[serde(default)]
    pub(crate) awaited: BTreeMap<String, String>,
    /// Scenario files with overrides.
    #[serde(rename = "experiment", default)]
    pub(crate) experiments: Vec<Experiment>,
    /// The claims.
    #[serde(rename = "claim")]
    pub(crate) claims: Vec<PublishedClaim>,
    /// The effect of alternatives to uncertain choices.
    #[serde(rename = "table", default)]
    pub(crate) tables: Vec<Sensitivity>,
    /// Curves together with the published ones.
    #[serde(rename = "figure", default)]
    pub(crate) figures: Vec<FigureSource>,
    /// Published and measured values of many claims side by side.
    #[serde(rename = "grid", default)]
    pub(crate) grids: Vec<ClaimGrid>,
    /// Alternative assumptions on what the source leaves open, under which all claims are measured.
    #[serde(rename = "assumption", default)]
    pub(crate) assumptions: Vec<Assumption>,
    /// The conclusion from the assumptions.
    #[serde(default)]
    pub(crate) assumptions_note: String,
    /// The text of every scenario, by file, and the text of all of them with that of the claims.
    #[serde(skip)]
    scenarios: BTreeMap<String, String>,
    #[serde(skip)]
    text: String,
}

/// An alternative assumption on what the source leaves open. All claims are measured under it, in the reduced form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assumption {
    /// A word, for the header of a column.
    pub(crate) id: Spanned<String>,
    /// The assumption.
    pub(crate) name: String,
    /// Overrides of every experiment; experiments that cannot take them all are left out.
    #[serde(default)]
    pub(crate) set: Vec<String>,
}

/// A scenario file and the changes to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    pub(crate) id: String,
    /// Its description, for the list of experiments.
    pub(crate) about: String,
    /// The scenario, in the same folder. Absent: it cannot be run yet, and `awaited` says why.
    pub(crate) file: Option<String>,
    /// The source of its figures if they do not come from runs of a scenario: `server`, `cluster`, `today`,
    /// `arithmetic`. The file is then the description of a cluster.
    pub(crate) figures: Option<String>,
    /// The engine that runs it: one of `weft run --engine`; absent: packets.
    pub(crate) engine: Option<String>,
    /// Overrides `path=value`.
    #[serde(default)]
    pub(crate) set: Vec<String>,
    /// Further overrides of the large form.
    #[serde(default)]
    pub(crate) large: Vec<String>,
    /// How its fluid model differs from the scenario, for measures `fluid.…`.
    #[serde(default)]
    pub(crate) fluid: FluidSource,
    /// Why it cannot be run yet.
    pub(crate) awaited: Option<String>,
}

/// Options of the fluid model, named as in `weft fluid`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FluidSource {
    /// Number of flows through the bottleneck.
    pub(crate) flows: Option<u32>,
    /// Loop delay without queueing.
    pub(crate) delay: Option<String>,
    /// Continue the marking ramp beyond its end.
    pub(crate) continue_ramp: bool,
    /// Which round trips include jitter.
    pub(crate) jitter_in: Option<String>,
    /// How long a draw of jitter holds.
    pub(crate) jitter_every: Option<String>,
}

impl FluidSource {
    /// The options as typed; empty if there are none.
    pub(crate) fn words(&self) -> String {
        let flows = self.flows.map(|flows| format!("--flows {flows}"));
        let delay = self.delay.as_ref().map(|delay| format!("--delay '{delay}'"));
        let ramp = self.continue_ramp.then(|| "--continue-ramp".to_owned());
        let within = self.jitter_in.as_ref().map(|which| format!("--jitter-in {which}"));
        let every = self.jitter_every.as_ref().map(|every| format!("--jitter-every '{every}'"));
        [flows, delay, ramp, within, every].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl Experiment {
    /// The overrides of a form.
    pub(crate) fn overrides(&self, form: Form) -> Vec<String> {
        let large: &[String] = if form == Form::Large { &self.large } else { &[] };
        [self.set.as_slice(), large].concat()
    }
}

/// A published statement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedClaim {
    pub(crate) id: Spanned<String>,
    /// Section and figure of the source.
    pub(crate) place: String,
    /// The claim, in our words.
    pub(crate) says: String,
    /// The published value; empty for an order.
    #[serde(default)]
    pub(crate) published: String,
    /// The experiment of its measures, unless they name another.
    #[serde(default)]
    pub(crate) experiment: String,
    /// Selectors that all its measures share: `load = 0.8`.
    #[serde(default)]
    pub(crate) at: String,
    /// The measured parts; the claim is reproduced if every part lies in its band.
    #[serde(rename = "part", default)]
    pub(crate) parts: Vec<Part>,
    /// Whether the quick form can decide it: `false` if that is too short or too small.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
    /// Whether settings were fitted to the published value, which it then does not predict.
    #[serde(default)]
    pub(crate) fitted: bool,
    /// Why the claim cannot be compared. Its parts, if it has any, are measured and not judged.
    #[serde(default)]
    pub(crate) not_comparable: String,
    /// An alternative to a choice that the source leaves open and that may be decisive: run as well.
    #[serde(default)]
    pub(crate) otherwise: Option<Otherwise>,
    /// The outcome of examining a failure, or a note for reading the result.
    #[serde(default)]
    pub(crate) note: String,
}

/// An alternative where the source leaves a choice open. A claim that holds only with the alternative cannot be
/// compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Otherwise {
    /// What the source does not specify: `which racks send`.
    pub(crate) open: String,
    /// The alternative: `half of the racks send`.
    pub(crate) choice: String,
    /// Its overrides.
    pub(crate) set: Vec<String>,
    /// Whether it is run in the form of the claim instead of the reduced one.
    #[serde(default)]
    pub(crate) full: bool,
}

impl Otherwise {
    /// The form in which it is run, where the claim is run in `form`.
    pub(crate) fn form(&self, form: Form) -> Form {
        if self.full { form } else { Form::Quick }
    }
}

fn yes() -> bool {
    true
}

/// A measured number and its band.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// An expression over metrics of cases.
    pub(crate) measure: String,
    /// At least this.
    pub(crate) from: Option<f64>,
    /// At most this.
    pub(crate) to: Option<f64>,
    /// More than this.
    pub(crate) above: Option<f64>,
    /// Less than this.
    pub(crate) below: Option<f64>,
    /// The value that every seed must have exactly, as for "never".
    pub(crate) exactly: Option<f64>,
    /// The published value, in the unit of the measure, for the picture; absent: the band is drawn instead.
    pub(crate) published: Option<f64>,
    /// The value of a single published run, not a mean: it must lie among our runs, one for each seed. There is then
    /// no band.
    pub(crate) one_run: Option<f64>,
}

impl Part {
    /// Whether a number lies in the band.
    pub(crate) fn holds(&self, x: f64) -> bool {
        self.from.is_none_or(|from| x >= from)
            && self.to.is_none_or(|to| x <= to)
            && self.keeps_order(x)
            && self.exactly.is_none_or(|exactly| x == exactly)
    }

    /// Whether a number is on the right side of `above` and `below`, which state an order or a strict limit.
    pub(crate) fn keeps_order(&self, x: f64) -> bool {
        self.above.is_none_or(|above| x > above) && self.below.is_none_or(|below| x < below)
    }

    /// `1.1 to 1.6`, `below 0.01`, `16 among the runs`.
    pub(crate) fn band(&self) -> String {
        let number = |x: f64| weft_draw::text::plain(x);
        if let Some(one) = self.one_run {
            return format!("{} among the runs", number(one));
        }
        let range = self.from.zip(self.to).map(|(from, to)| format!("{} to {}", number(from), number(to)));
        let alone = |limit: Option<f64>| limit.filter(|_| range.is_none());
        let limits = [
            ("at least", alone(self.from)),
            ("at most", alone(self.to)),
            ("above", self.above),
            ("below", self.below),
            ("exactly", self.exactly),
        ];
        let told = limits.iter().filter_map(|(word, limit)| Some(format!("{word} {}", number((*limit)?))));
        range.clone().into_iter().chain(told).collect::<Vec<_>>().join(", ")
    }
}

/// A table of variants of an experiment: one row per variant, with the same measures in each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sensitivity {
    pub(crate) id: Spanned<String>,
    /// Heading.
    pub(crate) title: String,
    /// The claims it concerns.
    pub(crate) claims: Vec<String>,
    /// The experiment that is varied.
    pub(crate) experiment: String,
    /// Whether it uses the runs of the quick form even in a full reproduction, because it shows differences, not
    /// sizes.
    #[serde(default)]
    pub(crate) reduced: bool,
    /// Selectors shared by all measures.
    #[serde(default)]
    pub(crate) at: String,
    #[serde(rename = "column")]
    pub(crate) columns: Vec<MeasureColumn>,
    #[serde(rename = "variant")]
    pub(crate) variants: Vec<TableVariant>,
    /// The conclusion from the table.
    #[serde(default)]
    pub(crate) note: String,
}

/// A measure of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeasureColumn {
    pub(crate) name: String,
    pub(crate) measure: String,
}

/// A row of a table: a variant with its changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableVariant {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) set: Vec<String>,
    /// An experiment that replaces the table's.
    pub(crate) experiment: Option<String>,
}

impl PublishedSource {
    /// Reads and checks the claims of a folder.
    ///
    /// # Errors
    /// All mistakes, each with its line.
    pub(crate) fn read(folder: &Folder) -> Result<PublishedSource, Error> {
        let text = folder.files.get(CLAIMS).map_or("", String::as_str);
        let wrong = |what: String| Error::BadInput(format!("{}/{CLAIMS}: {what}", folder.name));
        let mut source: PublishedSource = toml::from_str(text).map_err(|cause| wrong(cause.to_string()))?;
        let files = folder.files.iter().filter(|(name, _)| name.ends_with(".toml") && *name != CLAIMS);
        source.scenarios = files.map(|(name, text)| (name.clone(), text.clone())).collect();
        let scenarios: Vec<&str> = source.scenarios.values().map(String::as_str).collect();
        source.text = format!("{}\n{text}", scenarios.join("\n"));
        let mistakes = check::all(&source, folder, text);
        if mistakes.is_empty() { Ok(source) } else { Err(wrong(mistakes.join("\n"))) }
    }

    /// Whether this program would find the same as one with this results epoch.
    pub(crate) fn holds_since(&self, epoch: &str) -> bool {
        weft::holds_since(epoch, &self.text)
    }

    /// The same for one claim, whose runs are those of the experiments and cases that it names.
    pub(crate) fn holds_for(&self, claim: &PublishedClaim, epoch: &str) -> bool {
        let measures: Vec<&str> = claim.parts.iter().map(|part| part.measure.as_str()).collect();
        let asked = format!("{} {}", measures.join(" "), claim.at);
        let is_used = |one: &&Experiment| claim.experiment == one.id || epoch::names(&asked, &one.id);
        let used: Vec<&Experiment> = self.experiments.iter().filter(is_used).collect();
        let own = used.iter().flat_map(|experiment| experiment.set.iter().chain(&experiment.large));
        let otherwise = claim.otherwise.iter().flat_map(|otherwise| &otherwise.set);
        let overrides: Vec<&str> = own.chain(otherwise).map(String::as_str).collect();
        let files: BTreeSet<&String> = used.iter().filter_map(|one| one.file.as_ref()).collect();
        let scenarios: Vec<&str> =
            files.iter().filter_map(|file| self.scenarios.get(*file)).map(String::as_str).collect();
        weft::holds_since(epoch, &epoch::text_of(&scenarios.join("\n"), &asked, &overrides))
    }

    /// The claims by the engine that decides them: packets first.
    pub(crate) fn by_engine(&self) -> BTreeMap<Option<&str>, Vec<&PublishedClaim>> {
        let mut parts: BTreeMap<Option<&str>, Vec<&PublishedClaim>> = BTreeMap::new();
        self.claims.iter().for_each(|claim| parts.entry(claim.engine(self)).or_default().push(claim));
        parts
    }

    /// Whether the file itself gives this reason why something cannot be run yet.
    pub(crate) fn awaits(&self, why: &str) -> bool {
        let experiments = self.experiments.iter().filter_map(|experiment| experiment.awaited.as_ref());
        self.awaited.values().chain(experiments).any(|reason| reason == why)
    }

    /// The experiment with this id.
    pub(crate) fn experiment(&self, id: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.id == id)
    }
}

impl PublishedClaim {
    /// The engine other than packets that runs an experiment of its measures, if any does.
    pub(crate) fn engine<'a>(&self, source: &'a PublishedSource) -> Option<&'a str> {
        let expressions = self.expressions();
        let named =
            expressions.iter().flat_map(Expression::terms).filter_map(|(term, _)| term.experiment.as_deref());
        let mut used = named.chain([self.experiment.as_str()]).filter_map(|id| source.experiment(id));
        used.find_map(|experiment| experiment.engine.as_deref())
    }

    /// The parsed measures.
    pub(crate) fn expressions(&self) -> Vec<Expression> {
        self.parts.iter().map(|part| read(&part.measure)).collect()
    }
}

/// Parses a measure that has been checked.
pub(crate) fn read(measure: &str) -> Expression {
    Expression::parse(measure).expect("measures are checked when the source is read")
}
