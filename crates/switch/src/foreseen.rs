//! Ports whose departures are known in advance: how packets join them, and when the memory of departed packets is
//! released.

use weft_core::{Bytes, PortId, Time};

use crate::outputs::{Outputs, chosen_of};
use crate::port::{Output, Port};
use weft_foresight::{Foresight, Slot};

impl Outputs {
    /// Releases the packets that left a foreseen port before `now`.
    #[inline(never)]
    pub(crate) fn settle(&mut self, now: Time, port: PortId) {
        let Outputs { ports, store, visible, .. } = self;
        let Output { port: held, foresight: Some(foresight), .. } = chosen_of(ports, port) else { return };
        let bytes = foresight.all_bytes_left(now);
        if bytes > 0 {
            held.bytes -= bytes;
            store.released((0, held.bytes), bytes);
            visible.left(port.index(), bytes);
        }
    }

    /// [`Outputs::settle`], with only the check for departures inlined.
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

    /// Releases the packets that left any foreseen port before `now`.
    pub(crate) fn settle_all(&mut self, now: Time) {
        for port in 0..self.ports.len() {
            self.settle(now, PortId(port as u16));
            self.settle_strict(now, PortId(port as u16));
        }
    }

    /// Packets of a foreseen port, and their bytes, whose first bit has not left before `now`.
    pub(crate) fn waiting(&self, now: Time, port: PortId) -> (u64, Bytes) {
        let (packets, bytes) = match &self.ports[port.index()] {
            Output { foresight: Some(foresight), .. } => foresight.waiting(now),
            Output { strict: Some(strict), .. } => strict.to_start(now),
            Output { in_lull: Some(foreseen), .. } => foreseen.waiting(now),
            _ => (0, 0),
        };
        (packets, Bytes(bytes))
    }
}

impl Output {
    /// The contents of a port and its foreseen departures.
    #[inline(always)]
    pub(crate) fn foreseen(&mut self) -> (&mut Port, &mut Foresight) {
        match self {
            Output { port, foresight: Some(foresight), .. } => (port, foresight),
            _ => unreachable!("only ports whose departures are foreseen are asked"),
        }
    }

    /// Bytes held once everything due before `now` has left. Nothing observes the port.
    #[inline]
    pub(crate) fn held_at(&mut self, now: Time) -> u64 {
        if let Some(foresight) = &mut self.foresight {
            give_back_unseen(now, &mut self.port, foresight);
        }
        self.port.bytes
    }

    /// Whether a packet joins without admission check or marker.
    #[inline]
    pub(crate) fn is_calm(&self, wire: u16) -> bool {
        let calm = |foresight: &Foresight| foresight.is_calm(self.port.bytes + u64::from(wire));
        self.foresight.as_ref().is_some_and(calm)
    }
}

/// Takes a slot on a port's link for a packet; returns when the packet leaves.
#[inline(always)]
pub(crate) fn take_place(now: Time, output: (&mut Port, &mut Foresight), wire: u16) -> Slot {
    take_later_place((now, now), output, wire)
}

/// [`take_place`] for a packet that is known at `now` and joins the port at `arrives`, after all others that have taken a slot.
#[inline(always)]
pub(crate) fn take_later_place(
    (now, arrives): (Time, Time),
    (held, foresight): (&mut Port, &mut Foresight),
    wire: u16,
) -> Slot {
    let slot = foresight.join(arrives, wire);
    held.store_until(held.bytes + u64::from(wire), u128::from(wire) * u128::from(slot.end.0 - now.0));
    slot
}

/// [`take_place`] at an unobserved port that is empty at `now`.
#[inline(always)]
pub(crate) fn take_idle_place(now: Time, (held, foresight): (&mut Port, &mut Foresight), wire: u16) -> Slot {
    let slot = foresight.join_idle(now, wire);
    held.store_until(u64::from(wire), u128::from(wire) * u128::from(slot.end.0 - now.0));
    slot
}

/// Releases the packets that left an unobserved port before `now`.
#[inline(always)]
pub(crate) fn give_back_unseen(now: Time, held: &mut Port, foresight: &mut Foresight) {
    if foresight.all_have_left(now) {
        foresight.clear();
        held.bytes = 0;
    } else {
        held.bytes -= foresight.bytes_left(now);
    }
}
