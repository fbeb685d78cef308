//! The kernel's messages about routes, next hops, links, addresses and neighbours (rtnetlink): parsers over byte slices that
//! never panic, and requests for all of them. Must not depend on sockets or tables.
//!
//! Names and numbers are those of `linux/rtnetlink.h`, `linux/nexthop.h` and `linux/neighbour.h`; fields are in the byte
//! order of the machine, addresses in that of the network.

#![forbid(unsafe_code)]

mod attributes;
mod message;
mod request;
mod route;

pub use message::{
    KernelAddress, KernelLink, KernelMessage, KernelNeighbour, KernelObject, NetlinkError, ObjectTarget,
    messages,
};
pub use request::{ALL_GROUPS, Dump, LINK_GROUP, dump_request};
pub use route::{KernelHop, KernelRoute, RouteKind, RoutePlace};
