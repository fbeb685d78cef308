//! Thresholds of PIAS tried in a scenario. All trials use the same seeds, and the same flows are measured as in a run of
//! the scenario. Must not depend on the objective, which only provides a start.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use weft::{Error, PACKETS, Prepared, prepare};
use weft_core::Bytes;
use weft_core::record::RunRecord;
use weft_core::settings::{Setting as _, Value};
use weft_transport::TransportSettings;
use weft_workload::{PatternSettings, SizeDistribution};

use crate::case;
use crate::demand::FlowDemand;
use crate::search::{BestFound, SearchOptions, ThresholdCost, search};

/// The simulations.
#[derive(Clone, Debug)]
pub struct PiasTrials {
    /// The scenario, whose transport tags by PIAS.
    pub scenario: PathBuf,
    /// The case of its sweep.
    pub case: Option<String>,
    /// Overrides `path=value`.
    pub set: Vec<String>,
    /// Whether to run its reduced form.
    pub demo: bool,
    /// The seeds of each trial.
    pub seeds: Vec<u64>,
    /// The limits of the search.
    pub search: SearchOptions,
}

/// Simulated results. Costs are mean completion times in seconds of measured flows; an unfinished flow counts with its
/// age at the end of the run, which underestimates its completion time.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The scenario's own thresholds, and their cost.
    pub own: (Vec<Bytes>, f64),
    /// The cost of the advised thresholds for the first load; `None` if there are none.
    pub of_advice: Option<f64>,
    /// The result of the search, which starts from the better of the two.
    pub found: BestFound,
    /// Measured flows unfinished in the best trial, over all seeds.
    pub unfinished: u64,
    /// Measured flows of the best trial.
    pub flows: u64,
    /// How the scenario differs from the requested flows and loads.
    pub remarks: Vec<String>,
}

/// Mean completion time and unfinished flows of a trial.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    seconds: f64,
    flows: u64,
    unfinished: u64,
}

impl Trial {
    /// The measured flows of a run.
    fn of(record: &RunRecord) -> Trial {
        let measured = record.flows.iter().filter(|flow| flow.start >= record.warm_up);
        measured.fold(Trial::default(), |sum, flow| {
            let seconds = flow.end.unwrap_or(record.ended).since(flow.start).seconds();
            sum.and(Trial { seconds, flows: 1, unfinished: u64::from(flow.end.is_none()) })
        })
    }

    fn and(self, other: Trial) -> Trial {
        Trial {
            seconds: self.seconds + other.seconds,
            flows: self.flows + other.flows,
            unfinished: self.unfinished + other.unfinished,
        }
    }

    fn mean(self) -> f64 {
        self.seconds / self.flows.max(1) as f64
    }
}

/// A case, and the results of its trials.
struct TrialRuns<'a> {
    base: Prepared,
    seeds: &'a [u64],
    known: BTreeMap<Vec<Bytes>, Trial>,
    progress: &'a mut dyn FnMut(&str),
}

impl TrialRuns<'_> {
    /// The case with other thresholds.
    ///
    /// # Errors
    /// [`Error::BadInput`] if `weft check` would refuse them.
    fn with(&self, thresholds: &[Bytes]) -> Result<Prepared, Error> {
        self.base.with_transport(tagged(&self.base.settings.transport, thresholds))
    }
}

/// Runs these seeds in parallel.
fn together(case: &Prepared, seeds: &[u64]) -> Result<Vec<Trial>, Error> {
    let setups = seeds.iter().map(|seed| case.setup(*seed)).collect::<Result<Vec<_>, _>>()?;
    let one = |setup| Trial::of(&PACKETS.run_keeping_flows(setup, &mut |_| true));
    Ok(thread::scope(|scope| {
        let runs: Vec<_> = setups.into_iter().map(|setup| scope.spawn(move || one(setup))).collect();
        runs.into_iter().map(|run| run.join().expect("a simulation does not panic")).collect()
    }))
}

impl ThresholdCost<Error> for TrialRuns<'_> {
    fn allows(&self, thresholds: &[Bytes]) -> bool {
        self.with(thresholds).is_ok()
    }

    /// As many seeds at a time as there are cores.
    fn cost(&mut self, thresholds: &[Bytes]) -> Result<f64, Error> {
        let case = self.with(thresholds)?;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let mut trial = Trial::default();
        for seeds in self.seeds.chunks(cores) {
            trial = together(&case, seeds)?.into_iter().fold(trial, Trial::and);
        }
        if trial.flows == 0 {
            return Err(Error::BadInput("no flow of the scenario is measured: see [measure]".to_owned()));
        }
        self.known.insert(thresholds.to_owned(), trial);
        let (number, mean) = (self.known.len(), weft_draw::text::duration(trial.mean() * 1e6));
        let listed = thresholds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        (self.progress)(&format!("trial {number}: {mean} mean, {listed}"));
        Ok(trial.mean())
    }
}

/// Searches for thresholds of a scenario, from its own and from those advised for some flows.
///
/// # Errors
/// [`Error::BadInput`]: the scenario cannot be used, or does not have this number of thresholds.
pub(crate) fn simulate(
    trials: &PiasTrials,
    (demand, advised): (&FlowDemand<'_>, &[Bytes]),
    progress: &mut dyn FnMut(&str),
) -> Result<Simulated, Error> {
    let base = case_of(trials)?;
    let wrong = |text: &str| Error::BadInput(format!("{}: {text}", trials.scenario.display()));
    let own = base.settings.transport.tcp().map(|tcp| tcp.pias.thresholds).unwrap_or_default();
    if own.is_empty() {
        let text = "the scenario's transport does not tag by PIAS: give it transport.<name>.pias.thresholds";
        return Err(wrong(text));
    }
    let remarks = differences(&base, demand);
    remarks.iter().for_each(|remark| progress(&format!("remark: {remark}")));
    let mut runs = TrialRuns { base, seeds: &trials.seeds, known: BTreeMap::new(), progress };
    let advice = (!advised.is_empty()).then(|| advised.to_owned());
    if let Some(Err(Error::BadInput(why))) = advice.as_ref().map(|advice| runs.with(advice)) {
        return Err(wrong(&format!(
            "the scenario refuses these thresholds (--queues gives their number)\n{why}"
        )));
    }
    let starts: Vec<Vec<Bytes>> = [own.clone()].into_iter().chain(advice).collect();
    let found = search(&starts, trials.search, &mut runs)?;
    let best = runs.known[&found.thresholds];
    let (of_own, of_advice) = (found.starts[0], found.starts.get(1).copied());
    let (unfinished, flows) = (best.unfinished, best.flows);
    Ok(Simulated { own: (own, of_own), of_advice, found, unfinished, flows, remarks })
}

/// The case to try.
fn case_of(trials: &PiasTrials) -> Result<Prepared, Error> {
    let cases = prepare(&trials.scenario, &trials.set, trials.demo)?;
    let names: Vec<String> = cases.iter().map(|case| case.labels.join(",")).collect();
    let number = case::chosen(&trials.scenario, &names, trials.case.as_deref())?;
    Ok(cases[number].clone())
}

/// How the open-loop traffic of a case differs from the flows that thresholds are for.
fn differences(case: &Prepared, demand: &FlowDemand<'_>) -> Vec<String> {
    let open_loop = case.settings.traffic.iter().filter_map(|entry| match &entry.flows.pattern {
        PatternSettings::OpenLoop(own) => Some((own.sizes.as_str(), own.load.0)),
        _ => None,
    });
    let entries: Vec<(&str, f64)> = open_loop.collect();
    let is_other = |sizes: &str| SizeDistribution::read(sizes, &case.folder).as_ref() != Ok(demand.sizes);
    let others: Vec<&str> = entries.iter().map(|(sizes, _)| *sizes).filter(|sizes| is_other(sizes)).collect();
    let load: f64 = entries.iter().map(|(_, load)| load).sum();
    let percent = |load: f64| (load * 1e3).round() / 10.0;
    let sizes = format!("the scenario has flows of other sizes than --sizes: {}", others.join(", "));
    let loads = format!("the scenario has a load of {} %, not {} %", percent(load), percent(demand.load));
    let differs = !entries.is_empty() && percent(load) != percent(demand.load);
    (!others.is_empty()).then_some(sizes).into_iter().chain(differs.then_some(loads)).collect()
}

/// The transport with other thresholds.
fn tagged(transport: &TransportSettings, thresholds: &[Bytes]) -> TransportSettings {
    let mut value = transport.to_value();
    let sizes = Value::List(thresholds.iter().map(|threshold| Value::Size(*threshold)).collect());
    replace(&mut value, &["tcp", "pias", "thresholds"], &sizes);
    TransportSettings::from_value(&value)
}

/// Replaces a value at a path below.
fn replace(value: &mut Value, path: &[&str], new: &Value) {
    match (value, path) {
        (value, []) => *value = new.clone(),
        (Value::Member(_, own), path) => replace(own, path, new),
        (Value::Table(fields), [first, rest @ ..]) => {
            let field = fields.iter_mut().find(|(name, _)| name == first);
            field.into_iter().for_each(|(_, value)| replace(value, rest, new));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::FlowRecord;
    use weft_core::{Span, Time};
    use weft_transport::protocols::dctcp::TcpDctcpSettings;

    #[test]
    fn thresholds_of_a_transport_are_replaced_and_nothing_else() {
        let mut settings = TcpDctcpSettings::default();
        settings.tcp.delayed_ack = 7;
        let new = [Bytes(10), Bytes(20)];
        let changed = tagged(&TransportSettings::Dctcp(settings.clone()), &new);
        settings.tcp.pias.thresholds = new.to_vec();
        assert_eq!(changed, TransportSettings::Dctcp(settings));
    }

    /// 5 and 9 s of measured flows, the second still open at 20 s; what started before 10 s is warm-up.
    #[test]
    fn flows_of_the_warm_up_do_not_count() {
        let at = |seconds: u64| Time::ZERO + Span::from_ms(1_000 * seconds);
        let flow = |start, end: Option<u64>| FlowRecord {
            start: at(start),
            end: end.map(at),
            ..FlowRecord::default()
        };
        let flows = vec![flow(2, Some(18)), flow(10, Some(15)), flow(11, None)];
        let record = RunRecord { flows, warm_up: at(10), ended: at(20), ..RunRecord::default() };
        let trial = Trial::of(&record);
        assert_eq!((trial.mean(), trial.flows, trial.unfinished), (7.0, 2, 1));
    }
}
