//! The network folded: switches that cannot be told apart taken together, so that routes are computed once for each sort.
//!
//! In reading order: `bundles` (parallel links together), `cells` (switches that cannot be told apart together), `descent`
//! (paths towards a leaf), `twins` (leaves that differ in name only together), `tables` (back to the ports of switches),
//! `first_edges` (the ways that ECMP and WCMP know).

mod bundles;
mod cells;
mod descent;
pub(crate) mod first_edges;
pub(crate) mod tables;
mod twins;

pub(crate) use bundles::Bundles;
pub(crate) use cells::{Edge, FoldedCells};
pub(crate) use descent::{Descent, PathCounts};
pub(crate) use twins::{Fold, Towards};
