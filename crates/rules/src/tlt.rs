//! Rules on timeout-less transport and on colour-aware dropping in switches.

use crate::{Facts, Finding, impossible};
use weft_switch::share::SharingSettings;
use weft_transport::roce::settings::RoceRecovery;
use weft_transport::{Transport, TransportSettings};

/// Whether a transport marks packets red.
fn marks(stack: &TransportSettings) -> bool {
    stack.tcp().is_some_and(|tcp| tcp.tlt.is_some()) || stack.roce().is_some_and(|pairs| pairs.tlt.is_some())
}

/// Red packets need a switch that drops them early, and a threshold for red packets needs a transport that sends them.
pub(crate) fn transports_mark_for_switches_that_drop(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let color = &facts.switch.color;
    if !facts.stacks.iter().any(|stack| marks(&stack.transport)) {
        let why = "no transport marks packets red (tlt)";
        return facts.idle("switch.color", why, found);
    }
    if marks(facts.stack) && !facts.devices.iter().any(|device| device.switch.color.is_on()) {
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
        if pairs.window.is_none() {
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
    if let Some(red) = color.red.filter(|red| marks(facts.stack) && red.0 <= full) {
        let message =
            format!("{red} does not exceed one packet of {full} B: every full red packet is dropped");
        found.push(impossible("switch.color.red", message));
    }
    let Some(share) = color.red_share else { return };
    if share.0 == 0.0 {
        found.push(impossible("switch.color.red_share", "a share of 0 drops every red packet"));
    }
    if matches!(facts.switch.sharing, SharingSettings::Infinite(_)) {
        let message = "sharing = \"infinite\" has no limit to take a share of: give red";
        found.push(impossible("switch.color.red_share", message));
    }
    if facts.switch.pfc.is_on() {
        let message =
            "the limit of a lossless class is XOFF, which divides the memory at the input: give red";
        found.push(impossible("switch.color.red_share", message));
    }
}
