//! `weft tune pias`: thresholds for each load, their value on one link, and their cost in simulations.

use std::path::Path;

use weft::Error;
use weft_core::Bytes;
use weft_draw::{Columns, WIDTH, wrapped};
use weft_workload::SizeDistribution;

use crate::demand::FlowDemand;
use crate::link::LinkMeans;
use crate::model::{PACKET, WorthSetting, compromise, least_objective, objective, thresholds, worth_setting};
use crate::trials::{PiasTrials, Simulated, simulate};

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

/// The answer.
#[derive(Clone, Debug)]
pub struct PiasAdvice {
    /// Advice by load.
    pub by_load: Vec<LoadAdvice>,
    /// With several loads: thresholds for all of them, and their objective at the worst, as a multiple of the least there.
    pub for_all: Option<(WorthSetting, f64)>,
    /// The simulated results, if requested.
    pub simulated: Option<Simulated>,
}

/// The advice for one load.
#[derive(Clone, Debug)]
pub struct LoadAdvice {
    /// The load.
    pub load: f64,
    /// The thresholds, and the number of others that would separate nothing.
    pub worth: WorthSetting,
    /// The objective with one queue, with these thresholds, and the least with any number. It is not a time.
    pub objectives: [f64; 3],
    /// Mean completion times on one link; `None` if the sizes have none.
    pub means: Option<LinkMeans>,
}

/// Finds thresholds. `progress` is called with every remark and trial.
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
    let demand = |load: f64| FlowDemand { sizes: &sizes, load };
    let advice = |load: &f64| LoadAdvice::new(&demand(*load), options.queues);
    let by_load: Vec<LoadAdvice> = options.loads.iter().map(advice).collect();
    let simulated = match (&options.trials, by_load.first()) {
        (Some(trials), Some(first)) => {
            Some(simulate(trials, (&demand(first.load), &first.worth.thresholds), progress)?)
        }
        _ => None,
    };
    let for_all = (options.loads.len() > 1).then(|| {
        let (thresholds, excess) = compromise(&sizes, &options.loads, options.queues);
        (worth_setting(&sizes, &thresholds), excess)
    });
    Ok(PiasAdvice { by_load, for_all, simulated })
}

impl LoadAdvice {
    fn new(demand: &FlowDemand<'_>, queues: usize) -> LoadAdvice {
        let worth = worth_setting(demand.sizes, &thresholds(demand, queues));
        let least = least_objective(demand.load, 1 << 20);
        let objectives = [objective(demand, &[]), objective(demand, &worth.thresholds), least];
        let means = LinkMeans::of(demand, &worth.thresholds);
        LoadAdvice { load: demand.load, worth, objectives, means }
    }

    /// A row of the table.
    fn row(&self) -> Vec<String> {
        let means = self.means.map(|of| [of.one_queue, of.thresholds, of.any_number, of.sizes_known]);
        let mean = |n: usize| means.map_or(NOT_KNOWN.to_owned(), |means| format!("{:.2}", means[n]));
        let load = format!("{} %", percent(self.load));
        [load].into_iter().chain((0..4).map(mean)).chain([format!("{:.2}", self.objectives[1])]).collect()
    }

    /// Remarks for a user of the thresholds.
    fn remark(&self) -> String {
        let worse = self.means.is_some_and(|means| means.thresholds >= means.one_queue);
        let slower = "\n  on one link flows finish sooner with one queue";
        format!("{}{}", self.worth.remark(), if worse { slower } else { "" })
    }
}

impl WorthSetting {
    /// Why there are fewer than requested.
    fn remark(&self) -> String {
        let (inside, beyond) = (self.within_a_packet, self.beyond_all);
        let first = self.thresholds.first().filter(|first| **first < PACKET).map(|_| {
            format!(
                "\n  a full packet ({PACKET}) exceeds the first: every flow sends one in the highest class"
            )
        });
        let inside = (inside > 0)
            .then(|| format!("\n  {inside} fewer: they end in one packet ({PACKET}) with the next"));
        let beyond =
            (beyond > 0).then(|| format!("\n  {beyond} fewer: less than one flow in 10^9 is larger"));
        [first, inside, beyond].into_iter().flatten().collect()
    }

    /// The thresholds as a scenario writes them, in exact bytes.
    fn setting(&self) -> String {
        match self.thresholds.as_slice() {
            [] => "none".to_owned(),
            thresholds => setting(thresholds),
        }
    }
}

/// Shown in a table for a missing number.
const NOT_KNOWN: &str = "–";

fn percent(share: f64) -> f64 {
    (share * 1e3).round() / 10.0
}

fn time(seconds: f64) -> String {
    weft_draw::text::duration(seconds * 1e6)
}

fn setting(thresholds: &[Bytes]) -> String {
    let all: Vec<String> = thresholds.iter().map(|threshold| format!("\"{} B\"", threshold.0)).collect();
    format!("thresholds = [{}]", all.join(", "))
}

/// Explains the columns.
const LEGEND: &str = "one queue: processor sharing; any number: least attained service; sizes known: shortest \
    remaining first, which no order beats. objective: what the thresholds minimise, a sum of ratios after the PIAS \
    paper. It leaves out flows already present, so it is not a time.";

impl PiasAdvice {
    /// As lines for a terminal.
    #[must_use]
    pub fn text(&self, options: &PiasOptions) -> String {
        let rows: Vec<Vec<String>> = self.by_load.iter().map(LoadAdvice::row).collect();
        let header = ["load", "one queue", "thresholds", "any number", "sizes known", "objective"];
        let about = format!(
            "PIAS, {} queues, sizes {}: mean completion times on one link without congestion control, as multiples of the time \
             that a flow of mean size takes alone",
            options.queues, options.sizes
        );
        let lines = |text: &str| wrapped(text, WIDTH).join("\n");
        let mut text = format!("{}\n{}\n{}\n", lines(&about), Columns::table(&header, &rows), lines(LEGEND));
        for advice in &self.by_load {
            text += &format!("\nload {}: {}{}", advice.load, advice.worth.setting(), advice.remark());
        }
        if let Some((worth, excess)) = &self.for_all {
            let more = (excess - 1.0) * 100.0;
            text += &format!(
                "\nall of them, objective at most {more:.1} % above the least: {}{}",
                worth.setting(),
                worth.remark()
            );
        }
        if let Some(simulated) = &self.simulated {
            text += &simulated.text();
        }
        text
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let by_load: Vec<_> = self.by_load.iter().map(LoadAdvice::json).collect();
        let for_all = self.for_all.as_ref().map(|(worth, excess)| {
            serde_json::json!({ "thresholds_bytes": bytes(&worth.thresholds), "worst_objective_ratio": excess })
        });
        let simulated = self.simulated.as_ref().map(Simulated::json);
        let all = serde_json::json!({ "by_load": by_load, "for_all": for_all, "simulated": simulated });
        format!("{all:#}\n")
    }
}

fn bytes(thresholds: &[Bytes]) -> Vec<u64> {
    thresholds.iter().map(|threshold| threshold.0).collect()
}

impl LoadAdvice {
    fn json(&self) -> serde_json::Value {
        let [one, these, any] = self.objectives;
        let means = self.means.map(|means| {
            serde_json::json!({
                "one_queue": means.one_queue, "thresholds": means.thresholds,
                "any_number": means.any_number, "sizes_known": means.sizes_known,
            })
        });
        serde_json::json!({
            "load": self.load, "thresholds_bytes": bytes(&self.worth.thresholds),
            "left_out": { "within_a_packet": self.worth.within_a_packet, "beyond_all": self.worth.beyond_all },
            "mean_times": means,
            "objective": these, "objective_of_one_queue": one, "objective_of_any_number": any,
        })
    }
}

impl Simulated {
    fn text(&self) -> String {
        let row = |name: &str, cost: f64| {
            vec![name.to_owned(), time(cost), format!("{:.3}", cost / self.found.cost)]
        };
        let of_advice = self.of_advice.map(|cost| row("these", cost));
        let rows = [row("best found", self.found.cost)].into_iter().chain(of_advice);
        let rows: Vec<_> = rows.chain([row("the scenario's", self.own.1)]).collect();
        let table = Columns::table(&["thresholds", "mean FCT", "times the best"], &rows);
        let end = if self.found.settled { "no small step improves on it" } else { "trial limit reached" };
        let remarks: String = self.remarks.iter().map(|remark| format!("\nremark: {remark}")).collect();
        let best = if self.found.thresholds == self.own.0 { "the scenario's own, " } else { "" };
        format!(
            "\n\nsimulated: {} measured flows a trial, {} trials ({end}); {} of the best trial's flows unfinished, counted with \
             their age{remarks}\n{table}\nbest found: {best}{}",
            self.flows,
            self.found.trials,
            self.unfinished,
            setting(&self.found.thresholds)
        )
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "mean_fct_of_advice_s": self.of_advice,
            "own_thresholds_bytes": bytes(&self.own.0),
            "mean_fct_of_own_s": self.own.1,
            "best_thresholds_bytes": bytes(&self.found.thresholds),
            "mean_fct_of_best_s": self.found.cost,
            "trials": self.found.trials, "settled": self.found.settled,
            "flows": self.flows, "unfinished": self.unfinished, "remarks": self.remarks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> PiasOptions {
        PiasOptions { sizes: "web-search-pias".to_owned(), loads: vec![0.5, 0.8], queues: 8, trials: None }
    }

    fn advice(sizes: &str, load: f64) -> (PiasAdvice, String) {
        let options = PiasOptions { sizes: sizes.to_owned(), loads: vec![load], ..options() };
        let advice = tune_pias(&options, &mut |_| {}).expect("all of it is right");
        let text = advice.text(&options);
        (advice, text)
    }

    #[test]
    fn there_is_an_answer_for_every_load_and_it_reads_as_a_setting() {
        let options = options();
        let advice = tune_pias(&options, &mut |_| {}).expect("all of it is right");
        assert_eq!(advice.by_load.len(), 2);
        let text = advice.text(&options);
        assert!(text.contains("load 0.5: thresholds = [\"661838 B\", "), "{text}");
        assert!(text.contains("\nall of them, objective at most "), "{text}");
        let json: serde_json::Value = serde_json::from_str(&advice.json()).expect("it is JSON");
        assert_eq!(json["by_load"][1]["thresholds_bytes"].as_array().map(Vec::len), Some(7));
    }

    /// Every printed time is achieved by some schedule: none is below the time with sizes known.
    #[test]
    fn no_time_is_less_than_with_known_sizes() {
        let json: serde_json::Value =
            serde_json::from_str(&advice("web-search-pias", 0.8).0.json()).expect("it is JSON");
        let of = |name: &str| json["by_load"][0]["mean_times"][name].as_f64().expect("a number");
        for name in ["one_queue", "thresholds", "any_number"] {
            assert!(of(name) > of("sizes_known"), "{json:#}");
        }
    }

    #[test]
    fn equal_flows_are_advised_against_thresholds() {
        let (_, text) = advice("64 kB", 0.8);
        assert!(text.contains("sooner with one queue"), "{text}");
        assert!(!advice("web-search-pias", 0.8).1.contains("sooner with one queue"));
    }

    /// `weft check` refuses equal thresholds, and packets cannot distinguish thresholds within one packet.
    #[test]
    fn no_advice_is_refused_or_without_effect() {
        for (sizes, load, words) in [
            ("facebook-unitless", 0.8, "one packet (1460 B)"),
            ("pareto(10 kB, 1.05)", 0.95, "less than one flow in 10^9 is larger"),
            ("1 kB", 0.8, "load 0.8: none"),
        ] {
            let (advice, text) = advice(sizes, load);
            let thresholds = &advice.by_load[0].worth.thresholds;
            let packets: Vec<u64> = thresholds.iter().map(|threshold| threshold.0 / PACKET.0).collect();
            assert!(packets.windows(2).all(|pair| pair[0] < pair[1]), "{text}");
            assert!(text.contains(words), "{text}");
        }
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
