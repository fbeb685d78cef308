//! The cost of a simulation: the cases of `weft bench`, how they are measured, and a comparison with other simulators.
//!
//! In reading order: [`cases`] (what is run), [`pass`] (one pass of a case), [`bound`] (the yardstick), `count`
//! (instructions), `memory` (bytes of a flow, a host, a port), `fluid` (runs and maps of equations), [`results`] (all
//! figures, and the comparison with an earlier call), [`peers`] (the page about other simulators), [`router`]
//! (packets per second of the router). It does not change what it measures, and must not depend on the parts of a
//! simulation.

pub mod bound;
pub mod cases;
mod clock;
mod count;
mod crew;
mod fluid;
pub mod heap;
mod memory;
pub mod pass;
pub mod peers;
pub mod results;
pub mod routebricks;
pub mod router;
mod sealing;
mod table;

use std::path::PathBuf;

use weft::{Error, Prepared};

use cases::BenchCase;
use pass::Pass;
use results::{BenchResults, CaseResult, CountedCosts, Timed};

/// The options of [`bench()`].
pub struct BenchOptions {
    /// Cases to run; none: the standard ones.
    pub names: Vec<String>,
    /// Whether to run all cases, including the large ones.
    pub all: bool,
    /// Passes of each case; at least 1.
    pub repeat: usize,
    /// Threads per run; counting always uses one.
    pub threads: usize,
    /// Whether to count only: instructions and allocations of the reduced forms, which are small for all cases.
    pub count: bool,
    /// The folder of the scenarios.
    pub from: PathBuf,
    /// Called with the name of what is being measured.
    pub progress: fn(&str),
}

/// Measures the chosen cases.
///
/// # Errors
/// [`Error::BadInput`] for an unknown name, for missing scenarios, and if counting is requested and valgrind is
/// missing; [`Error::Failed`] if a count fails.
pub fn bench(options: &BenchOptions) -> Result<BenchResults, Error> {
    let chosen = cases::chosen(&options.names, options.all, options.count)?;
    let counting = count::available();
    if options.count {
        counting.clone()?;
    }
    let bench = Bench { options, yardstick: options.prepared(&cases::CASES[0], false)? };
    let mut results = BenchResults { weft: env!("CARGO_PKG_VERSION").to_owned(), ..BenchResults::default() };
    if counting.is_ok() {
        results.bound.counted = Some(bench.counted(count::BOUND, true)?);
    }
    let mut bound = Vec::new();
    for case in &chosen {
        let counts = case.counts && counting.is_ok();
        let counted = counts.then(|| bench.counted(case.name, case.misses)).transpose()?;
        let timed = (!options.count).then(|| bench.timed(case, &mut bound)).transpose()?;
        results.cases.push(CaseResult { name: case.name.to_owned(), counted, timed });
    }
    results.bound.timed = Timed::of(&bound, &bound);
    results.note = counting.err().map(|error| error.to_string());
    if options.names.is_empty() {
        (options.progress)("memory");
        results.memory = Some(memory::measure(&options.from)?);
        if !options.count {
            (options.progress)("fluid");
            results.fluid = Some(fluid::measure(&options.from)?);
        }
    }
    Ok(results)
}

/// One pass of the reduced form of a case, or of the bound loop, to be run under callgrind. Returns JSON.
///
/// # Errors
/// As [`bench()`].
pub fn one_pass(name: &str, from: &std::path::Path) -> Result<String, Error> {
    if let Some(case) = name.strip_prefix("router/") {
        return router::one_pass(case);
    }
    let pass = if name == count::BOUND {
        pass::run_bound(&cases::load(from, &cases::CASES[0], true, &["measure.flows=60".to_owned()])?)?
    } else {
        let case = cases::chosen(&[name.to_owned()], false, false)?[0];
        pass::run(&cases::load(from, &case, true, &[])?, 1)?
    };
    serde_json::to_string(&pass).map_err(|cause| Error::Failed(cause.to_string()))
}

/// A call of [`bench()`].
struct Bench<'a> {
    options: &'a BenchOptions,
    /// The case that the bound loop carries.
    yardstick: Prepared,
}

impl BenchOptions {
    fn prepared(&self, case: &BenchCase, small: bool) -> Result<Prepared, Error> {
        cases::load(&self.from, case, small, &[])
    }
}

impl Bench<'_> {
    fn counted(&self, name: &str, misses: bool) -> Result<CountedCosts, Error> {
        (self.options.progress)(&format!("{name}: counting instructions"));
        let (counts, pass) = count::count(name, &self.options.from, misses)?;
        Ok(CountedCosts::new(counts, misses, &pass))
    }

    /// Passes of a case, each followed by one of the bound loop, so that a busy machine slows both down.
    fn timed(&self, case: &BenchCase, bound: &mut Vec<Pass>) -> Result<Timed, Error> {
        let prepared = self.options.prepared(case, false)?;
        let first = bound.len();
        let mut passes = Vec::with_capacity(self.options.repeat);
        let count = self.options.repeat.min(case.passes);
        for number in 1..=count {
            (self.options.progress)(&format!("{}: pass {number} of {count}", case.name));
            passes.push(pass::run(&prepared, self.options.threads)?);
            bound.push(pass::run_bound(&self.yardstick)?);
        }
        Ok(Timed::of(&passes, &bound[first..]).expect("there is at least one pass"))
    }
}
