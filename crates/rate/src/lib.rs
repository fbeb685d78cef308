//! Rate laws: the rate at which a RoCE sender may send. A law sees the congestion notifications, round trips,
//! bytes and link reports of its own flow; it must not depend on packets, retransmissions or the network.
//!
//! Laws are state machines without a clock: events come in with their instant; a rate and the time of the next timer
//! come out. Their settings serve both the packet engine and the fluid model. All rates are wire rates, framing
//! included, so that the rates of the flows on a link add up to its line rate.
//!
//! To add a law, copy [`timely`] and add one line to the list in [`laws`] and one to the transports.

use weft_core::Rate;

pub mod laws;
pub mod notification;
pub mod segments;
mod site;
mod start;

pub use laws::{AnyRateLaw, PathReport, RateLaw, RateLawSettings};
pub use laws::{dcqcn, fixed, hpcc, patched_timely, timely, timely_pi};
pub use site::RateLawSite;

/// A floating-point rate in bits per second, as a [`Rate`](weft_core::Rate).
fn rate_of(bits_per_second: f64) -> Rate {
    Rate((bits_per_second.round() as u64).max(1))
}

#[cfg(test)]
mod rig;
