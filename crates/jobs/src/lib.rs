//! Jobs of compute clusters: tasks in containers whose steps wait for disks, cores, transfers and remote procedure
//! calls.
//!
//! Must not depend on networks, transports or engines. A [`ClusterJob`] takes inputs (the time, delivered transfers) and
//! answers with effects: transfers to start now, and the next instant at which it has something to do. In reading
//! order: [`terasort`] (the description), [`job`] (the framework: heartbeats, containers, maps, reducers), `shuffle`
//! (which map output a reducer fetches next), `steps` (what a task waits for), `disks` (disks of a host).

mod disks;
pub mod job;
mod shuffle;
mod steps;
pub mod terasort;

pub use job::{Cluster, ClusterJob};
pub use steps::Transfer;
pub use terasort::{Framework, TeraSortSettings};
