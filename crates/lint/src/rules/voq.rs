//! Rules on virtual output queues: deep memory and credits must carry what an output sends.

use crate::formula::{at_least, bandwidth_delay, size, time};
use crate::rule::{Findings, Rule, Severity};
use weft_core::Rate;
use weft_device_config::model::{CreditLoop, Network, SwitchConfig};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "deep-memory-bandwidth",
        level: Severity::Warning,
        title: "Deep memory is slower than the ports whose queues it holds.",
        checks: "Scenarios with virtual output queues that move to deep memory: its bandwidth, which writes and reads share, against twice the \
                 line rate of a port (warning), and of all ports together (note: the number of outputs that it serves at line rate).",
        why: "A queue that fills while it drains is written and read at its output's rate. Where the memory is slower, the output \
              is idle although its queue is not empty, and reads wait behind writes.",
        fix: "Raise switch.voq.deep_rate to the figure, or keep queues on the chip with a higher switch.voq.spill.",
        source: "Every byte of a deep queue crosses the memory's interface twice; in the simulated switch in the order of arrival.",
        look: |network, findings| each(network, |place| deep_memory(place, findings)),
    },
    Rule {
        id: "credit-loop",
        level: Severity::Error,
        title: "An output runs out of granted bytes before new ones arrive.",
        checks: "Scenarios with virtual output queues: switch.voq.output against C (credit_delay + crossing) / 8 and one credit, with the \
                 line rate C of the fastest port.",
        why: "The output grants nothing while so many bytes are granted, crossing or waiting. What it has granted arrives only after \
              the delay of the credit and of the crossing; until then the line is idle, whatever the queues hold.",
        fix: "Raise switch.voq.output to the figure.",
        source: "The bandwidth-delay product of the loop from grant to arrival, as for any window.",
        look: |network, findings| each(network, |place| credit_loop(place, findings)),
    },
];

/// A switch, its loop, and the rates of its ports.
type Place<'a> = (&'a SwitchConfig, &'a CreditLoop, Vec<Rate>);

fn each<'a>(network: &'a Network, mut look: impl FnMut(Place<'a>)) {
    for switch in &network.switches {
        let rates: Vec<Rate> = switch.up().filter_map(|port| port.speed).collect();
        if let Some(credits) = switch.credits.as_ref().filter(|_| !rates.is_empty()) {
            look((switch, credits, rates));
        }
    }
}

fn deep_memory((switch, credits, rates): Place<'_>, findings: &mut Findings) {
    let Some(deep) = &credits.deep_rate else { return };
    let fastest = rates.iter().copied().max().unwrap_or(Rate(0));
    let served = deep.value.0 / (2 * fastest.0.max(1));
    let needed = |rate: u64| Rate(rate.saturating_mul(2));
    let all = rates.iter().fold(0u64, |sum, rate| sum.saturating_add(rate.0));
    if served == 0 {
        let says = format!(
            "deep memory of {} carries {}, but one output of {fastest} whose queue it holds takes {}",
            switch.name,
            deep.value,
            needed(fastest.0)
        );
        let fix = format!("set switch.voq.deep_rate to {} or more", needed(fastest.0));
        findings.add(deep.at, "", (says, fix));
    } else if deep.value < needed(all) {
        let says = format!(
            "deep memory of {} carries {}: {served} of its {} ports send at {fastest} from it at the same time",
            switch.name,
            deep.value,
            rates.len()
        );
        let fix =
            format!("set switch.voq.deep_rate to {} for all, if more are congested at once", needed(all));
        findings.add_as(Severity::Note, (deep.at, ""), (says, fix));
    }
}

fn credit_loop((switch, credits, rates): Place<'_>, findings: &mut Findings) {
    let fastest = rates.into_iter().max().unwrap_or(Rate(0));
    let needed = bandwidth_delay(fastest, credits.latency) + credits.credit.0 as f64;
    if (credits.output.value.0 as f64) < needed {
        let says = format!(
            "an output of {} grants at most {} ahead, but {fastest} take {} until a credit's packets have come",
            switch.name,
            size(credits.output.value.0 as f64),
            time(credits.latency)
        );
        let fix = format!("set switch.voq.output to {} or more", at_least(needed));
        findings.add(credits.output.at, "", (says, fix));
    }
}
