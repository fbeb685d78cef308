//! From measures to runs: finds the cases that the terms of all measures refer to. Only these are run.
//!
//! Must not depend on values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_expression::{Expression, Selector, Term, Use, selectors};

use weft_bench::routebricks::{self, FigureRequest, Figures};

use weft::{Batch, CaseLabels, Error, FluidJitter, FluidNumbers, FluidOptions};

use crate::context::{MeasureContext, TermCases, TermKind};
use crate::form::Form;
use crate::search::{Search, Tried};
use crate::source::{Experiment, FluidSource, PublishedSource};

/// Seeds of figures that depend on one, and passes of measurements of the machine.
const SEEDS: u64 = 5;
const PASSES: usize = 5;

/// A scenario with its overrides, to be run.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The experiment.
    pub(crate) experiment: String,
    /// The batch without cases; these come from `wanted`.
    batch: Batch,
    /// All cases, or why there are none.
    cases: Result<Vec<CaseLabels>, String>,
    /// Indices of the cases that are run as packets.
    wanted: BTreeSet<usize>,
    /// Indices of the cases solved as fluid models, and how the models differ from the scenario.
    solved: BTreeSet<usize>,
    fluid: FluidSource,
    /// The source of its figures if they do not come from runs, with the description of a cluster.
    figures: Option<(routebricks::FigureOrigin, String)>,
    /// Indices of the cases whose figures are wanted.
    measured: BTreeSet<usize>,
    /// Whether it belongs to a table of variants.
    pub(crate) varied: bool,
}

/// Numbers of solved fluid models, by stage and case.
pub(crate) type Solved = BTreeMap<(usize, usize), FluidNumbers>;

/// Figures that do not come from runs, by stage, case and seed.
pub(crate) type MeasuredFigures = BTreeMap<(usize, usize, u64), Figures>;

/// A measure whose terms have all been located.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) expression: Expression,
    pub(crate) places: Vec<(Term, TermCases)>,
    pub(crate) searches: Vec<Search>,
}

/// Everything to be run.
pub(crate) struct ReproductionPlan<'a> {
    source: &'a PublishedSource,
    /// The folder of the scenario files.
    folder: PathBuf,
    seeds: Option<Vec<u64>>,
    pub(crate) stages: Vec<Stage>,
}

impl<'a> ReproductionPlan<'a> {
    pub(crate) fn new(
        source: &'a PublishedSource,
        folder: &Path,
        seeds: Option<Vec<u64>>,
    ) -> ReproductionPlan<'a> {
        ReproductionPlan { source, folder: folder.to_owned(), seeds, stages: Vec::new() }
    }

    /// Locates the cases of a measure and adds them to the plan.
    ///
    /// # Errors
    /// Why the measure cannot be evaluated.
    pub(crate) fn locate(
        &mut self,
        expression: Expression,
        context: &MeasureContext<'_>,
    ) -> Result<Located, String> {
        let (mut places, mut searches) = (Vec::new(), Vec::new());
        for (term, used) in expression.terms().into_iter().filter(|(_, used)| *used != Use::Searched) {
            places.push((term.clone(), self.place(term, used == Use::Curve, context)?));
        }
        for (term, level, between) in expression.searches() {
            let axis = self.axis(term, context)?;
            searches.push(Search::new((term.clone(), axis), (level.clone(), between), context));
        }
        Ok(Located { expression, places, searches })
    }

    /// Adds a position on the axis of a search to the plan.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn look(&mut self, search: &mut Search, seed: u64, at: f64) -> Result<(), String> {
        let set = search.overrides(at);
        let place = self.place(&search.term, false, &search.context(&set, seed))?;
        let cases = place.cases.iter().map(|(_, case)| *case);
        self.stages[place.stage].wanted.extend(cases);
        search.tried.push(Tried { seed, at, place });
        Ok(())
    }

    /// The one axis that a term leaves open.
    fn axis(&mut self, term: &Term, context: &MeasureContext<'_>) -> Result<String, String> {
        let (_, cases, found) = self.found(term, context)?;
        let [axis] = differing(&cases, &found).try_into().map_err(|open: Vec<String>| {
            format!("a search needs exactly one open axis, not {}", open.len())
        })?;
        Ok(axis)
    }

    /// Adds the located cases of a measure to the plan.
    pub(crate) fn want(&mut self, located: &Located) {
        for (term, place) in &located.places {
            let stage = &mut self.stages[place.stage];
            let cases = place.cases.iter().map(|(_, case)| *case);
            match TermKind::of(term) {
                TermKind::Fluid => stage.solved.extend(cases),
                TermKind::Figure => stage.measured.extend(cases),
                TermKind::Packets => stage.wanted.extend(cases),
            }
        }
    }

    fn place(&mut self, term: &Term, open: bool, context: &MeasureContext<'_>) -> Result<TermCases, String> {
        let (stage, cases, found) = self.found(term, context)?;
        let cases = if open { curve(&cases, &found)? } else { single(&cases, &found)? };
        Ok(TermCases { stage, cases })
    }

    /// The stage of a term, its cases, and those that match the selectors.
    fn found(
        &mut self,
        term: &Term,
        context: &MeasureContext<'_>,
    ) -> Result<(usize, Vec<CaseLabels>, Vec<usize>), String> {
        let experiment = term.experiment.as_deref().unwrap_or(context.experiment);
        let stage = self.stage(experiment, context)?;
        let cases = self.stages[stage].cases.clone()?;
        let awaited = |value: &str| self.source.awaited.get(value).cloned();
        let found = chosen(&cases, &term.selectors, context.at)
            .map_err(|lost| awaited(&lost).unwrap_or_else(|| format!("{experiment} has no case `{lost}`")))?;
        Ok((stage, cases, found))
    }

    /// The stage of an experiment in this context; created if missing.
    fn stage(&mut self, experiment: &str, context: &MeasureContext<'_>) -> Result<usize, String> {
        let about =
            self.source.experiment(experiment).ok_or_else(|| format!("no experiment `{experiment}`"))?;
        if let Some(source) = about.figures.as_deref().and_then(routebricks::FigureOrigin::find) {
            return self.stage_of_figures(about, source, context);
        }
        let Some(file) = about.file.as_ref().filter(|_| about.awaited.is_none()) else {
            return Err(about.awaited.clone().unwrap_or_default());
        };
        let own = about.overrides(context.form);
        let further = context.set.iter().filter(|change| concerns(change, &own)).cloned();
        let batch = Batch {
            path: self.folder.join(file),
            set: own.iter().cloned().chain(further).collect(),
            demo: context.form == Form::Quick,
            seeds: context.seed.map_or_else(|| self.seeds.clone(), |seed| Some(vec![seed])),
            engine: about.engine.clone(),
            cases: Vec::new(),
        };
        if let Some(known) =
            self.stages.iter().position(|stage| stage.batch == batch && stage.fluid == about.fluid)
        {
            self.stages[known].varied &= context.varied;
            return Ok(known);
        }
        let cases = weft::cases(&batch).map_err(|cause| first_line(&cause.to_string()));
        let (wanted, solved, fluid) = (BTreeSet::new(), BTreeSet::new(), about.fluid.clone());
        let experiment = experiment.to_owned();
        let (figures, measured) = (None, BTreeSet::new());
        let varied = context.varied;
        self.stages.push(Stage {
            experiment,
            batch,
            cases,
            wanted,
            solved,
            fluid,
            figures,
            measured,
            varied,
        });
        Ok(self.stages.len() - 1)
    }

    /// The stage of an experiment whose figures do not come from runs.
    fn stage_of_figures(
        &mut self,
        about: &Experiment,
        source: routebricks::FigureOrigin,
        context: &MeasureContext<'_>,
    ) -> Result<usize, String> {
        if let Some(known) = self.stages.iter().position(|stage| stage.experiment == about.id) {
            return Ok(known);
        }
        let file = about.file.as_ref().map(|file| self.folder.join(file));
        let description = file.as_deref().map(std::fs::read_to_string).transpose();
        let description = description.map_err(|cause| cause.to_string())?.unwrap_or_default();
        let cases = routebricks::cases(source, &description).map_err(|cause| first_line(&cause.to_string()));
        self.stages.push(Stage {
            experiment: about.id.clone(),
            batch: Batch { path: file.unwrap_or_default(), ..Batch::default() },
            cases,
            wanted: BTreeSet::new(),
            solved: BTreeSet::new(),
            fluid: FluidSource::default(),
            figures: Some((source, description)),
            measured: BTreeSet::new(),
            varied: context.varied,
        });
        Ok(self.stages.len() - 1)
    }

    /// Measures the figures that do not come from runs, until `stop` is set; also returns what could not be measured,
    /// and whether it was stopped early.
    pub(crate) fn measure(
        &self,
        form: Form,
        (announce, stop): (&dyn Fn(&str), &AtomicBool),
    ) -> (MeasuredFigures, Vec<String>, bool) {
        let (mut found, mut failures) = (MeasuredFigures::new(), Vec::new());
        let stopped = || stop.load(Ordering::Relaxed);
        let ended = || Error::Failed("stopped".to_owned());
        let progress = |what: &str| (!stopped()).then(|| announce(what)).ok_or_else(ended);
        for (number, stage) in self.stages.iter().enumerate() {
            let Some((source, description)) = stage.figures.as_ref().filter(|_| !stage.measured.is_empty())
            else {
                continue;
            };
            let seeds = match &self.seeds {
                _ if !source.is_random() => vec![0],
                Some(seeds) => seeds.clone(),
                None => (1..=if form == Form::Quick { 2 } else { SEEDS }).collect(),
            };
            let passes = if form == Form::Quick { 1 } else { PASSES };
            for seed in seeds {
                let (source, cases) = (*source, &stage.measured);
                let request = FigureRequest { source, description, cases, seed, passes, progress: &progress };
                match routebricks::figures(&request) {
                    Ok(figures) => {
                        found.extend(
                            figures.into_iter().map(|(case, figures)| ((number, case, seed), figures)),
                        );
                    }
                    Err(_) if stopped() => return (found, failures, true),
                    Err(cause) => failures.push(format!("{}: {cause}", stage.experiment)),
                }
            }
        }
        (found, failures, false)
    }

    /// The batches to run, by stage.
    pub(crate) fn batches(&self) -> Vec<Batch> {
        let batch = |stage: &Stage| {
            let all = stage.cases.as_deref().unwrap_or_default();
            Batch {
                cases: stage.wanted.iter().map(|case| all[*case].clone()).collect(),
                ..stage.batch.clone()
            }
        };
        self.stages.iter().map(batch).collect()
    }

    /// Solves the fluid models that measures need, `jobs` in parallel: returns numbers by stage and case, and what
    /// could not be solved. A fluid model has no reduced form.
    pub(crate) fn solve(&self, jobs: usize) -> (Solved, Vec<String>) {
        let of = |(number, stage): (usize, &Stage)| {
            stage.solved.iter().map(move |case| (number, *case)).collect::<Vec<_>>()
        };
        let asked: Vec<(usize, usize)> = self.stages.iter().enumerate().flat_map(of).collect();
        let each = asked.len().div_ceil(jobs.max(1)).max(1);
        let found: Vec<Result<FluidNumbers, String>> = std::thread::scope(|scope| {
            let part = |asked: &[(usize, usize)]| {
                asked.iter().map(|(stage, case)| self.stages[*stage].solve(*case)).collect::<Vec<_>>()
            };
            let parts: Vec<_> = asked.chunks(each).map(|asked| scope.spawn(move || part(asked))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        });
        let (mut solved, mut failures) = (Solved::new(), Vec::new());
        for (place, found) in asked.into_iter().zip(found) {
            match found {
                Ok(numbers) => drop(solved.insert(place, numbers)),
                Err(why) => failures.push(why),
            }
        }
        (solved, failures)
    }

    /// The labels of a case.
    pub(crate) fn labels(&self, stage: usize, case: usize) -> Option<&CaseLabels> {
        self.stages[stage].cases.as_ref().ok()?.get(case)
    }
}

impl Stage {
    fn solve(&self, case: usize) -> Result<FluidNumbers, String> {
        let options = FluidOptions {
            set: self.batch.set.clone(),
            flows: self.fluid.flows,
            delay: self.fluid.delay.clone(),
            continued: self.fluid.continue_ramp,
            jitter: FluidJitter {
                within: self.fluid.jitter_in.clone(),
                every: self.fluid.jitter_every.clone(),
            },
            ..FluidOptions::default()
        };
        let found = weft::fluid_numbers(&self.batch.path, &options, &[case]);
        let found = found.map_err(|cause| format!("{}: {cause}", self.experiment))?;
        found.into_iter().next().ok_or_else(|| format!("{} has no such case", self.experiment))
    }
}

/// Whether an override applies to an experiment with the overrides `own`: `balance.drill.score=…` and `sweep.balance=…` do not if
/// the experiment sets `balance=presto`.
fn concerns(change: &str, own: &[String]) -> bool {
    let path = change.split_once('=').map_or(change, |(path, _)| path);
    let other = |(family, member): (&str, &str)| {
        let below = path.strip_prefix(family).and_then(|rest| rest.strip_prefix('.'));
        path.strip_prefix("sweep.") == Some(family)
            || below.is_some_and(|rest| rest.split('.').next() != Some(member))
    };
    !own.iter().filter_map(|set| set.split_once('=')).any(other)
}

/// The message of a rejected scenario, without the drawing around it.
fn first_line(message: &str) -> String {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("the scenario cannot be read: {}", line.trim().trim_start_matches("error: "))
}

/// Indices of the cases that match the selectors, or the value that no case has. The term's own selectors override
/// shared ones for the same axis.
fn chosen(cases: &[CaseLabels], own: &[Selector], shared: &str) -> Result<Vec<usize>, String> {
    let shared = if shared.is_empty() { Vec::new() } else { selectors(shared).unwrap_or_default() };
    let mut wanted: BTreeMap<usize, &Selector> = BTreeMap::new();
    for (selector, own) in own.iter().map(|one| (one, true)).chain(shared.iter().map(|one| (one, false))) {
        let axis = axis_of(cases, selector).ok_or_else(|| selector.value().to_owned())?;
        if own || !wanted.contains_key(&axis) {
            wanted.insert(axis, selector);
        }
    }
    let agrees = |labels: &CaseLabels| {
        let label = |axis: usize| labels.get(axis).map_or(("", ""), |(path, value)| (path, value));
        wanted.iter().all(|(axis, selector)| selector.picks(label(*axis).0, label(*axis).1))
    };
    Ok((0..cases.len()).filter(|case| agrees(&cases[*case])).collect())
}

/// The axis on which some case has the selector's value.
fn axis_of(cases: &[CaseLabels], selector: &Selector) -> Option<usize> {
    let has = |axis: usize| cases.iter().any(|labels| selector.picks(&labels[axis].0, &labels[axis].1));
    (0..cases.first().map_or(0, Vec::len)).find(|axis| has(*axis))
}

fn single(cases: &[CaseLabels], found: &[usize]) -> Result<Vec<(f64, usize)>, String> {
    match found {
        [one] => Ok(vec![(0.0, *one)]),
        [] => Err("no case agrees with all selectors".to_owned()),
        several => Err(format!("the measure leaves open: {}", differing(cases, several).join(", "))),
    }
}

/// The cases along the one numeric axis left open, in its order.
fn curve(cases: &[CaseLabels], found: &[usize]) -> Result<Vec<(f64, usize)>, String> {
    let [axis] = differing(cases, found)
        .try_into()
        .map_err(|open: Vec<String>| format!("`reach` needs exactly one open axis, not {}", open.len()))?;
    let value = |case: usize| cases[case].iter().find(|(path, _)| *path == axis)?.1.parse::<f64>().ok();
    let mut along = found
        .iter()
        .map(|case| Some((value(*case)?, *case)))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("`reach` needs numbers on the open axis, and {axis} has others"))?;
    along.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(along)
}

/// The axes on which these cases differ.
fn differing(cases: &[CaseLabels], among: &[usize]) -> Vec<String> {
    let Some(first) = among.first().map(|case| &cases[*case]) else { return Vec::new() };
    let differs = |axis: &usize| among.iter().any(|case| cases[*case][*axis].1 != first[*axis].1);
    (0..first.len()).filter(differs).map(|axis| first[axis].0.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<CaseLabels> {
        let mut cases = Vec::new();
        for balance in ["ecmp", "drill choices=1 memory=2"] {
            for load in ["0.3", "0.8"] {
                cases.push(vec![
                    ("balance".to_owned(), balance.to_owned()),
                    ("traffic.trace.load".to_owned(), load.to_owned()),
                ]);
            }
        }
        cases
    }

    fn find(own: &str, at: &str) -> Result<Vec<usize>, String> {
        let own = if own.is_empty() { Vec::new() } else { selectors(own).unwrap() };
        chosen(&cases(), &own, at)
    }

    #[test]
    fn selectors_pick_a_case_by_word_path_and_number() {
        assert_eq!(find("ecmp, load = 0.80", ""), Ok(vec![1]));
        assert_eq!(find("drill choices=1 memory=2", "load = 0.3"), Ok(vec![2]));
        assert_eq!(find("ecmp, load = 0.3", "load = 0.8"), Ok(vec![0]));
    }

    #[test]
    fn a_value_that_no_case_has_is_named() {
        assert_eq!(find("conga", "load = 0.8"), Err("conga".to_owned()));
        assert_eq!(find("ecmp", "load = 0.5"), Err("0.5".to_owned()));
    }

    #[test]
    fn settings_of_a_member_concern_no_experiment_of_another() {
        let own = ["balance=presto".to_owned(), "transport.cubic.gro=true".to_owned()];
        assert!(!concerns("balance.drill.score=own-pair", &own));
        assert!(concerns("balance.presto.cell=64 KiB", &own) && concerns("transport.cubic.gro=false", &own));
        assert!(concerns("balance.drill.score=own-pair", &own[1..]));
    }

    #[test]
    fn one_case_or_a_curve() {
        let cases = cases();
        let open = find("ecmp", "").unwrap();
        assert!(single(&cases, &open).is_err_and(|why| why.contains("traffic.trace.load")));
        assert_eq!(curve(&cases, &open), Ok(vec![(0.3, 0), (0.8, 1)]));
        assert!(curve(&cases, &[0]).is_err());
    }
}
