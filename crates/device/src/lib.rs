//! Frames in buffers, and the devices that they come from and go to.
//!
//! In reading order: [`pool`] (buffers, frames, batches), [`backend`] (the interface of devices, and one file for each kind:
//! packet sockets, AF_XDP, TAP devices, memory). Must not depend on what is done with frames, nor on configuration files.

pub mod backend;
pub mod pool;

pub use backend::Backend;
pub use pool::{BATCH, BUFFER, Frame, FrameBatch, FramePool, SendQueues};
