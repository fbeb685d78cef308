//! Minimal forwarding: every port has a fixed output; only MAC addresses are rewritten.

use weft_packet::Mac;

use crate::app::station::drop_frame;
use crate::app::{Application, Desk};
use crate::counters::DropCause;
use crate::interface::longest_frame;
use crate::pool::{Frame, FrameBatch};

/// The destination of the frames of a port.
#[derive(Clone, Copy, Debug)]
pub struct CrossConnect {
    /// The output port.
    pub to: u16,
    /// Destination and source address of the frames sent, in this order.
    pub addresses: [u8; 12],
    /// The longest frame that the output carries, without FCS.
    longest: u16,
}

impl CrossConnect {
    /// Forwards to port `to`, from its own MAC address to that of the station behind it.
    #[must_use]
    pub fn new(to: u16, own: Mac, station: Mac) -> CrossConnect {
        let mut addresses = [0; 12];
        addresses[..6].copy_from_slice(&station.0);
        addresses[6..].copy_from_slice(&own.0);
        CrossConnect { to, addresses, longest: u16::MAX }
    }

    /// Drops packets longer than this MTU.
    #[must_use]
    pub fn with_mtu(self, mtu: u16) -> CrossConnect {
        CrossConnect { longest: longest_frame(mtu), ..self }
    }
}

/// The application.
#[derive(Clone, Debug)]
pub struct Forwarding {
    wires: Box<[CrossConnect]>,
}

impl Forwarding {
    /// By input port. Every output must exist.
    #[must_use]
    pub fn new(wires: Vec<CrossConnect>) -> Forwarding {
        Forwarding { wires: wires.into() }
    }
}

impl Application for Forwarding {
    #[inline]
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch) {
        let Some(first) = batch.frames().first() else { return };
        let wire = self.wires[usize::from(first.port)];
        let mut buffers = desk.pool.buffers();
        for frame in batch.frames() {
            buffers.get_mut(frame.buffer)[..12].copy_from_slice(&wire.addresses);
        }
        if wire.longest < u16::MAX {
            return send_short(desk, wire, batch.frames());
        }
        desk.out.extend(wire.to, batch.frames());
    }
}

/// Sends the frames that the output carries, and drops the others.
fn send_short(desk: &mut Desk<'_>, wire: CrossConnect, frames: &[Frame]) {
    for frame in frames.iter().copied() {
        if frame.length <= wire.longest {
            desk.out.push(wire.to, frame);
        } else {
            drop_frame(desk, frame, DropCause::TooBig);
        }
    }
}
