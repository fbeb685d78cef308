//! Datagrams of a run: packet sizes and the rate. They also carry flows with a constant rate, whatever the transport of
//! the other flows.

use weft_core::stack::{Frames, Sizes};
use weft_core::{Bytes, Rate};

use crate::gro::GroSettings;

/// IP and UDP header.
pub(crate) const HEADER: Bytes = Bytes(28);

/// The datagrams of a run.
#[derive(Clone, Debug)]
pub struct Datagrams {
    pub(crate) sizes: Sizes,
    pub(crate) frames: Frames,
    /// Payload rate of flows without their own; absent: as fast as the card sends.
    pub(crate) rate: Option<Rate>,
    /// How arrivals are merged.
    pub(crate) batches: GroSettings,
}

impl Datagrams {
    pub(crate) fn new(sizes: Sizes, rate: Option<Rate>, batches: GroSettings) -> Datagrams {
        Datagrams { sizes, frames: Frames::from(sizes), rate, batches }
    }
}
