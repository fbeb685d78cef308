//! What a packet carries for the switches on its path, besides its header. Must not depend on any scheme.

use crate::scheduling::SchedulingHeader;
use crate::telemetry::Telemetry;

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBand {
    /// A request or grant; [`Role::None`](crate::scheduling::Role::None): nothing.
    Scheduling(SchedulingHeader),
    /// On its way to the receiver: links add their reports.
    Collecting(Telemetry),
    /// On its way back to the sender: the reports.
    Reported(Telemetry),
}

impl InBand {
    /// Nothing.
    pub const NOTHING: InBand = InBand::Scheduling(SchedulingHeader::NONE);
}
