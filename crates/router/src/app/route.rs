//! IPv4 and IPv6 routing: checksum, hop limit, longest-prefix match, next hop.
//!
//! This file has the fast path, for a whole batch at once, and `sealed` that of tunnels; everything else (replies, errors,
//! requests, unresolved next hops) is in `slow`, one packet at a time.

use std::sync::Arc;

use weft_core::{Span, Time};
use weft_fib::RouteReader;
use weft_packet::rss::FlowQueues;

use crate::app::route::fast::Lanes;
use crate::app::{Application, Desk};
use crate::control::{AdjacencyTable, Control, NextHop};
use crate::counters::DropCause;
use crate::interface::Interface;
use crate::limiter::TokenBucket;
use crate::pool::{Frame, FrameBatch};
use crate::tunnel::Tunnels;

mod answer;
mod fast;
mod inside;
mod sealed;
mod send;
mod slow;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Interval between checks for due work.
const TICK: Span = Span::from_ms(100);

/// Rate limit of the ICMP errors of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorRate {
    /// Long-term rate.
    pub per_second: u32,
    /// Maximum burst.
    pub burst: u32,
}

impl Default for ErrorRate {
    fn default() -> ErrorRate {
        ErrorRate { per_second: 1000, burst: 50 }
    }
}

/// The application of one worker.
pub struct Routing {
    control: Arc<Control>,
    ports: Arc<[Interface]>,
    v4: RouteReader<u32>,
    v6: RouteReader<u128>,
    table: Arc<AdjacencyTable>,
    /// The number of that table.
    seen: u64,
    errors: TokenBucket,
    /// Divides flows among the next hops of a route.
    flows: FlowQueues,
    tunnels: Arc<Tunnels>,
    /// Whether the kernel has the same addresses and answers for them.
    beside_kernel: bool,
    due: Time,
    lanes: Box<Lanes>,
    aside: SetAside,
}

/// Frames of a batch that need more than a next hop.
#[derive(Default)]
struct SetAside {
    /// Packets that enter the tunnel of this number.
    entering: Vec<(Frame, u16)>,
    /// The inner packets of those that leave a tunnel, to be routed in turn.
    inside: FrameBatch,
    /// Packets for the router itself, which may hold sealed packets.
    own: Vec<Frame>,
    /// For the slow path.
    rest: Vec<Frame>,
}

impl SetAside {
    /// Sets aside a frame whose next hop is unresolved or too narrow.
    fn put(&mut self, next: Option<NextHop>, frame: Frame) {
        match next {
            Some(NextHop::Tunnel(number)) => self.entering.push((frame, number)),
            Some(NextHop::Local) => self.own.push(frame),
            _ => self.rest.push(frame),
        }
    }
}

impl Routing {
    /// The application of one worker of a router.
    #[must_use]
    pub fn new(control: Arc<Control>, errors: ErrorRate) -> Routing {
        let (v4, v6) = control.read(|state| (state.v4().reader(), state.v6().reader()));
        let (seen, table) = (control.newest(), control.adjacencies());
        let ports = Arc::clone(&table.ports);
        let errors = TokenBucket::new(errors.per_second, errors.burst);
        Routing {
            control,
            ports,
            v4,
            v6,
            table,
            seen,
            errors,
            flows: FlowQueues::among(1),
            tunnels: Arc::default(),
            beside_kernel: false,
            due: Time::ZERO,
            lanes: Box::default(),
            aside: SetAside::default(),
        }
    }

    /// With tunnels, to which routes lead by their numbers.
    #[must_use]
    pub fn with_tunnels(self, tunnels: Arc<Tunnels>) -> Routing {
        Routing { tunnels, ..self }
    }

    /// The kernel has the same addresses: packets for the machine itself are left to it.
    #[must_use]
    pub fn beside_kernel(self) -> Routing {
        Routing { beside_kernel: true, ..self }
    }

    /// Adopts new next hops.
    #[inline]
    fn refresh(&mut self) {
        let newest = self.control.newest();
        if newest != self.seen {
            (self.seen, self.table) = (newest, self.control.adjacencies());
            self.ports = Arc::clone(&self.table.ports);
        }
    }

    /// Whether frames have been set aside.
    #[inline(always)]
    fn has_aside(&self) -> bool {
        let SetAside { entering, own, rest, .. } = &self.aside;
        !(entering.is_empty() && own.is_empty() && rest.is_empty())
    }

    /// Processes the frames that were set aside.
    #[inline(never)]
    fn handle_aside(&mut self, desk: &mut Desk<'_>) {
        // A look-up may have found a next hop that is newer than the table, because next hops are published first.
        self.refresh();
        // A packet that comes out of a tunnel is routed as if it had arrived, and may come out of another: each time
        // it becomes shorter.
        self.open_frames(desk);
        if !self.aside.inside.frames().is_empty() {
            let inside = std::mem::take(&mut self.aside.inside);
            self.handle(desk, &inside);
        }
        self.seal_frames(desk);
        self.handle_rest(desk);
    }
}

impl Application for Routing {
    #[inline]
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch) {
        self.refresh();
        self.route(desk, batch.frames());
        if self.has_aside() {
            self.handle_aside(desk);
        }
    }

    fn tick(&mut self, desk: &mut Desk<'_>) {
        self.due = desk.now + TICK;
        self.refresh();
        let outgoing = self.control.due(desk.now);
        self.carry_out(desk, outgoing);
    }

    fn end(&mut self, desk: &mut Desk<'_>) {
        for (port, packets) in self.control.abandon() {
            desk.counters.drop_at(port, DropCause::Ended, packets);
        }
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.due)
    }
}
