//! Jobs on a network of fluid flows (`weft run --engine hybrid`): bulk transfers share links by max-min fairness, and
//! everything that takes time because of queues, losses and time-outs is taken from packets.
//!
//! A run has two phases. The *probe* runs the packet engine on the traffic beside the jobs, together with short calls
//! between all kinds of host pairs that the jobs use, and records how long each call took. The *run* follows the
//! jobs: a transfer that fits into the initial window takes a time drawn from the probe; a larger one opens with such
//! a draw and is fluid from then on. Without other traffic there is nothing to probe, and an opening takes the time
//! of an unloaded network.
//!
//! In reading order: [`fitness`](mod@fitness) (what the engine refuses), `routes` (the links of a flow), `shares`
//! (max-min fairness), `rounds` (a window that opens), [`network`] (fluid flows over time), `background` (the traffic
//! beside the jobs), `kinds` (host pairs that are alike), `moment` (when calls are probed), `rehearsal` (what the
//! probe repeats), `probe` (calls in packets), `openings` (how long a transfer takes to begin), `drive` (jobs and
//! network together), [`engine`](mod@engine). Must not depend on files, scenarios or reports.

mod background;
mod drive;
pub mod engine;
pub mod fitness;
mod kinds;
mod moment;
pub mod network;
mod openings;
mod probe;
mod rehearsal;
mod rounds;
mod routes;
mod shares;

pub use engine::Hybrid;
pub use fitness::misfits;
pub use network::{FluidBulk, FluidNetwork};
