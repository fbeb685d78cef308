//! `weft tune pias`: thresholds for each load, and their cost in simulations.

use std::path::{Path, PathBuf};
use std::thread;

use weft::{Error, PACKETS, Prepared, prepare};
use weft_core::Bytes;
use weft_core::settings::{Setting as _, Value};
use weft_draw::Columns;
use weft_transport::TransportSettings;
use weft_workload::SizeDistribution;

use crate::case;
use crate::model::{FlowDemand, compromise, cost, least_cost, thresholds};
use crate::search::{BestFound, SearchOptions, search};

/// The question.
#[derive(Clone, Debug)]
pub struct PiasOptions {
    /// Sizes of flows, as in a scenario.
    pub sizes: String,
    /// The loads, each above 0 and below 1.
    pub loads: Vec<f64>,
    /// Queues of a port, from 2 to 8.
    pub queues: usize,
    /// If present, thresholds are also tried in simulations.
    pub trials: Option<PiasTrials>,
}

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

/// The answer.
#[derive(Clone, Debug)]
pub struct PiasAdvice {
    /// Advice by load.
    pub by_load: Vec<ModelAdvice>,
    /// With several loads: thresholds for all of them, and their cost at the worst, as a multiple of the least there.
    pub for_all: Option<(Vec<Bytes>, f64)>,
    /// The simulated results, if requested.
    pub simulated: Option<Simulated>,
}

/// The model's advice for one load.
#[derive(Clone, Debug)]
pub struct ModelAdvice {
    /// The load.
    pub load: f64,
    /// The thresholds, ascending.
    pub thresholds: Vec<Bytes>,
    /// Mean completion time in units of a lone mean flow: with one queue, with these thresholds, and with any number of queues.
    pub costs: [f64; 3],
}

/// Simulated results. Costs are mean completion times in seconds; an unfinished flow counts with its age at the end of
/// the run, which underestimates its completion time.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The scenario's own thresholds and their cost.
    pub own: Option<(Vec<Bytes>, f64)>,
    /// The result of the search, with the cost of its start: the model's thresholds for the first load.
    pub found: BestFound,
    /// Flows unfinished in the best trial, over all seeds.
    pub unfinished: u64,
    /// All flows of a trial.
    pub flows: u64,
}

/// Finds thresholds. `progress` is called with every trial.
///
/// # Errors
/// [`Error::BadInput`]: sizes, loads, queues or the scenario cannot be used.
pub fn tune_pias(options: &PiasOptions, progress: &mut dyn FnMut(&str)) -> Result<PiasAdvice, Error> {
    let sizes = SizeDistribution::read(&options.sizes, Path::new(".")).map_err(Error::BadInput)?;
    if !(2..=8).contains(&options.queues) {
        let text = format!("--queues {}: PIAS uses from 2 to 8 queues of a port", options.queues);
        return Err(Error::BadInput(text));
    }
    let within = |load: &&f64| !(**load > 0.0 && **load < 1.0);
    if let Some(load) = options.loads.iter().find(within) {
        return Err(Error::BadInput(format!("--load {load}: a load is above 0 and below 1, such as 0.8")));
    }
    let advice = |load: &f64| {
        let demand = FlowDemand { sizes: &sizes, load: *load };
        let thresholds = thresholds(&demand, options.queues);
        let costs = [cost(&demand, &[]), cost(&demand, &thresholds), least_cost(*load, 1 << 20)];
        ModelAdvice { load: *load, thresholds, costs }
    };
    let by_load: Vec<ModelAdvice> = options.loads.iter().map(advice).collect();
    let simulated = match (&options.trials, by_load.first()) {
        (Some(trials), Some(first)) => Some(simulate(trials, &first.thresholds, progress)?),
        _ => None,
    };
    let for_all = (options.loads.len() > 1).then(|| compromise(&sizes, &options.loads, options.queues));
    Ok(PiasAdvice { by_load, for_all, simulated })
}

/// Mean completion time and unfinished flows of a trial.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    seconds: f64,
    flows: u64,
    unfinished: u64,
}

impl Trial {
    fn mean(self) -> f64 {
        self.seconds / self.flows.max(1) as f64
    }
}

fn simulate(
    trials: &PiasTrials,
    start: &[Bytes],
    progress: &mut dyn FnMut(&str),
) -> Result<Simulated, Error> {
    let base = case_of(trials)?;
    let own = base.settings.transport.tcp().map(|tcp| tcp.pias.thresholds).unwrap_or_default();
    if own.is_empty() {
        let text = "the scenario's transport does not tag by PIAS: give it transport.<name>.pias.thresholds";
        return Err(Error::BadInput(format!("{}: {text}", trials.scenario.display())));
    }
    let mut number = 0;
    let mut try_out = |thresholds: &[Bytes]| -> Result<f64, Error> {
        let mean = run(&base, thresholds, &trials.seeds)?.mean();
        number += 1;
        progress(&format!("trial {number}: {} mean, {}", time(mean), listed(thresholds)));
        Ok(mean)
    };
    let of_own = try_out(&own)?;
    let found = search(start, trials.search, &mut try_out)?;
    let best = run(&base, &found.thresholds, &trials.seeds)?;
    let own = Some((own, of_own));
    Ok(Simulated { own, found, unfinished: best.unfinished, flows: best.flows })
}

/// The case to try.
fn case_of(trials: &PiasTrials) -> Result<Prepared, Error> {
    let cases = prepare(&trials.scenario, &trials.set, trials.demo)?;
    let names: Vec<String> = cases.iter().map(|case| case.labels.join(",")).collect();
    let number = case::chosen(&trials.scenario, &names, trials.case.as_deref())?;
    Ok(cases[number].clone())
}

/// Runs one trial: all seeds in parallel.
fn run(base: &Prepared, thresholds: &[Bytes], seeds: &[u64]) -> Result<Trial, Error> {
    let mut case = base.clone();
    case.settings.transport = tagged(&case.settings.transport, thresholds);
    let setups = seeds.iter().map(|seed| case.setup(*seed)).collect::<Result<Vec<_>, _>>()?;
    let one = |setup| {
        let record = PACKETS.run_keeping_flows(setup, &mut |_| true);
        record.flows.iter().fold(Trial::default(), |sum, flow| Trial {
            seconds: sum.seconds + flow.end.unwrap_or(record.ended).since(flow.start).seconds(),
            flows: sum.flows + 1,
            unfinished: sum.unfinished + u64::from(flow.end.is_none()),
        })
    };
    let trials: Vec<Trial> = thread::scope(|scope| {
        let runs: Vec<_> = setups.into_iter().map(|setup| scope.spawn(move || one(setup))).collect();
        runs.into_iter().map(|run| run.join().expect("a simulation does not panic")).collect()
    });
    Ok(trials.into_iter().fold(Trial::default(), |sum, trial| Trial {
        seconds: sum.seconds + trial.seconds,
        flows: sum.flows + trial.flows,
        unfinished: sum.unfinished + trial.unfinished,
    }))
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

fn listed(thresholds: &[Bytes]) -> String {
    thresholds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn time(seconds: f64) -> String {
    weft_draw::text::duration(seconds * 1e6)
}

impl PiasAdvice {
    /// As lines for a terminal.
    #[must_use]
    pub fn text(&self, options: &PiasOptions) -> String {
        let row = |advice: &ModelAdvice| {
            let [one, these, any] = advice.costs.map(|cost| format!("{cost:.2}"));
            vec![format!("{} %", (advice.load * 1e3).round() / 10.0), one, these, any]
        };
        let rows: Vec<Vec<String>> = self.by_load.iter().map(row).collect();
        let header = ["load", "one queue", "thresholds", "any number"];
        let mut text = format!(
            "PIAS, {} queues, sizes {}: mean completion time in lone mean flows, by the model\n{}",
            options.queues,
            options.sizes,
            Columns::table(&header, &rows)
        );
        for advice in &self.by_load {
            let (load, sizes) = (advice.load, setting(&advice.thresholds));
            text += &format!("\nload {load}: thresholds = [{sizes}]");
        }
        if let Some((thresholds, excess)) = &self.for_all {
            let (more, sizes) = ((excess - 1.0) * 100.0, setting(thresholds));
            text += &format!("\nall of them, at most {more:.1} % above the best: thresholds = [{sizes}]");
        }
        if let Some(simulated) = &self.simulated {
            text += &simulated.text();
        }
        text
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let bytes = |thresholds: &[Bytes]| thresholds.iter().map(|threshold| threshold.0).collect::<Vec<_>>();
        let by_load = |advice: &ModelAdvice| {
            let [one, these, any] = advice.costs;
            serde_json::json!({
                "load": advice.load, "thresholds_bytes": bytes(&advice.thresholds),
                "cost": these, "cost_of_one_queue": one, "cost_of_any_number": any,
            })
        };
        let simulated = self.simulated.as_ref().map(|simulated| {
            serde_json::json!({
                "mean_fct_of_model_s": simulated.found.start,
                "own_thresholds_bytes": simulated.own.as_ref().map(|own| bytes(&own.0)),
                "mean_fct_of_own_s": simulated.own.as_ref().map(|own| own.1),
                "best_thresholds_bytes": bytes(&simulated.found.thresholds),
                "mean_fct_of_best_s": simulated.found.cost,
                "trials": simulated.found.trials, "settled": simulated.found.settled,
                "flows": simulated.flows, "unfinished": simulated.unfinished,
            })
        });
        let by_load: Vec<_> = self.by_load.iter().map(by_load).collect();
        let for_all = self.for_all.as_ref().map(|(thresholds, excess)| {
            serde_json::json!({ "thresholds_bytes": bytes(thresholds), "worst_cost_ratio": excess })
        });
        let all = serde_json::json!({ "by_load": by_load, "for_all": for_all, "simulated": simulated });
        format!("{all:#}\n")
    }
}

/// The thresholds as a scenario writes them, in exact bytes.
fn setting(thresholds: &[Bytes]) -> String {
    thresholds.iter().map(|threshold| format!("\"{} B\"", threshold.0)).collect::<Vec<_>>().join(", ")
}

impl Simulated {
    fn text(&self) -> String {
        let ratio = |cost: f64| format!("{:.3}", cost / self.found.cost);
        let mut rows = vec![
            vec!["best found".to_owned(), time(self.found.cost), ratio(self.found.cost)],
            vec!["the model's".to_owned(), time(self.found.start), ratio(self.found.start)],
        ];
        rows.extend(
            self.own.iter().map(|(_, cost)| vec!["the scenario's".to_owned(), time(*cost), ratio(*cost)]),
        );
        let table = Columns::table(&["thresholds", "mean FCT", "times the best"], &rows);
        let end = if self.found.settled { "no small step improves on it" } else { "trials used up" };
        let best = setting(&self.found.thresholds);
        format!(
            "\n\nsimulated: {} flows a trial, {} trials ({end}); {} of the best trial's flows unfinished, counted with their age\n\
             {table}\nbest found: thresholds = [{best}]",
            self.flows, self.found.trials, self.unfinished
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_transport::protocols::dctcp::TcpDctcpSettings;

    fn options() -> PiasOptions {
        PiasOptions { sizes: "web-search-pias".to_owned(), loads: vec![0.5, 0.8], queues: 8, trials: None }
    }

    #[test]
    fn thresholds_of_a_transport_are_replaced_and_nothing_else() {
        let mut settings = TcpDctcpSettings::default();
        settings.tcp.delayed_ack = 7;
        let new = [Bytes(10), Bytes(20)];
        let changed = tagged(&TransportSettings::Dctcp(settings.clone()), &new);
        settings.tcp.pias.thresholds = new.to_vec();
        assert_eq!(changed, TransportSettings::Dctcp(settings));
    }

    #[test]
    fn there_is_an_answer_for_every_load_and_it_reads_as_a_setting() {
        let options = options();
        let advice = tune_pias(&options, &mut |_| {}).expect("all of it is right");
        assert_eq!(advice.by_load.len(), 2);
        let text = advice.text(&options);
        assert!(text.contains("load 0.5: thresholds = [\"661838 B\", "), "{text}");
        assert!(text.contains("\nall of them, at most "), "{text}");
        let json: serde_json::Value = serde_json::from_str(&advice.json()).expect("it is JSON");
        assert_eq!(json["by_load"][1]["thresholds_bytes"].as_array().map(Vec::len), Some(7));
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let wrong = |change: fn(&mut PiasOptions)| {
            let mut options = options();
            change(&mut options);
            tune_pias(&options, &mut |_| {}).expect_err("it is wrong").to_string()
        };
        assert!(wrong(|options| options.queues = 9).contains("from 2 to 8 queues"));
        assert!(wrong(|options| options.loads = vec![0.5, 1.0]).contains("--load 1"));
        assert!(wrong(|options| options.sizes = "web-serch".to_owned()).contains("did you mean"));
    }
}
