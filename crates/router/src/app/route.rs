//! IPv4 and IPv6 routing: checksum, hop limit, longest-prefix match, next hop.
//!
//! This file has the fast path, for a whole batch at once, and `sealed` that of tunnels; everything else (replies, errors,
//! requests, unresolved next hops) is in `slow`, one packet at a time.

use std::sync::Arc;

use weft_core::{Span, Time};
use weft_fib::{Hop, RouteReader};
use weft_packet::rss::FlowQueues;
use weft_packet::{Mac, ipv4, ipv6};

use crate::app::{Application, Desk};
use crate::control::{Adjacency, AdjacencyTable, Control, NextHop};
use crate::interface::Interface;
use crate::limiter::TokenBucket;
use crate::pool::{BATCH, Frame, FrameBatch, STRIDE};
use crate::tunnel::Tunnels;

mod answer;
mod inside;
mod sealed;
mod send;
mod slow;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Interval between checks for what is due.
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

/// The packets of one address family in a batch.
struct Lane<A> {
    frames: [Frame; BATCH],
    addresses: [A; BATCH],
    hops: [Hop; BATCH],
    count: usize,
}

impl<A: Copy + Default> Lane<A> {
    fn new() -> Lane<A> {
        let (frames, addresses) = ([Frame::default(); BATCH], [A::default(); BATCH]);
        Lane { frames, addresses, hops: [Hop::NONE; BATCH], count: 0 }
    }

    /// Stores a packet at index `count`; returns the new count. The caller keeps the count, in a register.
    #[inline(always)]
    fn put(&mut self, count: usize, frame: Frame, address: A) -> usize {
        let at = count % BATCH;
        (self.frames[at], self.addresses[at]) = (frame, address);
        count + 1
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
    lane4: Box<Lane<u32>>,
    lane6: Box<Lane<u128>>,
    aside: SetAside,
}

/// Frames of a batch that need more than a next hop.
#[derive(Default)]
struct SetAside {
    /// They enter the tunnel of this number.
    entering: Vec<(Frame, u16)>,
    /// Of those that leave a tunnel, the packets inside, to be routed in turn.
    inside: FrameBatch,
    /// They are for the router itself, and may hold sealed packets.
    own: Vec<Frame>,
    /// For the slow path.
    rest: Vec<Frame>,
}

impl SetAside {
    /// Sets a frame aside whose next hop is not resolved, or too narrow.
    fn put(&mut self, next: Option<NextHop>, frame: Frame) {
        match next {
            Some(NextHop::Tunnel(number)) => self.entering.push((frame, number)),
            Some(NextHop::Local) => self.own.push(frame),
            _ => self.rest.push(frame),
        }
    }
}

/// The result of examining the first bytes of a frame.
enum Lookup {
    V4(u32),
    V6(u128),
    Slow,
}

impl Routing {
    /// The application of one worker of a router.
    #[must_use]
    pub fn new(control: Arc<Control>, errors: ErrorRate) -> Routing {
        let (v4, v6) = control.read(|state| (state.v4().reader(), state.v6().reader()));
        let (seen, table) = (control.newest(), control.adjacencies());
        let ports = Arc::clone(&table.ports);
        let (lane4, lane6) = (Box::new(Lane::new()), Box::new(Lane::new()));
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
            lane4,
            lane6,
            aside: SetAside::default(),
        }
    }

    /// With tunnels, to which routes lead by their numbers.
    #[must_use]
    pub fn with_tunnels(self, tunnels: Arc<Tunnels>) -> Routing {
        Routing { tunnels, ..self }
    }

    /// The kernel has the same addresses: what is for the machine itself is left to it.
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

    /// How a frame is forwarded whose next hop is several.
    fn shared_path(
        (table, flows): (&AdjacencyTable, &FlowQueues),
        hop: Hop,
        frame: &[u8],
    ) -> Option<Adjacency> {
        let path = table.path(hop, || flows.hash_of(frame).unwrap_or_default())?;
        (frame.len() <= usize::from(path.adjacency.mtu) + ETHERNET).then_some(path.adjacency)
    }

    /// Sends the packets of a lane whose next hop is resolved; sets the others aside.
    #[inline(always)]
    fn send<A: Copy>(
        (table, flows, aside): (&AdjacencyTable, &FlowQueues, &mut SetAside),
        desk: &mut Desk<'_>,
        lane: &Lane<A>,
        decrement: impl Fn(&mut [u8]) -> bool,
    ) {
        for (frame, hop) in lane.frames.iter().zip(&lane.hops).take(lane.count) {
            match table.adjacencies.get(usize::from(hop.0)) {
                Some(adjacency) if usize::from(frame.length) <= usize::from(adjacency.mtu) + ETHERNET => {
                    let buffer = desk.pool.buffer(frame.buffer);
                    decrement(&mut buffer[ETHERNET..]);
                    buffer[..12].copy_from_slice(&adjacency.addresses);
                    desk.out.push(adjacency.port, *frame);
                }
                _ => Routing::send_otherwise((table, flows, &mut *aside), desk, (*hop, *frame), &decrement),
            }
        }
    }

    /// Sends a packet whose next hop is several; sets any other aside.
    #[inline(never)]
    fn send_otherwise(
        (table, flows, aside): (&AdjacencyTable, &FlowQueues, &mut SetAside),
        desk: &mut Desk<'_>,
        (hop, frame): (Hop, Frame),
        decrement: &impl Fn(&mut [u8]) -> bool,
    ) {
        match Routing::shared_path((table, flows), hop, desk.pool.bytes(frame)) {
            Some(adjacency) => {
                let buffer = desk.pool.buffer(frame.buffer);
                decrement(&mut buffer[ETHERNET..]);
                buffer[..12].copy_from_slice(&adjacency.addresses);
                desk.out.push(adjacency.port, frame);
            }
            None => aside.put(table.hops.get(usize::from(hop.0)).copied().flatten(), frame),
        }
    }
}

/// The destination MAC address of a frame, as a number.
#[inline(always)]
fn station_of(buffer: &[u8; STRIDE]) -> u64 {
    let (words, _) = buffer.as_chunks::<8>();
    u64::from_le_bytes(words[0]) & 0xffff_ffff_ffff
}

fn as_number(Mac([a, b, c, d, e, f]): Mac) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}

/// Whether a frame is a valid packet for this station that only needs a next hop.
#[inline(always)]
fn classify(buffer: &[u8; STRIDE], length: u16, station: u64) -> Lookup {
    let has = usize::from(length).saturating_sub(ETHERNET);
    let (Some(header), true) = (buffer[ETHERNET..].first_chunk(), station_of(buffer) == station) else {
        return Lookup::Slow;
    };
    match u16::from_be_bytes([buffer[12], buffer[13]]) {
        0x0800 => ipv4::forwardable_header(header, has).map_or(Lookup::Slow, Lookup::V4),
        0x86dd => {
            let packet = &buffer[ETHERNET..][..has.min(STRIDE - ETHERNET)];
            ipv6::forwardable(packet).map_or(Lookup::Slow, Lookup::V6)
        }
        _ => Lookup::Slow,
    }
}

/// A frame without what lies behind its packet: the padding of a short one, or bytes of another that its sender's memory held.
#[inline(never)]
fn trimmed(buffer: &[u8; STRIDE], frame: Frame, station: u64) -> Option<(Frame, Lookup)> {
    let field = |at: usize| u16::from_be_bytes([buffer[at], buffer[at + 1]]);
    let packet = match field(12) {
        0x0800 => field(16),
        0x86dd => field(18).checked_add(40)?,
        _ => return None,
    };
    let length = packet.checked_add(ETHERNET as u16).filter(|length| *length < frame.length)?;
    Some((Frame { length, ..frame }, classify(buffer, length, station)))
}

impl Routing {
    /// Sends the frames that need only a next hop, and sets the others aside.
    #[inline(always)]
    fn route(&mut self, desk: &mut Desk<'_>, frames: &[Frame]) {
        let Some(first) = frames.first() else { return };
        let station = as_number(self.ports[usize::from(first.port)].mac);
        let Routing { lane4, lane6, aside, v4, v6, .. } = self;
        let (mut count4, mut count6) = (0, 0);
        for frame in frames {
            match classify(desk.pool.buffer(frame.buffer), frame.length, station) {
                Lookup::V4(address) => {
                    v4.anticipate(address);
                    count4 = lane4.put(count4, *frame, address);
                }
                Lookup::V6(address) => {
                    v6.anticipate(address);
                    count6 = lane6.put(count6, *frame, address);
                }
                Lookup::Slow => match trimmed(desk.pool.buffer(frame.buffer), *frame, station) {
                    Some((frame, Lookup::V4(address))) => count4 = lane4.put(count4, frame, address),
                    Some((frame, Lookup::V6(address))) => count6 = lane6.put(count6, frame, address),
                    _ => aside.rest.push(*frame),
                },
            }
        }
        (lane4.count, lane6.count) = (count4, count6);
        if self.lane4.count > 0 {
            let lane = &mut *self.lane4;
            self.v4.lookup_all(&lane.addresses[..lane.count], &mut lane.hops[..lane.count]);
            Routing::send((&self.table, &self.flows, &mut self.aside), desk, lane, ipv4::decrement_ttl);
        }
        if self.lane6.count > 0 {
            let lane = &mut *self.lane6;
            self.v6.lookup_all(&lane.addresses[..lane.count], &mut lane.hops[..lane.count]);
            Routing::send((&self.table, &self.flows, &mut self.aside), desk, lane, ipv6::decrement_hop_limit);
        }
    }

    /// Whether frames have been set aside.
    #[inline(always)]
    fn has_aside(&self) -> bool {
        let SetAside { entering, own, rest, .. } = &self.aside;
        !(entering.is_empty() && own.is_empty() && rest.is_empty())
    }

    /// Processes what was set aside.
    #[inline(never)]
    fn handle_aside(&mut self, desk: &mut Desk<'_>) {
        // A look-up may have found a next hop that is newer than the table: it was published before.
        self.refresh();
        // What comes out of a tunnel is routed as if it had arrived, and may leave another: each time it becomes shorter.
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

    fn next_tick(&self) -> Option<Time> {
        Some(self.due)
    }
}

/// An unresolved next hop has an MTU of zero, so that a single comparison sends its packets to the slow path.
const _: () = assert!(Adjacency::UNRESOLVED.mtu == 0);
