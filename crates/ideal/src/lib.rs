//! Ideal schedules: when flows finish on one link, or in one big switch, that serves them without packets, losses or
//! delays. They show how far a transport is from what any transport could reach. Must not depend on networks, packets
//! or transports.
//!
//! Flows are [`LinkDemand`]s: an arrival and the time that serving it alone takes. They come in order of arrival; a
//! [`Schedule`] hands out completions as soon as they are certain, so that its memory is that of the open flows. A
//! [`PoissonLink`] has the mean of the classic orders in closed form.

use weft_core::{Span, Time};

mod attained;
mod fabric;
mod poisson;
mod ranked;
mod shared;
mod work;

pub use attained::LeastAttained;
pub use fabric::{BigSwitch, PortDemand};
pub use poisson::PoissonLink;
pub use ranked::{RankedLink, ServiceOrder};
pub use shared::ProcessorSharing;
pub use work::{WorkDistribution, WorkPiece};

/// The demand of a flow on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDemand {
    /// The caller's name for it.
    pub flow: u64,
    /// When it arrives.
    pub arrival: Time,
    /// How long the link needs for it if it serves nothing else.
    pub work: Span,
    /// Its deadline; [`Time::NEVER`] if it has none.
    pub deadline: Time,
}

/// A completion: the flow and the instant at which the last of its work is done.
pub type FlowCompletion = (u64, Time);

/// One link that serves flows in some order.
pub trait Schedule {
    /// Adds a flow, which arrives no earlier than all before it, and appends completions up to its arrival to `done`.
    fn arrive(&mut self, demand: LinkDemand, done: &mut Vec<FlowCompletion>);
    /// Called when no more flows arrive: appends all other completions.
    fn finish(&mut self, done: &mut Vec<FlowCompletion>);
}

/// The completions of a list of flows, which is sorted by arrival, in the order in which they occur.
pub fn completions(schedule: &mut dyn Schedule, demands: &[LinkDemand]) -> Vec<FlowCompletion> {
    let mut done = Vec::with_capacity(demands.len());
    demands.iter().for_each(|demand| schedule.arrive(*demand, &mut done));
    schedule.finish(&mut done);
    done
}
