//! A switch that pauses its senders, inside and outside a [lull](crate::lull).

use weft_core::{Headers, PacketId, PortId, Span, Time, Transmission};

use super::Switch;
use crate::join::Joined;
use crate::lulls::InLull;
use crate::turn::Turn;
use weft_foresight::{RevocableForesight, Revocation};

impl Switch {
    /// Gives packets by `port` [`Verdict::LeavesUnlessHeld`](crate::Verdict::LeavesUnlessHeld) where possible from
    /// now on. The driver must [revoke](Switch::revoke) the departures by all ports whenever the switch asks for it,
    /// and those by one port before that port is held. Returns `false` and changes nothing if the settings rule this
    /// out. The port's link must not change state, and the port must be empty.
    pub fn foresee_in_lulls(&mut self, port: PortId) -> bool {
        let line = Transmission::at(self.rates[port.index()]);
        let alone = self.congestion.is_none()
            && self.fabric.is_none()
            && self.arbiters.is_none()
            && self.observer.is_none();
        let foresees = alone && self.outputs.foresee_in_lulls(port, line);
        if foresees {
            self.plain = false;
        }
        foresees
    }

    /// Whether revocable departures are currently foreseen.
    #[must_use]
    #[inline]
    pub fn is_in_lull(&self) -> bool {
        self.outputs.lull.as_ref().is_some_and(|lull| lull.lasts)
    }

    /// After all events before `before`: the number of packets at a port whose last bit has not left, and when the
    /// last bit of the first leaves; `None` if no departure is foreseen.
    pub fn revocable(&mut self, before: Time, port: PortId) -> Option<(usize, Time)> {
        self.outputs.settle_lull(before, port);
        let foreseen = self.outputs.port(port).in_lull.as_ref()?;
        foreseen.first_leaves().map(|first| (foreseen.packets(), first))
    }

    /// Revokes the departures by a port of `packets`, which are those that [`Switch::revocable`] counts, in order. The first is being
    /// transmitted, and [`Switch::transmit`] must be called when its last bit leaves; the others are queued again. `revoked` is called with each
    /// of these, which has its time of arrival in its header again, and with the wait that was foreseen.
    pub fn revoke(
        &mut self,
        turn: &mut Turn<'_>,
        port: PortId,
        packets: &[PacketId],
        revoked: impl FnMut(&mut Headers, PacketId, Span),
    ) {
        self.outputs.revoke(turn, port, packets, revoked);
    }

    /// The last `n` packets whose departures by a port are foreseen, in order: for each, when it arrived, when its last bit leaves, and
    /// how long it waits in between.
    pub fn overtaken(&self, port: PortId, n: usize) -> impl Iterator<Item = (Time, Time, Span)> + '_ {
        let times = |foreseen: &RevocableForesight, packet: Revocation| {
            (packet.arrived, packet.at, foreseen.wait_of(&packet))
        };
        let foreseen = self.outputs.port(port).in_lull.as_deref().into_iter();
        foreseen.flat_map(move |own| own.last(n).map(move |packet| times(own, packet)))
    }

    /// Called after all departures have been revoked.
    pub fn end_lull(&mut self) {
        if let Some(lull) = &mut self.outputs.lull {
            lull.lasts = false;
        }
    }

    /// [`Switch::receive`] for a switch that foresees departures in lulls.
    #[inline(never)]
    pub(super) fn receive_in_lulls(
        &mut self,
        turn: &mut Turn<'_>,
        from: PortId,
        packet: PacketId,
    ) -> (Joined, PortId) {
        let header = turn.headers.get_mut(packet);
        if self.outputs.ends_lull(turn.now, header.wire) {
            return (Joined::RevokeFirst, from);
        }
        let port = match self.enter(turn.now, header, from) {
            Ok(port) => port,
            Err(reason) => return (Joined::Dropped(reason), from),
        };
        match self.outputs.look_in_lull(turn.now, port, header.wire) {
            InLull::Calm => {
                let (place, overtaken) = self.outputs.expect_in_lull(turn.now, port, header);
                (Joined::Revocably(place, overtaken), port)
            }
            InLull::NearMark => (self.outputs.join_near_mark(turn.now, port, header), port),
            InLull::No => (self.outputs.join(turn, port, packet), port),
        }
    }
}
