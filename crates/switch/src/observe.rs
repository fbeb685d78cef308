//! Observers of a switch. A switch without an observer runs code without observation.

use weft_core::record::Reason;
use weft_core::{Header, PacketId, PortId, Time};

use crate::turn::{Effect, Turn};

/// Sees everything that a switch does with packets, and changes nothing. The interface for taps, traces and captures.
pub trait Observer: Send {
    /// Called when a whole packet arrives at port `from`, with its header as the switch finds it.
    fn received(&mut self, now: Time, from: PortId, packet: PacketId, header: &Header);
    /// Called when the first bit of a packet leaves by `port` at `start`, which is not before the instant of the
    /// call.
    fn sends(&mut self, start: Time, port: PortId, packet: PacketId, header: &Header);
    /// A packet is dropped.
    fn dropped(&mut self, now: Time, packet: PacketId, reason: Reason);
}

/// The observer of a switch, if it has one.
pub(crate) type Observing = Option<Box<dyn Observer>>;

/// Reports to an observer the packets dropped by a call that started with `before` effects in the list.
#[cold]
pub(crate) fn tell_drops(observer: &mut dyn Observer, turn: &Turn<'_>, before: usize) {
    for effect in turn.effects.range(before..) {
        if let Effect::Dropped(packet, reason) = effect {
            observer.dropped(turn.now, *packet, *reason);
        }
    }
}
