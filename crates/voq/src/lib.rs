//! Virtual output queues: where a deep-buffer switch stores packets, in front of its fabric instead of behind it.
//!
//! The ports of such a switch belong to groups, one for each packet processor. A group keeps one queue for every output port and
//! class. A queue that is not empty asks the output for credit; the output grants credits at a little more than its line rate, to
//! classes by their schedule and to the groups of a class in turn; a credit lets its queue send so many bytes across the fabric.
//! Queues that grow long move from memory on the chip to deep memory, whose bandwidth is limited.
//!
//! Must not depend on routes, ports' transmitters or clocks: whoever owns a [`VoqFabric`] tells it the time and carries packets on.
//!
//! ```text
//! VoqFabric::enter: limit -> memory -> mark -> virtual output queue -> request
//! VoqFabric::advance: request -> credit -> queue -> fabric -> Passed::Arrived
//! ```

mod credits;
mod egress;
mod fabric;
mod memory;
mod place;
mod settings;
mod voq;

pub use fabric::{Entered, FabricSite, Passed, VoqFabric};
pub use place::Place;
pub use settings::VoqSettings;
