//! Where the packets of each flow waited: packets carry their waits by hop in a column of the pool, the domain of a
//! flow's receiver sums them up. Unused unless a run records it; must not change the run.

use weft_core::record::HopWaits;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, PacketId, Span};

use crate::context::Context;
use crate::host::Hosts;
use crate::transmitters::entry;

impl Context {
    /// Called when a packet of an end leaves its host, after waiting for the card.
    pub(crate) fn leave_host(&mut self, side: Side, packet: PacketId, wait: Span) {
        if side == Side::Sender && self.pool.headers.get(packet).kind.is_payload() {
            self.begin_waits(packet, wait);
        }
    }

    /// Called when a payload packet leaves its host, after waiting for the card.
    #[inline]
    pub(crate) fn begin_waits(&mut self, packet: PacketId, wait: Span) {
        self.tally.waited_at_host(wait);
        if let Some(waits) = self.pool.headers.waits_mut(packet) {
            *waits = HopWaits::at_host(wait);
        }
    }

    /// Called when a payload packet leaves a queue of a switch, after waiting.
    #[inline]
    pub(crate) fn add_wait(&mut self, packet: PacketId, hop: u8, wait: Span) {
        if let Some(waits) = self.pool.headers.waits_mut(packet) {
            waits.add(hop, wait);
        }
    }
}

impl Hosts {
    /// A packet has arrived.
    #[inline(never)]
    pub(crate) fn collect_waits(&mut self, cx: &mut Context, packet: PacketId) {
        if !cx.pool.headers.get(packet).kind.is_payload() {
            return;
        }
        let flow = cx.pool.body(packet).flow();
        let slot = self.ends.receivers.slot_of(flow);
        if let (Some(sums), Some(slot)) = (&mut cx.waits, slot)
            && let Some(waits) = cx.pool.headers.waits_mut(packet)
        {
            entry(sums, slot).add(waits);
        }
    }

    /// The waits of a flow's packets that arrived here. Read once, when its receiver closes.
    pub(crate) fn waits_of(&mut self, cx: &mut Context, flow: FlowId) -> HopWaits {
        let found = cx.waits.as_mut().zip(self.ends.receivers.slot_of(flow));
        let sum = found.and_then(|(sums, slot)| sums.get_mut(slot));
        sum.map(std::mem::take).unwrap_or_default().mean()
    }
}
