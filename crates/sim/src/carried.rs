//! Traffic carried by a domain up to an instant: bytes sent by link, payload delivered. Recorded when the last flow
//! starts, so that loads can be averaged over the arrival period. Recording changes nothing.

use weft_core::record::ArrivalRecord;
use weft_core::{Bytes, PortId, Time};
use weft_plan::Setup;

use crate::domain::Domain;
use crate::run::Simulation;

/// See the file's head.
pub(crate) struct Carried {
    /// By link; zero for those of other domains. Empty until recorded.
    pub(crate) sent: Vec<Bytes>,
    /// Payload of measured flows.
    delivered: Option<Bytes>,
}

impl Carried {
    /// With its memory reserved, so that the loop allocates nothing.
    pub(crate) fn new(setup: &Setup) -> Carried {
        let links = setup.flows.arrivals().map_or(0, |_| setup.graph.links().len());
        Carried { sent: Vec::with_capacity(links), delivered: None }
    }
}

impl Domain {
    /// Records what has been carried up to and including all events of `now`. A packet counts from its first bit.
    pub(crate) fn note_carried(&mut self, now: Time) {
        let after = Time(now.0 + 1);
        let Carried { sent, delivered } = &mut self.arrived;
        *delivered = Some(self.hosts.ends.delivered());
        sent.extend(self.cx.wires.iter().map(|wire| wire.sent));
        for own in self.devices.all_mut() {
            own.switch.settle(after);
            for port in (0..own.switch.ports()).map(|port| PortId(port as u16)) {
                let (_, waiting) = own.switch.waiting(after, port);
                sent[own.link(port).index()] -= waiting;
            }
        }
    }
}

impl Simulation {
    /// The arrival period of the run, if at least half of all payload was delivered in it; it says little about a run
    /// that mostly drains.
    pub(crate) fn arrivals(&self) -> Option<ArrivalRecord> {
        let (_, until) = self.plan.setup.flows.arrivals()?;
        let noted: Option<Vec<Bytes>> = self.domains.iter().map(|domain| domain.arrived.delivered).collect();
        let delivered: Bytes = noted?.into_iter().sum();
        let whole: Bytes = self.domains.iter().map(|domain| domain.hosts.ends.delivered()).sum();
        let most = delivered.0 >= whole.0 - delivered.0;
        (most && until > self.plan.setup.warm_up).then_some(ArrivalRecord { until, delivered })
    }
}
