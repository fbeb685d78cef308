//! Applications: what is done with frames.

use weft_core::Time;

use crate::counters::RouterCounters;
use crate::pool::{FrameBatch, FramePool, SendQueues};

pub mod forward;
pub mod route;
pub mod switch;

/// What an application works with: the worker's buffers, its queues and its counters.
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

/// What one worker does with frames, from receiving to sending.
pub trait Application: Send {
    /// Handles the frames of one poll of one port. Each is put in a queue of the outbox, or its buffer is given back.
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch);

    /// Does what is due by now, whether or not frames have arrived.
    fn tick(&mut self, desk: &mut Desk<'_>) {
        let _ = desk;
    }

    /// When [`Application::tick`] is needed next, if frames do not come first.
    fn next_tick(&self) -> Option<Time> {
        None
    }
}
