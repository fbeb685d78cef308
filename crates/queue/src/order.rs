//! Orders: which packet of a queue goes next, and which goes when there is no room. Which queue of a port is served is the
//! [scheduler](crate::schedule)'s business.
//!
//! A queue is a list in the pool whose head goes next. An order that is not that of arrival moves the packet that is to go next to
//! the head whenever the list has changed, so that nothing else needs to know about it.

use weft_core::{Header, Headers, PacketId, Queue, family};

pub mod fifo;
pub mod ranked;

/// The order of the packets that wait in a queue; the one in service is not among them.
pub trait Order {
    /// A packet has joined at the end, or one has left: brings the packet that goes next to the head.
    fn changed(&self, _queue: &mut Queue, _headers: &mut Headers) {}
    /// There is no room for a packet: takes the one that goes in its place out of the queue, if one is worth less.
    fn evict(&self, _queue: &mut Queue, _headers: &mut Headers, _newcomer: &Header) -> Option<PacketId> {
        None
    }
    /// Whether it goes by the ranks of packets ([`Header::note`]).
    fn reads_ranks(&self) -> bool {
        false
    }
}

family! {
    /// All orders.
    pub enum AnyOrder: Order;
    /// The order of a scenario.
    pub enum OrderSettings;
    called "order" built at ();
    members {
        "fifo" => fifo::FifoOrder(FifoOrderSettings),
        "ranked" => ranked::Ranked(RankedOrderSettings),
    }
    methods {
        fn changed(&self, queue: &mut Queue, headers: &mut Headers);
        fn evict(&self, queue: &mut Queue, headers: &mut Headers, newcomer: &Header) -> Option<PacketId>;
        fn reads_ranks(&self) -> bool;
    }
}
