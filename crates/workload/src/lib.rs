//! Who sends how much to whom, and when: sizes, arrivals and patterns become the flows of a run, in order.
//!
//! Must not depend on graphs, packets or transports: it sees only the [`Shape`] of the network. The flows of a
//! scenario depend on its traffic, its topology and the seed, never on balancer or transport, so that schemes can be
//! compared flow by flow. In reading order: [`traffic`] (settings to flows), [`flows`] (the resulting flows),
//! [`pattern`] (the list of patterns, one file each), [`sizes`] (distributions of flow sizes, including bundled
//! ones), `arrivals` (their instants), `deadlines`, `skew` (racks that send more than others), [`site`] (the context
//! of a pattern) and [`import`](mod@import) (flow files of other programs).

mod arrivals;
mod deadlines;
mod flow;
pub mod flows;
mod framing;
pub mod import;
mod listed;
pub mod pattern;
pub mod site;
pub mod sizes;
mod skew;
pub mod traffic;

pub use arrivals::Arrivals;
pub use deadlines::DeadlineDistribution;
pub use flow::Flow;
pub use flows::{Draw, Flows};
pub use framing::Framing;
pub use listed::ListedFlow;
pub use pattern::PatternSettings;
pub use site::Shape;
pub use sizes::SizeDistribution;
pub use traffic::{Limits, TrafficSettings, check, demands, generate, notes, without_effect};
pub use weft_core::Problem;
pub use weft_jobs::{Cluster, ClusterJob, ClusterJobs, Framework, FrameworkSettings};
