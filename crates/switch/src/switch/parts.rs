//! A switch in parts, for drivers with several threads: [`Switch::receive`] in two halves, so that forwarding engines
//! decide on their own threads, and each output port is served by the thread that has a packet for it.
//!
//! Every part is a whole [`Switch`]. Deciding parts use only table and engines, a part that serves a port uses only
//! that port; the state that ports share is in [`SharedOutputs`].

use weft_core::{Header, PacketId, PortId, Time};

use weft_visibility::{LentCounts, SharedOutputs};

use super::{Switch, arrive};
use crate::balance::{Candidates, Elsewhere, Loads, PathCongestion};
use crate::settings::ClassLoad;
use crate::turn::{Turn, Verdict};
use weft_forwarding::Way;

impl Switch {
    /// The reason why this switch cannot work in parts, if any: its inputs or paths have state of their own.
    #[must_use]
    pub fn indivisible(&self) -> Option<&'static str> {
        match () {
            () if self.fabric.is_some() => Some("has virtual output queues, which belong to all its inputs"),
            () if self.outputs.ingress.is_some() => Some("charges packet memory to its inputs"),
            () if self.congestion.is_some() => Some("measures the congestion of paths"),
            () if self.arbiters.is_some() => Some("has arbiters, which see both directions of a link"),
            () if self.observer.is_some() => Some("has an observer, which sees packets in order"),
            () => None,
        }
    }

    /// The number of the engine that decides about packets of an input; `None` if engines have no state of their own,
    /// so that any may decide.
    #[must_use]
    pub fn engine_of(&self, input: PortId) -> Option<usize> {
        self.hash.is_none().then(|| input.index() % self.engines.len())
    }

    /// The state that the ports of this switch, whose queues must be empty, share when several threads serve them.
    #[must_use]
    pub fn shared_outputs(&self) -> SharedOutputs {
        let insight = self.outputs.visible.insight().cloned();
        SharedOutputs::new(self.outputs.len(), self.queues, insight)
    }

    /// The first half of [`Switch::receive`]: the port that a packet's engine chooses. `None`: there is no route, or the hop limit is
    /// used up.
    pub fn decide(
        &mut self,
        now: Time,
        from: PortId,
        header: &mut Header,
        shared: &SharedOutputs,
    ) -> Option<PortId> {
        arrive(now, header, from).ok()?;
        let group = match self.way(header) {
            Way::Only(port) => return Some(port),
            Way::None => return None,
            Way::Several(group, _) => group,
        };
        let component = self.table.component(group);
        let classes = match self.class_load {
            ClassLoad::AtOrAbove => self.outputs.classes.queue(header.class) + 1,
            ClassLoad::All => self.queues,
        };
        let number = from.index() % self.engines.len();
        let loads = Elsewhere::Shared { outputs: shared, now, engine: number, classes };
        let loads = Loads::Elsewhere(loads);
        let mut candidates = Candidates { group, component, loads, paths: PathCongestion::Unknown };
        let engine = &mut self.engines[number];
        Some(component.ports[engine.balancer.choose(header, &mut candidates, now, &mut engine.random)])
    }

    /// The second half of [`Switch::receive`]: a packet joins the port that [`Switch::decide`] chose.
    pub fn enqueue(
        &mut self,
        turn: &mut Turn<'_>,
        port: PortId,
        packet: PacketId,
        shared: &SharedOutputs,
    ) -> Verdict {
        self.assert_port(port);
        let Header { wire, ingress, class, .. } = *turn.headers.get(packet);
        let occupied = self.outputs.cells.occupied(wire);
        let now = turn.now;
        let verdict = self.with_shared(shared, (port, u64::from(occupied)), |switch| {
            let joined = switch.outputs.join(&mut turn.again(), port, packet);
            joined.verdict(turn.headers.get(packet), port)
        });
        if matches!(verdict, Verdict::Ready(_) | Verdict::Queued(_)) {
            shared.joined(now, (ingress, occupied), (port, self.outputs.classes.queue(class)));
        }
        verdict
    }

    /// Makes a call that concerns one port: [`Switch::transmit`], [`Switch::wake`] or [`Switch::set_port`].
    pub fn apart<T>(
        &mut self,
        shared: &SharedOutputs,
        port: PortId,
        call: impl FnOnce(&mut Switch) -> T,
    ) -> T {
        self.with_shared(shared, (port, 0), call)
    }

    /// Borrows the shared counts for a call that may store `wire` bytes, and publishes the port's queue lengths.
    fn with_shared<T>(
        &mut self,
        shared: &SharedOutputs,
        (port, wire): (PortId, u64),
        call: impl FnOnce(&mut Switch) -> T,
    ) -> T {
        let lent = shared.lend(wire);
        self.outputs.store.count(lent.stored);
        self.outputs.marking.resume(lent.drawn);
        let result = call(self);
        let left =
            LentCounts { stored: self.outputs.store.counted(), drawn: self.outputs.marking.position() };
        shared.take_back(wire, lent, left);
        for queue in 0..self.queues {
            shared.set_length(port, queue, self.outputs.counting(port, queue));
        }
        result
    }
}
