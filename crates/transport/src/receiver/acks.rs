//! When to acknowledge, and what an acknowledgement says.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::{Class, Ecn, FlowId, Kind, Time};

use super::assembly::{Arrival, Assembly};
use crate::segment::{Block, Flags, Outgoing, Segment, reverse_ports};
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
        let marking = transport.marking;
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
        let flags = Flags::SYN.with(Flags::ACK).with_if(ecn, Flags::ECE);
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
        let full = self.delayed >= self.transport.tcp.delayed_ack || self.quick > 0;
        if out_of_order || full || last {
            // What is out of order echoes itself: its round trip is its own.
            self.echo = if out_of_order { segment.sent } else { self.echo };
            self.acknowledge(now, assembly, arrival.duplicate);
        } else if self.due == Time::NEVER {
            self.due = now + self.transport.tcp.delayed_ack_timeout;
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
        let ack = if assembly.next() == segment.end() { segment.sequence } else { assembly.next() };
        let flags = Flags::ACK.with_if(self.echoing, Flags::ECE);
        self.queue(Segment { ack, echo: self.echo, flow: self.flow, flags, ..Segment::default() });
        self.delayed = 0;
        self.due = Time::NEVER;
    }

    fn acknowledge(&mut self, now: Time, assembly: &Assembly, duplicate: bool) {
        let flags = Flags::ACK.with_if(self.echoing, Flags::ECE).with_if(duplicate, Flags::DUPLICATE);
        let mut segment = Segment {
            ack: assembly.next(),
            sent: now,
            echo: self.echo,
            flow: self.flow,
            flags,
            ..Segment::default()
        };
        if self.transport.tcp.sack {
            for (place, (start, end)) in segment.blocks.iter_mut().zip(assembly.blocks()) {
                *place = Block { offset: (start - segment.ack) as u32, length: (end - start) as u32 };
                segment.blocks_used += 1;
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
    let opening = segment.flags.has(Flags::SYN);
    Outgoing {
        segment,
        wire: if opening {
            transport.syn_wire()
        } else {
            transport.ack_wire(usize::from(segment.blocks_used))
        },
        kind: if opening { Kind::Control } else { Kind::Ack },
        class: Class(0),
        ecn: if marking == Marking::Accurate { Ecn::Capable } else { Ecn::NotCapable },
        ports: reverse_ports(segment.flow),
    }
}

/// The answer to a packet of a connection whose receiving state is gone: acknowledges it again, so that a sender whose
/// last acknowledgement was lost can finish. Datagrams get none.
#[must_use]
pub fn reply_after_close(transport: &Transport, segment: &Segment, now: Time) -> Option<Outgoing> {
    if segment.flags.has(Flags::DATAGRAM) || segment.length == 0 {
        return None;
    }
    let flags = Flags::ACK.with(Flags::DUPLICATE);
    let (ack, echo, flow) = (Segment::EVERYTHING, segment.sent, segment.flow);
    Some(reply(
        transport,
        Segment { ack, sent: now, echo, flow, flags, ..Segment::default() },
        transport.marking,
    ))
}
