//! Rules on strict priorities and on the thresholds at which flows fall through them.

use crate::formula::size;
use crate::rule::{Findings, Rule, Severity};
use weft_device_config::model::Network;

/// A class with less of the payload than this separates nothing.
const LEAST_SHARE: f64 = 0.002;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "strict-without-marks",
        level: Severity::Warning,
        title: "Strict priority queues share a port that does not mark.",
        checks: "Scenarios whose switches serve several classes of a transport by strict priority from shared memory, without ECN and without pauses.",
        why: "Flows of low classes grow until the buffer of the port is full, and packets of high classes are then dropped at a queue that \
              is served first but shares its memory with queues that are not. Marks keep the low queues short, and with them the damage of wrong \
              thresholds.",
        fix: "Set switch.ecn, such as { step = { threshold = \"65 pkt\", scope = \"port\" } }, and a transport that reads marks.",
        source: "Bai et al., NSDI 2015, section 4 (PIAS over DCTCP; the port as a whole marks).",
        look: without_marks,
    },
    Rule {
        id: "threshold-without-effect",
        level: Severity::Warning,
        title: "A threshold of PIAS separates nothing.",
        checks: "Scenarios with PIAS and open-loop traffic: the share of all payload that each class carries, \
                 (E[min(X, a_i)] - E[min(X, a_i-1)]) / E[X] for sizes X, in every message of a flow. Warning: below 0.2 % in every entry.",
        why: "A class with hardly any payload occupies a queue of the switch but puts no flow before another: thresholds too close together, or beyond \
              the largest flow.",
        fix: "Take the thresholds of `weft tune pias`, or fewer queues.",
        source: "The model of `weft tune pias`; Bai et al., NSDI 2015, section 4.",
        look: without_effect,
    },
    Rule {
        id: "message-without-effect",
        level: Severity::Warning,
        title: "No flow is longer than a message of PIAS.",
        checks: "Scenarios with PIAS and open-loop traffic only: pias.message against the largest flow.",
        why: "Counting never starts again: every flow is one message, as without the setting.",
        fix: "Omit pias.message, or give the size of the messages that a connection carries.",
        source: "Bai et al., NSDI 2015, section 4.3 (messages on persistent connections).",
        look: message_without_effect,
    },
];

fn without_marks(network: &Network, findings: &mut Findings) {
    for strict in network.strict.iter().filter(|strict| !strict.marks) {
        let says = format!(
            "payload of {} classes shares ports with strict priorities, but no queue marks: low classes fill the buffer that high ones need",
            strict.classes
        );
        let fix = "set switch.ecn, and a transport that reads marks".to_owned();
        findings.add(strict.at, &strict.name, (says, fix));
    }
}

fn message_without_effect(network: &Network, findings: &mut Findings) {
    for demotion in &network.demotions {
        let (Some(message), Some(largest)) = (&demotion.message, demotion.largest) else { continue };
        if message.value.0 as f64 >= largest {
            let says = format!(
                "the largest flow has {}, no more than a message of {}",
                size(largest),
                size(message.value.0 as f64)
            );
            findings.add(message.at, "", (says, "omit pias.message".to_owned()));
        }
    }
}

fn without_effect(network: &Network, findings: &mut Findings) {
    for demotion in &network.demotions {
        let most = |class: usize| demotion.shares.iter().map(|shares| shares[class]).fold(0.0, f64::max);
        let place = |class: usize| match (class.checked_sub(1), demotion.thresholds.get(class)) {
            (None, Some(above)) => format!("up to {}", size(above.0 as f64)),
            (Some(below), Some(above)) => {
                format!("from {} to {}", size(demotion.thresholds[below].0 as f64), size(above.0 as f64))
            }
            (Some(below), None) => format!("beyond {}", size(demotion.thresholds[below].0 as f64)),
            (None, None) => "all".to_owned(),
        };
        for class in (0..=demotion.thresholds.len()).filter(|class| most(*class) < LEAST_SHARE) {
            let says = format!(
                "class {class}, {}, carries {:.2} % of the payload of these flows: it separates nothing",
                place(class),
                100.0 * most(class)
            );
            let fix = "take the thresholds of `weft tune pias`, or fewer queues".to_owned();
            findings.add(demotion.at, &format!("class {class}"), (says, fix));
        }
    }
}
