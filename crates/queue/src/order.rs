//! Orders: which packet of a queue is sent next, and which is dropped if there is no room. The
//! [scheduler](crate::schedule) decides which queue of a port is served.
//!
//! A queue is a list in the pool whose head is sent next. An order other than that of arrival moves the next packet
//! to send to the head whenever the list changes, so that nothing else depends on it.

use weft_core::{Header, Headers, PacketId, Queue, family};

pub mod fifo;
pub mod ranked;

/// The order of the packets waiting in one queue, without the one in service.
pub trait Order {
    /// A packet that has been admitted joins the queue.
    fn join(&mut self, queue: &mut Queue, packet: PacketId, headers: &mut Headers) {
        queue.push(packet, headers);
    }
    /// The port has taken `packet` from the head of the list: moves the packet to be sent next to the head.
    fn left(&mut self, _queue: &mut Queue, _packet: PacketId, _headers: &mut Headers) {}
    /// There is no room for a packet, which is not in the queue: removes and returns the packet to be dropped in its stead, if the queue
    /// holds one that its order, which may go by ranks ([`Header::note`]), would send after it. The port then tries again.
    fn evict(&mut self, _queue: &mut Queue, _headers: &mut Headers, _newcomer: &Header) -> Option<PacketId> {
        None
    }
    /// Whether the order depends on the ranks of packets ([`Header::note`]).
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
        fn join(&mut self, queue: &mut Queue, packet: PacketId, headers: &mut Headers);
        fn left(&mut self, queue: &mut Queue, packet: PacketId, headers: &mut Headers);
        fn evict(&mut self, queue: &mut Queue, headers: &mut Headers, newcomer: &Header) -> Option<PacketId>;
        fn reads_ranks(&self) -> bool;
    }
}
