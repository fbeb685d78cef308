//! Findings on claims, as stored in `results.json`, and the verdicts on them.
//!
//! Must not depend on runs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use weft::Error;
use weft_report::statistics::Estimate;

use crate::form::Form;
use crate::source::{Part, PublishedClaim};

/// The file in the folder of the claims.
pub(crate) const RESULTS: &str = "results.json";

/// Why a part has no value although its runs are complete.
pub(crate) const NO_VALUE: &str = "the runs have no such value: too few flows, a level never reached, a division by zero, or nothing of the kind to measure";

/// How it begins, also in findings of earlier versions.
const NO_VALUE_BEGINS: &str = "the runs have no such value";

/// All findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClaimFindings {
    /// Findings by claim.
    pub(crate) claims: BTreeMap<String, ClaimFinding>,
    /// Findings by claim with the claim's alternative choice, if it has one, in the reduced form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) others: BTreeMap<String, ClaimFinding>,
    /// Findings by claim in the large form, from fewer seeds than the full findings, beside which they are shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) larger: BTreeMap<String, ClaimFinding>,
    /// Values by table: one row per variant, one value per column.
    pub(crate) tables: BTreeMap<String, Tabled>,
    /// Values by figure: one row per line, one value per position.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) figures: BTreeMap<String, Tabled>,
    /// Findings by assumption and claim.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) assumed: BTreeMap<String, BTreeMap<String, ClaimFinding>>,
}

/// The finding on a claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ClaimFinding {
    /// Hash of measures, scenarios and overrides: if it changes, the finding is out of date.
    pub(crate) definition: String,
    /// The form that was run.
    pub(crate) form: Form,
    /// Version and commit of the program.
    pub(crate) program: String,
    /// Its results epoch; empty for versions older than epochs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) epoch: String,
    /// For figures, the epoch of the cluster model; empty for those older than such epochs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) model: String,
    /// Why a part has no value; empty when all have one.
    pub(crate) not_run: String,
    /// The values of each part; empty where there are none.
    pub(crate) parts: Vec<SeedValues>,
    /// The amount of simulation behind the values.
    pub(crate) size: Size,
}

/// One value per seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SeedValues {
    pub(crate) seeds: Vec<u64>,
    pub(crate) values: Vec<f64>,
    /// Whether they are ratios, whose mean is geometric.
    pub(crate) ratio: bool,
}

/// The amount of simulation behind some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Size {
    pub(crate) runs: u64,
    /// Measured flows of all runs.
    pub(crate) flows: u64,
    /// Of these, flows unfinished at the end, which are in no completion time.
    pub(crate) unfinished: u64,
    /// Simulated time of all runs, seconds.
    pub(crate) simulated_s: f64,
    /// Fluid models solved.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) solved: u64,
    /// Measurements of a machine, and simulations of clusters.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) measured: u64,
    /// Whether a percentile was used that has fewer than 100 flows beyond it in some run.
    pub(crate) few: bool,
}

impl Size {
    /// Whether there are only figures that do not come from runs.
    pub(crate) fn is_figures(&self) -> bool {
        self.measured > 0 && self.runs + self.solved == 0
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The values of a table or figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tabled {
    pub(crate) definition: String,
    pub(crate) program: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) epoch: String,
    pub(crate) rows: Vec<Vec<SeedValues>>,
    /// Why a row is empty, by row number.
    pub(crate) not_run: BTreeMap<usize, String>,
    pub(crate) size: Size,
}

impl ClaimFinding {
    /// Number of parts with a value.
    fn known(&self) -> usize {
        self.parts.iter().filter(|values| !values.values.is_empty()).count()
    }

    /// Number of seeds behind it.
    pub(crate) fn seeds(&self) -> usize {
        self.parts.iter().map(|values| values.seeds.len()).max().unwrap_or(0)
    }

    /// Whether `newer` must not replace this finding: it is in the reduced form and this one is not, or of two of equal definition
    /// it lacks values or, in one results epoch, has fewer seeds.
    fn outweighs(&self, newer: &ClaimFinding) -> bool {
        let larger = newer.form == Form::Quick && self.form != Form::Quick && self.known() > 0;
        let fewer = self.epoch == newer.epoch && self.seeds() > newer.seeds();
        larger || self.definition == newer.definition && (self.known() > newer.known() || fewer)
    }

    /// Whether this finding is in the large form and `other`, in the full form, has more seeds: neither replaces the
    /// other.
    fn stands_beside(&self, other: &ClaimFinding) -> bool {
        (self.form, other.form) == (Form::Large, Form::Full) && self.seeds() < other.seeds()
    }
}

impl SeedValues {
    /// Mean with 95 % interval over the seeds; `None` without values. If all seeds give one value there is no scatter
    /// to estimate, and no interval.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        if self.is_certain() {
            return Estimate::of(&self.values[..1]);
        }
        let geometric = self.ratio && self.values.iter().all(|value| *value > 0.0);
        if geometric { Estimate::geometric(&self.values) } else { Estimate::of(&self.values) }
    }

    /// Whether there are values, and they do not differ.
    pub(crate) fn is_certain(&self) -> bool {
        self.values.first().is_some_and(|first| self.values.iter().all(|value| value == first))
    }

    /// The rank of a single published run among these runs; `None` without values.
    pub(crate) fn runs_around(&self, one: f64) -> Option<Among> {
        let least = self.values.iter().copied().reduce(f64::min)?;
        let greatest = self.values.iter().copied().reduce(f64::max)?;
        let below = self.values.iter().filter(|value| **value < one).count();
        let inside = least < one && one < greatest;
        Some(Among { least, greatest, below, runs: self.values.len(), inside })
    }
}

/// The status of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClaimStatus {
    Reproduced,
    NotReproduced,
    NotComparable(String),
    NotRun(String),
    /// A measurement of this machine gave no figure.
    NotMeasured(String),
}

impl ClaimStatus {
    /// The status in words, with its reason if there is one.
    pub(crate) fn words(&self) -> String {
        match self {
            ClaimStatus::Reproduced => "reproduced".to_owned(),
            ClaimStatus::NotReproduced => "not reproduced".to_owned(),
            ClaimStatus::NotComparable(why) => format!("not comparable: {why}"),
            ClaimStatus::NotRun(why) => format!("not run: {why}"),
            ClaimStatus::NotMeasured(why) => format!("not measured: {why}"),
        }
    }
}

/// The verdict on a claim: all its parts must hold, so a part that fails decides even if others could not be measured.
pub(crate) fn verdict(claim: &PublishedClaim, findings: &ClaimFindings) -> ClaimStatus {
    let (finding, other) = (findings.claim(claim), findings.others.get(claim.id.get_ref()));
    if !claim.not_comparable.is_empty() {
        return ClaimStatus::NotComparable(claim.not_comparable.clone());
    }
    let Some(finding) = finding else { return ClaimStatus::NotRun("not yet".to_owned()) };
    let judgement = judged(claim, &finding.parts);
    let decided = judgement.is_some() || finding.not_run.starts_with(NO_VALUE_BEGINS);
    match (judgement, &claim.otherwise) {
        (Some(true), _) => ClaimStatus::Reproduced,
        (_, Some(otherwise))
            if decided && other.is_some_and(|other| judged(claim, &other.parts) == Some(true)) =>
        {
            ClaimStatus::NotComparable(format!(
                "{} is not published; reproduced if {}, not as prescribed",
                otherwise.open, otherwise.choice
            ))
        }
        (Some(false), _) => ClaimStatus::NotReproduced,
        (None, _) if finding.size.is_figures() && !finding.not_run.is_empty() => {
            ClaimStatus::NotMeasured(finding.not_run.clone())
        }
        (None, _) if finding.not_run.is_empty() => ClaimStatus::NotRun("a part has no value".to_owned()),
        (None, _) => ClaimStatus::NotRun(finding.not_run.clone()),
    }
}

/// Whether every part lies in its band; `None` if no part lies outside but one has no value.
pub(crate) fn judged(claim: &PublishedClaim, found: &[SeedValues]) -> Option<bool> {
    let holds = |(at, part): (usize, &Part)| {
        let values = found.get(at)?;
        match part.one_run {
            Some(one) => Some(values.runs_around(one)?.inside),
            None => Some(shows(part, &values.estimate()?)),
        }
    };
    let all: Vec<Option<bool>> = claim.parts.iter().enumerate().map(holds).collect();
    if all.contains(&Some(false)) {
        return Some(false);
    }
    all.into_iter().collect::<Option<Vec<bool>>>().map(|_| true)
}

/// Whether a finding shows that a part holds: its mean lies in the band and, if the band is an order or a strict limit
/// (`above`, `below`), which allows for no error, so does the whole interval, if there is one.
fn shows(part: &Part, found: &Estimate) -> bool {
    let ends = [found.low, found.high];
    part.holds(found.mean) && ends.into_iter().flatten().all(|end| part.keeps_order(end))
}

/// The rank of a published run among our runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Among {
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    /// Number of runs with a smaller value.
    pub(crate) below: usize,
    pub(crate) runs: usize,
    /// Whether the published run is above one of ours and below another. For an independent run from our distribution,
    /// this has probability (n - 1) / (n + 1) with n runs, whatever the distribution: 95 % with 39. A tie with either
    /// end counts as outside.
    pub(crate) inside: bool,
}

/// The position of an interval relative to a band: `inside`, `outside`, or `across its edge`; empty without an
/// interval.
pub(crate) fn against_band(part: &Part, found: &Estimate) -> &'static str {
    let (Some(low), Some(high)) = (found.low, found.high) else { return "no interval" };
    match (part.holds(low), part.holds(high), part.holds(found.mean)) {
        (true, true, _) => "inside",
        (false, false, false) => "outside",
        _ => "across the edge",
    }
}

impl ClaimFindings {
    /// The finding on a claim.
    pub(crate) fn claim(&self, claim: &PublishedClaim) -> Option<&ClaimFinding> {
        self.claims.get(claim.id.get_ref())
    }

    /// Reads a file; empty if it does not exist.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    pub(crate) fn read(path: &Path) -> Result<ClaimFindings, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|cause| Error::Failed(format!("{}: {cause}", path.display()))),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(ClaimFindings::default()),
            Err(cause) => Err(Error::Failed(format!("{}: {cause}", path.display()))),
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |cause: String| Error::Failed(format!("{}: {cause}", path.display()));
        let text = serde_json::to_string_pretty(self).map_err(|cause| failed(cause.to_string()))?;
        std::fs::write(path, text + "\n").map_err(|cause| failed(cause.to_string()))
    }

    /// The number of findings, and the number of those measured under a results epoch that no longer `holds` for
    /// their claim, or for the source if a finding's runs do not belong to a single claim.
    pub(crate) fn stale(&self, holds: impl Fn(Option<&str>, &str) -> bool) -> (usize, usize) {
        let claims = self.claims.iter().chain(&self.others).chain(&self.larger);
        let claims = claims.map(|(id, finding)| (Some(id.as_str()), finding));
        let assumed = self.assumed.values().flat_map(BTreeMap::values).map(|finding| (None, finding));
        // Figures of machines and clusters are not results of the simulator, so its epoch does not concern them.
        let measured = claims
            .chain(assumed)
            .filter(|(_, one)| one.known() > 0 && !one.size.is_figures())
            .map(|(id, one)| (id, one.epoch.as_str()));
        let tables = self.tables.values().chain(self.figures.values()).map(|one| (None, one.epoch.as_str()));
        measured
            .chain(tables)
            .fold((0, 0), |(all, stale), (id, one)| (all + 1, stale + usize::from(!holds(id, one))))
    }

    /// Merges the findings of another call, except where those here are [better](ClaimFinding::outweighs); returns the claims
    /// whose runs were fewer or smaller.
    pub(crate) fn take(&mut self, newer: &ClaimFindings) -> Vec<String> {
        let mut kept = Vec::new();
        for (id, finding) in &newer.claims {
            let beside = self.claims.get(id).is_some_and(|old| finding.stands_beside(old));
            let known = if beside { &mut self.larger } else { &mut self.claims };
            if !known.get(id).is_some_and(|old| old.outweighs(finding)) {
                let replaced = known.insert(id.clone(), finding.clone());
                let larger = replaced.filter(|old| (old.form, finding.form) == (Form::Large, Form::Full));
                self.larger.extend(larger.map(|old| (id.clone(), old)));
            } else if finding.known() > 0 {
                kept.push(id.clone());
            }
        }
        let found = newer.others.iter().filter(|(_, finding)| finding.not_run.is_empty());
        self.others.extend(found.map(|(id, finding)| (id.clone(), finding.clone())));
        take_complete(&mut self.tables, &newer.tables, |one| {
            (&one.definition, values_of(one.rows.iter().flatten()))
        });
        take_complete(&mut self.figures, &newer.figures, |one| {
            (&one.definition, values_of(one.rows.iter().flatten()))
        });
        for (assumption, claims) in &newer.assumed {
            let known = self.assumed.entry(assumption.clone()).or_default();
            take_complete(known, claims, |one| (&one.definition, values_of(&one.parts)));
        }
        kept
    }
}

/// The number of values.
fn values_of<'a>(all: impl IntoIterator<Item = &'a SeedValues>) -> usize {
    all.into_iter().map(|one| one.values.len()).sum()
}

/// Takes newer entries, except where the older one has the same definition and more values: the newer call was interrupted, or
/// some of its runs failed.
fn take_complete<T: Clone>(
    kept: &mut BTreeMap<String, T>,
    newer: &BTreeMap<String, T>,
    of: impl Fn(&T) -> (&String, usize),
) {
    for (id, entry) in newer {
        let (definition, values) = of(entry);
        let better = |old: &T| {
            let (known, more) = of(old);
            known == definition && more > values
        };
        if !kept.get(id).is_some_and(better) {
            kept.insert(id.clone(), entry.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(text: &str) -> PublishedClaim {
        let head = "id = \"C1\"\nplace = \"4\"\nsays = \"s\"\n";
        toml::from_str(&format!("{head}{text}")).unwrap()
    }

    fn finding(values: &[f64]) -> ClaimFinding {
        let seeds = (1..=values.len() as u64).collect();
        ClaimFinding {
            parts: vec![SeedValues { seeds, values: values.to_vec(), ratio: true }],
            ..ClaimFinding::default()
        }
    }

    fn findings(finding: ClaimFinding) -> ClaimFindings {
        ClaimFindings { claims: [("C1".to_owned(), finding)].into(), ..ClaimFindings::default() }
    }

    #[test]
    fn a_claim_is_reproduced_when_the_mean_lies_in_the_band() {
        let claim = claim("[[part]]\nmeasure = \"fct.mean(a) / fct.mean(b)\"\nfrom = 1.1\nto = 1.6");
        assert_eq!(verdict(&claim, &findings(finding(&[1.0, 1.4]))), ClaimStatus::Reproduced);
        assert_eq!(verdict(&claim, &findings(finding(&[1.0, 1.1]))), ClaimStatus::NotReproduced);
        assert_eq!(
            verdict(&claim, &findings(finding(&[]))),
            ClaimStatus::NotRun("a part has no value".into())
        );
        assert_eq!(verdict(&claim, &ClaimFindings::default()), ClaimStatus::NotRun("not yet".into()));
    }

    #[test]
    fn a_machine_that_gives_no_figure_refutes_nothing() {
        let claim = claim("[[part]]\nmeasure = \"server.route_per_forward\"\nfrom = 0.45");
        let size = Size { measured: 1, ..Size::default() };
        let busy = ClaimFinding { size, not_run: "the cores are busy".to_owned(), ..finding(&[]) };
        let status = verdict(&claim, &findings(busy));
        assert_eq!(status.words(), "not measured: the cores are busy");
        let measured = ClaimFinding { size, ..finding(&[0.2]) };
        assert_eq!(verdict(&claim, &findings(measured)), ClaimStatus::NotReproduced);
    }

    #[test]
    fn an_order_needs_its_whole_interval() {
        let told = |band: &str, values: &[f64]| {
            let claim = claim(&format!("[[part]]\nmeasure = \"fct.mean(a) / fct.mean(b)\"\n{band}"));
            verdict(&claim, &findings(finding(values)))
        };
        assert_eq!(told("above = 1", &[1.19, 1.2, 1.21]), ClaimStatus::Reproduced);
        assert_eq!(
            told("above = 1", &[0.9, 1.2, 1.3]),
            ClaimStatus::NotReproduced,
            "it may be the other way"
        );
        assert_eq!(told("below = 1", &[1.1, 0.8, 0.7]), ClaimStatus::NotReproduced);
        assert_eq!(told("below = 1", &[0.81, 0.8, 0.79]), ClaimStatus::Reproduced);
        assert_eq!(
            told("above = 0.5\nto = 1.2", &[1.1, 1.15, 1.25]),
            ClaimStatus::Reproduced,
            "a band has width"
        );
        assert_eq!(told("above = 1", &[1.1]), ClaimStatus::Reproduced, "one value has no interval");
    }

    #[test]
    fn one_published_run_lies_among_ours() {
        let told = |one: f64, values: &[f64]| {
            let claim = claim(&format!("[[part]]\nmeasure = \"fct.mean(a)\"\none_run = {one}"));
            verdict(&claim, &findings(finding(values)))
        };
        let runs = [3.0, 1.0, 2.0];
        assert_eq!(told(1.1, &runs), ClaimStatus::Reproduced);
        assert_eq!(told(2.9, &runs), ClaimStatus::Reproduced);
        for outside in [0.9, 1.0, 3.0] {
            assert_eq!(
                told(outside, &runs),
                ClaimStatus::NotReproduced,
                "both ends are judged alike: {outside}"
            );
        }
        assert_eq!(told(3.1, &runs), ClaimStatus::NotReproduced);
        assert_eq!(told(2.0, &[2.0]), ClaimStatus::NotReproduced, "one run has no spread");
        assert_eq!(told(2.0, &[]), ClaimStatus::NotRun("a part has no value".into()));
        let among = finding(&runs).parts[0].runs_around(2.0).unwrap();
        assert_eq!(among, Among { least: 1.0, greatest: 3.0, below: 1, runs: 3, inside: true });
    }

    #[test]
    fn a_part_that_fails_decides_and_one_that_is_missing_leaves_it_open() {
        let part = "[[part]]\nmeasure = \"fct.mean(a)\"\nabove = 1\n";
        let claim = claim(&part.repeat(2));
        let told = |value: f64| {
            let parts = vec![finding(&[value]).parts[0].clone(), SeedValues::default()];
            verdict(
                &claim,
                &findings(ClaimFinding { parts, not_run: "absent".into(), ..ClaimFinding::default() }),
            )
        };
        assert_eq!(told(0.5), ClaimStatus::NotReproduced);
        assert_eq!(told(1.5), ClaimStatus::NotRun("absent".into()));
    }

    #[test]
    fn what_another_choice_decides_cannot_be_compared() {
        let other = "[otherwise]\nopen = \"the load\"\nchoice = \"it is lower\"\nset = []\n";
        let claim = claim(&format!("{other}[[part]]\nmeasure = \"fct.mean(a)\"\nabove = 1\n"));
        let told = |as_prescribed: &[f64], otherwise: &[f64]| {
            let others = [("C1".to_owned(), finding(otherwise))].into();
            verdict(&claim, &ClaimFindings { others, ..findings(finding(as_prescribed)) })
        };
        assert_eq!(told(&[1.5], &[0.5]), ClaimStatus::Reproduced);
        assert_eq!(told(&[0.5], &[0.5]), ClaimStatus::NotReproduced);
        assert_eq!(told(&[0.5], &[]), ClaimStatus::NotReproduced);
        let ClaimStatus::NotComparable(why) = told(&[0.5], &[1.5]) else { panic!("it can be compared") };
        assert_eq!(why, "the load is not published; reproduced if it is lower, not as prescribed");
        assert_eq!(told(&[], &[1.5]), ClaimStatus::NotRun("a part has no value".into()));
        let others = [("C1".to_owned(), finding(&[1.5]))].into();
        let nothing = ClaimFinding { not_run: NO_VALUE.to_owned(), ..finding(&[]) };
        let found = verdict(&claim, &ClaimFindings { others, ..findings(nothing) });
        assert!(matches!(found, ClaimStatus::NotComparable(_)), "there was nothing to measure as prescribed");
    }

    #[test]
    fn the_interval_is_held_against_the_band() {
        let claim = claim("[[part]]\nmeasure = \"fct.mean(a) / fct.mean(b)\"\nfrom = 1.1\nto = 1.6");
        let told = |values: &[f64]| {
            let found = finding(values).parts[0].estimate().unwrap();
            against_band(&claim.parts[0], &found)
        };
        assert_eq!(told(&[1.3, 1.31, 1.3]), "inside");
        assert_eq!(told(&[2.3, 2.31, 2.3]), "outside");
        assert_eq!(told(&[1.05, 1.2, 1.1]), "across the edge");
        assert_eq!(told(&[1.3]), "no interval");
    }

    #[test]
    fn findings_of_another_results_epoch_are_stale() {
        let of = |epoch: &str, values: &[f64]| ClaimFinding { epoch: epoch.into(), ..finding(values) };
        let (mut kept, newer) = (findings(of("old", &[1.2])), findings(of("new", &[1.3])));
        kept.claims.insert("C2".to_owned(), of("", &[1.0]));
        kept.claims.insert("C3".to_owned(), of("", &[]));
        kept.tables.insert("T1".to_owned(), Tabled { epoch: "new".into(), ..Tabled::default() });
        assert_eq!(kept.stale(|_, one| one == "new"), (3, 2), "one without values is not a finding");
        kept.take(&newer);
        assert_eq!(kept.stale(|_, one| one == "new"), (3, 1));
    }

    #[test]
    fn few_seeds_of_the_large_form_stand_beside_many_of_the_full_one() {
        let large = |values: &[f64]| ClaimFinding { form: Form::Large, ..finding(values) };
        let mut kept = findings(finding(&[1.2, 1.3]));
        kept.take(&findings(large(&[1.1])));
        assert_eq!((kept.claims["C1"].form, kept.larger["C1"].seeds()), (Form::Full, 1));
        kept.take(&findings(large(&[1.1, 1.2])));
        assert_eq!(
            kept.claims["C1"].form,
            Form::Large,
            "as many seeds and more flows are the better finding"
        );
        let mut first = ClaimFindings::default();
        first.take(&findings(large(&[1.1])));
        assert_eq!(first.claims["C1"].form, Form::Large, "there is no other");
    }

    /// An interrupted call has tables with holes.
    #[test]
    fn a_table_with_holes_does_not_replace_a_full_one() {
        let table = |rows: &[&[f64]], program: &str| {
            let cell = |values: &&[f64]| vec![finding(values).parts.remove(0)];
            let rows = rows.iter().map(cell).collect();
            Tabled { rows, program: program.to_owned(), ..Tabled::default() }
        };
        let of = |table: Tabled| ClaimFindings {
            tables: [("t".to_owned(), table)].into(),
            ..ClaimFindings::default()
        };
        let mut kept = of(table(&[&[1.0, 2.0], &[3.0]], "old"));
        kept.take(&of(table(&[&[1.5, 2.5], &[]], "holes")));
        assert_eq!(kept.tables["t"].program, "old");
        kept.take(&of(table(&[&[1.5, 2.5], &[3.5]], "full")));
        assert_eq!(kept.tables["t"].program, "full");
        kept.take(&of(Tabled { definition: "other".into(), ..table(&[&[], &[]], "changed") }));
        assert_eq!(kept.tables["t"].program, "changed", "an old definition is no better");
        let assumed = |values: &[f64]| ClaimFindings {
            assumed: [("half".to_owned(), [("C1".to_owned(), finding(values))].into())].into(),
            ..ClaimFindings::default()
        };
        let mut kept = assumed(&[1.0, 2.0]);
        kept.take(&assumed(&[]));
        assert_eq!(kept, assumed(&[1.0, 2.0]));
    }

    #[test]
    fn fewer_or_smaller_runs_do_not_replace_more_or_larger_ones() {
        let quick =
            |values: &[f64]| ClaimFinding { form: Form::Quick, definition: "q".into(), ..finding(values) };
        let mut kept = findings(finding(&[1.2, 1.3]));
        assert_eq!(kept.take(&findings(quick(&[1.0, 1.1, 1.2]))), ["C1"]);
        assert_eq!(kept.take(&findings(finding(&[1.4]))), ["C1"]);
        assert_eq!(kept, findings(finding(&[1.2, 1.3])));
        assert!(kept.take(&findings(ClaimFinding { epoch: "next".into(), ..finding(&[1.4]) })).is_empty());
        assert_eq!(kept.claims["C1"].seeds(), 1, "results have changed since");
        let mut small = findings(quick(&[1.0]));
        assert!(small.take(&findings(finding(&[1.4]))).is_empty() && small.claims["C1"].form == Form::Full);
    }

    /// A new epoch measured in the full form decides; what had more flows stands beside it, as an older finding.
    #[test]
    fn a_larger_form_that_is_replaced_stands_beside() {
        let large = ClaimFinding { form: Form::Large, ..finding(&[1.2, 1.3]) };
        let mut kept = findings(large.clone());
        let full = ClaimFinding { epoch: "next".into(), ..finding(&[1.1, 1.2]) };
        assert!(kept.take(&findings(full.clone())).is_empty());
        assert_eq!((&kept.claims["C1"], &kept.larger["C1"]), (&full, &large));
    }

    #[test]
    fn what_could_not_be_run_does_not_replace_what_holds() {
        let lost = ClaimFinding { not_run: "no".into(), ..ClaimFinding::default() };
        let old = findings(finding(&[1.2]));
        let newer = findings(lost.clone());
        let mut kept = old.clone();
        kept.take(&newer);
        assert_eq!(kept, old);
        let changed = ClaimFinding { definition: "other".into(), ..lost };
        kept.take(&findings(changed));
        assert_eq!(kept.claims["C1"].not_run, "no");
    }
}
