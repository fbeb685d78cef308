//! One direction of a cable: a transmitter and the packets in flight. At most one pending arrival per link; the packets
//! behind it form a list through the pool, each with the time when the next one lands.

use weft_core::record::Reason;
use weft_core::{Bytes, LinkId, PacketId, PortId, Purpose, Random, Span, Time, Transmission};
use weft_topology::{Link, Node, Stalls};

/// A transmitter and its wire. The fields every packet touches come first, on one cache line; the transmitter's
/// counters after them.
#[repr(C, align(64))]
pub(crate) struct Wire {
    pub(crate) to: Node,
    pub(crate) to_port: PortId,
    /// Down, lossy, stalling, leading to another domain, or just back: a packet may not land here, or may land later.
    pub(crate) special: bool,
    pub(crate) up: bool,
    /// The last packet in flight, or committed to be sent.
    pub(crate) last: PacketId,
    /// Not beside `sent`: the two would be added as one vector, which takes more instructions.
    pub(crate) packets: u64,
    /// Propagation, and the latency of the switch at the far end.
    delay: Span,
    pub(crate) sent: Bytes,
    transmission: Transmission,
    pub(crate) from: Node,
    pub(crate) port: PortId,
    /// The domain of the far end, if it is another one.
    pub(crate) away: Option<u16>,
    /// Down for at least part of the run.
    pub(crate) failed: bool,
    /// Whether a flow is followed over it.
    traced: bool,
    /// Whether the packet of the pending arrival was lost when the cable failed: the event remains, and nothing
    /// arrives.
    pub(crate) vacant: bool,
    /// Behind a vacant arrival: the first packet in flight.
    pub(crate) first: PacketId,
    /// When it lands.
    pub(crate) first_lands: Time,
    /// Packets lost on this wire or at its transmitter, without drops counted by the switch.
    pub(crate) lost: u64,
    loss: Option<Box<(f64, Random)>>,
    stalling: Option<Box<Stalling>>,
}

/// The receiving end stalls from `begins` to `ends`.
struct Stalling {
    mean: Stalls,
    random: Random,
    begins: Time,
    ends: Time,
}

impl Stalling {
    /// When a packet that lands at `lands` is taken; must be called in the order of landing.
    fn taken(&mut self, lands: Time) -> Time {
        while lands >= self.ends {
            let mut draw = |mean: Span| Span(self.random.exponential(mean.0 as f64) as u64);
            self.begins = self.ends + draw(self.mean.every);
            self.ends = self.begins + draw(self.mean.length);
        }
        if lands < self.begins { lands } else { self.ends }
    }
}

impl Wire {
    /// The bytes that every packet touches: their offset and number.
    pub(crate) const HOT: (usize, usize) = (0, 64);

    /// A wire that is up. `extra` is the latency of the node at the far end.
    pub(crate) fn new(link: &Link, extra: Span, seed: u64, number: usize) -> Wire {
        let random = |purpose| Random::new(seed, purpose, number as u64);
        let stalling = |mean| {
            let random = random(Purpose::Stalls);
            Box::new(Stalling { mean, random, begins: Time::ZERO, ends: Time::ZERO })
        };
        Wire {
            transmission: Transmission::at(link.rate),
            delay: link.delay + extra,
            from: link.from,
            port: link.port,
            to: link.to,
            to_port: link.to_port,
            away: None,
            special: link.loss > 0.0 || link.stalls.is_some(),
            last: PacketId::NONE,
            vacant: false,
            first: PacketId::NONE,
            first_lands: Time::NEVER,
            up: true,
            failed: false,
            traced: false,
            sent: Bytes::ZERO,
            packets: 0,
            lost: 0,
            loss: (link.loss > 0.0).then(|| Box::new((link.loss, random(Purpose::Loss)))),
            stalling: link.stalls.map(stalling),
        }
    }

    /// When the last bit of a packet leaves if its first bit leaves at `start`.
    #[inline]
    pub(crate) fn end_of(&self, start: Time, wire: u16) -> Time {
        Time(start.0 + self.transmission.time(wire).0)
    }

    /// Counts a packet whose last bit leaves at `end`; returns when it lands.
    #[inline]
    pub(crate) fn launch(&mut self, end: Time, wire: u16) -> Time {
        self.sent.0 += u64::from(wire);
        self.packets += 1;
        Time(end.0 + self.delay.0)
    }

    /// Takes back the launch of a packet: its departure is revoked.
    pub(crate) fn take_back(&mut self, wire: u16) {
        self.sent.0 -= u64::from(wire);
        self.packets -= 1;
    }

    /// Called when the cable fails or comes back. When it fails, the caller must drop the packets in flight.
    pub(crate) fn set_up(&mut self, up: bool) {
        self.up = up;
        self.failed |= !up;
        self.classify();
    }

    /// Sets whether a vacant arrival is pending.
    pub(crate) fn set_vacant(&mut self, vacant: bool) {
        self.vacant = vacant;
        self.classify();
    }

    fn classify(&mut self) {
        let altered = self.loss.is_some() || self.stalling.is_some();
        self.special = !self.up || self.vacant || self.away.is_some() || altered || self.traced;
    }

    /// Why the next packet will not arrive, if it is lost.
    #[inline]
    pub(crate) fn failure(&mut self) -> Option<Reason> {
        if !self.up {
            return Some(Reason::LinkDown);
        }
        let (share, random) = &mut **self.loss.as_mut()?;
        random.chance(*share).then_some(Reason::Loss)
    }

    /// When the far end takes a packet that lands at `lands`.
    pub(crate) fn taken(&mut self, lands: Time) -> Time {
        self.stalling.as_mut().map_or(lands, |stalling| stalling.taken(lands))
    }
}

/// The wires of all links of the network, by their numbers.
pub(crate) struct Wires(Box<[Wire]>);

impl Wires {
    pub(crate) fn new(wires: Vec<Wire>) -> Wires {
        Wires(wires.into())
    }

    /// The wire of a link.
    #[inline]
    #[allow(unsafe_code, reason = "1 % of all instructions")]
    pub(crate) fn of(&mut self, link: LinkId) -> &mut Wire {
        debug_assert!(link.index() < self.0.len(), "links are those of the network");
        // SAFETY: there is a wire for every link of the graph (`Domain::new`), and only links of the graph occur: in a
        // host's card, in a switch's ports, and in the event list, which gets them from these.
        unsafe { self.0.get_unchecked_mut(link.index()) }
    }

    /// Makes all links of hosts special, because a flow is followed.
    pub(crate) fn trace_hosts(&mut self) {
        let ends = |wire: &&mut Wire| matches!(wire.from, Node::Host(_)) || matches!(wire.to, Node::Host(_));
        for wire in self.0.iter_mut().filter(ends) {
            (wire.traced, wire.special) = (true, true);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Wire> {
        self.0.iter()
    }
}

impl std::ops::Index<LinkId> for Wires {
    type Output = Wire;

    fn index(&self, link: LinkId) -> &Wire {
        &self.0[link.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exponential stalls of mean D after exponential gaps of mean E take a share D / (D + E) of all time, and a
    /// packet that lands in one waits D on average, because stalls are memoryless.
    #[test]
    fn who_lands_in_a_stall_waits_for_its_end() {
        let mean = Stalls { every: Span::from_us(300), length: Span::from_us(100) };
        let random = Random::new(1, Purpose::Test, 0);
        let mut stalling = Stalling { mean, random, begins: Time::ZERO, ends: Time::ZERO };
        let (mut total, mut held, mut last) = (0.0, 0.0, Time::ZERO);
        let count = 400_000;
        for n in 0..count {
            let lands = Time::ZERO + Span::from_us(7) * n;
            let taken = stalling.taken(lands);
            assert!(taken >= lands && taken >= last, "order is kept");
            last = taken;
            total += taken.since(lands).micros();
            held += f64::from(u8::from(taken > lands));
        }
        let count = count as f64;
        // 7000 stalls: the share to 2 %, the mean, of squares, to 3 %.
        assert!((held / count / 0.25 - 1.0).abs() < 0.05, "{}", held / count);
        assert!((total / count / 25.0 - 1.0).abs() < 0.1, "{}", total / count);
    }
}
