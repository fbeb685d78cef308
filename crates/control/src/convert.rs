//! From the settings of a scenario to the numbers of a fluid model: the only place where bytes become packets and spans
//! become seconds. A setting that the model lacks is an error or is named in the notes, never silently ignored.

use weft_core::settings::Amount;
use weft_core::{Bytes, Rate, Span};
use weft_fluid::model::marking::{Integrator, Marking, Ramp};
use weft_fluid::model::{
    dcqcn,
    timely::{self, TimelyParameters},
};
use weft_rate::{
    RateLawSettings,
    notification::{NotificationPacing, NotificationScope, NotificationSettings},
    patched_timely::PatchedTimelySettings,
    segments, timely as rate_timely,
    timely_pi::TimelyPiSettings,
};
use weft_switch::mark::{
    At, MarkerSettings,
    pi::PiSettings,
    red::{self, RedSettings},
};

use crate::bottleneck::{BottleneckLink, FlowPath};

/// The unit of the models: one full-size packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) packet: Bytes,
}

impl Unit {
    pub(crate) fn packets(self, bytes: Bytes) -> f64 {
        bytes.0 as f64 / self.packet.0 as f64
    }

    pub(crate) fn per_second(self, rate: Rate) -> f64 {
        rate.0 as f64 / self.packet.bits() as f64
    }

    /// Packets per second as bits per second.
    pub(crate) fn bits(self, rate: f64) -> f64 {
        rate * self.packet.bits() as f64
    }

    /// Packets as bytes.
    pub(crate) fn bytes(self, packets: f64) -> f64 {
        packets * self.packet.0 as f64
    }
}

/// The switch's marking, and whether it decides on the arrival of a packet.
pub(crate) fn marking(
    marker: &MarkerSettings,
    unit: Unit,
    continued: bool,
) -> Result<(Marking, bool), String> {
    match marker {
        MarkerSettings::Red(red) => Ok((Marking::Ramp(ramp(red, unit, continued)?), red.at == At::Enqueue)),
        MarkerSettings::Pi(pi) => Ok((Marking::Integrator(integrator_of(pi, unit)), pi.at == At::Enqueue)),
        other => {
            Err(format!("`switch.ecn` is `{}`; DCQCN's fluid model covers `red` and `pi`", other.name()))
        }
    }
}

/// The gains are per packet of the marker's own size.
fn integrator_of(pi: &PiSettings, unit: Unit) -> Integrator {
    let (k1, k2) = pi.gains();
    let size = 1.0 / unit.packets(pi.packet);
    let reference = unit.packets(pi.reference.bytes(pi.packet));
    Integrator { reference, proportional: k1 * size, integral: k2 * size }
}

fn ramp(red: &RedSettings, unit: Unit, continued: bool) -> Result<Ramp, String> {
    if red.average > 0 {
        return Err(
            "`switch.ecn.red.average` is above 0; the fluid model uses the instantaneous queue".to_owned()
        );
    }
    let packets = |amount: Amount| unit.packets(amount.bytes(red.packet));
    let (low, high) = (packets(red.min), packets(red.max));
    if high <= low || red.max_probability.0 <= 0.0 {
        return Err(
            "`switch.ecn.red` has no ramp: `max` must exceed `min`, `max_probability` zero".to_owned()
        );
    }
    let literal = red.beyond == red::Beyond::MarkAll && !continued;
    Ok(Ramp::new(low, high, red.max_probability.0, literal))
}

/// DCQCN's parameters for the model.
pub(crate) fn dcqcn(
    law: &weft_rate::dcqcn::DcqcnSettings,
    notification: &NotificationSettings,
    unit: Unit,
) -> dcqcn::DcqcnParameters {
    dcqcn::DcqcnParameters {
        gain: law.gain,
        notification: notification.cnp_interval.seconds(),
        estimate_timer: law.alpha_timer.seconds(),
        increase_timer: law.increase_timer.seconds(),
        byte_counter: unit.packets(law.byte_counter),
        recovery: f64::from(law.recovery_events),
        step: unit.per_second(law.additive_step),
    }
}

/// The DCQCN settings that the model leaves out.
pub(crate) fn dcqcn_notes(
    law: &weft_rate::dcqcn::DcqcnSettings,
    notification: &NotificationSettings,
) -> Vec<String> {
    use weft_rate::dcqcn::{CutBy, HyperIncrease, ReactionTiming, RecoveryCount};
    let left_out = [
        (law.hyper_increase != HyperIncrease::Off, "hyper increase"),
        (law.timing != ReactionTiming::Paper, "free-running timers"),
        (law.cut_by != CutBy::Old, "cuts by the updated estimate"),
        (law.recovery_count != RecoveryCount::Fluid, "ns-3's fast recovery count"),
        (!law.clamp_target, "a target that survives a cut"),
        (law.collapse_target, "the collapse of the target"),
        (law.wait_for_notification, "the wait for the first notification"),
        (!law.reset_byte_meter, "a byte counter that continues after a cut (`reset_byte_meter = false`)"),
        (
            notification.np_mode != NotificationPacing::Paper,
            "how marks within an interval are answered (`np_mode`): intervals notify independently",
        ),
        (
            notification.np_scope != NotificationScope::Flow,
            "an interval that the flows of a port share (`np_scope`)",
        ),
    ];
    let of = |(there, what): (bool, &str)| there.then(|| format!("The model omits {what}."));
    left_out.into_iter().filter_map(of).collect()
}

/// The settings of a TIMELY law.
pub(crate) struct ConvertedTimely<'a> {
    own: &'a rate_timely::TimelySharedSettings,
    decrease: f64,
    between: Between,
    /// Settings for which the model has no equation.
    omitted: Vec<&'static str>,
}

enum Between {
    Gradient,
    Weighted(f64),
    Integrator { gain: f64, ratio: f64, reference: Option<Span> },
}

/// The settings of a TIMELY law; `None` for other laws.
pub(crate) fn measured(law: &RateLawSettings) -> Option<ConvertedTimely<'_>> {
    Some(match law {
        RateLawSettings::Timely(own) => {
            let omitted = [
                (own.hai_after > 0, "hyperactive increase"),
                (own.once_per_window, "one change per window"),
                (own.scale_by_min_rtt, "steps scaled by time"),
            ];
            let omitted = omitted.into_iter().filter_map(|(there, what)| there.then_some(what)).collect();
            ConvertedTimely { own: &own.measured, decrease: own.beta, between: Between::Gradient, omitted }
        }
        RateLawSettings::PatchedTimely(own) => weighted(own),
        RateLawSettings::TimelyPi(own) => integrator(own),
        RateLawSettings::FixedRate(_) | RateLawSettings::Dcqcn(_) | RateLawSettings::Hpcc(_) => return None,
    })
}

fn weighted(own: &PatchedTimelySettings) -> ConvertedTimely<'_> {
    let between = Between::Weighted(own.w_slope);
    ConvertedTimely { own: &own.measured, decrease: own.beta, between, omitted: Vec::new() }
}

fn integrator(own: &TimelyPiSettings) -> ConvertedTimely<'_> {
    let between = Between::Integrator { gain: own.pi_gain, ratio: own.pi_ratio, reference: own.reference };
    ConvertedTimely { own: &own.measured, decrease: 0.0, between, omitted: Vec::new() }
}

impl<'a> ConvertedTimely<'a> {
    /// Rates at which flows start, as listed.
    pub(crate) fn initial_rates(&self) -> &'a [Rate] {
        &self.own.initial_rates
    }

    /// The model's settings on a path with this round trip without queueing.
    pub(crate) fn settings(&self, capacity: f64, path: FlowPath, unit: Unit) -> TimelyParameters {
        let (own, round_trip) = (self.own, path.round_trip);
        let apart = measured_idle(path, unit) - own.segments.base_rtt.seconds();
        let (low, high) = ((own.low.seconds() - apart).max(0.0), (own.high.seconds() - apart).max(0.0));
        let law = match self.between {
            Between::Gradient => timely::TimelyLaw::Original,
            Between::Weighted(slope) => timely::TimelyLaw::Patched {
                slope,
                reference: (capacity * low).max(1e-9),
                divisor: capacity * own.low.seconds(),
            },
            Between::Integrator { gain, ratio, reference } => {
                let per_packet = gain * unit.packet.bits() as f64;
                let half_way = 0.5 * (own.low.seconds() + own.high.seconds());
                let held = reference.map_or(half_way, Span::seconds) - apart;
                timely::TimelyLaw::Integrator {
                    newer: ratio * per_packet,
                    older: per_packet,
                    reference: capacity * held,
                }
            }
        };
        TimelyParameters {
            capacity,
            segment: unit.packets(own.segments.segment),
            base: own.min_rtt.seconds(),
            propagation: (round_trip.seconds() - 1.0 / capacity).max(0.0),
            gain: own.gradient_gain,
            step: unit.per_second(own.additive_step),
            decrease: self.decrease,
            low,
            high,
            law,
        }
    }

    /// What the model leaves out of the settings and of this path.
    pub(crate) fn notes(&self, found: &BottleneckLink) -> Vec<String> {
        let mut notes: Vec<String> =
            self.omitted.iter().map(|what| format!("The model omits {what}.")).collect();
        if self.own.segments.pacing == segments::Pacing::PerBurst {
            notes.push("Bursts are smoothed: a fluid has none.".to_owned());
        }
        let fastest = found.paths.iter().map(|path| path.line).max();
        if let Some(card) = fastest.filter(|line| *line > found.rate) {
            notes.push(format!(
                "No flow of the model exceeds the bottleneck's {}; with packets it may reach its card's {card}.",
                found.rate
            ));
        }
        notes
    }

    /// The part of a measured round trip, in seconds, that is not queueing and that thresholds contain; `None` if
    /// `base_rtt` subtracts something.
    pub(crate) fn unsubtracted(&self, path: FlowPath, unit: Unit) -> Option<f64> {
        (self.own.segments.base_rtt == Span::ZERO).then(|| measured_idle(path, unit).max(0.0))
    }
}

/// The round trip that a host measures without queueing, in seconds: from the departure of a packet, so without its
/// transmission by the card. Negative if a given delay is shorter than that.
fn measured_idle(path: FlowPath, unit: Unit) -> f64 {
    path.round_trip.seconds() - path.line.time_for(unit.packet).seconds()
}
