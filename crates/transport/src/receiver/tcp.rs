//! TCP's receiving end: what arrives in which order, when that is acknowledged (RFC 5681, section 4.2), and how marks are
//! reported (RFC 3168; RFC 8257, section 3.2).
//!
//! Below TCP stand, in this order, receive offload and the reordering shim. Receive offload changes only when
//! acknowledgements become due: payload counts as delivered when it arrives.

use std::sync::Arc;

use weft_core::{Bytes, Ecn, FlowId, Time};

use super::acks::Acks;
use super::arrivals::{Arrival, Arrivals};
use super::order::Order;
use super::{ReceiverReport, outgoing};
use crate::gro::GroCounter;
use crate::segment::{Flags, Outgoing, Segment};
use crate::shim::Shim;
use crate::transport::{FlowSite, Marking, Transport};

/// What the shim holds of a packet.
type Packet = (Ecn, Segment);

/// The reordering shim and what it lets up at a time.
#[derive(Debug)]
struct Below {
    shim: Shim<Packet>,
    up: Vec<Packet>,
}

/// Payload in order that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Unacknowledged {
    bytes: u64,
    /// When the first of its packets was sent, and whether for the first time.
    sent: Time,
    again: bool,
    /// The acknowledgement goes no later.
    due: Time,
    /// Receive offload hands the batch up at this time, if nothing ends it before.
    batch_ends: Time,
}

const NOTHING: Unacknowledged =
    Unacknowledged { bytes: 0, sent: Time::ZERO, again: false, due: Time::NEVER, batch_ends: Time::NEVER };

/// TCP's receiving end.
pub(super) struct TcpReceiver {
    transport: Arc<Transport>,
    flow: FlowId,
    size: u64,
    arrivals: Arrivals,
    unacknowledged: Unacknowledged,
    /// Packets that are still acknowledged at once.
    quick: u32,
    /// A mark is to be echoed. RFC 3168: since the first until the sender has reduced its window; RFC 8257: the last
    /// packet had one.
    echo_mark: bool,
    acks: Acks,
    below: Option<Box<Below>>,
    order: Order,
    batches: GroCounter,
    marks: u32,
    completed: Option<Time>,
}

impl TcpReceiver {
    pub(super) fn new(transport: &Arc<Transport>, site: &FlowSite) -> TcpReceiver {
        let tcp = &transport.tcp;
        let below = || Box::new(Below { shim: Shim::new(&tcp.shim), up: Vec::new() });
        TcpReceiver {
            flow: site.flow,
            size: site.size.0.max(1),
            arrivals: Arrivals::default(),
            unacknowledged: NOTHING,
            quick: tcp.quick_acks,
            echo_mark: false,
            acks: Acks::default(),
            below: tcp.reorder_shim.then(below),
            order: Order::default(),
            batches: GroCounter::new(&tcp.batches),
            marks: 0,
            completed: None,
            transport: Arc::clone(transport),
        }
    }

    pub(super) fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            return self.answer_opening(segment);
        }
        if segment.length == 0 {
            return;
        }
        let marked = ecn == Ecn::Marked;
        self.marks += u32::from(marked);
        let again = segment.flags.has(Flags::AGAIN);
        self.order.arrived(segment.end(), again, self.transport.tcp_mss());
        let length = u64::from(segment.length);
        if !self.batches.on_segment(now, segment.sequence, length, marked) {
            self.end_batch();
        }
        match &mut self.below {
            None => self.take(now, ecn, segment),
            Some(below) => {
                let bytes = segment.sequence..segment.end();
                below.shim.on_segment(now, bytes, (ecn, *segment), &mut below.up);
                self.take_from_shim(now);
            }
        }
    }

    fn take_from_shim(&mut self, now: Time) {
        let Some(below) = &mut self.below else { return };
        let mut up = std::mem::take(&mut below.up);
        for (ecn, segment) in up.drain(..) {
            self.take(now, ecn, &segment);
        }
        if let Some(below) = &mut self.below {
            below.up = up;
        }
    }

    fn answer_opening(&mut self, segment: &Segment) {
        let again = segment.flags.has(Flags::AGAIN);
        let marks = self.transport.marking != Marking::Off;
        let flags = Flags::SYN.with(Flags::ACK).with_if(again, Flags::AGAIN).with_if(marks, Flags::ECE);
        self.acks.push(Segment { flow: self.flow, flags, echo: segment.sent, ..Segment::default() });
    }

    /// A packet reaches TCP.
    fn take(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        self.note_mark(ecn == Ecn::Marked, segment);
        let again = segment.flags.has(Flags::AGAIN);
        let arrival = self.arrivals.take(segment.sequence, segment.end());
        if self.unacknowledged.bytes == 0 {
            (self.unacknowledged.sent, self.unacknowledged.again) = (segment.sent, again);
        }
        match arrival {
            Arrival::InOrder => self.in_order(now, segment),
            Arrival::FilledGap => {
                self.order.gap_filled(again);
                self.note_completion(now);
                self.acknowledge(Flags::ACK);
            }
            Arrival::BeyondGap => {
                self.order.duplicate_sent();
                self.acknowledge(Flags::ACK);
            }
            Arrival::Duplicate => self.acknowledge(Flags::ACK.with(Flags::DUPLICATE)),
        }
        self.quick = self.quick.saturating_sub(1);
    }

    /// Marks are echoed until the sender says that it reduced its window, or packet for packet: then a change of the mark
    /// first sends what is due under the old one.
    fn note_mark(&mut self, marked: bool, segment: &Segment) {
        match self.transport.marking {
            Marking::Off => {}
            Marking::Classic => {
                self.echo_mark = marked || self.echo_mark && !segment.flags.has(Flags::CWR);
            }
            Marking::Accurate => {
                if marked != self.echo_mark && self.unacknowledged.bytes > 0 {
                    self.acknowledge(Flags::ACK);
                }
                self.echo_mark = marked;
            }
        }
    }

    fn in_order(&mut self, now: Time, segment: &Segment) {
        self.note_completion(now);
        let tcp = &self.transport.tcp;
        self.unacknowledged.bytes += u64::from(segment.length);
        if self.unacknowledged.due == Time::NEVER {
            self.unacknowledged.due = now + tcp.delayed_ack_timeout;
        }
        if segment.flags.has(Flags::FIN) {
            self.acknowledge(Flags::ACK);
        } else if tcp.gro {
            self.unacknowledged.batch_ends = now + tcp.batches.gro_flush;
        } else {
            self.acknowledge_if_enough();
        }
    }

    fn acknowledge_if_enough(&mut self) {
        let enough = u64::from(self.transport.tcp.delayed_ack - 1) * self.transport.tcp_mss();
        if self.quick > 0 || self.unacknowledged.bytes > enough {
            self.acknowledge(Flags::ACK);
        }
    }

    /// Receive offload hands up what it has merged.
    fn end_batch(&mut self) {
        if self.unacknowledged.batch_ends != Time::NEVER {
            self.unacknowledged.batch_ends = Time::NEVER;
            self.acknowledge_if_enough();
        }
    }

    fn note_completion(&mut self, now: Time) {
        if self.arrivals.expected() >= self.size {
            self.completed.get_or_insert(now);
        }
    }

    /// An acknowledgement of everything that has arrived is due at once.
    fn acknowledge(&mut self, flags: Flags) {
        let tcp = &self.transport.tcp;
        let (blocks, used) = if tcp.sack { self.arrivals.blocks() } else { Default::default() };
        let closing = tcp.close && self.completed.is_some();
        let flags = flags.with_if(self.unacknowledged.again, Flags::AGAIN);
        self.acks.push(Segment {
            flow: self.flow,
            flags: flags.with_if(self.echo_mark, Flags::ECE).with_if(closing, Flags::FIN),
            blocks_used: used,
            ack: self.arrivals.expected(),
            echo: self.unacknowledged.sent,
            blocks,
            ..Segment::default()
        });
        self.unacknowledged = NOTHING;
    }

    pub(super) fn ready(&self) -> bool {
        !self.acks.is_empty()
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        self.acks.pop().map(|ack| outgoing(&self.transport, ack, now))
    }

    pub(super) fn next_wakeup(&self) -> Time {
        let shim = self.below.as_ref().map_or(Time::NEVER, |below| below.shim.next_wakeup());
        self.unacknowledged.due.min(self.unacknowledged.batch_ends).min(shim)
    }

    pub(super) fn on_wakeup(&mut self, now: Time) {
        if let Some(below) = &mut self.below {
            below.shim.on_wakeup(now, &mut below.up);
            self.take_from_shim(now);
        }
        if self.unacknowledged.batch_ends <= now {
            self.end_batch();
        }
        if self.unacknowledged.due <= now {
            self.acknowledge(Flags::ACK);
        }
    }

    pub(super) fn completed(&self) -> Option<Time> {
        self.completed
    }

    pub(super) fn closed(&self) -> bool {
        self.completed.is_some() && self.acks.is_empty() && self.unacknowledged.bytes == 0
    }

    pub(super) fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered: Bytes(self.arrivals.expected()),
            completed: self.completed,
            dupacks: self.order.dupacks,
            dupacks_reorder: self.order.dupacks_reorder,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            gro_batches: self.batches.batches() as u32,
            ecn_marks: self.marks,
        }
    }
}
