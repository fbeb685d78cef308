//! The loops of a case, each cut open at one place.

use weft_fluid::Complex;
use weft_fluid::linear::{Characteristic, Loop, Margins, Remembering, dcqcn, margins, timely};

use super::AT_DEPARTURE;
use crate::subject::{FluidLaw, Subject};

/// A loop that has margins.
#[derive(Clone, Copy, Debug)]
pub(super) enum ControlLoop {
    Exact(dcqcn::Exact),
    Departing(dcqcn::Departing),
    Published(dcqcn::Published),
    Patched(timely::Patched),
    Integrated(timely::Integrated),
}

impl ControlLoop {
    /// Roots in the right half-plane; unknown for the published form.
    pub(super) fn unstable_roots(&self) -> Option<u32> {
        match self {
            ControlLoop::Exact(of) => Some(of.unstable_roots()),
            ControlLoop::Departing(of) => Some(of.unstable_roots()),
            ControlLoop::Published(_) => None,
            ControlLoop::Patched(of) => Some(of.unstable_roots()),
            ControlLoop::Integrated(of) => Some(of.unstable_roots()),
        }
    }

    /// All margins, judged by the unstable roots or, where their number is unknown, by the sign of the phase margin.
    pub(super) fn margins(&self) -> Margins {
        let found = margins(self);
        let by_phase = || u32::from(found.phase().is_some_and(|crossing| crossing.margin < 0.0));
        let roots = self.unstable_roots().unwrap_or_else(by_phase);
        found.judged(roots)
    }
}

impl Remembering for ControlLoop {
    fn memory(&self) -> f64 {
        match self {
            ControlLoop::Exact(of) => of.memory(),
            ControlLoop::Departing(of) => of.memory(),
            ControlLoop::Published(of) => of.memory(),
            ControlLoop::Patched(of) => of.memory(),
            ControlLoop::Integrated(of) => of.memory(),
        }
    }
}

impl Loop for ControlLoop {
    fn gain(&self, omega: f64) -> Complex {
        match self {
            ControlLoop::Exact(of) => of.gain(omega),
            ControlLoop::Departing(of) => of.gain(omega),
            ControlLoop::Published(of) => of.gain(omega),
            ControlLoop::Patched(of) => of.gain(omega),
            ControlLoop::Integrated(of) => of.gain(omega),
        }
    }
}

/// Loops by name.
pub(super) type Cuts = Vec<(&'static str, ControlLoop)>;

/// The loops of a case with this number of flows and this delay.
pub(super) fn cuts(subject: &Subject, flows: f64, delay: f64) -> Cuts {
    if let Some(of) = subject.dcqcn() {
        let of = weft_fluid::model::dcqcn::Bottleneck { flows, delay, ..of };
        let exact = dcqcn::Exact::new(&of).map(|cut| ("exact", ControlLoop::Exact(cut)));
        let published = dcqcn::Published::new(&of).map(|cut| ("as published", ControlLoop::Published(cut)));
        let departing = dcqcn::Departing::new(&of).filter(|_| !subject.marks_at_arrival());
        let departing = departing.map(|cut| (AT_DEPARTURE, ControlLoop::Departing(cut)));
        return exact.into_iter().chain(departing).chain(published).collect();
    }
    let FluidLaw::Timely { settings, .. } = &subject.law else { return Vec::new() };
    let longer = delay - subject.delay;
    let settings = weft_fluid::model::timely::TimelyParameters {
        propagation: (settings.propagation + longer).max(0.0),
        ..*settings
    };
    let patched = timely::Patched::new(&settings, flows).map(ControlLoop::Patched);
    let integrated = timely::Integrated::new(&settings, flows).map(ControlLoop::Integrated);
    patched.or(integrated).map(|cut| ("exact", cut)).into_iter().collect()
}
