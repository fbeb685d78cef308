//! Rules on queue pairs and rate laws.

use crate::{Facts, Finding, impossible};
use weft_core::{Rate, Span};
use weft_transport::TransportSettings;
use weft_transport::protocols::dcqcn::RoceDcqcnSettings;
use weft_transport::rate::dcqcn::{HyperIncrease, ReactionTiming};
use weft_transport::rate::notification::{NotificationPacing, NotificationScope};
use weft_transport::rate::timely::TimelySharedSettings;
use weft_transport::roce::settings::{QueuePairSettings, RoceRecovery};

/// Time-outs and buffers of queue pairs have an effect.
pub(crate) fn queue_pairs_use_what_is_set(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(pairs) = facts.stack.roce() else { return };
    if !pairs.retry_backoff {
        facts.idle_transport(&["retry_timeout_max"], "time-outs do not grow (retry_backoff)", found);
    } else if pairs.retry_timeout > pairs.retry_timeout_max {
        let message = format!(
            "the first time-out exceeds the longest, retry_timeout_max = {}",
            pairs.retry_timeout_max
        );
        found.push(impossible(facts.transport("retry_timeout"), message));
    }
    if pairs.retry_timeout_low.is_none() {
        facts.idle_transport(&["low_packets"], "there is no retry_timeout_low", found);
    }
    let uncut = match facts.stack {
        TransportSettings::Dcqcn(_) => None,
        TransportSettings::Roce(_) => Some("roce has no rate law to cut"),
        TransportSettings::Hpcc(_) => Some("the law goes by the reports of links alone"),
        _ => Some("the law reacts to round trips alone"),
    };
    uncut.into_iter().for_each(|why| facts.idle_transport(&["cut_on_nack"], why, found));
    buffers_are_for_go_back_n(facts, &pairs, found);
}

fn buffers_are_for_go_back_n(facts: &Facts<'_>, pairs: &QueuePairSettings, found: &mut Vec<Finding>) {
    if pairs.recovery == RoceRecovery::Selective {
        let why = "a receiver with recovery = \"selective\" keeps every packet";
        facts.idle_transport(&["reorder_buffer", "reorder_timeout", "nack_every"], why, found);
    } else if pairs.reorder_buffer.is_none() {
        facts.idle_transport(&["reorder_timeout"], "there is no reorder_buffer", found);
    }
}

/// A flow that starts at rate zero sends nothing.
pub(crate) fn flows_start_at_some_rate(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let rates = match facts.stack {
        TransportSettings::Dcqcn(own) => &own.law.initial_rates,
        TransportSettings::Timely(own) => &own.law.measured.initial_rates,
        TransportSettings::PatchedTimely(own) => &own.law.measured.initial_rates,
        TransportSettings::TimelyPi(own) => &own.law.measured.initial_rates,
        _ => return,
    };
    if rates.contains(&Rate(0)) {
        found.push(impossible(facts.transport("initial_rates"), "a flow that starts at 0 bps sends nothing"));
    }
}

/// DCQCN's timers are consistent, and no setting belongs to a variant that is not chosen.
pub(crate) fn dcqcn_is_one_variant(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let TransportSettings::Dcqcn(RoceDcqcnSettings { law, notification, .. }) = facts.stack else {
        return;
    };
    if law.timing == ReactionTiming::Paper {
        let why = "the timing is \"paper\"";
        facts.idle_transport(&["decrease_interval", "first_cut"], why, found);
        if law.alpha_timer <= notification.cnp_interval {
            let message = format!(
                "must exceed the notification interval, cnp_interval = {}, or the estimate decays between two notifications",
                notification.cnp_interval
            );
            found.push(impossible(facts.transport("alpha_timer"), message));
        }
    } else {
        let why = "the timing is \"free-running\"";
        facts.idle_transport(&["cut_by", "initial_alpha"], why, found);
    }
    if law.initial_rates.is_empty() {
        let why = "flows start at line rate (initial_rates)";
        facts.idle_transport(&["wait_for_notification"], why, found);
    }
    if law.hyper_increase == HyperIncrease::Off {
        facts.idle_transport(&["hyper_step"], "hyper_increase is \"off\"", found);
    }
    if notification.np_scope == NotificationScope::Port && notification.np_mode == NotificationPacing::Ticker
    {
        let message = "\"ticker\" keeps marks for each flow; np_scope = \"port\" needs \"paper\"";
        found.push(impossible(facts.transport("np_mode"), message));
    }
}

/// Laws with a minimum rate have room above it.
pub(crate) fn rates_have_room(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let least = match facts.stack {
        TransportSettings::Dcqcn(own) => own.law.min_rate,
        TransportSettings::Hpcc(own) => own.law.min_rate,
        _ => return,
    };
    let lines = |graph: &weft_topology::Graph| graph.links().iter().map(|link| link.rate).max();
    if let Some(line) = facts.graph.and_then(lines).filter(|line| least >= *line) {
        let message = format!("{least} is not below the fastest link, {line}: rates would never change");
        found.push(impossible(facts.transport("min_rate"), message));
    }
}

/// Thresholds and bounds of RTT-based laws are ordered.
pub(crate) fn round_trip_laws_have_room(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let measured: &TimelySharedSettings = match facts.stack {
        TransportSettings::Timely(own) => {
            if own.law.hai_after == 0 {
                facts.idle_transport(&["hai_factor", "hai_below_low"], "hai_after is 0", found);
            }
            &own.law.measured
        }
        TransportSettings::PatchedTimely(own) => &own.law.measured,
        TransportSettings::TimelyPi(own) => {
            let why = "the PI law does not use the gradient";
            facts.idle_transport(&["gradient_gain", "min_rtt"], why, found);
            if own.law.reference.is_some() {
                facts.idle_transport(&["low", "high"], "reference says what to hold", found);
            }
            &own.law.measured
        }
        _ => return,
    };
    let rules = [
        ("low", measured.low > measured.high, "exceeds the upper threshold, high"),
        ("low", measured.low == Span::ZERO, "must be positive"),
        ("min_rtt", measured.min_rtt == Span::ZERO, "must be positive"),
        ("segment", measured.segments.segment.0 == 0, "must be positive"),
        ("min_share", measured.min_share > measured.max_share, "exceeds max_share"),
    ];
    for (name, broken, message) in rules {
        if broken {
            found.push(impossible(facts.transport(name), message));
        }
    }
}
