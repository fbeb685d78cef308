//! Graphs of hosts and switches, shortest-path routes, failures and their effect on the routes.
//!
//! Must not depend on packets, queues or traffic. In reading order: [`graph`] (nodes, cables, links and their
//! numbering), [`shapes`] (the list of topologies, one file each), [`build`](fn@build) (settings to graph), `live`
//! (which cables are up), `folded` (equivalent switches merged), `equal_cost` and `weights` (the ports of ECMP and
//! WCMP), [`quiver`](mod@quiver) (symmetric components), [`routes`] (the tables of all switches), [`paths`] (each
//! with its label), [`failure`] (which cables fail), [`timeline`](mod@timeline) (when each switch learns of it),
//! [`split`] (the load of each link under equal splitting), [`dependency`] (which links wait for each other in a
//! cycle), [`ideal`] (flow completion time in the empty network) and [`import`] (topology files of other simulators).
//!
//! ```
//! use weft_core::Grouping;
//! use weft_topology::{LinkState, Routes, TopologySettings, build};
//! let graph = build(&TopologySettings::default())?;
//! let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
//! assert_eq!((graph.hosts(), graph.switches().len(), graph.cables().len()), (320, 20, 384));
//! assert_eq!(routes.ports(graph.leaves()[0], 1).len(), 4);
//! # Ok::<(), Vec<weft_topology::Problem>>(())
//! ```

pub mod dependency;
mod equal_cost;
pub mod failure;
mod folded;
mod format;
pub mod graph;
pub mod ideal;
pub mod import;
mod listing;
mod live;
pub mod paths;
pub mod quiver;
pub mod routes;
pub mod shapes;
pub mod split;
pub mod timeline;
mod tree;
mod weights;
pub mod wiring;

pub use failure::{FailurePlan, FailureSettings, Outage, plan};
pub use folded::tables::SwitchRoutes;
pub use graph::{Cable, CableEnd, Graph, Link, Node, Stalls, SwitchNode};
pub use ideal::{Handshake, Ideal, Spreading, Train, ideal_fct};
pub use live::LinkState;
pub use quiver::Quiver;
pub use routes::Routes;
pub use shapes::{TopologySettings, build, build_in};
pub use timeline::{Change, RoutingSettings, Timeline, timeline};
pub use weft_core::Problem;
pub use wiring::{LinkSettings, Wiring};
