//! Packets for an end that has closed or is not open yet.

use weft_core::stack::{Layout, Side};
use weft_core::{Header, HostId, InBand, PacketId};
use weft_transport::{Body, Receiver};

use super::Hosts;
use super::parked::Loose;
use crate::context::Context;
use crate::ends::FlowEnd;

impl Hosts {
    /// A packet arrives for an end that is not open. A receiver opens with its first packet; a closed one replies.
    #[cold]
    pub(super) fn at_closed_door(&mut self, cx: &mut Context, host: HostId, packet: PacketId, side: Side) {
        let (header, body) = (*cx.pool.headers.get(packet), *cx.pool.body(packet));
        let headers = &cx.pool.headers;
        let in_band = headers.carries_in_band().then(|| headers.in_band(packet));
        cx.pool.remove(packet);
        match side {
            Side::Sender => self.use_card(cx, host),
            Side::Receiver => self.knock(cx, host, (&header, &body), in_band.as_ref()),
        }
    }

    fn knock(
        &mut self,
        cx: &mut Context,
        host: HostId,
        (header, body): (&Header, &Body),
        in_band: Option<&InBand>,
    ) {
        let flow = body.flow();
        if let Some(spec) = self.ends.receivers.expected(flow) {
            let setup = &cx.plan.setup;
            let (site, (_, queues)) = (self.site_of(setup, host, &spec), setup.pausable_queues_of(&spec));
            self.ends.open_receiver((flow, spec), (setup.receiver(&spec), &site, queues), cx.now);
            if setup.stacks.differ() {
                self.ends.note_entry(flow, spec.tag);
            }
            let Some((seat, active)) = Receiver::slab(&mut self.ends).seated(flow) else { return };
            if let Some(in_band) = in_band {
                active.end.on_in_band(cx.now, in_band);
            }
            active.end.receive(cx.now, header, body);
            self.attend::<Receiver>(cx, seat, host);
        } else {
            let setup = &cx.plan.setup;
            let ended = self.ends.closed_flow(flow, (header.source, header.destination));
            let reply = setup.receiver(&ended).reply_after_close(header, body, cx.now);
            let addressed = reply.map(|(reply, body)| {
                Loose::Reply(Header { source: host, destination: header.source, ..reply }, body)
            });
            self.card(host).loose.extend(addressed);
            self.use_card(cx, host);
        }
    }
}
