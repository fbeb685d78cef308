//! Applications: how frames are processed.

use weft_core::Time;

#[cfg(doc)]
use crate::counters::DropCause;
use crate::counters::RouterCounters;
use crate::pool::{FrameBatch, FramePool, SendQueues};

pub mod cluster;
pub mod forward;
pub mod route;
mod station;
pub mod switch;

/// The resources of an application: the worker's buffers, queues and counters.
pub struct Desk<'a> {
    /// The time, read once for each poll.
    pub now: Time,
    /// Buffers.
    pub pool: &'a mut FramePool,
    /// Frames to send.
    pub out: &'a mut SendQueues,
    /// What has happened.
    pub counters: &'a mut RouterCounters,
}

/// How one worker processes frames, between receiving and sending.
pub trait Application: Send {
    /// Processes the frames of one poll of one port. Each is put into a queue, or its buffer is released.
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch);

    /// Handles everything due by now, whether or not frames have arrived.
    fn tick(&mut self, desk: &mut Desk<'_>) {
        let _ = desk;
    }

    /// Called once, when the worker ends: drops what still waits, as [`DropCause::Ended`].
    fn end(&mut self, desk: &mut Desk<'_>) {
        let _ = desk;
    }

    /// When [`Application::tick`] is needed next, if no frames arrive before.
    fn next_tick(&self) -> Option<Time> {
        None
    }
}
