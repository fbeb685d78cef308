//! Computes the values of measures from runs, seed by seed. Must not depend on bands.

use std::collections::{BTreeMap, BTreeSet};

use weft_expression::Term;
use weft_report::Run;

use crate::context::{TermCases, TermKind};
use crate::finding::{SeedValues, Size};
use crate::plan::{Located, MeasuredFigures, ReproductionPlan, Solved};
use crate::search::{Search, Tried};

/// The runs of all stages, by case and seed.
pub(crate) struct Runs {
    stages: Vec<BTreeMap<(usize, u64), Run>>,
    solved: Solved,
    measured: MeasuredFigures,
}

impl Runs {
    /// Sorts the runs of each batch.
    pub(crate) fn new(
        plan: &ReproductionPlan<'_>,
        (runs, solved, measured): (Vec<Vec<Run>>, Solved, MeasuredFigures),
    ) -> Runs {
        let stage = |(stage, runs): (usize, Vec<Run>)| {
            let case = |run: &Run| {
                (0..)
                    .map_while(|case| plan.labels(stage, case))
                    .position(|labels| *labels == run.manifest.labels)
            };
            let keyed = |run: Run| Some(((case(&run)?, run.manifest.seed), run));
            runs.into_iter().filter_map(keyed).collect()
        };
        Runs { stages: runs.into_iter().enumerate().map(stage).collect(), solved, measured }
    }

    /// The runs of a stage, by case and seed.
    pub(crate) fn of_stage(&self, stage: usize) -> impl Iterator<Item = &Run> {
        self.stages[stage].values()
    }

    /// The values of a measure: one for every seed that all its cases have.
    pub(crate) fn values(&self, located: &Located) -> SeedValues {
        let ratio = located.expression.is_ratio();
        let mut values = SeedValues { ratio, ..SeedValues::default() };
        for seed in self.seeds(located) {
            let one = OneSeed { runs: self, located, seed };
            if let Some(value) = located.expression.value(&one) {
                values.seeds.push(seed);
                values.values.push(value);
            }
        }
        values
    }

    /// Why a figure of a measure is missing, if a source says so.
    pub(crate) fn why_missing(&self, located: &Located) -> Option<String> {
        let why = |(term, place): &(Term, TermCases)| {
            let of_stage = self.measured.iter().filter(|((stage, ..), _)| *stage == place.stage);
            of_stage.filter_map(|(_, figures)| figures.why_missing(&term.metric)).next().map(str::to_owned)
        };
        located.places.iter().find_map(why)
    }

    /// The next positions of the searches of a measure: number of the search, seed, position.
    pub(crate) fn wanted(&self, located: &Located) -> Vec<(usize, u64, f64)> {
        let mut wanted = Vec::new();
        for seed in self.seeds(located) {
            let one = OneSeed { runs: self, located, seed };
            for (number, search) in located.searches.iter().enumerate() {
                let next = search.next(seed, &one.tried(search), search.level.value(&one));
                wanted.extend(next.into_iter().map(|at| (number, seed, at)));
            }
        }
        wanted
    }

    /// The seeds that all fixed cases of a measure have. Fluid models have no seeds: a measure of fluid models alone
    /// has one value.
    fn seeds(&self, located: &Located) -> Vec<u64> {
        let packets = places(located, TermKind::Packets).map(|place| {
            let here = |(at, _): &&(usize, u64)| *at == place.1;
            self.stages[place.0].keys().filter(here).map(|(_, seed)| *seed).collect::<BTreeSet<u64>>()
        });
        let figures = places(located, TermKind::Figure).map(|(stage, case)| {
            let here = (stage, case, 0)..=(stage, case, u64::MAX);
            self.measured.range(here).map(|((.., seed), _)| *seed).collect()
        });
        let mut all = packets.chain(figures).peekable();
        if all.peek().is_none() {
            return vec![0];
        }
        let mut common: Option<BTreeSet<u64>> = None;
        for seeds in all {
            common = Some(match common {
                None => seeds,
                Some(known) => known.intersection(&seeds).copied().collect(),
            });
        }
        common.unwrap_or_default().into_iter().collect()
    }

    /// The amount of simulation behind these measures; a run used by several measures counts once.
    pub(crate) fn size(&self, measures: &[Located]) -> Size {
        let places: BTreeSet<(usize, usize)> = measures.iter().flat_map(cases).collect();
        let mut size = Size::default();
        for (stage, case) in places {
            for (_, run) in self.stages[stage].iter().filter(|((at, _), _)| *at == case) {
                size.runs += 1;
                size.flows += run.summary.flows.started;
                size.unfinished += run.summary.flows.unfinished;
                size.simulated_s += run.summary.simulated_s;
            }
        }
        let measured: BTreeSet<(usize, usize)> = measures.iter().flat_map(figures).collect();
        let seeds = |(stage, case)| self.measured.range((stage, case, 0)..=(stage, case, u64::MAX)).count();
        size.measured = measured.into_iter().map(seeds).sum::<usize>() as u64;
        size.solved = measures.iter().flat_map(solved).collect::<BTreeSet<_>>().len() as u64;
        size.few = measures.iter().any(|located| self.is_few(located));
        size
    }

    /// The program that computed these runs, from their manifests: `0.1.0 3dca5ce`; several if it was changed in
    /// between.
    pub(crate) fn program(&self, measures: &[Located]) -> String {
        let places: BTreeSet<(usize, usize)> = measures.iter().flat_map(cases).collect();
        let of = |(stage, case): (usize, usize)| {
            let runs = self.stages[stage].iter().filter(move |((at, _), _)| *at == case);
            runs.map(|(_, run)| {
                format!("{} {}", run.manifest.version, run.manifest.commit).trim_end().to_owned()
            })
        };
        let other =
            |located: &Located| solved(located).chain(figures(located)).collect::<Vec<(usize, usize)>>();
        let solved = measures.iter().flat_map(other).next().map(|_| weft::program());
        let programs: BTreeSet<String> = places.into_iter().flat_map(of).chain(solved).collect();
        programs.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Whether a measure uses a percentile with few flows beyond it.
    fn is_few(&self, located: &Located) -> bool {
        let few = |(term, place): &(Term, TermCases)| {
            let Some(percentile) = term.metric.strip_prefix("fct.") else { return false };
            let here = |(_, case): &(f64, usize)| {
                let mut runs = self.stages[place.stage].iter().filter(|((at, _), _)| at == case);
                runs.any(|(_, run)| {
                    run.summary.fct_us.all.few_samples_beyond.iter().any(|name| name == percentile)
                })
            };
            place.cases.iter().any(here)
        };
        located.places.iter().any(few)
    }
}

/// Stage and index of every case of a measure that is run as packets.
fn cases(located: &Located) -> impl Iterator<Item = (usize, usize)> {
    let tried = located.searches.iter().flat_map(|search| &search.tried);
    let tried = tried.flat_map(|one| one.place.cases.iter().map(|(_, case)| (one.place.stage, *case)));
    places(located, TermKind::Packets).chain(tried)
}

/// Stage and index of every case of a measure that is solved as a fluid model.
fn solved(located: &Located) -> impl Iterator<Item = (usize, usize)> {
    places(located, TermKind::Fluid)
}

/// Stage and index of every case of a measure whose figures do not come from runs.
fn figures(located: &Located) -> impl Iterator<Item = (usize, usize)> {
    places(located, TermKind::Figure)
}

fn places(located: &Located, kind: TermKind) -> impl Iterator<Item = (usize, usize)> {
    let of = |(_, place): &(Term, TermCases)| {
        let stage = place.stage;
        place.cases.iter().map(move |(_, case)| (stage, *case)).collect::<Vec<_>>()
    };
    located.places.iter().filter(move |(term, _)| TermKind::of(term) == kind).flat_map(of)
}

/// The values of one seed.
struct OneSeed<'a> {
    runs: &'a Runs,
    located: &'a Located,
    seed: u64,
}

impl OneSeed<'_> {
    /// The values at the positions that a search has tried, in the order of the axis.
    fn tried(&self, search: &Search) -> Vec<(f64, f64)> {
        let value = |tried: &Tried| {
            let (_, case) = tried.place.cases.first()?;
            let run = self.runs.stages[tried.place.stage].get(&(*case, self.seed))?;
            Some((tried.at, run.summary.metric(&search.term.metric)?))
        };
        let of_seed = search.tried.iter().filter(|tried| tried.seed == self.seed);
        let mut points: Vec<(f64, f64)> = of_seed.filter_map(value).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    fn along(&self, term: &Term) -> Option<Vec<(f64, f64)>> {
        let (_, place) = self.located.places.iter().find(|(known, _)| known == term)?;
        let value = |(at, case): &(f64, usize)| {
            match TermKind::of(term) {
                TermKind::Fluid => {
                    let numbers = self.runs.solved.get(&(place.stage, *case))?;
                    return Some((*at, *numbers.get(term.metric.as_str())?));
                }
                TermKind::Figure => {
                    // Closed forms and the machine have no seeds: one value serves all.
                    let measured = &self.runs.measured;
                    let figures = measured
                        .get(&(place.stage, *case, self.seed))
                        .or_else(|| measured.get(&(place.stage, *case, 0)))?;
                    return Some((*at, figures.get(&term.metric)?));
                }
                TermKind::Packets => {}
            }
            let run = self.runs.stages[place.stage].get(&(*case, self.seed))?;
            Some((*at, run.summary.metric(&term.metric)?))
        };
        place.cases.iter().map(value).collect()
    }
}

impl weft_expression::Values for OneSeed<'_> {
    fn value(&self, term: &Term) -> Option<f64> {
        self.along(term)?.first().map(|(_, value)| *value)
    }

    fn curve(&self, term: &Term) -> Option<Vec<(f64, f64)>> {
        let search = self.located.searches.iter().find(|search| search.term == *term);
        search.map_or_else(|| self.along(term), |search| Some(self.tried(search)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_bench::routebricks::Figures;

    #[test]
    fn a_source_says_why_a_figure_is_missing() {
        let mut figures = Figures::default();
        figures.note("server.route_per_forward".to_owned(), Err("the cores are busy".to_owned()));
        figures.note("server.sealed_per_route".to_owned(), Ok(0.2));
        let runs = Runs {
            stages: vec![BTreeMap::new()],
            solved: Solved::new(),
            measured: [((0, 0, 0), figures)].into(),
        };
        let found = |measure: &str| {
            let expression = crate::source::read(measure);
            let place = TermCases { stage: 0, cases: vec![(0.0, 0)] };
            let places =
                expression.terms().into_iter().map(|(term, _)| (term.clone(), place.clone())).collect();
            let located = Located { expression, places, searches: Vec::new() };
            (runs.values(&located).values, runs.why_missing(&located))
        };
        let busy = Some("the cores are busy".to_owned());
        assert_eq!(found("server.sealed_per_route"), (vec![0.2], None));
        assert_eq!(found("server.sealed_per_route / server.route_per_forward"), (vec![], busy));
    }
}
