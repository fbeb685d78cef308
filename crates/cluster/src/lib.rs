//! Many routers as one (RouteBricks, SOSP 2009): each node of a cluster has one external port, and the internal links
//! between the nodes carry packets from the node they enter to the node they leave by.
//!
//! In reading order: [`station`] (the output node in a MAC address), [`bucket`], [`flowlet`], [`director`] (the path of
//! a packet; the same code in the simulated cluster and in `weft router`), [`shape`] (full mesh and k-ary n-fly),
//! [`server`] (what a node can do), [`traffic`], [`simulate`] (the cluster over time), [`sizing`] (how many servers a
//! router of N ports takes). Must not depend on clocks, threads, files, sockets or packets as bytes.

#![forbid(unsafe_code)]

pub mod bucket;
pub mod director;
pub mod flowlet;
mod links;
pub mod server;
pub mod shape;
pub mod simulate;
pub mod sizing;
pub mod station;
pub mod traffic;

pub use director::{ClusterPath, Director, DirectorCounters, DirectorSettings, RelayOrder, VlbKind};
pub use server::{ServerModel, Work};
pub use shape::ClusterShape;
pub use station::{ClusterPhase, ClusterStation, RelayMove};
