//! A software router: real packets through buffers, workers, back ends and applications.
//!
//! In reading order: [`pool`] (buffers, frames, batches), [`backend`] (sources and sinks of frames), [`app`] (how they
//! are processed), [`worker`] (one thread from receiving to sending), [`control`] (routes shared by workers),
//! [`driver`] (the simulator's switch, shared by workers). Must not depend on configuration files.
//!
//! ```text
//! worker: receive a batch -> application -> send queues -> transmit        no frame changes its worker
//! ```

pub mod app;
pub mod backend;
pub mod clock;
pub mod control;
pub mod counters;
pub mod driver;
pub mod interface;
pub mod kernel;
pub mod limiter;
pub mod pool;
pub mod tunnel;
pub mod worker;

pub use app::{Application, Desk};
pub use backend::Backend;
pub use counters::{DropCause, RouterCounters};
pub use interface::Interface;
pub use pool::{BATCH, Frame, FrameBatch, FramePool, STRIDE, SendQueues};
pub use weft_packet::stations as neighbours;
pub use worker::RouterWorker;
