//! Rules on hosts, alone and together with the switches between them: ECN and DCTCP's threshold.

use crate::formula::{bandwidth_delay, size};
use crate::rule::{Findings, Rule, Severity};
use weft_core::{Rate, Span};
use weft_device_config::model::{
    HostConfig, MapKind, MarkingProfile, Network, PortConfig, QueueConfig, SwitchConfig,
};
use weft_draw::text::duration;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "dctcp-ecn-off",
        level: Severity::Error,
        title: "DCTCP hosts have ECN turned off.",
        checks: "`tcp_congestion_control = dctcp` together with `tcp_ecn = 0`.",
        why: "DCTCP requests ECN by itself, but sockets with another law neither request nor accept it: their packets are dropped where \
              DCTCP's are marked, and a peer that falls back to another law loses its marks.",
        fix: "Set net.ipv4.tcp_ecn = 1.",
        source: "RFC 8257, sections 3.2 and 4.1; the kernel's ip-sysctl documentation.",
        look: |network, findings| each_host(network, |host| dctcp_ecn_off(host, findings)),
    },
    Rule {
        id: "dctcp-fallback",
        level: Severity::Note,
        title: "DCTCP may silently run without marks.",
        checks: "`tcp_congestion_control = dctcp` without `tcp_ecn_fallback = 0`.",
        why: "If the first SYN is lost, Linux retries without ECN: the connection behaves like Reno among DCTCP flows and starves.",
        fix: "Set net.ipv4.tcp_ecn_fallback = 0 in a network where all hosts and switches support ECN.",
        source: "The kernel's DCTCP documentation; RFC 3168, section 6.1.1.1.",
        look: |network, findings| each_host(network, |host| dctcp_fallback(host, findings)),
    },
    Rule {
        id: "dctcp-without-marks",
        level: Severity::Error,
        title: "Hosts run DCTCP, but a switch does not mark their packets.",
        checks: "With DCTCP hosts, each switch has an enabled marking profile on some queue (error), and the queue of DSCP 0 has one \
                 (warning, because hosts may set another DSCP). Scenarios: a warning for each kind of switch that does not mark while \
                 another does.",
        why: "Without marks DCTCP behaves like Reno, which fills every buffer.",
        fix: "Enable marking on the queues of this traffic, or give it the DSCP of a queue that marks.",
        source: "RFC 8257, section 3.1.",
        look: dctcp_without_marks,
    },
    Rule {
        id: "dctcp-threshold-low",
        level: Severity::Warning,
        title: "The marking threshold is too low for DCTCP at this rate and delay.",
        checks: "K > C RTT / 7, with C the host's rate (or --rate) and RTT from --rtt or the scenario.",
        why: "The queue runs empty after each window reduction, and the link idles.",
        fix: "Raise K_min above C RTT / 7.",
        source: "Alizadeh et al., SIGCOMM 2010, equation 13.",
        look: |network, findings| dctcp_pairs(network, |pair| threshold_low(network, &pair, findings)),
    },
    Rule {
        id: "dctcp-threshold-burst",
        level: Severity::Warning,
        title: "A single burst of a host exceeds the marking threshold.",
        checks: "K is not below the largest burst a host sends back to back: 64 KiB with segmentation offload (15 packets of 9 kB \
                 or 44 of 1.5 kB).",
        why: "A single flow on an idle network is marked, reduces its window and never reaches the link's rate.",
        fix: "Raise K_min above the burst (65 packets at 10 Gb/s in the DCTCP paper), or make bursts smaller: fq with pacing, a lower \
              gso_max_size.",
        source: "Alizadeh et al., SIGCOMM 2010, section 3.4: 10 Gb/s hosts send bursts of 30 to 40 packets.",
        look: |network, findings| dctcp_pairs(network, |pair| threshold_burst(&pair, findings)),
    },
    Rule {
        id: "dctcp-on-ramp",
        level: Severity::Warning,
        title: "DCTCP is marked by a ramp instead of a step.",
        checks: "With DCTCP hosts, K_min = K_max.",
        why: "DCTCP balances at a marked fraction of 2 / W, other laws at 1.5 / W^2: on a ramp DCTCP holds a 1.3 to 2.1 times longer \
              queue than Reno-like laws (128 to 1280 kB, 25 Gb/s, 4 to 52 flows), and reaches tail drop sooner.",
        fix: "Set K_min = K_max for queues of DCTCP traffic.",
        source: "RFC 8257, section 3.1 (a single threshold); the equilibria are computed.",
        look: |network, findings| dctcp_pairs(network, |pair| on_ramp(&pair, findings)),
    },
    Rule {
        id: "non-ect-in-marking-queue",
        level: Severity::Warning,
        title: "Packets that cannot be marked are dropped where others are marked.",
        checks: "A queue that drops what it cannot mark (WRED) and hosts whose packets are not ECN-capable: all packets if \
                 tcp_ecn is 0, or 2 (the default: accept, never request) without DCTCP; otherwise SYNs and pure acknowledgements \
                 (note). SONiC and EOS are assumed to drop them; vendors differ (Dell and D-Link: yes, Juniper QFX: no).",
        why: "SYNs and acknowledgements are dropped with some probability while data passes: connections take a second to open. Protecting \
              them gave full throughput and 85 % less latency on Hadoop clusters.",
        fix: "Set tcp_ecn = 1 on all hosts (in a scenario ecn = \"on\" of the transport), keep K_min high enough for bursts, and give \
              acknowledgements another queue if possible.",
        source: "RFC 3168, section 6.1; Fischer e Silva and Carpenter, High Throughput and Low Latency on Hadoop Clusters using ECN. Not \
                 confirmed for EOS by a document of Arista's.",
        look: non_ect,
    },
];

pub(super) fn each_host<'a>(network: &'a Network, mut look: impl FnMut(&'a HostConfig)) {
    network.hosts.iter().for_each(&mut look);
}

fn dctcp_ecn_off(host: &HostConfig, findings: &mut Findings) {
    if let Some(ecn) = host.ecn.as_ref().filter(|ecn| host.is_dctcp() && ecn.value == 0) {
        let says = "tcp_ecn is 0, but the hosts run DCTCP".to_owned();
        findings.add(ecn.at, "", (says, "set net.ipv4.tcp_ecn = 1".to_owned()));
    }
}

fn dctcp_fallback(host: &HostConfig, findings: &mut Findings) {
    let Some(law) = host.law.as_ref().filter(|_| host.is_dctcp()) else { return };
    // A scenario's hosts have no such setting: they retransmit a SYN unchanged.
    let Some(fallback) = &host.ecn_fallback else { return };
    if fallback.value != 0 {
        let says =
            "a connection whose first SYN is lost runs DCTCP without marks (tcp_ecn_fallback is not 0)"
                .to_owned();
        findings.add(law.at, "", (says, "set net.ipv4.tcp_ecn_fallback = 0".to_owned()));
    }
}

fn dctcp_without_marks(network: &Network, findings: &mut Findings) {
    if !network.hosts.iter().any(HostConfig::is_dctcp) {
        return;
    }
    unmarked_ports(network, findings);
    let marking: Vec<&str> =
        network.switches.iter().filter(|switch| switch.marks()).map(|switch| switch.name.as_str()).collect();
    for switch in network.switches.iter().filter(|switch| !switch.marks()) {
        match network.case {
            None => {
                let says = format!("the hosts run DCTCP, but {} marks on no queue", switch.name);
                findings.add(
                    switch.at,
                    "",
                    (says, "enable marking on the queues of this traffic".to_owned()),
                );
            }
            Some(_) => {
                let name = &switch.name;
                let (others, too) = match &marking[..] {
                    [] => (String::new(), ""),
                    [one] => (format!("and {one} marks, "), ", too,"),
                    several => (format!("and {} mark, ", several.join(" and ")), ", too,"),
                };
                let says = format!("the hosts run DCTCP, {others}but {name} marks on no queue");
                let fix = format!("set ecn for {name}{too} or accept that DCTCP flows fill its queues");
                findings.add_as(Severity::Warning, (switch.at, ""), (says, fix));
            }
        }
    }
}

/// Ports of a switch that marks, but not in the queue of DSCP 0, which hosts use unless configured otherwise.
fn unmarked_ports(network: &Network, findings: &mut Findings) {
    let known = |switch: &&SwitchConfig| {
        let elsewhere = switch.markings.iter().any(|marking| marking.bound_elsewhere);
        !switch.lacks_queues && switch.held.is_none() && !elsewhere && switch.marks()
    };
    for switch in network.switches.iter().filter(known) {
        for port in switch.up() {
            let Some(class) = port.maps.get(&MapKind::Dscp).and_then(|map| map.get(&0)) else { continue };
            let works = |at: &QueueConfig| at.marking.is_some_and(|number| switch.markings[number].works());
            let queue = port.mapped(MapKind::Queue, class.value);
            if port.queues.get(&queue).is_some_and(works) {
                continue;
            }
            let others = those_that_mark(port, works);
            let says = format!(
                "the hosts run DCTCP, but their packets (DSCP 0) are in queue {queue}, which does not mark: {others}"
            );
            let fix = format!(
                "enable marking on queue {queue}, or give DCTCP's packets the DSCP of a queue that marks"
            );
            findings.add_as(Severity::Warning, (class.at, &port.name), (says, fix));
        }
    }
}

/// Which queues of a port mark, in words.
fn those_that_mark(port: &PortConfig, works: impl Fn(&QueueConfig) -> bool) -> String {
    let marking = port.queues.iter().filter(|(_, at)| works(at));
    let numbers: Vec<String> = marking.map(|(number, _)| number.to_string()).collect();
    match numbers.len() {
        0 => "no queue does".to_owned(),
        1 => format!("only queue {} does", numbers[0]),
        _ => format!("only queues {} do", numbers.join(", ")),
    }
}

/// How to have the queues of hosts marked, in the file's own terms.
pub(super) fn enable_marks(network: &Network, host: &HostConfig) -> String {
    match (&network.case, &host.marks_by) {
        (None, _) => "enable marking".to_owned(),
        (Some(_), _) if host.asks_for_marks() => "set switch.ecn".to_owned(),
        (Some(_), Some(setting)) => format!("set switch.ecn and {setting}"),
        (Some(_), None) => "set switch.ecn and use a transport that reads marks, such as dcqcn".to_owned(),
    }
}

/// A marking that works and the DCTCP hosts that meet it.
struct Pair<'a> {
    host: &'a HostConfig,
    switch: &'a SwitchConfig,
    marking: &'a MarkingProfile,
    /// Its queue is not lossless, or this is unknown.
    number: usize,
}

fn dctcp_pairs<'a>(network: &'a Network, mut look: impl FnMut(Pair<'a>)) {
    for host in network.hosts.iter().filter(|host| host.is_dctcp()) {
        for switch in &network.switches {
            for (number, marking) in switch.markings.iter().enumerate() {
                let pair = Pair { host, switch, marking, number };
                if marking.works() && carries_tcp(&pair) {
                    look(pair);
                }
            }
        }
    }
}

/// Some queue with this marking is not lossless: lossless queues carry RoCE.
fn carries_tcp(pair: &Pair<'_>) -> bool {
    pair.switch.up().any(|port| {
        let lossless = port.lossless_queues();
        let mut queues = port.queues.iter();
        queues.any(|(queue, at)| at.marking == Some(pair.number) && !lossless.contains(queue))
    })
}

pub(super) fn rate_of(network: &Network, host: &HostConfig) -> Option<Rate> {
    host.rate.or(network.site.rate)
}

pub(super) fn rtt_of(network: &Network, host: &HostConfig) -> Option<Span> {
    host.rtt.or(network.site.rtt)
}

fn threshold_low(network: &Network, pair: &Pair<'_>, findings: &mut Findings) {
    let (Some(rate), Some(rtt)) = (rate_of(network, pair.host), rtt_of(network, pair.host)) else {
        return findings.lacks("the rate of hosts and their round-trip time (--rate, --rtt)");
    };
    let least = bandwidth_delay(rate, rtt) / 7.0;
    let min = pair.marking.min.value.0 as f64;
    if min <= least {
        let says = format!(
            "{} marks from {}; DCTCP at {rate} over {} needs more than {} (C RTT / 7) to keep the link busy",
            pair.marking.name,
            size(min),
            duration(rtt.micros()),
            size(least)
        );
        findings.add(pair.marking.min.at, "", (says, format!("raise K_min above {}", size(least))));
    }
}

fn threshold_burst(pair: &Pair<'_>, findings: &mut Findings) {
    let (min, burst) = (pair.marking.min.value, pair.host.burst);
    if min < burst {
        let says = format!(
            "{} marks from {}, but a host sends up to {} back to back",
            pair.marking.name,
            size(min.0 as f64),
            size(burst.0 as f64)
        );
        let fix = format!("raise K_min above {}, or make bursts smaller", size(burst.0 as f64));
        findings.add(pair.marking.min.at, "", (says, fix));
    }
}

fn on_ramp(pair: &Pair<'_>, findings: &mut Findings) {
    let (min, max) = (&pair.marking.min, &pair.marking.max);
    if min.value < max.value {
        let says = format!(
            "{} is a ramp from {} to {}, but the hosts run DCTCP, which is designed for a step",
            pair.marking.name,
            size(min.value.0 as f64),
            size(max.value.0 as f64)
        );
        findings.add(max.at, "", (says, "set K_min = K_max".to_owned()));
    }
}

fn non_ect(network: &Network, findings: &mut Findings) {
    for switch in &network.switches {
        let used = switch.used_markings();
        for (number, marking) in switch.markings.iter().enumerate() {
            let drops = marking.works() && marking.drops_non_ect && used.contains(&number);
            let of_tcp =
                |host| network.case.is_some() || carries_tcp(&Pair { host, switch, marking, number });
            for host in network.hosts.iter().filter(|host| drops && of_tcp(host)) {
                let says = format!(
                    "{} drops what it cannot mark from {}: ",
                    marking.name,
                    size(marking.min.value.0 as f64)
                );
                let (level, what, fix) = unmarkable(network, host);
                findings.add_as(level, (marking.min.at, ""), (says + &what, fix));
            }
        }
    }
}

/// The packets of a host that cannot be marked.
fn unmarkable(network: &Network, host: &HostConfig) -> (Severity, String, String) {
    let ecn = host.ecn.as_ref().map_or(2, |ecn| ecn.value);
    let pass = "let such packets pass (non_ect = \"pass\")";
    let of_scenario = network.case.is_some();
    match (&host.marks_by, ecn, host.is_dctcp()) {
        (None, 0, _) => (
            Severity::Warning,
            format!("every packet of {}, which does not use ECN", host.transport),
            format!("{pass}, or use rate control that reads marks"),
        ),
        (Some(setting), 0 | 2 | 5, false) if of_scenario => {
            let asked = ecn == 2 && network.hosts.iter().any(HostConfig::asks_for_marks);
            let why = if asked { " unless the other end asked for ECN" } else { ", which does not use ECN" };
            let what = format!("every packet of {}{why}", host.transport);
            (Severity::Warning, what, format!("set {setting}, or {pass}"))
        }
        (Some(setting), 0 | 2 | 5, false) => {
            let why = if ecn == 0 { "never use ECN" } else { "accept but never request ECN" };
            let what = format!("every packet of hosts with tcp_ecn = {ecn}, which {why}");
            (Severity::Warning, what, format!("set {setting}"))
        }
        _ => {
            let pass = if of_scenario { pass } else { "let such packets pass" };
            let what = "SYNs and pure acknowledgements".to_owned();
            (Severity::Note, what, format!("keep K_min above bursts, or {pass}"))
        }
    }
}
