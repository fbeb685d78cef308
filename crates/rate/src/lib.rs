//! Rate laws: how fast a RoCE sender may send. A law knows the congestion notifications, round trips and bytes of its own
//! flow; never packets, retransmissions or the network.
//!
//! Laws are state machines without a clock: events come in with their instant, a rate and the next instant at which a
//! timer is due come out. Their settings serve the packet engine and the fluid model alike. All rates are rates on the
//! wire, framing included, so that the rates of the flows on a link add up to its line rate.
//!
//! To add a law, copy [`timely`] and add one line to the list in [`laws`] and one to the transports.

use weft_core::Rate;

pub mod laws;
pub mod notification;
pub mod segments;
mod start;

pub use laws::{AnyRateLaw, RateLaw, RateLawSettings, RateLawSite};
pub use laws::{dcqcn, fixed, patched_timely, timely, timely_pi};

/// A rate as laws compute with it, in bits per second, as a unit.
fn rate_of(bits_per_second: f64) -> Rate {
    Rate((bits_per_second.round() as u64).max(1))
}

#[cfg(test)]
mod rig;
