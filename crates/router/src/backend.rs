//! Back ends: the sources and sinks of frames. One trait, and one file for each kind.
//!
//! Must not depend on applications.

use std::io;
use std::os::fd::RawFd;

use crate::pool::{Frame, FrameBatch, FramePool};

pub mod memory;
pub mod packet_socket;
pub mod system;
pub mod tap;
pub mod xdp;

/// One queue of one port, owned by one worker.
pub trait Backend: Send {
    /// Adds frames that have arrived to the batch, as many as fit; never waits.
    ///
    /// # Errors
    /// The device has failed, or the input has ended ([`io::ErrorKind::UnexpectedEof`]).
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()>;

    /// Sends frames and releases their buffers; never waits. Returns the number of frames that the device did not
    /// accept: they are lost.
    ///
    /// # Errors
    /// The device has failed; all frames are lost, and their buffers released.
    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize>;

    /// A descriptor that becomes readable when frames have arrived, if there is one.
    fn descriptor(&self) -> Option<RawFd> {
        None
    }
}

/// Releases the buffers of frames.
pub(crate) fn give_back(pool: &mut FramePool, frames: &mut Vec<Frame>) {
    frames.drain(..).for_each(|frame| pool.give(frame.buffer));
}
