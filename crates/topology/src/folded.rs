//! The folded network: equivalent switches are merged, so that routes are computed once per kind.
//!
//! In reading order: `bundles` (parallel links merged), `cells` (equivalent switches merged), `descent` (paths
//! towards a leaf), `twins` (leaves that differ only in name, merged), `tables` (back to the ports of switches),
//! `first_edges` (the paths of ECMP and WCMP).

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
