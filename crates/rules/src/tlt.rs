//! Rules on timeout-less transport and on colour-aware dropping in switches.

use crate::{Facts, Finding, impossible};
use weft_core::Bytes;
use weft_model::{payload_queues, sends_red};
use weft_switch::share::SharingSettings;
use weft_transport::roce::settings::RoceRecovery;
use weft_transport::{Transport, TransportSettings};

/// Red packets need a switch that drops them early, and a threshold for red packets needs a transport that sends them.
pub(crate) fn transports_mark_for_switches_that_drop(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let color = &facts.switch.color;
    if !facts.stacks.iter().any(|stack| sends_red(&stack.transport)) {
        let why = "no transport marks packets red (tlt)";
        return facts.idle("switch.color", why, found);
    }
    if sends_red(facts.stack) && !facts.devices.iter().any(|device| device.switch.color.is_on()) {
        let why = "no switch drops red packets early (switch.color)";
        facts.idle(&facts.transport("tlt"), why, found);
    }
    if !color.is_on() {
        let why = "no threshold is given (switch.color.red or red_share)";
        return facts.idle("switch.color.count", why, found);
    }
    if facts.switch.voq.is_some() {
        let message = "virtual output queues ignore colours";
        found.push(impossible("switch.color", message));
    }
}

/// TLT proves losses from acknowledgements within a window.
pub(crate) fn markers_learn_what_arrives(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if facts.stack.tcp().is_some_and(|tcp| tcp.tlt.is_some() && !tcp.sack) {
        let message =
            "the echo of an important packet proves losses by selective acknowledgements (sack = true)";
        found.push(impossible(facts.transport("tlt"), message));
    }
    let Some(pairs) = facts.stack.roce().filter(|pairs| pairs.tlt.is_some()) else { return };
    if pairs.recovery == RoceRecovery::Selective {
        let why = "with recovery = \"selective\" packets are marked by the window";
        facts.idle_transport(&["tlt.every"], why, found);
        if pairs.window.is_none() && !matches!(facts.stack, TransportSettings::Hpcc(_)) {
            let message =
                "with recovery = \"selective\" the last packet of a window is important: give a window";
            found.push(impossible(facts.transport("window"), message));
        }
    }
}

/// A red packet can enter an empty queue, and a share needs a queue limit.
pub(crate) fn red_thresholds_let_a_packet_pass(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let color = &facts.switch.color;
    let full = u64::from(Transport::new(facts.stack).full_wire());
    if let Some(red) = color.red.filter(|red| sends_red(facts.stack) && red.0 <= full) {
        let message =
            format!("{red} does not exceed one packet of {full} B: every full red packet is dropped");
        found.push(impossible("switch.color.red", message));
    }
    let Some(share) = color.red_share else { return };
    if color.red.is_some() {
        found.push(impossible("switch.color.red_share", "give red or red_share, not both"));
    }
    if share.0 == 0.0 {
        found.push(impossible("switch.color.red_share", "a share of 0 drops every red packet"));
    }
    if matches!(facts.switch.sharing, SharingSettings::Infinite(_)) {
        let message = "sharing = \"infinite\" has no limit to take a share of: give red";
        found.push(impossible("switch.color.red_share", message));
    }
    if let Some(class) = lossless_red(facts).into_iter().next() {
        let message = format!(
            "red packets of class {class} are lossless: their limit is XOFF, which divides the memory at the input; give red"
        );
        found.push(impossible("switch.color.red_share", message));
    }
}

/// The lossless classes in which red packets are sent.
fn lossless_red(facts: &Facts<'_>) -> Vec<u32> {
    let red = facts.graph.map_or(0, |graph| {
        payload_queues(
            (facts.settings, graph),
            |class| facts.switch.queue_of(class),
            |stack| stack.is_some_and(sends_red),
        )
    });
    facts.switch.pfc.classes.iter().copied().filter(|class| *class < 8 && red >> class & 1 == 1).collect()
}

/// A red threshold beyond what a queue can hold drops nothing.
pub(crate) fn red_thresholds_are_within_reach(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let color = &facts.switch.color;
    let Some(red) = color.red.filter(|_| facts.stacks.iter().any(|stack| sends_red(&stack.transport))) else {
        return;
    };
    if let Some(most) = most_in_a_queue(facts).filter(|most| red > *most) {
        facts.idle("switch.color.red", &format!("a queue holds at most {most}"), found);
    }
}

/// The most that a queue with red packets can hold, if anything bounds it.
fn most_in_a_queue(facts: &Facts<'_>) -> Option<Bytes> {
    let (buffer, queues) = (facts.switch.buffer, u64::from(facts.switch.queues));
    let own = match &facts.switch.sharing {
        _ if !lossless_red(facts).is_empty() => None,
        SharingSettings::Fixed(own) => Some(own.per_port),
        SharingSettings::Dynamic(own) => buffer.map(|buffer| {
            let pool = buffer.0.saturating_sub(own.minimum.0 * queues) as f64;
            own.minimum + Bytes((pool * own.alpha / (1.0 + own.alpha)) as u64)
        }),
        SharingSettings::Mmu(_) | SharingSettings::Infinite(_) => None,
    };
    own.into_iter().chain(buffer).min()
}
