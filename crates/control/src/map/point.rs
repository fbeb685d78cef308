//! A point of a map: the numbers of a case as a list, so that changes due to two settings can be combined, and their
//! margin. Must not depend on ranges or files.

use weft_fluid::linear::{dcqcn as linear_dcqcn, smallest_margin, timely as linear_timely};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnParameters};
use weft_fluid::model::marking::{Integrator, Marking, Ramp};
use weft_fluid::model::timely::{TimelyLaw, TimelyParameters};

use crate::subject::{FluidLaw, Subject};

/// The numbers of a case: changes due to two settings are combined field by field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    Dcqcn([f64; 16]),
    Timely([f64; 12]),
}

impl Numbers {
    pub(super) fn of(subject: &Subject) -> Option<Numbers> {
        if let Some(Bottleneck { capacity, flows, law, marking, delay, marks_at_arrival }) = subject.dcqcn() {
            let DcqcnParameters {
                gain,
                notification,
                estimate_timer,
                increase_timer,
                byte_counter,
                recovery,
                step,
            } = law;
            let [kind, a, b, c] = match marking {
                Marking::Ramp(Ramp { low, high, top, .. }) => [0.0, low, high, top],
                Marking::Integrator(Integrator { reference, proportional, integral }) => {
                    [1.0, reference, proportional, integral]
                }
            };
            return Some(Numbers::Dcqcn([
                capacity,
                flows,
                delay,
                gain,
                notification,
                estimate_timer,
                increase_timer,
                byte_counter,
                recovery,
                step,
                kind,
                a,
                b,
                c,
                f64::from(u8::from(marks_at_arrival)),
                subject.least(),
            ]));
        }
        let FluidLaw::Timely { settings, .. } = &subject.law else { return None };
        let TimelyLaw::Patched { slope, divisor, .. } = settings.law else { return None };
        let TimelyParameters {
            capacity, segment, base, propagation, gain, step, decrease, low, high, ..
        } = *settings;
        let flows = subject.flows();
        Some(Numbers::Timely([
            capacity,
            flows,
            segment,
            base,
            propagation,
            gain,
            step,
            decrease,
            low,
            high,
            slope,
            divisor,
        ]))
    }

    fn fields(&self) -> &[f64] {
        match self {
            Numbers::Dcqcn(fields) => fields,
            Numbers::Timely(fields) => fields,
        }
    }

    pub(super) fn fields_mut(&mut self) -> &mut [f64] {
        match self {
            Numbers::Dcqcn(fields) => fields,
            Numbers::Timely(fields) => fields,
        }
    }

    /// These numbers, with the fields in which `changed` differs from `base`.
    pub(super) fn with(&self, base: &Numbers, changed: &Numbers) -> Numbers {
        let mut all = self.clone();
        for ((field, base), changed) in all.fields_mut().iter_mut().zip(base.fields()).zip(changed.fields()) {
            if base != changed {
                *field = *changed;
            }
        }
        all
    }

    pub(super) fn near(&self, other: &Numbers) -> bool {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        self.fields().iter().zip(other.fields()).all(close)
    }

    /// The smallest phase margin in degrees, negative where the loop is unstable; `None` if there is no steady state.
    pub(super) fn margin(&self) -> Option<f64> {
        match self {
            Numbers::Dcqcn(fields) => {
                let of = bottleneck(fields);
                if of.share() < fields[15] {
                    return None;
                }
                Some(smallest_margin(&linear_dcqcn::Exact::new(&of)?))
            }
            Numbers::Timely(fields) => {
                let (settings, flows) = settings(fields);
                Some(smallest_margin(&linear_timely::Patched::new(&settings, flows)?))
            }
        }
    }
}

fn bottleneck(fields: &[f64; 16]) -> Bottleneck {
    let [
        capacity,
        flows,
        delay,
        gain,
        notification,
        estimate_timer,
        increase_timer,
        byte_counter,
        recovery,
        step,
        kind,
        a,
        b,
        c,
        at_arrival,
        _,
    ] = *fields;
    let law =
        DcqcnParameters { gain, notification, estimate_timer, increase_timer, byte_counter, recovery, step };
    let marking = if kind == 0.0 {
        Marking::Ramp(Ramp { low: a, high: b, top: c, literal: false })
    } else {
        Marking::Integrator(Integrator { reference: a, proportional: b, integral: c })
    };
    Bottleneck { capacity, flows, law, marking, delay, marks_at_arrival: at_arrival > 0.0 }
}

fn settings(fields: &[f64; 12]) -> (TimelyParameters, f64) {
    let [capacity, flows, segment, base, propagation, gain, step, decrease, low, high, slope, divisor] =
        *fields;
    let law = TimelyLaw::Patched { slope, reference: capacity * low, divisor };
    (TimelyParameters { capacity, segment, base, propagation, gain, step, decrease, low, high, law }, flows)
}
