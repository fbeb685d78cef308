//! All figures of a call of [`crate::bench()`], and how they have changed since an earlier call. Must not depend on
//! scenarios.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weft::Error;

use crate::count::LoopCounts;
use crate::fluid::FluidTimes;
use crate::memory::MemoryCosts;
use crate::pass::Pass;

/// All figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchResults {
    /// Version of the program.
    pub weft: String,
    /// The yardstick.
    pub bound: CaseResult,
    /// Bytes of single objects; measured unless cases are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryCosts>,
    /// The cost of fluid models; measured unless cases are named or only counts are requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fluid: Option<FluidTimes>,
    /// The cases, in the order in which they were run.
    pub cases: Vec<CaseResult>,
    /// Why a figure is missing.
    #[serde(skip)]
    pub note: Option<String>,
}

/// The figures of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// Its name; empty for the bound loop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Figures of the reduced form that do not depend on the machine's speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedCosts>,
    /// Figures of the full form that do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
}

/// Counts of the reduced form: they depend on compiler and processor type, not on the machine's speed or load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedCosts {
    /// Instructions per packet-hop, the loop only.
    pub instructions_per_hop: f64,
    /// Misses of a first-level data cache of 32 kB per packet-hop, the loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses_per_hop: Option<f64>,
    /// Events handled.
    pub events: u64,
    /// Link traversals.
    pub packet_hops: u64,
    /// Allocations in the loop.
    pub allocations: u64,
}

/// Times and sizes of the full form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Passes.
    pub passes: usize,
    /// Nanoseconds per packet-hop of the fastest pass.
    pub best_ns_per_hop: f64,
    /// Nanoseconds per packet-hop of the median pass.
    pub median_ns_per_hop: f64,
    /// The best time divided by that of the bound loop, which is run between the passes.
    pub times_bound: f64,
    /// The figures of the fastest pass.
    pub best: Pass,
}

impl CountedCosts {
    /// From the counts of a loop and its pass.
    #[must_use]
    pub(crate) fn new(counts: LoopCounts, misses: bool, pass: &Pass) -> CountedCosts {
        let per_hop = |count: u64| (count as f64 / pass.packet_hops.max(1) as f64 * 10.0).round() / 10.0;
        CountedCosts {
            instructions_per_hop: per_hop(counts.instructions),
            misses_per_hop: misses.then(|| per_hop(counts.misses)),
            events: pass.events,
            packet_hops: pass.packet_hops,
            allocations: pass.allocations,
        }
    }
}

impl Timed {
    /// From the passes of a case and the passes of the bound loop between them; `None` without passes.
    #[must_use]
    pub fn of(passes: &[Pass], bound: &[Pass]) -> Option<Timed> {
        let by_time = |passes: &[Pass]| {
            let mut sorted = passes.to_vec();
            sorted.sort_by(|a, b| a.ns_per_hop().total_cmp(&b.ns_per_hop()));
            sorted
        };
        let (sorted, bound) = (by_time(passes), by_time(bound));
        let best = *sorted.first()?;
        Some(Timed {
            passes: sorted.len(),
            best_ns_per_hop: best.ns_per_hop(),
            median_ns_per_hop: sorted[sorted.len() / 2].ns_per_hop(),
            times_bound: best.ns_per_hop() / bound.first()?.ns_per_hop(),
            best,
        })
    }
}

/// The relative growth of a count that is tolerated.
pub(crate) const TOLERANCE: f64 = 0.03;
/// The additional allocations in a loop that are always tolerated: buffers that grow.
const FEW: u64 = 16;

impl BenchResults {
    /// Parses the JSON of an earlier call.
    ///
    /// # Errors
    /// [`Error::BadInput`] if it is anything else.
    pub fn read(name: &str, text: &str) -> Result<BenchResults, Error> {
        read(name, text, "weft bench --json")
    }

    /// The figures as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("figures have a text form")
    }

    /// One sentence for every count that has grown by more than 3 % since `before`. Cases that only one of the two has
    /// are not compared.
    #[must_use]
    pub fn worse_than(&self, before: &BenchResults) -> Vec<String> {
        let mut worse = Vec::new();
        for case in &self.cases {
            let earlier = before.cases.iter().find(|earlier| earlier.name == case.name);
            if let (Some(now), Some(then)) = (case.counted, earlier.and_then(|earlier| earlier.counted)) {
                worse.extend(now.worse_than(&then).map(|what| format!("{}: {what}", case.name)));
            }
        }
        worse
    }

    /// The number of cases for which both calls have counts.
    #[must_use]
    pub fn compared_with(&self, before: &BenchResults) -> usize {
        let counted = |results: &BenchResults, name: &str| {
            results.cases.iter().any(|case| case.name == name && case.counted.is_some())
        };
        self.cases.iter().filter(|case| case.counted.is_some() && counted(before, &case.name)).count()
    }
}

/// Parses the JSON that a command printed earlier.
pub(crate) fn read<T: DeserializeOwned>(name: &str, text: &str, command: &str) -> Result<T, Error> {
    serde_json::from_str(text)
        .map_err(|cause| Error::BadInput(format!("{name} is not the output of `{command}`: {cause}")))
}

impl CountedCosts {
    fn worse_than(&self, then: &CountedCosts) -> impl Iterator<Item = String> {
        let (now, before) = (self.instructions_per_hop, then.instructions_per_hop);
        let grown = |now: f64, before: f64| (now / before - 1.0) * 100.0;
        let instructions = (now > before * (1.0 + TOLERANCE)).then(|| {
            format!("{now} instructions per packet-hop, before {before} (+{:.1} %)", grown(now, before))
        });
        let allowed = (then.allocations as f64 * (1.0 + TOLERANCE)) as u64;
        let allocations = (self.allocations > allowed.max(then.allocations + FEW))
            .then(|| format!("{} allocations in the loop, before {}", self.allocations, then.allocations));
        instructions.into_iter().chain(allocations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(instructions_per_hop: f64, allocations: u64) -> BenchResults {
        let counted = CountedCosts {
            instructions_per_hop,
            misses_per_hop: None,
            events: 20,
            packet_hops: 10,
            allocations,
        };
        let case = CaseResult { name: "r1".to_owned(), counted: Some(counted), timed: None };
        BenchResults { cases: vec![case], ..BenchResults::default() }
    }

    #[test]
    fn growth_beyond_three_per_cent_is_named_with_before_and_after() {
        let before = results(700.0, 1000);
        assert_eq!(results(720.0, 1030).worse_than(&before), [""; 0]);
        assert_eq!(
            results(722.0, 1031).worse_than(&before),
            [
                "r1: 722 instructions per packet-hop, before 700 (+3.1 %)",
                "r1: 1031 allocations in the loop, before 1000"
            ]
        );
        assert_eq!(results(500.0, 0).worse_than(&before), [""; 0]);
    }

    #[test]
    fn a_few_more_allocations_are_no_news() {
        assert_eq!(results(700.0, 16).worse_than(&results(700.0, 0)), [""; 0]);
        assert_eq!(results(700.0, 17).worse_than(&results(700.0, 0)).len(), 1);
    }

    #[test]
    fn cases_of_one_side_only_are_not_compared() {
        let other = BenchResults { cases: Vec::new(), ..results(700.0, 0) };
        assert_eq!(
            (results(900.0, 0).worse_than(&other).len(), results(1.0, 1).compared_with(&other)),
            (0, 0)
        );
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let before = results(700.0, 1000);
        assert_eq!(BenchResults::read("x", &before.json()), Ok(before));
        let error = BenchResults::read("x.json", "[]").expect_err("not results").to_string();
        assert!(error.starts_with("x.json is not the output of `weft bench --json`"), "{error}");
    }

    #[test]
    fn times_are_those_of_the_fastest_and_the_middle_pass() {
        let pass = |seconds: f64| Pass { packet_hops: 1_000_000_000, seconds, ..Pass::default() };
        let timed = Timed::of(&[pass(9.0), pass(4.0), pass(5.0)], &[pass(3.0), pass(2.0)]).expect("passes");
        assert_eq!((timed.best_ns_per_hop, timed.median_ns_per_hop, timed.times_bound), (4.0, 5.0, 2.0));
        assert_eq!(Timed::of(&[], &[pass(1.0)]), None);
    }
}
