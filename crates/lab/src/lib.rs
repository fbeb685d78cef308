//! Scenarios on real Linux hosts (`weft lab`): every host is a network namespace with the kernel's own TCP, every
//! switch is the router's, with the scenario's balancer, queues, marks, buffer and rates, and the cables between them
//! are pairs of virtual interfaces. The scenario's own flows run over it, in time stretched by a scale that the
//! machine can carry.
//!
//! In reading order: [`demand`](mod@demand) (what a scenario asks of the machine, and the scale), `fitness` (what it
//! must not ask), `host_tcp` (its transport as settings of the kernel), `space` (namespaces), `testbed` (hosts and
//! cables), `cable` and `fabric` (switches and the time on the wire), `ends` (sockets), `outcome` (the record),
//! [`engine`](mod@engine). Must not depend on files, scenarios or reports.
//!
//! Switches and cables read [`LabClock`], which runs slower than the machine's clock by the scale. Only what the
//! kernel does in real time needs converting.

mod cable;
mod clock;
pub mod demand;
mod ends;
pub mod engine;
mod fabric;
mod fitness;
mod host_tcp;
mod outcome;
mod rights;
mod space;
mod system;
mod testbed;

pub use clock::LabClock;
pub use demand::{LabDemand, LabLimits};
pub use engine::Lab;
pub use fitness::misfits;
pub use rights::{congestion_controls, take_rights};
