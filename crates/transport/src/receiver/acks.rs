//! When to acknowledge, and what an acknowledgement says.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::{Class, Ecn, FlowId, Kind, Time};

use super::assembly::{Arrival, Assembly};
use crate::segment::{Block, Flags, Outgoing, Segment, ports};
use crate::transport::{Marking, Transport};

/// Acknowledgements that may wait for the card at most; then the oldest says nothing new and is given up.
const MOST_WAITING: usize = 256;

/// What is owed to the sender.
pub(super) struct Acks {
    transport: Arc<Transport>,
    marking: Marking,
    flow: FlowId,
    waiting: VecDeque<Segment>,
    /// Segments that are not acknowledged yet, and the echo of the first of them.
    delayed: u32,
    echo: Time,
    /// When they must be acknowledged.
    due: Time,
    quick: u32,
    /// RFC 3168: echo until told of a reduction. RFC 8257: the mark of the latest segment.
    echoing: bool,
}

impl Acks {
    pub(super) fn new(transport: &Arc<Transport>, flow: FlowId) -> Acks {
        let marking = transport.marks(&transport.build_law());
        Acks {
            marking,
            flow,
            waiting: VecDeque::new(),
            delayed: 0,
            echo: Time::ZERO,
            due: Time::NEVER,
            quick: transport.tcp.quick_acks,
            echoing: false,
            transport: Arc::clone(transport),
        }
    }

    /// Answers a SYN.
    pub(super) fn open(&mut self, now: Time, syn: &Segment) {
        let ecn = self.marking != Marking::Off && syn.flags.has(Flags::ECE);
        let flags = Flags::SYN.with(Flags::ACK, true).with(Flags::ECE, ecn);
        self.queue(Segment { sent: now, echo: syn.sent, flow: self.flow, flags, ..Segment::default() });
    }

    /// A segment has come up; `last`: the flow is complete.
    pub(super) fn arrived(
        &mut self,
        now: Time,
        (segment, ecn): (&Segment, Ecn),
        arrival: &Arrival,
        (assembly, last): (&Assembly, bool),
    ) {
        self.note_mark(segment, ecn, assembly);
        if self.delayed == 0 {
            self.echo = segment.sent;
        }
        self.delayed += 1;
        self.quick = self.quick.saturating_sub(1);
        let out_of_order = arrival.beyond_gap || arrival.filled || arrival.duplicate || assembly.has_gap();
        let full = self.delayed >= self.transport.tcp.ack_every || self.quick > 0;
        if out_of_order || full || last {
            // What is out of order echoes itself: its round trip is its own.
            self.echo = if out_of_order { segment.sent } else { self.echo };
            self.acknowledge(now, assembly, arrival.duplicate);
        } else if self.due == Time::NEVER {
            self.due = now + self.transport.tcp.ack_delay;
        }
    }

    /// Keeps the echo of marks. With accurate marks a change acknowledges what came before it (RFC 8257 section 3.2).
    fn note_mark(&mut self, segment: &Segment, ecn: Ecn, assembly: &Assembly) {
        let marked = ecn == Ecn::Marked;
        match self.marking {
            Marking::Off => {}
            Marking::Classic => {
                self.echoing &= !segment.flags.has(Flags::CWR);
                self.echoing |= marked;
            }
            Marking::Accurate if marked != self.echoing => {
                if self.delayed > 0 {
                    self.acknowledge_below(segment, assembly);
                }
                self.echoing = marked;
            }
            Marking::Accurate => {}
        }
    }

    /// Acknowledges everything before `segment`, which has just been put in.
    fn acknowledge_below(&mut self, segment: &Segment, assembly: &Assembly) {
        let ack = if assembly.next() == segment.end() { segment.seq } else { assembly.next() };
        let flags = Flags::ACK.with(Flags::ECE, self.echoing);
        self.queue(Segment { ack, echo: self.echo, flow: self.flow, flags, ..Segment::default() });
        self.delayed = 0;
        self.due = Time::NEVER;
    }

    fn acknowledge(&mut self, now: Time, assembly: &Assembly, duplicate: bool) {
        let flags = Flags::ACK.with(Flags::ECE, self.echoing).with(Flags::DUPLICATE, duplicate);
        let mut segment = Segment {
            ack: assembly.next(),
            sent: now,
            echo: self.echo,
            flow: self.flow,
            flags,
            ..Segment::default()
        };
        if self.transport.tcp.sack {
            for (place, (start, end)) in segment.sack.iter_mut().zip(assembly.blocks()) {
                *place = Block { start: (start - segment.ack) as u32, len: (end - start) as u32 };
            }
        }
        self.queue(segment);
        self.delayed = 0;
        self.due = Time::NEVER;
    }

    fn queue(&mut self, segment: Segment) {
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(segment);
    }

    pub(super) fn ready(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let segment = Segment { sent: now, ..self.waiting.pop_front()? };
        Some(reply(&self.transport, segment, self.marking))
    }

    pub(super) fn next_wakeup(&self) -> Time {
        self.due
    }

    pub(super) fn on_wakeup(&mut self, now: Time, assembly: &Assembly) {
        if self.due <= now {
            self.acknowledge(now, assembly, false);
        }
    }
}

/// An acknowledgement as a packet. Only with accurate marks are acknowledgements ECN-capable.
fn reply(transport: &Transport, segment: Segment, marking: Marking) -> Outgoing {
    Outgoing {
        segment,
        wire: transport.wire(0),
        kind: if segment.flags.has(Flags::SYN) { Kind::Control } else { Kind::Ack },
        class: Class(0),
        ecn: if marking == Marking::Accurate { Ecn::Capable } else { Ecn::NotCapable },
        ports: ports(segment.flow, true),
    }
}

/// The answer to a packet of a connection whose receiving state is gone: acknowledges it again, so that a sender whose
/// last acknowledgement was lost can finish. Datagrams get none.
#[must_use]
pub fn reply_after_close(transport: &Transport, segment: &Segment, now: Time) -> Option<Outgoing> {
    if transport.udp.is_some() || !segment.flags.has(Flags::FIN) && segment.len == 0 {
        return None;
    }
    let flags = Flags::ACK.with(Flags::DUPLICATE, true);
    let ack = segment.end();
    let answer =
        Segment { ack, sent: now, echo: segment.sent, flow: segment.flow, flags, ..Segment::default() };
    Some(reply(transport, answer, transport.marks(&transport.build_law())))
}
