//! TCP's receiving end: what arrives in which order, when it is acknowledged (RFC 5681, section 4.2), and how marks
//! are reported (RFC 3168; RFC 8257, section 3.2).
//!
//! Below TCP are, in this order, receive offload and the reordering shim. Receive offload changes only when
//! acknowledgements become due: payload counts as delivered when it arrives.

mod acknowledge;
mod report;
mod tlt;

use std::sync::Arc;

use weft_core::{Class, Ecn, FlowId, Header, Marks, PacketKind, Span, Time};

use super::acks::{Ack, Acks};
use super::arrivals::{Arrival, Arrivals};
use super::below::{Below, Packet};
use super::reading::Reading;
use super::window::TunedWindow;
use crate::FlowSite;
use crate::segment::{BlockCount, Flags, Needs, Segment, reverse_ports};
use crate::tcp::{ConnectionMarking, TcpStack};
use weft_core::label::cell_of;
use weft_core::order::ReorderCounts;
use weft_core::stack::{End, Side};
use weft_offload::gro::GroCounter;

/// In-order payload not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Unacknowledged {
    bytes: u64,
    /// When the first of its packets was sent, and whether it was a first transmission.
    sent: Time,
    again: bool,
    /// The latest time for the acknowledgement.
    due: Time,
    /// When receive offload delivers the batch, if nothing ends it earlier.
    batch_ends: Time,
}

const NOTHING: Unacknowledged =
    Unacknowledged { bytes: 0, sent: Time::ZERO, again: false, due: Time::NEVER, batch_ends: Time::NEVER };

/// The transport's settings needed for each packet.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Largest payload of a segment.
    mss: u64,
    /// Payload beyond which an acknowledgement is due at once.
    enough: u64,
    /// Maximum delay of an acknowledgement.
    delay: Span,
    /// Wire size of an acknowledgement without blocks.
    ack_wire: u16,
    marking: ConnectionMarking,
    sack: bool,
    close: bool,
    gro: bool,
    tlt: bool,
    class: Class,
}

impl Rules {
    fn new(transport: &TcpStack, site: &FlowSite) -> Rules {
        let (tcp, mss) = (&transport.tcp, transport.mss());
        Rules {
            mss,
            enough: u64::from(tcp.delayed_ack - 1) * mss,
            delay: tcp.delayed_ack_timeout,
            ack_wire: transport.ack_wire(BlockCount::Zero),
            marking: transport.first_marking(site, Side::Receiver),
            sack: tcp.sack,
            close: tcp.close,
            gro: tcp.gro,
            tlt: tcp.tlt.is_some(),
            class: site.class.unwrap_or(Class(0)),
        }
    }
}

/// TCP's receiving end. The fields every packet needs come first.
#[repr(C)]
pub struct TcpReceiver {
    arrivals: Arrivals,
    unacknowledged: Unacknowledged,
    rules: Rules,
    /// Packets that are still acknowledged at once.
    quick: u32,
    /// A mark must be echoed. RFC 3168: from the first until the sender has reduced its window; RFC 8257: the last
    /// packet had one.
    echo_mark: bool,
    size: u64,
    /// When the last byte arrived; `NEVER` before that.
    completed: Time,
    below: Option<Box<Below>>,
    batches: GroCounter,
    order: ReorderCounts,
    marks: u32,
    flow: FlowId,
    ports: u32,
    acks: Acks,
    /// The reading application, if it is modelled.
    reading: Option<Box<Reading>>,
    /// The receive window, if it tunes itself.
    window: Option<Box<TunedWindow>>,
    transport: Arc<TcpStack>,
}

impl TcpReceiver {
    pub(crate) fn new(transport: &Arc<TcpStack>, site: &FlowSite) -> TcpReceiver {
        let tcp = &transport.tcp;
        let below = || Box::new(Below::new(tcp));
        let window = |settings| Box::new(TunedWindow::new(settings, transport.mss()));
        TcpReceiver {
            arrivals: Arrivals::default(),
            unacknowledged: NOTHING,
            rules: Rules::new(transport, site),
            quick: tcp.quick_acks,
            echo_mark: false,
            size: site.size.0.max(1),
            completed: Time::NEVER,
            below: tcp.reorder_shim.then(below),
            batches: GroCounter::new(&tcp.batches),
            order: ReorderCounts::default(),
            marks: 0,
            flow: site.flow,
            ports: reverse_ports(site.flow),
            acks: Acks::default(),
            reading: tcp.read_delay.map(|mean| Box::new(Reading::new(mean, site))),
            window: tcp.autotune.as_ref().map(window),
            transport: Arc::clone(transport),
        }
    }

    #[inline(always)]
    pub(crate) fn on_packet(&mut self, now: Time, ecn: Ecn, cell: u16, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            return self.answer_opening(segment);
        }
        if segment.length == 0 {
            return;
        }
        let marked = ecn == Ecn::Marked;
        self.marks += u32::from(marked);
        let again = segment.flags.has(Flags::AGAIN);
        self.order.arrived(segment.end(), again, self.rules.mss);
        let merged = self.batches.on_segment(now, segment.sequence, u64::from(segment.length), marked);
        if !merged && self.rules.gro {
            self.end_batch();
        }
        if self.below.is_some() {
            self.through_shim(now, (ecn, *segment), cell);
        } else {
            self.take(now, marked, segment);
        }
    }

    #[inline(never)]
    fn through_shim(&mut self, now: Time, packet: Packet, cell: u16) {
        let Some(below) = &mut self.below else { return };
        below.on_segment(now, packet, cell);
        self.take_from_shim(now);
    }

    fn take_from_shim(&mut self, now: Time) {
        let Some(below) = &mut self.below else { return };
        let mut up = std::mem::take(&mut below.up);
        for (ecn, segment) in up.drain(..) {
            self.take_late(now, ecn == Ecn::Marked, &segment);
        }
        if let Some(below) = &mut self.below {
            below.up = up;
        }
    }

    #[cold]
    fn answer_opening(&mut self, segment: &Segment) {
        let again = segment.flags.has(Flags::AGAIN);
        if !segment.flags.has(Flags::ECE.with(Flags::CWR)) {
            self.rules.marking = ConnectionMarking::Off;
        }
        let marks = self.rules.marking != ConnectionMarking::Off;
        let flags = Flags::SYN.with(Flags::ACK).with_if(again, Flags::AGAIN).with_if(marks, Flags::ECE);
        self.acks.push(Ack { flags, echo: segment.sent, ..Ack::default() });
    }

    /// A packet reaches TCP after the shim.
    #[inline(never)]
    fn take_late(&mut self, now: Time, marked: bool, segment: &Segment) {
        self.take(now, marked, segment);
    }

    /// A packet reaches TCP.
    #[inline(always)]
    fn take(&mut self, now: Time, marked: bool, segment: &Segment) {
        self.note_mark(marked, segment);
        let again = segment.flags.has(Flags::AGAIN);
        let arrival = self.arrivals.take(segment.sequence, segment.end());
        if self.unacknowledged.bytes == 0 {
            (self.unacknowledged.sent, self.unacknowledged.again) = (segment.sent, again);
        }
        if arrival == Arrival::InOrder {
            self.in_order(now, segment);
        } else {
            self.out_of_order(now, (arrival, segment.sequence), again);
        }
        self.quick = self.quick.saturating_sub(1);
    }

    #[inline(never)]
    fn out_of_order(&mut self, now: Time, (arrival, start): (Arrival, u64), again: bool) {
        if arrival == Arrival::Duplicate {
            return self.acknowledge_duplicate(start);
        }
        if arrival == Arrival::FilledGap {
            self.order.gap_filled(again);
            self.note_progress(now);
        } else if self.unacknowledged.bytes == 0 {
            self.order.duplicate_sent();
        }
        self.acknowledge(Flags::ACK);
    }

    /// Echoes marks until the sender reports a reduced window, or packet by packet; then, when the mark changes, the
    /// acknowledgement due under the old mark is sent first.
    #[inline]
    fn note_mark(&mut self, marked: bool, segment: &Segment) {
        match self.rules.marking {
            ConnectionMarking::Off => {}
            ConnectionMarking::Classic => {
                self.echo_mark = marked || self.echo_mark && !segment.flags.has(Flags::CWR);
            }
            ConnectionMarking::Accurate => {
                if marked != self.echo_mark && self.unacknowledged.bytes > 0 {
                    self.acknowledge(Flags::ACK);
                }
                self.echo_mark = marked;
            }
        }
    }

    #[inline(always)]
    fn in_order(&mut self, now: Time, segment: &Segment) {
        self.note_progress(now);
        self.unacknowledged.bytes += u64::from(segment.length);
        let fin = segment.flags.has(Flags::FIN);
        let read = self.read_at(now).filter(|_| self.quick == 0);
        if fin || !self.rules.gro && self.enough_to_acknowledge() {
            return match read.filter(|_| !fin) {
                None => self.acknowledge(Flags::ACK),
                Some(read) => self.unacknowledged.due = self.unacknowledged.due.min(read),
            };
        }
        if self.unacknowledged.due == Time::NEVER {
            self.unacknowledged.due = now + self.rules.delay;
        }
        if self.rules.gro {
            self.unacknowledged.batch_ends = now + self.transport.tcp.batches.gro_flush;
        }
    }

    /// When the application reads what has just arrived, if it is modelled.
    #[inline]
    fn read_at(&mut self, now: Time) -> Option<Time> {
        self.reading.as_mut().map(|reading| reading.when(now))
    }

    #[inline]
    fn enough_to_acknowledge(&self) -> bool {
        self.quick > 0 || self.unacknowledged.bytes > self.rules.enough
    }

    /// Receive offload delivers the batch it has merged.
    fn end_batch(&mut self) {
        if self.unacknowledged.batch_ends != Time::NEVER {
            self.unacknowledged.batch_ends = Time::NEVER;
            if self.enough_to_acknowledge() {
                self.acknowledge(Flags::ACK);
            }
        }
    }

    #[inline]
    fn note_progress(&mut self, now: Time) {
        let expected = self.arrivals.expected();
        if expected >= self.size && !self.is_complete() {
            self.completed = now;
        }
        if let Some(window) = &mut self.window {
            window.arrived(now, expected);
        }
    }

    /// Whether it has an acknowledgement to send.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        !self.acks.is_empty()
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.completed != Time::NEVER
    }
}

impl End for TcpReceiver {
    type Body = Segment;
    type Host = ();

    #[inline]
    fn needs(&self) -> Needs {
        let shim = self.below.as_ref().map_or(Time::NEVER, |below| below.next_wakeup());
        let (ready, complete) = (self.is_ready(), self.is_complete());
        Needs {
            wake: self.unacknowledged.due.min(self.unacknowledged.batch_ends).min(shim),
            ready,
            complete,
            done: complete && !ready && self.unacknowledged.bytes == 0,
            asks: false,
        }
    }

    #[inline(always)]
    fn on_packet(&mut self, now: Time, header: &Header, body: &Segment) {
        self.on_packet(now, header.marks.ecn, cell_of(header.note), body);
        if self.rules.tlt && header.kind == PacketKind::Data && body.length > 0 {
            self.echo_importance(body);
        }
    }

    #[inline(always)]
    fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        let ack = self.acks.first();
        let (flags, used) = (ack.flags, ack.blocks_used);
        let capable = self.rules.marking == ConnectionMarking::Accurate;
        let ecn = if capable { Ecn::Capable } else { Ecn::NotCapable };
        let sequence = self.window.as_ref().map_or(0, |window| window.size());
        *segment = ack.segment(Segment { flow: self.flow, sent: now, sequence, ..Segment::default() });
        self.acks.drop_first();
        (header.wire, header.kind) = (self.rules.ack_wire, PacketKind::Ack);
        (header.ports, header.class, header.marks) = (self.ports, self.rules.class, Marks { ecn });
        if used != BlockCount::Zero {
            header.wire = self.transport.ack_wire(used);
        }
        if flags.has(Flags::SYN) {
            (header.wire, header.kind) = (self.transport.syn_wire(), PacketKind::Control);
        }
    }

    fn on_wakeup(&mut self, now: Time) {
        if let Some(below) = &mut self.below {
            below.on_wakeup(now);
            self.take_from_shim(now);
        }
        if self.unacknowledged.batch_ends <= now {
            self.end_batch();
        }
        if self.unacknowledged.due <= now {
            self.acknowledge(Flags::ACK);
        }
    }
}
