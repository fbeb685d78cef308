//! TCP as a stack: the ends that it gives a flow, their classes, and the reply to late packets.

use std::sync::Arc;

use weft_core::segment::{BlockCount, Outgoing, reverse_ports};
use weft_core::stack::{ClassSet, Classes, Sizes, Stack};
use weft_core::{Class, Ecn, FlowSite, Header, PacketKind, Rate, Time};

use crate::receiver::TcpReceiver;
use crate::segment::{Flags, Segment};
use crate::sender::TcpSender;
use crate::tcp::{ConnectionMarking, TcpStack};

impl Stack for TcpStack {
    type Sender = TcpSender;
    type Receiver = TcpReceiver;

    fn sender(this: &Arc<TcpStack>, site: &FlowSite, _now: Time) -> TcpSender {
        TcpSender::new(this, site)
    }

    fn receiver(this: &Arc<TcpStack>, site: &FlowSite) -> TcpReceiver {
        TcpReceiver::new(this, site)
    }

    fn host(&self, _line: Rate) {}

    fn sizes(&self) -> Sizes {
        self.tcp.sizes()
    }

    fn opening(&self) -> Option<u16> {
        self.tcp.handshake.then(|| self.syn_wire())
    }

    /// Acknowledgements use the flow's own class, the highest-priority class that PIAS uses.
    fn classes(&self, own: Option<Class>) -> Classes {
        let first = own.unwrap_or_default();
        let pias = if self.tcp.pias.is_on() { self.tcp.pias.classes() } else { 1 };
        let all = (1..pias).map(|next| Class((first.0 + next).min(7)));
        Classes { sender: all.fold(ClassSet::of(first), ClassSet::and), receiver: ClassSet::of(first) }
    }

    /// Late payload is a retransmission after a lost acknowledgement, so everything is acknowledged again (TIME-WAIT
    /// of RFC 9293, section 3.10.7.4). Needs no state.
    fn reply_after_close(&self, header: &Header, body: &Segment, now: Time) -> Option<(Header, Segment)> {
        if body.length == 0 || body.flags.has(Flags::DATAGRAM) {
            return None;
        }
        let again = body.flags.has(Flags::AGAIN);
        let flags = Flags::ACK.with(Flags::DUPLICATE).with_if(again, Flags::AGAIN);
        let segment = Segment {
            flow: body.flow,
            flags: flags.with_if(self.tcp.close, Flags::FIN),
            ack: Segment::EVERYTHING,
            sent: now,
            echo: body.sent,
            ..Segment::default()
        };
        // All packets of a connection under an accurate law can be marked, unless the ends have not agreed to ECN.
        let capable = self.marking == ConnectionMarking::Accurate && header.marks.ecn != Ecn::NotCapable;
        let out = Outgoing {
            segment,
            wire: self.ack_wire(BlockCount::Zero),
            kind: PacketKind::Ack,
            class: header.class,
            ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
            ports: reverse_ports(body.flow),
        };
        Some((out.header(), segment))
    }

    fn reads_marks(&self) -> bool {
        self.asks_for_ecn()
    }

    fn goes_by_marks(&self) -> bool {
        self.marking == ConnectionMarking::Accurate
    }
}
