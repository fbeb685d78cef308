//! Rules on the inside of a switch.

use crate::pause::{most_set_aside, uses_the_buffer};
use crate::{Facts, Finding, impossible};
use weft_core::settings::Amount;
use weft_core::{Bytes, Span, SwitchId};
use weft_switch::AnyBalancer;
use weft_switch::balance::BalancerSite;
use weft_switch::mark::{MarkerSettings, Scope, pi::PiSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::settings::Visibility;
use weft_switch::share::SharingSettings;
use weft_topology::graph::Node;
use weft_transport::Transport;

/// The minimum sampling interval of markers: more frequent samples than packets cost time and add nothing.
const LEAST_SAMPLING: Span = Span::from_ns(100);

/// Dynamic sharing divides a buffer, which must exceed the minima of all queues.
pub(crate) fn dynamic_sharing_has_a_buffer_for_its_minima(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = facts.switch;
    let SharingSettings::Dynamic(sharing) = &switch.sharing else { return };
    let Some(buffer) = switch.buffer else {
        found.push(impossible("switch.sharing", "dynamic sharing needs switch.buffer, the memory to share"));
        return;
    };
    let queues = most_ports(facts).saturating_mul(u64::from(switch.queues));
    let promised = sharing.minimum * queues;
    let rest = Bytes(buffer.0.saturating_sub(most_set_aside(facts).0));
    if promised >= rest && rest > Bytes::ZERO {
        let message = format!(
            "{queues} queues with a minimum of {} leave nothing of the buffer of {rest}",
            sharing.minimum
        );
        found.push(impossible("switch.sharing.dynamic.minimum", message));
    }
}

/// Ports of the largest switch.
fn most_ports(facts: &Facts<'_>) -> u64 {
    let Some(graph) = facts.graph else { return 0 };
    let ports = |switch: &SwitchId| graph.links_of(Node::Switch(*switch)).len() as u64;
    facts.device.switches.iter().map(ports).max().unwrap_or(0)
}

/// Cells of a chip are a few hundred bytes; larger ones would hold several packets, which no chip does.
const LARGEST_CELL: Bytes = Bytes(4_096);

/// Cells hold something, and are smaller than most packets.
pub(crate) fn cells_hold_parts_of_packets(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(cell) = facts.switch.cell else { return };
    if cell < Bytes(2) || cell > LARGEST_CELL {
        found.push(impossible("switch.cell", format!("cells of {cell}; from 2 B to {LARGEST_CELL}")));
    }
}

/// Memory that cannot hold a full packet would drop them all, and the run would never end.
pub(crate) fn memory_holds_a_packet(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let full = Bytes(u64::from(Transport::new(facts.stack).full_wire()));
    let port = match &facts.switch.sharing {
        SharingSettings::Fixed(own) => Some(own.per_port),
        _ => None,
    };
    let paths = ["switch.buffer", "switch.sharing.static.per_port"];
    for (path, room) in paths.into_iter().zip([facts.switch.buffer.filter(|_| uses_the_buffer(facts)), port])
    {
        if let Some(room) = room.filter(|room| *room < full) {
            let message = format!("{room} holds no packet of {full}: all of them would be dropped");
            found.push(impossible(path, message));
        }
    }
}

/// If nothing is ever refused, a buffer size has no effect.
pub(crate) fn infinite_sharing_has_no_buffer(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if !uses_the_buffer(facts) {
        facts.idle("switch.buffer", "infinite sharing never drops", found);
    }
}

/// With one queue there is nothing to schedule.
pub(crate) fn several_queues_for_schedules_and_class_loads(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = facts.switch;
    if switch.queues > 1 {
        return;
    }
    if !matches!(switch.schedule, SchedulerSettings::Fifo(_)) {
        facts.idle("switch.schedule", "there is only one queue per port (switch.queues)", found);
    }
    facts.idle("switch.class_load", "there is only one queue per port (switch.queues)", found);
}

/// A queue of weight 0 would never be served.
pub(crate) fn drr_weights_are_positive(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let SchedulerSettings::Drr(drr) = &facts.switch.schedule else { return };
    if drr.quantum.0 == 0 {
        found.push(impossible("switch.schedule.drr.quantum", "with a quantum of 0 nothing is ever sent"));
    }
    weights_fit(facts, ("drr", 0), &drr.weights, found);
}

/// A queue of weight 0 would never be served, by packets either.
pub(crate) fn wrr_weights_are_positive(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let SchedulerSettings::Wrr(wrr) = &facts.switch.schedule else { return };
    weights_fit(facts, ("wrr", 0), &wrr.weights, found);
}

/// Strict priority above weights leaves queues to share, and each of them is served.
pub(crate) fn queues_behind_strict_ones_are_served(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (name, first, weights, quantum) = match &facts.switch.schedule {
        SchedulerSettings::StrictDrr(own) => ("strict-drr", own.first, &own.weights, own.quantum.0),
        SchedulerSettings::StrictWrr(own) => ("strict-wrr", own.first, &own.weights, 1),
        _ => return,
    };
    if quantum == 0 {
        let path = format!("switch.schedule.{name}.quantum");
        found.push(impossible(path, "with a quantum of 0 nothing is ever sent"));
    }
    let queues = facts.switch.queues;
    if queues > 1 && first >= queues {
        let message =
            format!("no queue is left to share what {first} leave: ports have {queues} (switch.queues)");
        found.push(impossible(format!("switch.schedule.{name}.first"), message));
        return;
    }
    weights_fit(facts, (name, first), weights, found);
}

/// Each weight applies to a queue from `first` on, and no queue starves.
fn weights_fit(facts: &Facts<'_>, (name, first): (&str, u32), weights: &[u32], found: &mut Vec<Finding>) {
    for index in weights.iter().enumerate().filter(|(_, weight)| **weight == 0).map(|(index, _)| index) {
        let path = format!("switch.schedule.{name}.weights[{index}]");
        found.push(impossible(path, "a queue of weight 0 would never be served"));
    }
    let queues = facts.switch.queues.saturating_sub(first);
    if weights.len() > queues as usize {
        let message = format!("{} weights for {queues} queues per port", weights.len());
        found.push(impossible(format!("switch.schedule.{name}.weights"), message));
    }
}

/// RED rises from `min` to `max`.
pub(crate) fn red_thresholds_are_ordered(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let MarkerSettings::Red(red) = &facts.switch.ecn else { return };
    if red.min.bytes(red.packet) > red.max.bytes(red.packet) {
        let message =
            "K_max is below K_min, so every packet above K_min would be marked; use the step marker for that";
        found.push(impossible("switch.ecn.red.max", message));
    }
}

/// A controller's samples are some time apart, and PI's gains are given in one form.
pub(crate) fn controllers_are_whole(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (path, every) = match &facts.switch.ecn {
        MarkerSettings::Pi(pi) => {
            pi_has_one_pair_of_gains(pi, facts, found);
            ("switch.ecn.pi.every", pi.every)
        }
        MarkerSettings::Pie(pie) => ("switch.ecn.pie.every", pie.every),
        _ => return,
    };
    if every < LEAST_SAMPLING {
        let message = format!("queue samples must be at least {LEAST_SAMPLING} apart");
        found.push(impossible(path, message));
    }
}

fn pi_has_one_pair_of_gains(pi: &PiSettings, facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if pi.packet.0 == 0 {
        found.push(impossible("switch.ecn.pi.packet", "the gains refer to a packet of at least 1 B"));
    }
    match (pi.a, pi.b) {
        (None, None) => {}
        (Some(a), Some(b)) => {
            pi_gains_are_positive(a, b, found);
            ["k1", "k2"].iter().for_each(|name| {
                facts.idle(&format!("switch.ecn.pi.{name}"), "the gains are given as `a` and `b`", found);
            });
        }
        (Some(_), None) => found.push(impossible("switch.ecn.pi.a", "`a` needs `b`")),
        (None, Some(_)) => found.push(impossible("switch.ecn.pi.b", "`b` needs `a`")),
    }
    if pi.gains() == (0.0, 0.0) {
        let name = if pi.a.is_some() { "a" } else { "k1" };
        found.push(impossible(format!("switch.ecn.pi.{name}"), "with gains of 0 nothing is ever marked"));
    }
}

/// With a negative gain an integrator marks the less, the longer the queue or the faster it grows.
fn pi_gains_are_positive(a: f64, b: f64, found: &mut Vec<Finding>) {
    if b < 0.0 || a < b {
        let message = format!(
            "`a` = {a:e} and `b` = {b:e} make a gain negative, so that longer queues are marked less (K1 = b, K2 = (a - b) / \
             every): `b` must be at least 0, `a` at least `b`"
        );
        found.push(impossible("switch.ecn.pi.a", message));
    }
}

/// The size of a packet matters if packets are counted.
pub(crate) fn packet_sizes_matter_to_packet_counts(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let counts = |amount: &Amount| matches!(amount, Amount::Packets(_));
    let (path, counted) = match &facts.switch.ecn {
        MarkerSettings::Step(step) => ("switch.ecn.step.packet", counts(&step.threshold)),
        MarkerSettings::Red(red) => ("switch.ecn.red.packet", counts(&red.min) || counts(&red.max)),
        // PI's gains are per packet, and PIE never marks at two packets.
        MarkerSettings::Off(_)
        | MarkerSettings::Pi(_)
        | MarkerSettings::Pie(_)
        | MarkerSettings::Codel(_) => return,
    };
    if !counted {
        facts.idle(path, "the thresholds are given in bytes", found);
    }
}

/// Only balancers that read queue lengths depend on how these are counted.
pub(crate) fn visibility_matters_to_load_aware_balancers(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let balance = facts.balance;
    if AnyBalancer::new(balance, SITE).reads_loads() {
        if facts.switch.engines == 1 && facts.switch.visibility == Visibility::Instant {
            facts.idle("switch.visibility", "a single engine sees all its decisions at once anyway", found);
        }
        return;
    }
    let why = format!("{} does not use queue lengths", balance.name());
    for setting in ["visibility", "count_in_service", "class_load"] {
        facts.idle(&format!("switch.{setting}"), &why, found);
    }
}

/// Where a balancer is that is only asked what it needs.
const SITE: BalancerSite = BalancerSite { seed: 0, switch: SwitchId(0), engine: 0 };

/// A queue is the whole port if there is only one.
pub(crate) fn marks_count_one_queue_or_several(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let scope = match &facts.switch.ecn {
        MarkerSettings::Step(step) => step.scope,
        MarkerSettings::Red(red) => red.scope,
        _ => return,
    };
    let path = format!("switch.ecn.{}.scope", facts.switch.ecn.name());
    match &facts.switch.ecn {
        MarkerSettings::Red(red) if facts.switch.voq.is_some() && scope == Scope::Port && red.average > 0 => {
            let message =
                "virtual output queues average their own bytes only: set average = 0 or scope = \"queue\"";
            found.push(impossible(path, message.to_owned()));
        }
        _ if facts.switch.voq.is_some() || facts.switch.queues > 1 || scope == Scope::Queue => {}
        _ => facts.idle(&path, "there is only one queue per port (switch.queues)", found),
    }
}
