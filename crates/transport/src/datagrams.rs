//! Datagrams of a run: packet sizes and the rate. Apart from being a transport, they carry flows with a constant
//! rate, whatever the transport of the others.

use weft_core::stack::{Frames, Sizes};
use weft_core::{Bytes, Rate};

use crate::gro::GroSettings;

/// IP and UDP header.
pub(crate) const HEADER: Bytes = Bytes(28);

/// Datagrams of a run.
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
