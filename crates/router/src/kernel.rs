//! The kernel as control plane: its routes, addresses, links and neighbours, mirrored as they change. Routing daemons, which
//! install their routes there, and `ip route` therefore drive the router. Must not depend on sockets.

mod mirror;
mod routes;

pub use mirror::KernelMirror;
