//! The output side of a switch: queues per port, the packet in service, and the counters that operators see.

use std::mem::offset_of;

use weft_core::record::Reason;
use weft_core::{Bytes, Ecn, Header, Headers, PacketId, PortId, Random, Rate, Time};

use crate::cells::MemoryCells;
use crate::settings::{PortSettings, SwitchSettings};
use weft_buffer::color::RedLimit;
use weft_buffer::memory::PacketMemory;
use weft_foresight::{Foresight, RevocableForesight, StrictForesight};
use weft_mark::{Action, AnyMarker, MarkerSettings, Sight};
use weft_queue::schedule::AnyScheduler;
use weft_queue::{ClassQueue, Shaper};

/// The counters of a port so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortCounters {
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets trimmed to their headers.
    pub trimmed: u64,
    /// Headers that found no room and were returned to their senders.
    pub returned: u64,
    /// Peak number of bytes held.
    pub peak: Bytes,
    /// Integral of the bytes held over time, in byte-picoseconds.
    pub byte_time: u128,
}

/// A departing packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InService {
    /// The queue it came from.
    pub(crate) queue: u8,
    /// The bytes it occupies in memory.
    pub(crate) wire: u16,
    /// The port by which it entered.
    pub(crate) ingress: PortId,
    /// Whether it is red.
    pub(crate) red: bool,
}

impl InService {
    /// A pause frame, which is charged to no queue and no port.
    pub(crate) const FRAME: InService = InService { queue: u8::MAX, wire: 0, ingress: PortId(0), red: false };
}

/// The content and counters of a port, over all its queues; see [`PortCounters`] for the latter. The fields every packet
/// touches come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Port {
    /// Bytes in all queues, including the packet in service.
    pub(crate) bytes: u64,
    pub(crate) peak: u64,
    /// As of `counted_until`.
    pub(crate) byte_time: u128,
    /// Packets in all queues, including the packet in service.
    pub(crate) packets: u64,
    counted_until: Time,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) trimmed: u64,
    pub(crate) returned: u64,
    pub(crate) in_service: Option<InService>,
    pub(crate) up: bool,
}

/// An output port: everything a packet meets between admission and the wire. The fields every packet touches are the last
/// of `foresight` and the first of `port`: two cache lines.
#[repr(C, align(64))]
pub(crate) struct Output {
    /// The future departures of a port with foresight.
    pub(crate) foresight: Option<Foresight>,
    pub(crate) port: Port,
    pub(crate) queues: Box<[ClassQueue]>,
    /// One for each queue.
    pub(crate) markers: Box<[AnyMarker]>,
    pub(crate) scheduler: AnyScheduler,
    /// The limit of each queue.
    pub(crate) limit: u64,
    /// With one queue: no marker is asked while the queue, including the new packet, holds at most this many bytes.
    pub(crate) unmarked_up_to: u64,
    pub(crate) shaper: Option<Box<Shaper>>,
    /// The early drop of red packets, if configured.
    pub(crate) red: Option<Box<RedLimit>>,
    /// The known departures of a port with strict priority, or with one queue in an order of its own, if it foresees them.
    pub(crate) strict: Option<Box<StrictForesight>>,
    /// The departures of a port that foresees them in lulls.
    pub(crate) in_lull: Option<Box<RevocableForesight>>,
}

impl Output {
    /// Offset and number of the bytes that every packet at a foreseen port touches: see [`Output`].
    pub(crate) const HOT: (usize, usize) = {
        let start = offset_of!(Output, foresight) + Foresight::HOT_FROM;
        (start, offset_of!(Output, port.packets) - start)
    };

    /// A port with empty queues.
    pub(crate) fn new(settings: &SwitchSettings, line: Rate) -> Output {
        let queues = settings.queues as usize;
        let markers = markers(&settings.ecn, line, queues);
        Output {
            port: Port::new(),
            queues: vec![ClassQueue::default(); queues].into(),
            unmarked_up_to: unmarked_up_to(&markers),
            markers,
            scheduler: AnyScheduler::new(&settings.schedule, queues),
            foresight: None,
            limit: u64::MAX,
            shaper: None,
            red: RedLimit::new(&settings.color).map(Box::new),
            strict: None,
            in_lull: None,
        }
    }

    /// Sets this port's own marker, scheduler and limit.
    pub(crate) fn set_up(&mut self, settings: &PortSettings, line: Rate) {
        let queues = self.queues.len();
        self.markers = markers(&settings.ecn, line, queues);
        self.unmarked_up_to = unmarked_up_to(&self.markers);
        self.scheduler = AnyScheduler::new(&settings.schedule, queues);
        self.limit = settings.queue_limit.map_or(u64::MAX, |limit| limit.0);
        self.shaper = settings.shaper.as_ref().map(|shaper| Box::new(Shaper::new(shaper)));
        self.red = RedLimit::new(&settings.color).map(Box::new);
    }

    /// Whether a queue that holds this many bytes may take a packet, by the port's own limit.
    #[inline]
    pub(crate) fn fits(&self, queue: u64, wire: u16) -> Result<(), Reason> {
        if queue + u64::from(wire) > self.limit { Err(Reason::PortFull) } else { Ok(()) }
    }

    /// The port's foresight in a lull, if it foresees any departure.
    #[inline]
    pub(crate) fn lull(&self) -> Option<&RevocableForesight> {
        self.in_lull.as_deref().filter(|foreseen| foreseen.packets() > 0)
    }

    /// Whether any marker acts on departures.
    pub(crate) fn looks_at_departures(&self) -> bool {
        self.markers.iter().any(AnyMarker::looks_at_departures)
    }

    /// Whether there is room for a packet of `wire` bytes in a queue. `PLAIN`: departures of the port are foreseen.
    #[inline(always)]
    pub(crate) fn admit<const PLAIN: bool>(
        &self,
        queue: usize,
        wire: u16,
        store: &PacketMemory,
    ) -> Result<(), Reason> {
        if !self.port.up {
            return Err(Reason::LinkDown);
        }
        let bytes = self.bytes_of::<PLAIN>(queue);
        self.fits(bytes, wire)?;
        if self.port.bytes + u64::from(wire) <= store.admits_up_to() {
            return Ok(());
        }
        store.admit((queue, bytes), self.port.bytes, wire)
    }

    /// Bytes of a queue, including the packet in service. `PLAIN`: departures of the port are foreseen.
    #[inline(always)]
    pub(crate) fn bytes_of<const PLAIN: bool>(&self, queue: usize) -> u64 {
        match self {
            _ if !PLAIN => self.queues[queue].bytes + self.foreseen_in(queue),
            Output { foresight: Some(_), port, .. } => port.bytes,
            Output { strict: Some(strict), .. } => strict.bytes_of(queue),
            _ => self.queues[queue].bytes,
        }
    }

    /// Bytes of a queue whose departures are foreseen in a lull.
    #[inline]
    fn foreseen_in(&self, queue: usize) -> u64 {
        match (self.lull(), &self.queues[..]) {
            (None, _) => 0,
            (Some(_), [_]) => self.port.bytes,
            (Some(foreseen), _) => foreseen.bytes_of(queue as u8),
        }
    }

    /// The marker of a queue.
    #[inline]
    pub(crate) fn marker(&mut self, queue: usize) -> &mut AnyMarker {
        match &mut self.foresight {
            Some(foresight) => &mut foresight.marker,
            None => own_or_shared(&mut self.markers, queue),
        }
    }

    /// Bytes of a queue, with or without those of the packet in service.
    pub(crate) fn bytes_that_count(&self, queue: usize, in_service: bool) -> u64 {
        if self.foresight.is_some() || self.strict.is_some() {
            return self.bytes_of::<true>(queue);
        }
        let served = self.port.in_service.filter(|served| !in_service && usize::from(served.queue) == queue);
        self.bytes_of::<false>(queue) - served.map_or(0, |served| u64::from(served.wire))
    }

    /// Asks the shaper which queues may send now. Returns when it opens, if it is closed, a packet waits, and no
    /// wake-up is pending.
    pub(crate) fn shape(&mut self, now: Time) -> Option<Time> {
        let shaper = self.shaper.as_mut()?;
        let opens = shaper.opens_at(now);
        let mut waits = false;
        let queues = self.queues.iter_mut().enumerate();
        for (_, queue) in queues.filter(|(number, _)| shaper.shapes(*number)) {
            queue.hold(ClassQueue::SHAPED, opens.is_some());
            waits |= !queue.packets.is_empty();
        }
        let opens = opens.filter(|_| waits && shaper.called == Time::NEVER)?;
        shaper.called = opens;
        Some(opens)
    }

    /// The queue to serve next.
    #[inline(always)]
    pub(crate) fn pick(&mut self, headers: &Headers) -> Option<usize> {
        match &self.queues[..] {
            [only] => only.ready().map(|_| 0),
            queues => self.scheduler.pick(queues, headers),
        }
    }

    /// Takes the head of a queue, with the verdict of its marker if markers act on departures; its bytes stay
    /// charged.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        now: Time,
        (queue, cells): (usize, MemoryCells),
        headers: &Headers,
        marking: Option<&mut Random>,
    ) -> (PacketId, Action) {
        let own = &mut self.queues[queue];
        let packet = own.packets.pop(headers).expect("the scheduler picks a queue with packets");
        let Some(marking) = marking else { return (packet, Action::Pass) };
        let header = headers.get(packet);
        let occupied = cells.occupied(header.wire);
        let behind = |bytes: u64| bytes - u64::from(occupied);
        let (queue_left, port) = (behind(own.bytes), behind(self.port.bytes));
        let sight = Sight { now, packet: header, occupied, queue: queue_left, port };
        (packet, own_or_shared(&mut self.markers, queue).leaving(&sight, marking))
    }

    /// Releases the bytes of a packet of a queue.
    #[inline]
    pub(crate) fn release(&mut self, now: Time, queue: usize, wire: u16, store: Option<&mut PacketMemory>) {
        let own = &mut self.queues[queue];
        own.bytes -= u64::from(wire);
        if let Some(store) = store {
            store.released((queue, own.bytes), u64::from(wire));
        }
        self.port.release(now, wire);
    }
}

/// The markers of a port's queues: one for each, or one for all.
fn markers(settings: &MarkerSettings, line: Rate, queues: usize) -> Box<[AnyMarker]> {
    let new = || AnyMarker::new(settings, line);
    let count = if new().is_of_port() { 1 } else { queues };
    (0..count).map(|_| new()).collect()
}

/// The marker of a queue among those of its port.
#[inline(always)]
fn own_or_shared(markers: &mut [AnyMarker], queue: usize) -> &mut AnyMarker {
    let last = markers.len() - 1;
    &mut markers[queue.min(last)]
}

/// See [`Output::unmarked_up_to`].
fn unmarked_up_to(markers: &[AnyMarker]) -> u64 {
    markers.first().map_or(0, AnyMarker::passes_up_to)
}

impl Port {
    pub(crate) fn new() -> Port {
        Port {
            bytes: 0,
            peak: 0,
            byte_time: 0,
            packets: 0,
            counted_until: Time::ZERO,
            dropped: 0,
            marked: 0,
            trimmed: 0,
            returned: 0,
            in_service: None,
            up: true,
        }
    }

    /// A packet is stored.
    #[inline]
    pub(crate) fn store(&mut self, now: Time, wire: u16) {
        self.count_until(now);
        self.packets += 1;
        self.bytes += u64::from(wire);
        self.peak = self.peak.max(self.bytes);
    }

    /// A packet has left.
    #[inline]
    pub(crate) fn release(&mut self, now: Time, wire: u16) {
        self.count_until(now);
        self.packets -= 1;
        self.bytes -= u64::from(wire);
    }

    /// Updates the time integral; the bytes held are about to change.
    #[inline]
    fn count_until(&mut self, now: Time) {
        self.byte_time = self.byte_time_until(now);
        self.counted_until = now;
    }

    #[inline]
    fn byte_time_until(&self, now: Time) -> u128 {
        let elapsed = now.since(self.counted_until).0;
        self.byte_time + u128::from(self.bytes) * u128::from(elapsed)
    }

    /// The counters with the time integral up to `now`.
    pub(crate) fn counters_until(&self, now: Time) -> PortCounters {
        self.counters(self.byte_time_until(now))
    }

    /// The counters with this time integral.
    pub(crate) fn counters(&self, byte_time: u128) -> PortCounters {
        let Port { dropped, marked, trimmed, returned, .. } = *self;
        PortCounters { dropped, marked, trimmed, returned, peak: Bytes(self.peak), byte_time }
    }

    /// Adds a packet with a known departure: the port now holds this many bytes, and this many byte-picoseconds more.
    #[inline]
    pub(crate) fn store_until(&mut self, bytes: u64, byte_time: u128) {
        self.bytes = bytes;
        if bytes > self.peak {
            self.peak = bytes;
        }
        self.byte_time += byte_time;
    }

    /// Takes back the byte-picoseconds counted ahead for packets whose departures are no longer known.
    pub(crate) fn restart(&mut self, now: Time, packets: u64, ahead: u128) {
        (self.packets, self.counted_until) = (packets, now);
        self.byte_time -= ahead;
    }

    /// Marks a packet.
    #[inline]
    pub(crate) fn mark(&mut self, header: &mut Header) {
        header.marks.ecn = Ecn::Marked;
        self.marked += 1;
    }
}
