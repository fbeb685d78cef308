//! Forwarding: the [table](ForwardingTable) of a switch, which names the ports by which packets for a host may leave, and the
//! [hashes](hash) with which switches choose among them. Must not depend on queues, balancers or how routes are computed.

pub mod hash;

mod site;
mod table;

pub use site::BalancerSite;
pub use table::{ForwardingTable, Route, Way};
