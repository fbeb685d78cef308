//! The receiving end of a PDQ flow: answers each packet at once and returns its scheduling header.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::scheduling::{Role, SchedulingHeader};
use weft_core::segment::{Needs, reverse_ports};
use weft_core::stack::{End, Receiving};
use weft_core::{Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, Rate, ReceiverReport, Time};
use weft_delivery::ArrivedPackets;

use crate::PdqStack;
use crate::packet::{PdqPacket, PdqPacketKind};

/// The answer to a packet.
#[derive(Clone, Copy, Debug)]
struct Answer {
    number: u64,
    what: PdqPacketKind,
    sent: Time,
    scheduling: SchedulingHeader,
}

/// The receiving end of a flow.
pub struct PdqReceiver {
    pdq: Arc<PdqStack>,
    flow: FlowId,
    arrivals: ArrivedPackets,
    answers: VecDeque<Answer>,
    /// The scheduling header of the packet that arrives next, and of the answer just written.
    scheduling: SchedulingHeader,
    /// Whether the sender has given up.
    is_left: bool,
}

impl PdqReceiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    pub(crate) fn new(pdq: &Arc<PdqStack>, site: &FlowSite) -> PdqReceiver {
        PdqReceiver {
            flow: site.flow,
            arrivals: ArrivedPackets::new(pdq.packets(site.size)),
            answers: VecDeque::new(),
            scheduling: SchedulingHeader::NONE,
            is_left: false,
            pdq: Arc::clone(pdq),
        }
    }

    fn take(&mut self, now: Time, packet: &PdqPacket) {
        let taken = (packet.number, u64::from(packet.length), packet.again);
        self.arrivals.take(now, taken, self.pdq.frames().mss);
    }
}

/// The grant for a request. A request with a rate that still names the arbiter pausing its flow has not passed that
/// arbiter: the path has changed, and the flow may ask all arbiters of the new one.
fn granted(request: &SchedulingHeader) -> SchedulingHeader {
    let is_void = request.paused_by != 0 && request.rate > Rate(0);
    let (rate, paused_by) = if is_void { (Rate(0), 0) } else { (request.rate, request.paused_by) };
    SchedulingHeader { role: Role::Grant, rate, paused_by, ..*request }
}

impl End for PdqReceiver {
    type Body = PdqPacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let (complete, ready) =
            (self.arrivals.completed().is_some() || self.is_left, !self.answers.is_empty());
        let done = complete && !ready;
        Needs { wake: Time::NEVER, ready, complete, done, asks: false }
    }

    fn on_grant(&mut self, _now: Time, grant: &SchedulingHeader) {
        self.scheduling = *grant;
    }

    fn on_packet(&mut self, now: Time, _header: &Header, packet: &PdqPacket) {
        match packet.what {
            PdqPacketKind::Leave => {
                self.is_left = true;
                return;
            }
            PdqPacketKind::GiveUp => self.is_left = true,
            PdqPacketKind::Data => self.take(now, packet),
            PdqPacketKind::Probe | PdqPacketKind::Ack | PdqPacketKind::Done => {}
        }
        self.answers.push_back(Answer {
            number: packet.number,
            what: if self.is_left { PdqPacketKind::Done } else { PdqPacketKind::Ack },
            sent: packet.sent,
            scheduling: granted(&self.scheduling),
        });
    }

    fn send(&mut self, _now: Time, header: &mut Header, body: &mut PdqPacket) {
        let answer = self.answers.pop_front().expect("a receiver that is ready has an answer");
        self.scheduling = answer.scheduling;
        *body = PdqPacket {
            flow: self.flow,
            number: answer.number,
            missing: self.arrivals.missing(),
            what: answer.what,
            sent: answer.sent,
            ..PdqPacket::default()
        };
        self.pdq.address(header, self.flow);
    }

    fn request(&self) -> SchedulingHeader {
        self.scheduling
    }
}

impl Receiving for PdqReceiver {
    fn completed(&self) -> Option<Time> {
        self.arrivals.completed()
    }

    fn report(&self) -> ReceiverReport {
        self.arrivals.report()
    }
}

impl PdqStack {
    /// The header of an answer.
    pub(crate) fn address(&self, header: &mut Header, flow: FlowId) {
        header.ports = reverse_ports(flow);
        header.wire = self.frames().wire(0);
        header.kind = PacketKind::Ack;
        header.class = Class(self.settings().control_class as u8);
        header.marks = Marks { ecn: Ecn::NotCapable };
    }
}
