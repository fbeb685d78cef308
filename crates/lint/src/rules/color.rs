//! Rules on colours of packets, and on flows that must keep to one path.

use crate::formula::{at_most, incasts, size};
use crate::rule::{Findings, Rule, Severity};
use weft_config::place::Placed;
use weft_core::Bytes;
use weft_device_config::model::{Network, OrderedFlows, RedPackets, ReliesOn, SwitchConfig};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "red-before-marks",
        level: Severity::Error,
        title: "Red packets are dropped before packets are marked.",
        checks: "Scenarios with switch.color.red and TLT over a transport that reads marks: the red threshold against K_min. Error: not \
                 above it. Warning: below K_max of a ramp.",
        why: "Drops replace marks: senders learn of congestion from losses, and retransmit what marks would have saved.",
        fix: "Raise switch.color.red above the marking thresholds, or lower these.",
        source: "Lim et al., EuroSys 2021 (TLT).",
        look: |network, findings| each_red(network, |switch, red| before_marks(switch, red, findings)),
    },
    Rule {
        id: "red-after-pauses",
        level: Severity::Error,
        title: "Pauses begin before red packets are dropped.",
        checks: "Scenarios with switch.color.red and TLT in a lossless class: the red threshold against what the queue holds when its ingress \
                 groups reach XOFF (see ecn-after-pfc). Error: above it for all other ports; warning: for two.",
        why: "Early drops of red packets keep queues below XOFF, so that pauses become rare. Above it they come too late, and PFC takes over.",
        fix: "Lower switch.color.red below the figure for two ports, or raise switch.pfc.alpha or xoff.",
        source: "Lim et al., EuroSys 2021 (TLT); thresholds by Choudhury and Hahne 1998.",
        look: |network, findings| each_red(network, |switch, red| after_pauses(switch, red, findings)),
    },
    Rule {
        id: "green-beside-red",
        level: Severity::Warning,
        title: "Payload without TLT shares a queue with red packets.",
        checks: "Scenarios with switch.color: whether transports with TLT send payload in the queues of other transports or of datagrams.",
        why: "Payload without a colour is green: it is never dropped early, takes the room that red packets leave for green ones, and with \
              count = \"whole-queue\" has red packets dropped in its place.",
        fix: "Give the other traffic a class of its own (traffic.class, switch.queues), or tlt.",
        source: "Lim et al., EuroSys 2021 (TLT): traffic without it belongs in another queue.",
        look: |network, findings| each_red(network, |_, red| beside(red, findings)),
    },
    Rule {
        id: "tlt-patience",
        level: Severity::Note,
        title: "A sender with TLT waits for several duplicate acknowledgements.",
        checks: "Scenarios with TLT over TCP that detects losses by duplicates: dup_threshold is 1.",
        why: "Where packets keep their order, the first duplicate already proves a loss. A sender that waits for more repairs gaps later than published, \
              with the next echo of an important packet.",
        fix: "Set dup_threshold = 1.",
        source: "The public simulators of TLT (Lim et al., EuroSys 2021).",
        look: patience,
    },
    Rule {
        id: "tlt-reordered",
        level: Severity::Warning,
        title: "A balancer reorders the packets of flows with TLT.",
        checks: "Scenarios with TLT whose switches balance by packet or by flowcell (drill, presto, random, round-robin).",
        why: "The echo of an important packet proves that everything sent before it has arrived or is lost, if no packet overtakes another. Each overtaken \
              packet counts as lost and is sent again.",
        fix: "Balance by flow (ecmp, wcmp) or by flowlets (letflow, conga).",
        source: "Lim et al., EuroSys 2021 (TLT assumes paths that keep the order).",
        look: |network, findings| sprayed(network, ReliesOn::Order, findings),
    },
    Rule {
        id: "pdq-sprayed",
        level: Severity::Warning,
        title: "A balancer spreads the requests of PDQ flows over several paths.",
        checks: "Scenarios with PDQ whose switches balance by packet or by flowcell (drill, presto, random, round-robin).",
        why: "A link decides by the requests that it sees. Where the packets of a flow take several paths, each link sees a part of them: it holds rates \
              for flows that are elsewhere, and grants made for one path are used on another.",
        fix: "Balance by flow (ecmp, wcmp).",
        source: "Hong et al., SIGCOMM 2012, section 3 (flows are routed by ECMP).",
        look: |network, findings| sprayed(network, ReliesOn::Path, findings),
    },
];

fn each_red(network: &Network, mut look: impl FnMut(&SwitchConfig, &RedPackets)) {
    for switch in &network.switches {
        switch.red.iter().for_each(|red| look(switch, red));
    }
}

fn before_marks(switch: &SwitchConfig, red: &RedPackets, findings: &mut Findings) {
    let Some(threshold) = red.threshold.as_ref().filter(|_| red.reads_marks) else { return };
    for marking in &switch.markings {
        let (min, max) = (marking.min.value, marking.max.value);
        let (level, what, at) = match threshold.value {
            red if red <= min => (Severity::Error, "marks begin", min),
            red if red < max => (Severity::Warning, "the marking ramp ends", max),
            _ => continue,
        };
        let says = format!(
            "red packets are dropped from {}, and {what} at {}",
            size(threshold.value.0 as f64),
            size(at.0 as f64)
        );
        let fix = format!("raise it to {} or more", size(max.0 as f64));
        findings.add_as(level, (threshold.at, &switch.name), (says, fix));
    }
}

fn after_pauses(switch: &SwitchConfig, red: &RedPackets, findings: &mut Findings) {
    let lossless = switch.profiles.iter().find(|profile| profile.lossless);
    let (Some(threshold), Some(profile)) = (red.threshold.as_ref().filter(|_| red.lossless), lossless) else {
        return;
    };
    let Some(limit) = profile.threshold.as_ref() else { return };
    let pool = switch.pool_of(profile).unwrap_or(Bytes(u64::MAX));
    let (least, most, words) = incasts(limit.value, pool, (switch.degree() - 1).max(1));
    let level = match threshold.value.0 as f64 {
        red if red >= most => Severity::Error,
        red if red >= least => Severity::Warning,
        _ => return,
    };
    let says = format!(
        "red packets are dropped from {}, but {} pauses when the queue holds {words}",
        size(threshold.value.0 as f64),
        profile.name,
    );
    let fix = format!("lower it below {}", at_most(least));
    findings.add_as(level, (threshold.at, &switch.name), (says, fix));
}

fn beside(red: &RedPackets, findings: &mut Findings) {
    if !red.beside.is_empty() {
        let says = format!(
            "payload of {} shares a queue with red packets and counts as green",
            red.beside.join(", ")
        );
        findings.add(red.at, "", (says, "give the other traffic a class of its own, or tlt".to_owned()));
    }
}

fn patience(network: &Network, findings: &mut Findings) {
    for flows in &network.ordered {
        let Some(Placed { value, at }) = flows.patience.as_ref().filter(|own| own.value != 1) else {
            continue;
        };
        let says = format!("TLT over {} waits for {value} duplicate acknowledgements", flows.transport);
        findings.add(*at, "", (says, "set dup_threshold = 1".to_owned()));
    }
}

fn sprayed(network: &Network, assumption: ReliesOn, findings: &mut Findings) {
    let concerned = |flows: &&OrderedFlows| flows.assumes == assumption;
    for flows in network.ordered.iter().filter(concerned) {
        let Some(balancer) = &flows.sprayed else { continue };
        let what = match assumption {
            ReliesOn::Order => "every packet that is overtaken counts as lost",
            ReliesOn::Path => "each link sees a part of a flow's requests",
        };
        let says =
            format!("{} sends packets of {} over several paths: {what}", balancer.value, flows.transport);
        findings.add(balancer.at, "", (says, "set balance = \"ecmp\"".to_owned()));
    }
}
