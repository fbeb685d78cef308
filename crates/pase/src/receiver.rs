//! The receiving end of a PASE flow: answers each packet at once and returns its scheduling header and its mark.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::scheduling::{Role, SchedulingHeader};
use weft_core::segment::Needs;
use weft_core::stack::{End, Receiving};
use weft_core::{Ecn, FlowId, FlowSite, Header, ReceiverReport, Time};
use weft_delivery::ArrivedPackets;

use crate::PaseStack;
use crate::packet::{PasePacket, PasePacketKind};

/// The answer to a packet.
#[derive(Clone, Copy, Debug)]
struct Answer {
    number: u64,
    sent: Time,
    marked: bool,
    scheduling: SchedulingHeader,
}

/// The receiving end of a flow.
pub struct PaseReceiver {
    pase: Arc<PaseStack>,
    flow: FlowId,
    arrivals: ArrivedPackets,
    /// Packets with payload that arrived with a mark.
    marks: u32,
    answers: VecDeque<Answer>,
    /// The scheduling header of the packet that arrives next, and of the answer just written.
    scheduling: SchedulingHeader,
}

impl PaseReceiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    pub(crate) fn new(pase: &Arc<PaseStack>, site: &FlowSite) -> PaseReceiver {
        PaseReceiver {
            flow: site.flow,
            arrivals: ArrivedPackets::new(pase.packets(site.size)),
            marks: 0,
            answers: VecDeque::new(),
            scheduling: SchedulingHeader::NONE,
            pase: Arc::clone(pase),
        }
    }
}

/// The grant for a request; other packets get none.
fn granted(request: &SchedulingHeader) -> SchedulingHeader {
    match request.role {
        Role::Request => SchedulingHeader { role: Role::Grant, ..*request },
        _ => SchedulingHeader::NONE,
    }
}

impl End for PaseReceiver {
    type Body = PasePacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let (complete, ready) = (self.arrivals.completed().is_some(), !self.answers.is_empty());
        Needs { wake: Time::NEVER, ready, complete, done: complete && !ready, asks: false }
    }

    fn on_grant(&mut self, _now: Time, grant: &SchedulingHeader) {
        self.scheduling = *grant;
    }

    fn on_packet(&mut self, now: Time, header: &Header, packet: &PasePacket) {
        let marked = header.marks.ecn == Ecn::Marked;
        match packet.what {
            PasePacketKind::Leave => return,
            PasePacketKind::Data => {
                let arrived = (packet.number, u64::from(packet.length), packet.again);
                self.arrivals.take(now, arrived, self.pase.frames().mss);
                self.marks += u32::from(marked);
            }
            PasePacketKind::Ask | PasePacketKind::Ack | PasePacketKind::Done => {}
        }
        self.answers.push_back(Answer {
            number: packet.number,
            sent: packet.sent,
            marked,
            scheduling: granted(&self.scheduling),
        });
    }

    fn send(&mut self, _now: Time, header: &mut Header, body: &mut PasePacket) {
        let answer = self.answers.pop_front().expect("a receiver that is ready has an answer");
        self.scheduling = answer.scheduling;
        *body = PasePacket {
            flow: self.flow,
            number: answer.number,
            missing: self.arrivals.missing(),
            what: PasePacketKind::Ack,
            marked: answer.marked,
            sent: answer.sent,
            ..PasePacket::default()
        };
        self.pase.answer(header, self.flow);
    }

    fn request(&self) -> SchedulingHeader {
        self.scheduling
    }
}

impl Receiving for PaseReceiver {
    fn completed(&self) -> Option<Time> {
        self.arrivals.completed()
    }

    fn report(&self) -> ReceiverReport {
        ReceiverReport { ecn_marks: self.marks, ..self.arrivals.report() }
    }
}
