//! Receiving datagrams: counts what arrives, answers nothing. The flow is complete when its last datagram arrives; if that
//! one is lost it never is, and only the time limit of the run ends it.

use std::sync::Arc;

use weft_core::{Bytes, Ecn, Time};

use super::ReceiverReport;
use crate::FlowSite;
use crate::gro::GroCounter;
use crate::segment::{Flags, Needs, Segment};
use crate::transport::Transport;
use weft_core::order::Order;

/// The receiving end.
pub(super) struct DatagramReceiver {
    mss: u64,
    size: u64,
    delivered: u64,
    completed: Option<Time>,
    order: Order,
    batches: GroCounter,
    marks: u32,
}

impl DatagramReceiver {
    pub(super) fn new(transport: &Arc<Transport>, site: &FlowSite) -> DatagramReceiver {
        DatagramReceiver {
            mss: transport.datagram_mss(),
            size: site.size.0.max(1),
            delivered: 0,
            completed: None,
            order: Order::default(),
            batches: GroCounter::new(&transport.tcp.batches),
            marks: 0,
        }
    }

    pub(super) fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        let length = u64::from(segment.length);
        self.delivered += length;
        self.order.arrived(segment.end(), false, self.mss);
        self.batches.on_segment(now, segment.sequence, length, ecn == Ecn::Marked);
        self.marks += u32::from(ecn == Ecn::Marked);
        if segment.flags.has(Flags::FIN) || self.delivered >= self.size {
            self.completed.get_or_insert(now);
        }
    }

    pub(super) fn needs(&self) -> Needs {
        let complete = self.completed.is_some();
        Needs { wake: Time::NEVER, ready: false, complete, done: complete }
    }

    pub(super) fn completed(&self) -> Option<Time> {
        self.completed
    }

    pub(super) fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered: Bytes(self.delivered),
            completed: self.completed,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            displaced: self.order.displaced.into(),
            gro_batches: self.batches.batches() as u32,
            ecn_marks: self.marks,
            ..ReceiverReport::default()
        }
    }
}
