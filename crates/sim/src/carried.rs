//! What a domain has carried up to an instant: bytes sent by link, payload delivered. Taken when the last flow starts, so that
//! loads can be averaged over the time in which flows arrive. Taking it changes nothing.

use weft_core::record::ArrivalRecord;
use weft_core::{Bytes, PortId, Time};

use crate::domain::Domain;
use crate::run::Simulation;

/// See the file's head.
pub(crate) struct Carried {
    /// By link; zero for those of other domains.
    pub(crate) sent: Box<[Bytes]>,
    /// Payload of measured flows.
    delivered: Bytes,
}

impl Domain {
    /// Notes what has been carried by all events of `now`. A packet counts from its first bit on.
    pub(crate) fn note_carried(&mut self, now: Time) {
        let after = Time(now.0 + 1);
        let mut sent: Box<[Bytes]> = self.cx.wires.iter().map(|wire| wire.sent).collect();
        for own in self.devices.all_mut() {
            own.switch.settle(after);
            for port in (0..own.switch.ports()).map(|port| PortId(port as u16)) {
                let (_, waiting) = own.switch.waiting(after, port);
                sent[own.link(port).index()] -= waiting;
            }
        }
        self.arrived = Some(Carried { sent, delivered: self.hosts.ends.delivered() });
    }
}

impl Simulation {
    /// The part of the run in which flows arrived, if at least half of all payload was delivered in it: of a run that mostly
    /// drains, it would say little.
    pub(crate) fn arrivals(&self) -> Option<ArrivalRecord> {
        let (_, until) = self.plan.setup.flows.arrivals()?;
        let noted: Option<Vec<Bytes>> =
            self.domains.iter().map(|domain| Some(domain.arrived.as_ref()?.delivered)).collect();
        let delivered: Bytes = noted?.into_iter().sum();
        let whole: Bytes = self.domains.iter().map(|domain| domain.hosts.ends.delivered()).sum();
        let most = delivered.0 >= whole.0 - delivered.0;
        (most && until > self.plan.setup.warm_up).then_some(ArrivalRecord { until, delivered })
    }
}
