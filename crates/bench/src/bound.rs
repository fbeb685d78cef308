//! The bound loop: the minimum work of any packet simulator, the yardstick for every figure of `weft bench`.
//!
//! It moves packets of the reference run R1 (four spines, sixteen leaves of twenty hosts) and does nothing else: one
//! event per hop, because a port that serves in order knows a packet's departure when it arrives; 32-byte packets in
//! a pool, links by index, paths drawn by flow, a window after DCTCP (SIGCOMM'10). No losses, timers or connection
//! set-up, infinite buffers, and no statistics but the mean completion time, which shows that it carried the traffic.
//! Must not depend on any part of Weft.

mod wheel;

use wheel::Wheel;

const PER_LEAF: u32 = 20;
const LEAVES: u32 = 16;
const SPINES: u32 = 4;
const HOSTS: u32 = PER_LEAF * LEAVES;
/// The first link from leaves to hosts, from leaves to spines, and from spines to leaves; links from hosts come first.
const DOWN: u32 = HOSTS;
const UP: u32 = 2 * HOSTS;
const BACK: u32 = UP + LEAVES * SPINES;
const LINKS: u32 = BACK + LEAVES * SPINES;
/// Picoseconds per byte at 10 and at 40 Gb/s, and propagation delay of a link.
const HOST_BYTE: u64 = 800;
const FABRIC_BYTE: u64 = 200;
const DELAY: u64 = 1_000_000;
/// Payload and header of a packet, and the queue above which packets are marked, in bytes.
const PAYLOAD: u64 = 1460;
const HEADER: u64 = 40;
const MARKING: u64 = 97_500;
const NONE: u32 = u32::MAX;

/// A flow to be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundFlow {
    /// When it starts, picoseconds.
    pub start: u64,
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// Payload in bytes.
    pub bytes: u64,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundOutcome {
    /// Link traversals.
    pub packet_hops: u64,
    /// Mean completion time in seconds.
    pub mean_fct: f64,
    /// Mean completion time in seconds of flows below 100 kB; not a number if there are none.
    pub small_fct: f64,
}

#[derive(Clone, Copy)]
struct Packet {
    lands: u64,
    next: u32,
    flow: u32,
    route: [u16; 4],
    wire: u16,
    hop: u8,
    /// Bit 0: the congestion mark or its echo; bit 1: an acknowledgement.
    flags: u8,
}

struct Link {
    free: u64,
    byte: u64,
    /// Packets that wait longer than this are marked.
    marking: u64,
    first: u32,
    last: u32,
}

struct Flow {
    demand: BoundFlow,
    there: [u16; 4],
    back: [u16; 4],
    ended: u64,
    packets: u32,
    next: u32,
    acked: u32,
    received: u32,
    marked: u32,
    window_start: u32,
    window_end: u32,
    slow_start: bool,
    window: f64,
    alpha: f64,
}

struct Bound {
    wheel: Wheel,
    links: Vec<Link>,
    packets: Vec<Packet>,
    unused: Vec<u32>,
    flows: Vec<Flow>,
    finished: usize,
    packet_hops: u64,
}

/// Carries all flows, which must be ordered by start, until they have finished.
#[must_use]
pub fn carry(demands: &[BoundFlow]) -> BoundOutcome {
    let mut bound = Bound::new(demands);
    bound.run();
    BoundOutcome {
        packet_hops: bound.packet_hops,
        mean_fct: bound.mean_fct(|_| true),
        small_fct: bound.mean_fct(|bytes| bytes < 100_000),
    }
}

impl Bound {
    fn new(demands: &[BoundFlow]) -> Bound {
        Bound {
            wheel: Wheel::new(),
            links: (0..LINKS).map(link).collect(),
            packets: Vec::with_capacity(1 << 16),
            unused: Vec::with_capacity(1 << 16),
            flows: (0..).zip(demands).map(|(number, demand)| flow(number, *demand)).collect(),
            finished: 0,
            packet_hops: 0,
        }
    }

    /// Mean completion time in seconds of the flows whose size satisfies `wanted`.
    fn mean_fct(&self, wanted: fn(u64) -> bool) -> f64 {
        let flows = self.flows.iter().filter(|flow| wanted(flow.demand.bytes));
        let times: Vec<f64> = flows.map(|flow| (flow.ended - flow.demand.start) as f64 / 1e12).collect();
        times.iter().sum::<f64>() / times.len() as f64
    }

    fn run(&mut self) {
        let mut started = 0;
        while self.finished < self.flows.len() {
            let limit = self.flows.get(started).map_or(u64::MAX, |flow| flow.demand.start);
            match self.wheel.next(limit) {
                Some((now, link)) => self.arrive(now, link),
                None => {
                    self.wheel.turn_to(limit);
                    self.send(started as u32, limit);
                    started += 1;
                }
            }
        }
    }

    /// The first packet on a link arrives at its end.
    #[inline]
    fn arrive(&mut self, now: u64, number: u32) {
        let link = &mut self.links[number as usize];
        let id = link.first;
        let packet = &mut self.packets[id as usize];
        link.first = packet.next;
        self.packet_hops += 1;
        packet.hop += 1;
        let route = packet.route.get(usize::from(packet.hop)).copied().unwrap_or(u16::MAX);
        if link.first != NONE {
            let lands = self.packets[link.first as usize].lands;
            self.wheel.push(lands, number);
        }
        match route {
            u16::MAX => self.deliver(now, id),
            route => self.forward(now, id, route),
        }
    }

    #[inline]
    fn forward(&mut self, now: u64, id: u32, route: u16) {
        let (link, packet) = (&mut self.links[usize::from(route)], &mut self.packets[id as usize]);
        let begins = now.max(link.free);
        packet.flags |= u8::from(begins - now > link.marking);
        link.free = begins + u64::from(packet.wire) * link.byte;
        packet.lands = link.free + DELAY;
        packet.next = NONE;
        if link.first == NONE {
            link.first = id;
            self.wheel.push(packet.lands, u32::from(route));
        } else {
            self.packets[link.last as usize].next = id;
        }
        link.last = id;
    }

    fn deliver(&mut self, now: u64, id: u32) {
        let packet = &mut self.packets[id as usize];
        let number = packet.flow;
        let flow = &mut self.flows[number as usize];
        if packet.flags & 2 != 0 {
            flow.acknowledged(packet.flags & 1 != 0);
            self.unused.push(id);
            return self.send(number, now);
        }
        flow.received += 1;
        if flow.received == flow.packets {
            self.finished += 1;
            flow.ended = now;
        }
        (packet.route, packet.hop, packet.wire) = (flow.back, 0, HEADER as u16);
        packet.flags |= 2;
        let first = packet.route[0];
        self.forward(now, id, first);
    }

    /// Sends what the window allows.
    fn send(&mut self, number: u32, now: u64) {
        loop {
            let flow = &mut self.flows[number as usize];
            if flow.next == flow.packets || f64::from(flow.next - flow.acked) >= flow.window.floor() {
                return;
            }
            let left = flow.demand.bytes - u64::from(flow.next) * PAYLOAD;
            let wire = (left.min(PAYLOAD) + HEADER) as u16;
            let route = flow.there;
            let packet = Packet { lands: 0, next: NONE, flow: number, route, wire, hop: 0, flags: 0 };
            flow.next += 1;
            let id = self.unused.pop().unwrap_or(self.packets.len() as u32);
            match self.packets.get_mut(id as usize) {
                Some(place) => *place = packet,
                None => self.packets.push(packet),
            }
            self.forward(now, id, route[0]);
        }
    }
}

impl Flow {
    fn acknowledged(&mut self, marked: bool) {
        self.acked += 1;
        self.marked += u32::from(marked);
        self.slow_start &= !marked;
        self.window += if self.slow_start { 1.0 } else { 1.0 / self.window };
        if self.acked >= self.window_end {
            let share = f64::from(self.marked) / f64::from(self.acked - self.window_start);
            self.alpha += (share - self.alpha) / 16.0;
            if self.marked > 0 {
                self.window = (self.window * (1.0 - self.alpha / 2.0)).max(1.0);
            }
            (self.window_start, self.window_end, self.marked) = (self.acked, self.next, 0);
        }
    }
}

fn link(number: u32) -> Link {
    let byte = if number < UP { HOST_BYTE } else { FABRIC_BYTE };
    // Hosts' cards mark as well; otherwise nothing would limit a window whose bottleneck is its own card.
    Link { free: 0, byte, marking: MARKING * byte, first: NONE, last: NONE }
}

fn flow(number: u64, demand: BoundFlow) -> Flow {
    let BoundFlow { source, destination, bytes, .. } = demand;
    Flow {
        demand,
        there: route(source, destination, draw(2 * number)),
        back: route(destination, source, draw(2 * number + 1)),
        ended: 0,
        packets: bytes.div_ceil(PAYLOAD) as u32,
        next: 0,
        acked: 0,
        received: 0,
        marked: 0,
        window_start: 0,
        window_end: 0,
        slow_start: true,
        window: 10.0,
        alpha: 1.0,
    }
}

/// The links from one host to another over a spine.
fn route(from: u32, to: u32, spine: u32) -> [u16; 4] {
    let (leaf, far) = (from / PER_LEAF, to / PER_LEAF);
    let links = if leaf == far {
        [from, DOWN + to, u32::from(u16::MAX), u32::from(u16::MAX)]
    } else {
        [from, UP + leaf * SPINES + spine, BACK + spine * LEAVES + far, DOWN + to]
    };
    links.map(|link| link as u16)
}

/// A spine for a path.
fn draw(path: u64) -> u32 {
    (path.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as u32
}

#[cfg(test)]
mod tests;
