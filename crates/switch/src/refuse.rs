//! What happens to a packet for which there is no room: its header is forwarded alone or returned to the sender,
//! another packet is evicted, or it is dropped. Must not depend on why there is no room.

use weft_core::record::Reason;
use weft_core::{PacketId, PortId};

use crate::join::Joined;
use crate::outputs::{Outputs, slot};
use crate::turn::Turn;

impl Outputs {
    /// Handles a packet that may not join a queue: its header joins or is returned, or the whole packet is dropped.
    #[cold]
    pub(crate) fn turned_away(
        &mut self,
        turn: &mut Turn<'_>,
        (port, queue): (PortId, usize),
        packet: PacketId,
        reason: Reason,
    ) -> Joined {
        let header = turn.headers.get_mut(packet);
        let full = !matches!(reason, Reason::LinkDown | Reason::Watchdog | Reason::Early | Reason::Red);
        if let Some(trim) = self.trim.filter(|_| full) {
            if trim.cut(header) {
                self.ports[port.index()].port.trimmed += 1;
                return self.join(turn, port, packet);
            }
            if trim.turn_back(header) {
                self.ports[port.index()].port.returned += 1;
                return Joined::Returned;
            }
        }
        if full && self.evict(turn, (port, queue), packet) {
            return self.join(turn, port, packet);
        }
        let header = turn.headers.get_mut(packet);
        self.refused(turn.effects, header, queue, reason);
        Joined::Dropped(self.refuse(port, reason))
    }

    /// Drops a queued packet that ranks behind a newcomer for which there is no room. `false` if there is none.
    fn evict(&mut self, turn: &mut Turn<'_>, at: (PortId, usize), newcomer: PacketId) -> bool {
        let newcomer = *turn.headers.get(newcomer);
        let Some(order) = self.orders.get_mut(slot(at.0, at.1, self.queues)) else { return false };
        let queue = &mut self.ports[at.0.index()].queues[at.1].packets;
        let victim = order.evict(queue, turn.headers, &newcomer);
        if let Some(victim) = victim {
            self.give_up(turn, at, victim, Reason::Evicted);
        }
        victim.is_some()
    }
}
