//! The buffer between card and TCP that restores packet order, by either rule. Must not depend on TCP.

use weft_core::{Ecn, Time};

use crate::segment::Segment;
use crate::settings::{ShimRule, Tcp};
use weft_offload::flowcells::FlowcellBuffer;
use weft_offload::shim::Shim;

/// A packet held by the shim.
pub(super) type Packet = (Ecn, Segment);

/// The reordering shim, and the packets it releases at once.
#[derive(Debug)]
pub(super) struct Below {
    shim: AnyShim,
    pub(super) up: Vec<Packet>,
}

/// A shim by either rule.
#[derive(Debug)]
enum AnyShim {
    TimeOut(Shim<Packet>),
    Flowcells(FlowcellBuffer<Packet>),
}

impl Below {
    pub(super) fn new(tcp: &Tcp) -> Below {
        let shim = match tcp.shim_rule {
            ShimRule::TimeOut => AnyShim::TimeOut(Shim::new(&tcp.shim)),
            ShimRule::Flowcells => AnyShim::Flowcells(FlowcellBuffer::new(&tcp.hold)),
        };
        Below { shim, up: Vec::new() }
    }

    pub(super) fn on_segment(&mut self, now: Time, packet: Packet, cell: u16) {
        let bytes = packet.1.sequence..packet.1.end();
        match &mut self.shim {
            AnyShim::TimeOut(shim) => shim.on_segment(now, bytes, packet, &mut self.up),
            AnyShim::Flowcells(shim) => shim.on_segment(now, (bytes, cell), packet, &mut self.up),
        }
    }

    pub(super) fn next_wakeup(&self) -> Time {
        match &self.shim {
            AnyShim::TimeOut(shim) => shim.next_wakeup(),
            AnyShim::Flowcells(shim) => shim.next_wakeup(),
        }
    }

    pub(super) fn on_wakeup(&mut self, now: Time) {
        match &mut self.shim {
            AnyShim::TimeOut(shim) => shim.on_wakeup(now, &mut self.up),
            AnyShim::Flowcells(shim) => shim.on_wakeup(now, &mut self.up),
        }
    }
}
