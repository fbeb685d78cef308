//! Rules on the two ends of a flow, and on their use of congestion marks.

use crate::{Facts, Finding, impossible};
use weft_core::settings::Amount;
use weft_core::stack::Sizes;
use weft_core::{Bytes, Span};
use weft_model::TransportInUse;
use weft_switch::BalancerSettings;
use weft_switch::mark::NonEct;
use weft_transport::congestion::cubic::CubicArithmetic;
use weft_transport::settings::{LossDetection, ShimRule, Tcp};
use weft_transport::{Transport, TransportSettings};
use weft_workload::{Framing, PatternSettings};

/// The part of TCP that all laws share.
fn tcp(facts: &Facts<'_>) -> Option<Tcp> {
    facts.stack.tcp()
}

/// The payload and wire sizes of a transport's packets.
pub(crate) fn framing(settings: &TransportSettings) -> Framing {
    Framing::from(Transport::new(settings).frames())
}

impl Facts<'_> {
    /// The path of a setting of the chosen transport.
    pub(crate) fn transport(&self, setting: &str) -> String {
        format!("transport.{}.{setting}", self.stack.name())
    }

    pub(crate) fn idle_transport(&self, names: &[&str], why: &str, found: &mut Vec<Finding>) {
        names.iter().for_each(|name| self.idle(&self.transport(name), why, found));
    }
}

/// Packets need room for payload; lengths on the wire have 16 bits.
pub(crate) fn packets_carry_payload(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Sizes { mtu, header, framing, .. } = facts.stack.stack().sizes();
    if mtu <= header {
        let message = format!("headers of {header} leave no room for payload in packets of {mtu}");
        found.push(impossible(facts.transport("mtu"), message));
    }
    if (mtu + framing).0 > u64::from(u16::MAX) {
        let message = format!("packets of {mtu} with a frame of {framing} exceed 65535 bytes on the wire");
        found.push(impossible(facts.transport("mtu"), message));
    }
}

/// Time-outs lie between their limits.
pub(crate) fn time_outs_are_ordered(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = tcp(facts) else { return };
    let limited = [("min_rto", "minimum", tcp.min_rto), ("initial_rto", "first", tcp.initial_rto)];
    for (name, which, time_out) in limited.into_iter().filter(|(_, _, time_out)| *time_out > tcp.max_rto) {
        let message = format!("the {which} time-out {time_out} exceeds the maximum, {}", tcp.max_rto);
        found.push(impossible(facts.transport(name), message));
    }
}

/// A flow of L2DCT is young before it is old, and its age matters.
pub(crate) fn flows_age(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let TransportSettings::L2dct(own) = facts.stack else { return };
    if own.law.old < own.law.young {
        let message = format!("a flow is old from {} on, but young up to {}", own.law.old, own.law.young);
        found.push(impossible(facts.transport("old"), message));
    }
    if own.law.weight_young == own.law.weight_old {
        facts.idle_transport(&["young", "old"], "flows of any age have the same weight", found);
    }
}

/// Whether the bandwidth has changed matters to H-TCP only if it otherwise adapts its back-off.
pub(crate) fn back_offs_adapt(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if let TransportSettings::Htcp(own) = facts.stack
        && !own.law.adaptive_backoff
    {
        let why = "every back-off halves the window (adaptive_backoff = false)";
        facts.idle_transport(&["bandwidth_switch"], why, found);
    }
}

/// The first window is not zero and does not exceed the largest; clocks of transports tick.
pub(crate) fn windows_and_clocks_start(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let windows = match facts.stack {
        TransportSettings::Pfabric(own) => Some((own.initial_window, own.max_window)),
        TransportSettings::Pase(own) => Some((own.initial_window, own.max_window)),
        _ => None,
    };
    if let Some((first, most)) = windows.filter(|(first, most)| first > most) {
        let message = format!("{first} packets exceed max_window = {most}");
        found.push(impossible(facts.transport("initial_window"), message));
    }
    if tcp(facts)
        .is_some_and(|tcp| matches!(tcp.initial_window, Amount::Bytes(Bytes::ZERO) | Amount::Packets(0)))
    {
        found.push(impossible(facts.transport("initial_window"), "a window of 0 B lets nothing pass"));
    }
    let segment = Transport::new(facts.stack).mss();
    if let Some(Amount::Bytes(first)) = tcp(facts).map(|tcp| tcp.initial_window).filter(|_| segment > 1)
        && (1..segment).contains(&first.0)
    {
        let message = format!("a first window of {first} holds no segment of {segment} B");
        found.push(impossible(facts.transport("initial_window"), message));
    }
    let (packets, rates) = (Span::from_us(1), Span::from_ns(1));
    let clocks = match facts.stack {
        TransportSettings::Pfabric(own) => vec![("rto", own.rto, packets)],
        TransportSettings::Pdq(own) => {
            vec![("round_trip", own.round_trip, packets), ("rto", own.rto, packets)]
        }
        // other rules keep the other timers of these two above zero
        TransportSettings::Pase(own) => vec![("round_trip", own.round_trip, packets)],
        TransportSettings::Ndp(own) => vec![("rto", own.rto, packets)],
        TransportSettings::Hpcc(own) => vec![("base_rtt", own.law.base_rtt, rates)],
        TransportSettings::Dcqcn(own) => vec![
            ("alpha_timer", own.law.alpha_timer, rates),
            ("increase_timer", own.law.increase_timer, rates),
            ("decrease_interval", own.law.decrease_interval, rates),
        ],
        _ => Vec::new(),
    };
    for (name, _, least) in clocks.into_iter().filter(|(_, clock, least)| clock < least) {
        found.push(impossible(facts.transport(name), format!("must be at least {least}")));
    }
}

/// The tail loss probe is a part of RACK, which needs selective acknowledgements.
pub(crate) fn probes_need_rack(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = tcp(facts) else { return };
    let rack = tcp.loss_detection == LossDetection::Rack;
    if rack && !tcp.sack {
        let message = "RACK goes by selective acknowledgements (RFC 8985, section 3): give sack = true";
        return found.push(impossible(facts.transport("loss_detection"), message));
    }
    if tcp.tlp && !rack {
        let message = "the tail loss probe needs loss_detection = \"rack\"";
        found.push(impossible(facts.transport("tlp"), message));
    }
    if !tcp.tlp {
        facts.idle_transport(&["tlp_slack", "tlp_delayed_ack"], "tlp is off", found);
    }
    match rack {
        true => {
            facts.idle_transport(&["dup_threshold", "max_reordering"], "RACK detects loss by time", found)
        }
        false => facts.idle_transport(&["rack_slack"], "loss_detection is not \"rack\"", found),
    }
}

/// A window has room for a packet.
pub(crate) fn windows_hold_a_packet(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let of_tcp = tcp(facts).and_then(|tcp| {
        let tuned = tcp.autotune.as_ref().map(|tuned| ("autotune", tuned.initial));
        tcp.receive_window.map(|window| ("receive_window", window)).or(tuned)
    });
    let of_pairs = facts.stack.roce().and_then(|pairs| Some(("window", pairs.window?)));
    let mss = Bytes(Transport::new(facts.stack).mss());
    for (name, window) in of_tcp.into_iter().chain(of_pairs).filter(|(_, window)| *window < mss) {
        let message = format!("a packet carries {mss}, which a window of {window} never lets through");
        found.push(impossible(facts.transport(name), message));
    }
}

/// A receive window is constant or tunes itself.
pub(crate) fn receive_windows_are_constant_or_tuned(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = tcp(facts) else { return };
    let Some(tuned) = &tcp.autotune else { return };
    if tcp.receive_window.is_some() {
        let message = "the receive window is constant (receive_window) or tunes itself, not both";
        found.push(impossible(facts.transport("autotune"), message));
    }
    if tuned.initial > tuned.max {
        let message = format!("the window starts at {}, beyond its maximum of {}", tuned.initial, tuned.max);
        found.push(impossible(facts.transport("autotune"), message));
    }
}

/// Reordering is learnt from selective acknowledgements, and its limit must exceed the initial threshold.
pub(crate) fn reordering_is_learnt_with_sack(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = tcp(facts) else { return };
    if !tcp.sack {
        let message =
            "it needs selective acknowledgements, which report duplicates and reordering (sack = true)";
        let asked = [("max_reordering", tcp.max_reordering.is_some()), ("undo", tcp.undo)];
        let wrong = asked.into_iter().filter(|(_, asked)| *asked);
        found.extend(wrong.map(|(name, _)| impossible(facts.transport(name), message)));
    }
    if let Some(most) = tcp.max_reordering.filter(|most| *most <= tcp.dup_threshold) {
        let message = format!("it may grow to {most}, but starts at dup_threshold = {}", tcp.dup_threshold);
        found.push(impossible(facts.transport("max_reordering"), &message));
    }
}

/// Settings of a mechanism have an effect only with the mechanism.
pub(crate) fn mechanisms_are_on_where_they_are_set(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = tcp(facts) else { return };
    shims_have_what_they_go_by(facts, &tcp, found);
    if !tcp.tso {
        let of_bursts =
            ["tso_limit", "tso_divisor", "tso_time", "tso_min_segments", "tso_rtt_log", "tso_wait"];
        facts.idle_transport(&of_bursts, "tso is off", found);
    } else if tcp.tso_time.is_none() {
        let why = "it changes the bursts that tso_time allows, which is not given";
        facts.idle_transport(&["tso_min_segments", "tso_rtt_log"], why, found);
    }
    if !tcp.pacing {
        let why = if tcp.tso_time.is_some() { None } else { Some("pacing is off") };
        let pace = ["pacing_slow_start", "pacing_avoidance"];
        why.into_iter().for_each(|why| facts.idle_transport(&pace, why, found));
    }
    if tcp.sack {
        facts.idle_transport(&["impatient"], "it applies only without sack", found);
    }
    if tcp.delayed_ack == 1 {
        let why = "every packet is acknowledged at once (delayed_ack = 1)";
        facts.idle_transport(&["delayed_ack_timeout"], why, found);
        if tcp.read_delay.is_none() {
            facts.idle_transport(&["quick_acks"], why, found);
        }
    }
    if tcp.gro {
        facts.idle_transport(&["read_delay"], "receive offload decides when to acknowledge (gro)", found);
    }
}

/// A reordering buffer follows one of two rules, and flowcells come from one balancer only.
fn shims_have_what_they_go_by(facts: &Facts<'_>, tcp: &Tcp, found: &mut Vec<Finding>) {
    let (time_out, hold) = (
        ["shim_timeout", "shim_limit"],
        ["hold_alpha", "hold_beta", "hold_initial", "hold_gain", "hold_least", "hold_most"],
    );
    let flowcells = tcp.shim_rule == ShimRule::Flowcells;
    if !tcp.reorder_shim {
        let why = "reorder_shim is off";
        facts.idle_transport(&["shim_rule"], why, found);
        facts.idle_transport(&time_out, why, found);
        return facts.idle_transport(&hold, why, found);
    }
    if flowcells {
        facts.idle_transport(&time_out, "shim_rule is \"flowcells\"", found);
    } else {
        facts.idle_transport(&hold, "shim_rule is not \"flowcells\"", found);
    }
    if flowcells && !matches!(facts.balance, BalancerSettings::Presto(_)) {
        let message = "only balance = \"presto\" cuts flows into flowcells";
        found.push(impossible(facts.transport("shim_rule"), message));
    }
    if tcp.hold.hold_least > tcp.hold.hold_most {
        let message = "the minimum mean exceeds the maximum, hold_most";
        found.push(impossible(facts.transport("hold_least"), message));
    }
}

/// The law of a flow at a constant rate does not matter: it sends datagrams at its own rate.
pub(crate) fn flows_at_constant_rates_need_no_transport(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let entries = &facts.settings.traffic;
    let constant = entries.iter().all(|entry| matches!(entry.flows.pattern, PatternSettings::Constant(_)));
    if entries.is_empty() || !constant {
        return;
    }
    let of_datagrams = ["rate"];
    let of_tcp =
        ["initial_window", "initial_ssthresh", "receive_window", "loss_detection", "min_rto", "initial_rto"];
    let names = if facts.stack.tcp().is_some() { &of_tcp[..] } else { &of_datagrams };
    facts.idle_transport(names, "all flows send datagrams at a constant rate of their own", found);
}

/// The variants of CUBIC's slow start build on each other.
pub(crate) fn slow_start_ends_early_where_set(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if let TransportSettings::Cubic(cubic) = facts.stack
        && !cubic.law.hystart
    {
        facts.idle_transport(&["hystart_paced"], "hystart is off", found);
    }
}

/// Kernel ticks matter only with Linux's arithmetic.
pub(crate) fn ticks_are_counted(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if let TransportSettings::Cubic(cubic) = &facts.settings.transport
        && cubic.law.arithmetic == CubicArithmetic::Exact
    {
        facts.idle_transport(&["hz"], "arithmetic is not \"linux\"", found);
    }
}

/// Marks need a switch that sets them and an end that reads them.
pub(crate) fn marks_are_set_and_read(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (name, transport) = (facts.stack.name(), Transport::new(facts.stack));
    let (own_use, reads) = (transport.stack().goes_by_marks(), transport.stack().reads_marks());
    let Some(non_ect) = facts.switch.ecn.non_ect() else {
        if crate::card::some_card_marks(facts) {
            return;
        }
        let why = "no switch marks packets (switch.ecn)";
        facts.idle_transport(&["ecn"], why, found);
        if own_use {
            facts.idle("transport", &format!("{name} reacts to marks, and {why}"), found);
        }
        return;
    };
    if !reads && non_ect == NonEct::Pass {
        let why = format!("packets of {name} cannot be marked, and such packets pass (non_ect)");
        facts.idle("switch.ecn", &why, found);
    }
    if own_use {
        facts.idle_transport(&["ecn"], &format!("{name} always uses marks, in its own way"), found);
    }
    let asks = |stack: &TransportInUse| stack.transport.stack().reads_marks();
    let differs =
        |stack: &TransportInUse| stack.transport.tcp().map(|tcp| tcp.ecn) != tcp(facts).map(|tcp| tcp.ecn);
    if !facts.stacks.iter().any(asks) && facts.stacks.iter().any(differs) {
        facts.idle_transport(&["ecn"], "no host asks for ECN (ecn = \"on\")", found);
    }
}
