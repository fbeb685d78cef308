//! Receiving datagrams: counts what arrives, sends nothing. The flow is complete when every byte has arrived, in any
//! order; if a datagram is lost it never completes, and stays open until the run ends.

use weft_core::stack::{End, Receiving};
use weft_core::{Bytes, Ecn, Header, Time};

use super::ReceiverReport;
use crate::FlowSite;
use crate::datagrams::Datagrams;
use crate::segment::{Needs, Segment};
use weft_core::order::ReorderCounts;
use weft_offload::gro::GroCounter;

/// The receiving end.
pub struct DatagramReceiver {
    mss: u64,
    size: u64,
    delivered: u64,
    completed: Option<Time>,
    order: ReorderCounts,
    batches: GroCounter,
    marks: u32,
}

impl DatagramReceiver {
    pub(crate) fn new(datagrams: &Datagrams, site: &FlowSite) -> DatagramReceiver {
        DatagramReceiver {
            mss: datagrams.frames.mss,
            size: site.size.0.max(1),
            delivered: 0,
            completed: None,
            order: ReorderCounts::default(),
            batches: GroCounter::new(&datagrams.batches),
            marks: 0,
        }
    }
}

impl End for DatagramReceiver {
    type Body = Segment;
    type Host = ();

    fn on_packet(&mut self, now: Time, header: &Header, segment: &Segment) {
        let ecn = header.marks.ecn;
        let length = u64::from(segment.length);
        self.delivered += length;
        self.order.arrived(segment.end(), false, self.mss);
        self.batches.on_segment(now, segment.sequence, length, ecn == Ecn::Marked);
        self.marks += u32::from(ecn == Ecn::Marked);
        if self.delivered >= self.size {
            self.completed.get_or_insert(now);
        }
    }

    fn needs(&self) -> Needs {
        let complete = self.completed.is_some();
        Needs { wake: Time::NEVER, ready: false, complete, done: complete, asks: false }
    }

    fn send(&mut self, _now: Time, _header: &mut Header, _body: &mut Segment) {
        unreachable!("datagrams are not answered")
    }
}

impl Receiving for DatagramReceiver {
    fn completed(&self) -> Option<Time> {
        self.completed
    }

    fn report(&self) -> ReceiverReport {
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
