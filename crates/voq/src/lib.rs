//! Virtual output queues: a deep-buffer switch stores packets in front of its fabric instead of behind it.
//!
//! The ports of such a switch belong to groups, one for each packet processor. A group keeps one queue for every
//! output port and class. A queue that is not empty requests credit from the output; the output grants credits at a
//! little more than its line rate, to classes by their schedule and to the groups of a class in turn; a credit lets
//! its queue send a number of bytes across the fabric. A queue that runs empty keeps the rest of its credit for its
//! next packets, so no share of the output is wasted on queues that hold less than a credit. Long queues move from
//! memory on the chip to deep memory, whose bandwidth is limited.
//!
//! Must not depend on routes, ports' transmitters or clocks: the owner of a [`VoqFabric`] passes it the time and
//! forwards the packets.
//!
//! ```text
//! VoqFabric::enter: limit -> memory -> mark -> virtual output queue -> request
//!                     with credit at hand: -> fabric
//! VoqFabric::advance: request -> credit -> queue -> fabric -> Passed::Arrived
//! ```
//!
//! An output whose departures are foreseen ([`VoqFabric::foresee`]) needs a call only before a packet arrives at it,
//! and none for a packet that finds credit available.

mod credits;
mod egress;
mod fabric;
mod key;
mod memory;
mod settings;
mod voq;

pub use egress::ByShaping;
pub use fabric::{Entered, FabricSite, Passed, VoqFabric};
pub use key::VoqKey;
pub use settings::VoqSettings;
