//! Traffic carried by a domain up to an instant: bytes sent by link, payload delivered. Recorded when the last flow
//! starts, so that loads can be averaged over the arrival period. Recording changes nothing.

use weft_core::{Bytes, PortId, Time};
use weft_plan::Setup;

use crate::context::Context;
use crate::devices::Devices;

/// Traffic carried by a domain up to an instant.
pub(crate) struct Carried {
    /// By link; zero for those of other domains. Empty until recorded.
    pub(crate) sent: Vec<Bytes>,
    /// Payload of measured flows.
    pub(crate) delivered: Option<Bytes>,
}

impl Carried {
    /// Reserves its memory, so that the loop does not allocate.
    pub(crate) fn new(setup: &Setup) -> Carried {
        let links = setup.flows.arrivals().map_or(0, |_| setup.graph.links().len());
        Carried { sent: Vec::with_capacity(links), delivered: None }
    }
}

impl Carried {
    /// Records what wires have carried and hosts have received up to and including all events of `now`. A packet counts
    /// from its first bit.
    pub(crate) fn note(&mut self, now: Time, cx: &mut Context, devices: &mut Devices, delivered: Bytes) {
        let after = Time(now.0 + 1);
        self.delivered = Some(delivered);
        self.sent.extend(cx.wires.iter().map(|wire| wire.sent));
        for own in devices.all_mut() {
            own.switch.settle(after, &mut cx.pool.headers);
            for port in (0..own.switch.reading().ports()).map(|port| PortId(port as u16)) {
                let (_, waiting) = own.switch.reading().waiting(after, port);
                self.sent[own.link(port).index()] -= waiting;
            }
        }
    }
}
