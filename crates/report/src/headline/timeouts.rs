//! Time-outs in the headline: a few flows that wait for a timer can decide a mean.

use crate::contrast::Duel;
use crate::summary::{Summary, TimedOut};
use crate::sweep::Sweep;
use crate::text::{count, duration, number, plural};

/// The sentence to append for a run; empty without time-outs.
pub(super) fn of_run(summary: &Summary) -> String {
    let Some(TimedOut { flows, syn, others_fct_us, .. }) = summary.timed_out else { return String::new() };
    let others =
        others_fct_us.map_or(String::new(), |us| format!("; the others take {} on average", duration(us)));
    format!(" {} waited for a time-out{}{others}.", plural(flows, "flow"), of_syn(flows, syn))
}

/// `, 29 of them of the opening packet`: with TCP that is a SYN, with PDQ a packet of its own.
pub(crate) fn of_syn(flows: u64, syn: u64) -> String {
    match syn {
        0 => String::new(),
        _ if syn == flows => " of the opening packet".to_owned(),
        _ => format!(", {} of them of the opening packet", count(syn)),
    }
}

/// The sentence to append for one scheme; empty without time-outs.
pub(super) fn of_scheme(sweep: &Sweep, at: usize) -> String {
    match sweep.estimate(0, at, "flows.timed_out") {
        Some(flows) if flows.mean > 0.0 => {
            format!(" Flows with time-outs per run{}: {}.", sweep.place(at), number(flows.mean))
        }
        _ => String::new(),
    }
}

/// The sentence to append for a sweep; empty without time-outs.
pub(super) fn of_duel(sweep: &Sweep, duel: Duel) -> String {
    match duel.means(sweep, "flows.timed_out") {
        Some((best, base)) if best + base > 0.0 => format!(
            " Flows with time-outs per run: {} with {}, {} with {}.",
            number(best),
            sweep.schemes[duel.best],
            number(base),
            sweep.schemes[duel.base]
        ),
        _ => String::new(),
    }
}
