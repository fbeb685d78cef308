//! Jobs of compute clusters: tasks in containers whose steps wait for disks, cores, transfers and remote procedure
//! calls.
//!
//! Must not depend on networks, transports or engines. A [`ClusterJob`] takes inputs (the time, delivered transfers)
//! and returns effects: transfers to start now, and the next instant at which it must be woken. In reading order:
//! [`framework`], [`terasort`] and [`dag`] (the description), [`plan`] (its stages), [`job`] (heartbeats, containers,
//! tasks), [`together`] (the jobs of a run), `shuffle` (which output a task fetches next), `steps` (what a task waits
//! for), `disks` (disks of a host).

pub mod dag;
mod disks;
pub mod framework;
pub mod job;
pub mod plan;
mod shuffle;
mod steps;
pub mod terasort;
pub mod together;

pub use dag::{DagSettings, StageSettings};
pub use framework::{Framework, FrameworkSettings};
pub use job::{Cluster, ClusterJob};
pub use plan::JobPlan;
pub use steps::Transfer;
pub use terasort::TeraSortSettings;
pub use together::ClusterJobs;
