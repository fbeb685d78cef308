//! Datagrams as a stack: packet sizes and the rate. They also carry flows with a constant rate, whatever the transport
//! of the other flows.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Frames, Sizes, Stack};
use weft_core::{Bytes, Class, FlowSite, Header, Rate, Time};

use crate::gro::GroSettings;
use crate::receiver::DatagramReceiver;
use crate::segment::Segment;
use crate::sender::DatagramSender;

/// IP and UDP header.
pub(crate) const HEADER: Bytes = Bytes(28);

/// The datagrams of a run.
#[derive(Clone, Debug)]
pub struct Datagrams {
    sizes: Sizes,
    pub(crate) frames: Frames,
    /// Payload rate of flows without their own; absent: as fast as the card sends.
    rate: Option<Rate>,
    /// How arrivals are merged.
    pub(crate) batches: GroSettings,
}

impl Datagrams {
    pub(crate) fn new(sizes: Sizes, rate: Option<Rate>, batches: GroSettings) -> Datagrams {
        Datagrams { sizes, frames: Frames::from(sizes), rate, batches }
    }
}

impl Stack for Datagrams {
    type Sender = DatagramSender;
    type Receiver = DatagramReceiver;

    fn sender(this: &Arc<Datagrams>, site: &FlowSite, now: Time) -> DatagramSender {
        let rate = site.rate.or(this.rate).unwrap_or(Rate(u64::MAX));
        DatagramSender::new(this.frames, site, rate, now)
    }

    fn receiver(this: &Arc<Datagrams>, site: &FlowSite) -> DatagramReceiver {
        DatagramReceiver::new(this, site)
    }

    fn host(&self, _line: Rate) {}

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Nothing is acknowledged, so the class of acknowledgements does not matter.
    fn classes(&self, own: Option<Class>) -> Classes {
        let class = ClassSet::of(own.unwrap_or_default());
        Classes { sender: class, receiver: class }
    }

    fn reply_after_close(&self, _: &Header, _: &Segment, _: Time) -> Option<(Header, Segment)> {
        None
    }
}
