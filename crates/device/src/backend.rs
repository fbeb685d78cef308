//! Back ends: the sources and sinks of frames. One trait, and one file for each kind.
//!
//! Must not depend on applications.

use std::io;
use std::ops::AddAssign;
use std::os::fd::RawFd;

use crate::pool::{Frame, FrameBatch, FramePool};

pub mod interface;
pub mod memory;
pub mod oversized;
pub mod packet_socket;
pub mod system;
pub mod tap;
pub mod xdp;

/// Losses of a device, apart from the frames that [`Backend::transmit`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceLosses {
    /// Bytes of the frames that it did not accept.
    pub unsent_bytes: u64,
    /// Of these frames, those that it would never accept: longer than its MTU, or forbidden.
    pub refused: u64,
    /// Frames that arrived and never reached the router: the socket's receive buffer was full, or a ring.
    pub missed: u64,
    /// Frames that arrived and were longer than a buffer.
    pub oversized: u64,
    /// Frames that arrived with the tag of a VLAN, which the kernel had removed.
    pub tagged: u64,
    /// Frames that it had accepted and could not send after all; their bytes are in `unsent_bytes`.
    pub unsent_later: u64,
    /// The part of the frames not accepted for which the ring to another worker had no room.
    pub crowded_in: u64,
    /// Frames that arrived when the ring to their worker had no room.
    pub crowded_out: u64,
    /// Bytes of the frames that were taken in and dropped at once: `oversized`, `tagged` and `crowded_out`.
    pub arrived_bytes: u64,
}

impl AddAssign for DeviceLosses {
    fn add_assign(&mut self, other: DeviceLosses) {
        self.unsent_bytes += other.unsent_bytes;
        self.refused += other.refused;
        self.missed += other.missed;
        self.oversized += other.oversized;
        self.tagged += other.tagged;
        self.unsent_later += other.unsent_later;
        self.crowded_in += other.crowded_in;
        self.crowded_out += other.crowded_out;
        self.arrived_bytes += other.arrived_bytes;
    }
}

/// The steps in which workers end; all take a step before the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing more is taken from devices; what other workers have handed over is processed.
    Arrivals,
    /// The worker sends nothing more; what other workers have handed over is sent.
    Departures,
}

/// One queue of one port, owned by one worker.
pub trait Backend: Send {
    /// Adds frames that have arrived to the batch, as many as fit; never waits.
    ///
    /// # Errors
    /// The device has failed, or the input has ended ([`io::ErrorKind::UnexpectedEof`]).
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()>;

    /// Sends frames and releases their buffers; never waits. Returns the number of frames that the device did not
    /// accept: they are lost. A frame that it refuses does not affect the others.
    ///
    /// # Errors
    /// The device has failed before it accepted any frame; all are lost, and their buffers released.
    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize>;

    /// Its losses since the last call. May take a system call, so it is called after a loss and from time to time
    /// only.
    fn losses(&mut self) -> DeviceLosses {
        DeviceLosses::default()
    }

    /// System calls made to send so far: those that pass frames to the kernel, and those that wake it up to send.
    fn send_calls(&self) -> u64 {
        0
    }

    /// Descriptors one of which becomes readable when frames have arrived; they stay the same.
    fn descriptors(&self) -> Vec<RawFd> {
        Vec::new()
    }

    /// Called when the worker ends. Returns whether it must keep polling because something is still to come; it calls
    /// again until nothing is.
    fn end(&mut self, ending: Ending) -> bool {
        let _ = ending;
        false
    }
}

/// Releases the buffers of frames.
pub(crate) fn give_back(pool: &mut FramePool, frames: &mut Vec<Frame>) {
    frames.drain(..).for_each(|frame| pool.give(frame.buffer));
}
