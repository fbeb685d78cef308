//! Rules on the windows of hosts: the path they have to hold, and the buffers they fill.

use super::hosts::{each_host, enable_marks, rate_of, rtt_of};
use crate::formula::{at_least, bandwidth_delay, size};
use crate::rule::{Findings, Rule, Severity};
use weft_config::place::Placed;
use weft_core::{Bytes, Rate, Span};
use weft_device_config::model::{HostConfig, Network};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "window-below-path",
        level: Severity::Warning,
        title: "A socket buffer is smaller than the path's bandwidth-delay product.",
        checks: "The maximum of tcp_rmem and tcp_wmem against C RTT; needs --rate and --rtt where no file gives them. Note: tcp_rmem holds the \
                 path, but the part of it that becomes window may not: half at the start and by default on Linux before 6.6, later two thirds \
                 (packets of 1.5 kB) to nine tenths (9 kB).",
        why: "A single flow cannot fill the link, even in an idle network.",
        fix: "Raise the third figure of tcp_rmem to more than 2 C RTT and that of tcp_wmem to more than C RTT.",
        source: "The kernel's ip-sysctl documentation and its change \"tcp: get rid of sysctl_tcp_adv_win_scale\" (6.6); the shares since then are \
                 measured. RFC 7323, section 1.1.",
        look: |network, findings| each_host(network, |host| below_path(network, host, findings)),
    },
    Rule {
        id: "windows-fill-buffer",
        level: Severity::Note,
        title: "Receive windows, not marks, bound the queue.",
        checks: "On switches without marking: 16 flows with the maximum receive window (nine tenths of tcp_rmem) against the memory of the pool.",
        why: "Loss-based flows grow until they lose packets or reach the window: the queue holds the windows minus what the path holds. Deep buffers then hold tens \
              of megabytes permanently.",
        fix: "Enable marking, or lower tcp_rmem (in a scenario receive_window) to what the path needs.",
        source: "97 MB were seen in production on deep buffers (JANOG); a tcp_rmem of 6 MB is Linux's default.",
        look: fill_buffer,
    },
    Rule {
        id: "setting-without-effect",
        level: Severity::Note,
        title: "Current kernels ignore a setting.",
        checks: "`tcp_adv_win_scale` is not set.",
        why: "Linux 6.6 and later derive the window from the packets that arrive, whatever the setting says.",
        fix: "Remove it, and size tcp_rmem instead; keep it only for hosts with an older kernel.",
        source: "The kernel's ip-sysctl documentation (obsolete since 6.6).",
        look: |network, findings| each_host(network, |host| without_effect(host, findings)),
    },
];

fn below_path(network: &Network, host: &HostConfig, findings: &mut Findings) {
    if host.receive.is_none() && host.send.is_none() {
        return;
    }
    let (Some(rate), Some(rtt)) = (rate_of(network, host), rtt_of(network, host)) else {
        return findings.lacks("the rate of hosts and their round-trip time (--rate, --rtt)");
    };
    receive_below((host, rate, rtt), findings);
    send_below((host, rate, rtt), findings);
}

fn receive_below((host, rate, rtt): (&HostConfig, Rate, Span), findings: &mut Findings) {
    let Some(Placed { value, at }) = &host.receive else { return };
    let (buffer, path) = (value.0 as f64, bandwidth_delay(rate, rtt));
    let (least, most) = host.window_share;
    let (level, window) = match () {
        () if buffer < path => (Severity::Warning, format!("at most {}", size(buffer))),
        () if buffer * least < path => {
            (Severity::Note, format!("{} to {}", size(buffer * least), size(buffer * most)))
        }
        () => return,
    };
    let says = format!("the receive buffer gives a window of {window}, but {}", path_words(rate, rtt));
    findings.add_as(level, (*at, ""), (says, format!("raise it to {} or more", at_least(path / least))));
}

fn send_below((host, rate, rtt): (&HostConfig, Rate, Span), findings: &mut Findings) {
    let path = bandwidth_delay(rate, rtt);
    let short = |buffer: &&Placed<Bytes>| (buffer.value.0 as f64) < path;
    let Some(buffer) = host.send.as_ref().filter(short) else { return };
    let window = size(buffer.value.0 as f64);
    let says = format!("the send buffer gives a window of at most {window}, but {}", path_words(rate, rtt));
    findings.add(buffer.at, "", (says, format!("raise it to {} or more", at_least(path))));
}

fn path_words(rate: Rate, rtt: Span) -> String {
    format!("the path holds {} ({rate} times {} us)", size(bandwidth_delay(rate, rtt)), rtt.micros())
}

fn fill_buffer(network: &Network, findings: &mut Findings) {
    for switch in network.switches.iter().filter(|switch| !switch.marks()) {
        let Some(memory) = switch.pools.iter().filter_map(|pool| pool.size).max().or(network.site.memory)
        else {
            continue;
        };
        for host in &network.hosts {
            let Some(receive) = &host.receive else { continue };
            let windows = 16.0 * receive.value.0 as f64 * host.window_share.1;
            if windows > memory.0 as f64 {
                let says = format!(
                    "{} does not mark, and 16 flows may have {} in flight; the memory is {}",
                    switch.name,
                    size(windows),
                    size(memory.0 as f64)
                );
                let fix = format!("{}, or lower {}", enable_marks(network, host), host.window_by);
                findings.add(receive.at, "", (says, fix));
            }
        }
    }
}

fn without_effect(host: &HostConfig, findings: &mut Findings) {
    if let Some(at) = host.window_scale {
        let says = "tcp_adv_win_scale has no effect on Linux 6.6 and later".to_owned();
        findings.add(at, "", (says, "remove it, unless the hosts run an older kernel".to_owned()));
    }
}
