//! Datagrams as a stack: the ends that they give a flow.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Sizes, Stack};
use weft_core::{Class, FlowSite, Header, Rate, Time};

use crate::datagrams::Datagrams;
use crate::receiver::DatagramReceiver;
use crate::segment::Segment;
use crate::sender::DatagramSender;

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
