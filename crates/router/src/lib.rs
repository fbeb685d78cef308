//! A software router: real packets through workers and applications.
//!
//! In reading order: [`app`] (how frames are processed), [`worker`] (one thread from receiving to sending),
//! [`control`] (routes shared by workers), [`driver`] (the simulator's switch, shared by workers). Buffers and
//! devices are those of `weft-device`. Must not depend on configuration files.
//!
//! ```text
//! worker: receive a batch -> application -> send queues -> transmit        no frame changes its worker
//! ```

#![forbid(unsafe_code)]

pub mod app;
pub mod clock;
pub mod control;
pub mod counters;
pub mod driver;
pub mod interface;
pub mod kernel;
pub mod limiter;
pub mod tunnel;
pub mod worker;

pub use app::{Application, Desk};
pub use counters::{DropCause, InterfaceCounters, RouterCounters};
pub use interface::Interface;
pub use weft_device::{BATCH, BUFFER, Backend, Frame, FrameBatch, FramePool, SendQueues, backend, pool};
pub use weft_packet::stations as neighbours;
pub use worker::RouterWorker;
