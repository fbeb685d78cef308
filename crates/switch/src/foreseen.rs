//! Ports whose departures are known in advance: what joins them, and when what has left is given back.

use weft_core::record::Reason;
use weft_core::{Bytes, Header, PortId, Random, Time};

use crate::foresight::{Foresight, Slot};
use crate::outputs::{Outputs, chosen_of};
use crate::port::{Output, Port, Store};
use weft_mark::{Sight, Verdict};

impl Outputs {
    /// Gives back what has left a foreseen port before `now`.
    #[inline(never)]
    pub(crate) fn settle(&mut self, now: Time, port: PortId) {
        let Outputs { ports, store, visible, .. } = self;
        let Output { port: held, foresight: Some(foresight), .. } = chosen_of(ports, port) else { return };
        if store.counts() {
            return give_back(now, (held, foresight), store, |wire| {
                visible.left(port.index(), u64::from(wire))
            });
        }
        let bytes = foresight.all_bytes_left(now);
        held.bytes -= bytes;
        visible.left(port.index(), bytes);
    }

    /// The same, if something has left.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, port: PortId) {
        let Output { port: held, foresight: Some(foresight), .. } = chosen_of(&mut self.ports, port) else {
            return;
        };
        if !foresight.is_observed() {
            give_back_unseen(now, held, foresight);
        } else if foresight.has_left(now) {
            self.settle(now, port);
        }
    }

    /// The same for all ports.
    pub(crate) fn settle_all(&mut self, now: Time) {
        for port in 0..self.ports.len() {
            self.settle(now, PortId(port as u16));
        }
    }

    /// Admits, marks and queues a packet at a port whose departures are foreseen, which has one queue: when it leaves, or
    /// why it is refused. The header may get a mark. Not if somebody looks at what the port holds, or it does not foresee:
    /// then `None`.
    #[inline(always)]
    pub(crate) fn join(
        &mut self,
        now: Time,
        port: PortId,
        header: &mut Header,
    ) -> Option<Result<Slot, Reason>> {
        let output = chosen_of(&mut self.ports, port);
        let Output { port: held, foresight: Some(foresight), .. } = output else { return None };
        if foresight.is_observed() {
            return None;
        }
        give_back_unseen(now, held, foresight);
        if !foresight.is_calm(held.bytes + u64::from(header.wire))
            && let Err(reason) = admit(now, output, (&self.store, &mut self.marking), header)
        {
            return Some(Err(self.refuse(port, reason)));
        }
        Some(Ok(settle_in(now, output, header.wire)))
    }

    /// The same for any port whose departures are foreseen.
    #[inline(always)]
    pub(crate) fn join_observed(
        &mut self,
        now: Time,
        port: PortId,
        header: &mut Header,
    ) -> Result<Slot, Reason> {
        self.catch_up(now, port);
        let output = chosen_of(&mut self.ports, port);
        let mut room = admit(now, output, (&self.store, &mut self.marking), header);
        if room.is_err_and(|reason| reason != Reason::Early) {
            // The memory seems full: what have other ports to give back?
            self.settle_all(now);
            room = admit(now, chosen_of(&mut self.ports, port), (&self.store, &mut self.marking), header);
        }
        if let Err(reason) = room {
            return Err(self.refuse(port, reason));
        }
        let output = chosen_of(&mut self.ports, port);
        self.store.stored((0, output.port.bytes + u64::from(header.wire)), header.wire);
        self.visible.joined(now, header, port.index());
        Ok(settle_in(now, output, header.wire))
    }

    /// Packets of a foreseen port, and their bytes, whose first bit has not left before `now`.
    pub(crate) fn waiting(&self, now: Time, port: PortId) -> (u64, Bytes) {
        let foresight = self.ports[port.index()].foresight.as_ref();
        let (packets, bytes) = foresight.map_or((0, 0), |foresight| foresight.waiting(now));
        (packets, Bytes(bytes))
    }
}

/// Is there room at a foreseen port, and what does the marker say?
#[inline]
fn admit(
    now: Time,
    output: &mut Output,
    (store, marking): (&Store, &mut Random),
    header: &mut Header,
) -> Result<(), Reason> {
    let Output { port: held, foresight: Some(foresight), .. } = output else { return Ok(()) };
    if foresight.is_calm(held.bytes + u64::from(header.wire)) {
        return Ok(());
    }
    store.admit((0, held.bytes), held.bytes, header.wire)?;
    let sight = Sight { now, packet: header, queue: held.bytes, port: held.bytes };
    match foresight.marker.arriving(&sight, marking) {
        Verdict::Pass => {}
        Verdict::Mark => held.mark(header),
        Verdict::Drop => return Err(Reason::Early),
    }
    Ok(())
}

/// A packet joins a foreseen port: when it leaves.
#[inline(always)]
fn settle_in(now: Time, output: &mut Output, wire: u16) -> Slot {
    let Output { port: held, foresight: Some(foresight), .. } = output else {
        unreachable!("only ports that foresee are joined so")
    };
    let slot = foresight.join(now, wire);
    held.store_until(held.bytes + u64::from(wire), u128::from(wire) * u128::from(slot.end.0 - now.0));
    slot
}

/// Takes off what has left a port before `now` that nobody looks at in between.
#[inline(always)]
fn give_back_unseen(now: Time, held: &mut Port, foresight: &mut Foresight) {
    if foresight.all_have_left(now) {
        foresight.clear();
        held.bytes = 0;
    } else {
        held.bytes -= foresight.bytes_left(now);
    }
}

/// Gives back what has left before `now`.
#[inline]
fn give_back(
    now: Time,
    (held, foresight): (&mut Port, &mut Foresight),
    store: &mut Store,
    mut left: impl FnMut(u16),
) {
    while let Some(wire) = foresight.left(now) {
        held.bytes -= u64::from(wire);
        store.released((0, held.bytes), wire);
        left(wire);
    }
    foresight.find_oldest();
}
