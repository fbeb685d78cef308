//! The end of a cable at a switch: a packet socket, and the time that frames spend on the wire.
//!
//! A switch gives a frame to its port when the transmission begins. It should arrive when its last bit has crossed
//! the cable and the switch behind it has taken its time for the decision, but a pair of virtual interfaces hands it
//! over immediately. So this end holds back frames that have arrived, and frames that leave for a host, until then.

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use weft_core::segment::ports as ports_of;
use weft_core::{Bytes, FlowId, Rate, Span, Time};
use weft_packet::{EtherType, EthernetFrame, Ipv4Packet, ports};
use weft_router::backend::DeviceLosses;
use weft_router::{Backend, Frame, FrameBatch, FramePool};

use crate::clock::LabClock;

/// Frames taken from a socket at once.
const TAKEN: usize = 16;
/// Bytes that a frame occupies on the wire beyond its own: FCS, preamble and gap.
const BESIDES: u64 = 24;
/// Shorter frames are padded to this.
const LEAST_FRAME: u64 = 60;

/// Lateness of frames on a cable: sum, maximum and number, in picoseconds of the scenario. The wire begins when a frame is read from the
/// socket, so what it has waited there is not part of its lateness.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    sum: AtomicU64,
    most: AtomicU64,
    count: AtomicU64,
}

impl Lateness {
    fn add(&self, late: Span) {
        self.sum.fetch_add(late.0, Ordering::Relaxed);
        self.most.fetch_max(late.0, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The mean and the maximum.
    pub(crate) fn read(&self) -> (Span, Span) {
        let count = self.count.load(Ordering::Relaxed).max(1);
        (Span(self.sum.load(Ordering::Relaxed) / count), Span(self.most.load(Ordering::Relaxed)))
    }
}

/// Counts over all cables.
#[derive(Debug)]
pub(crate) struct CableTally {
    /// Packets with a congestion mark that reached the receiver, by flow.
    pub(crate) marks: Box<[AtomicU32]>,
    /// Frames that were not on time.
    pub(crate) lateness: Lateness,
    /// Frames that hosts got.
    pub(crate) delivered: AtomicU64,
    /// A switch has run out of buffers, so that frames had to wait in sockets.
    pub(crate) ran_full: AtomicBool,
}

impl CableTally {
    pub(crate) fn of_flows(flows: usize) -> CableTally {
        CableTally {
            marks: (0..flows).map(|_| AtomicU32::new(0)).collect(),
            lateness: Lateness::default(),
            delivered: AtomicU64::new(0),
            ran_full: AtomicBool::new(false),
        }
    }

    /// A host gets a frame.
    fn note(&self, bytes: &[u8]) {
        if let Some(flow) = marked_flow(bytes)
            && let Some(marks) = self.marks.get(flow)
        {
            marks.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The flow of a packet of its sender that carries a congestion mark.
fn marked_flow(bytes: &[u8]) -> Option<usize> {
    let frame = EthernetFrame::parse(bytes).ok().filter(|frame| frame.kind == EtherType::IPV4)?;
    let packet = Ipv4Packet::parse(frame.payload).ok().filter(|packet| packet.traffic_class & 3 == 3)?;
    let (from, to) = ports::of_v4(&packet)?;
    let first = ports_of(FlowId(0));
    (u32::from(to) == first & 0xffff).then(|| usize::from(from).checked_sub((first >> 16) as usize)).flatten()
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CableDirection {
    rate: Rate,
    /// Time from the last bit in to the decision, or to the host.
    delay: Span,
    /// The sender may be too fast, so frames are spaced at the rate.
    serial: bool,
    free: Time,
}

impl CableDirection {
    pub(crate) fn new(rate: Rate, delay: Span, serial: bool) -> CableDirection {
        CableDirection { rate, delay, serial, free: Time::ZERO }
    }

    /// When a frame of this length whose transmission could begin now will have landed.
    fn lands(&mut self, now: Time, length: u16) -> Time {
        let begins = if self.serial { now.max(self.free) } else { now };
        // Frames keep their order, even if a short one follows a long one.
        self.free = (begins + self.rate.time_for(on_the_wire(length))).max(self.free);
        self.free + self.delay
    }
}

fn on_the_wire(length: u16) -> Bytes {
    Bytes(u64::from(length).max(LEAST_FRAME) + BESIDES)
}

/// The state of a cable that the loop of the switches sees.
#[derive(Debug)]
pub(crate) struct CableState {
    /// The socket has frames.
    pub(crate) is_readable: AtomicBool,
    /// When the next frame lands.
    due: AtomicU64,
    /// Packets and wire bytes received.
    entered: [AtomicU64; 2],
}

impl CableState {
    /// When the next frame lands.
    pub(crate) fn due(&self) -> Time {
        Time(self.due.load(Ordering::Relaxed))
    }

    /// Packets and wire bytes received.
    pub(crate) fn entered(&self) -> (u64, Bytes) {
        let [packets, bytes] = [0, 1].map(|n: usize| self.entered[n].load(Ordering::Relaxed));
        (packets, Bytes(bytes))
    }
}

/// The end of a cable at a switch.
pub(crate) struct LabCable<S> {
    socket: S,
    clock: LabClock,
    state: Arc<CableState>,
    tally: Arc<CableTally>,
    inward: CableDirection,
    /// Whether it leads to a host; a switch at the other end holds frames back itself.
    outward: Option<CableDirection>,
    arriving: VecDeque<(Time, Frame)>,
    leaving: VecDeque<(Time, Frame)>,
    fresh: FrameBatch,
    /// Frames that the socket did not accept for the host; a worker has counted them as sent.
    unsent: u64,
}

impl<S: Backend> LabCable<S> {
    pub(crate) fn new(
        socket: S,
        (inward, outward): (CableDirection, Option<CableDirection>),
        clock: LabClock,
        tally: Arc<CableTally>,
    ) -> LabCable<S> {
        let state = Arc::new(CableState {
            is_readable: AtomicBool::new(true),
            due: AtomicU64::new(u64::MAX),
            entered: Default::default(),
        });
        let (arriving, leaving, fresh) = Default::default();
        LabCable { socket, clock, state, tally, inward, outward, arriving, leaving, fresh, unsent: 0 }
    }

    /// The descriptor and the state, for the loop.
    pub(crate) fn watched(&self) -> (RawFd, Arc<CableState>) {
        (self.socket.descriptors().first().copied().unwrap_or(-1), Arc::clone(&self.state))
    }

    /// Takes the frames that the socket has.
    fn take(&mut self, now: Time, pool: &mut FramePool) -> io::Result<()> {
        while self.state.is_readable.load(Ordering::Relaxed) {
            self.fresh.limit(TAKEN);
            self.socket.receive(pool, &mut self.fresh)?;
            let frames = self.fresh.frames();
            self.state.is_readable.store(frames.len() == TAKEN, Ordering::Relaxed);
            self.tally.ran_full.fetch_or(pool.free() == 0, Ordering::Relaxed);
            for frame in frames {
                let wire = on_the_wire(frame.length).0;
                self.state.entered[0].fetch_add(1, Ordering::Relaxed);
                self.state.entered[1].fetch_add(wire, Ordering::Relaxed);
                self.arriving.push_back((self.inward.lands(now, frame.length), *frame));
            }
        }
        Ok(())
    }

    /// Passes landed frames to the host.
    fn release(&mut self, now: Time, pool: &mut FramePool) -> io::Result<()> {
        let mut landed = Vec::new();
        while let Some((due, frame)) = self.leaving.pop_front_if(|(due, _)| *due <= now) {
            self.tally.lateness.add(now.since(due));
            self.tally.note(pool.bytes(frame));
            landed.push(frame);
        }
        if landed.is_empty() {
            return Ok(());
        }
        let count = landed.len();
        let lost = self.socket.transmit(pool, &mut landed)?;
        self.unsent += lost as u64;
        self.tally.delivered.fetch_add((count - lost) as u64, Ordering::Relaxed);
        Ok(())
    }

    fn publish(&self) {
        let first = |queue: &VecDeque<(Time, Frame)>| queue.front().map_or(u64::MAX, |(due, _)| due.0);
        let due = first(&self.arriving).min(first(&self.leaving));
        self.state.due.store(due, Ordering::Relaxed);
    }
}

impl<S: Backend> Backend for LabCable<S> {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        if !self.state.is_readable.load(Ordering::Relaxed)
            && self.arriving.is_empty()
            && self.leaving.is_empty()
        {
            return Ok(());
        }
        let now = self.clock.now();
        self.take(now, pool)?;
        self.release(now, pool)?;
        while batch.room() > 0
            && let Some((due, frame)) = self.arriving.pop_front_if(|(due, _)| *due <= now)
        {
            self.tally.lateness.add(now.since(due));
            batch.push(frame);
        }
        self.publish();
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let Some(wire) = &mut self.outward else { return self.socket.transmit(pool, frames) };
        let now = self.clock.now();
        for frame in frames.drain(..) {
            self.leaving.push_back((wire.lands(now, frame.length), frame));
        }
        self.publish();
        Ok(0)
    }

    fn losses(&mut self) -> DeviceLosses {
        let unsent_later = std::mem::take(&mut self.unsent);
        DeviceLosses { unsent_later, ..self.socket.losses() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket with one frame, which has lost seven before and accepts none.
    struct LossySocket(Option<Frame>, DeviceLosses);

    impl Backend for LossySocket {
        fn receive(&mut self, _: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
            self.0.take().into_iter().for_each(|frame| assert!(batch.push(frame)));
            Ok(())
        }

        fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
            let lost = frames.len();
            self.1.unsent_bytes += frames.iter().map(|frame| u64::from(frame.length)).sum::<u64>();
            frames.drain(..).for_each(|frame| pool.give(frame.buffer));
            Ok(lost)
        }

        fn losses(&mut self) -> DeviceLosses {
            std::mem::take(&mut self.1)
        }
    }

    /// Whatever a socket loses is the worker's to count: frames that it had no room for, and those that it did not pass to the host.
    #[test]
    fn frames_that_the_socket_loses_are_told() {
        let (mut pool, tally) = (FramePool::new(1), Arc::new(CableTally::of_flows(0)));
        let frame = pool.store(&[0; 100], 0).expect("a free buffer");
        let at_once = CableDirection::new(Rate::from_gbps(1_000_000), Span::ZERO, false);
        let socket = LossySocket(Some(frame), DeviceLosses { missed: 7, ..DeviceLosses::default() });
        let mut cable =
            LabCable::new(socket, (at_once, Some(at_once)), LabClock::start(1), Arc::clone(&tally));
        cable.transmit(&mut pool, &mut vec![frame]).expect("it waits on the wire");
        cable.release(Time(u64::MAX), &mut pool).expect("the socket refuses it");
        let lost = DeviceLosses { missed: 7, unsent_later: 1, unsent_bytes: 100, ..DeviceLosses::default() };
        assert_eq!((cable.losses(), cable.losses()), (lost, DeviceLosses::default()));
        assert_eq!(tally.delivered.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_switch_without_a_free_buffer_is_noticed() {
        let (mut pool, tally) = (FramePool::new(2), Arc::new(CableTally::of_flows(0)));
        let at_once = CableDirection::new(Rate::from_gbps(1_000_000), Span::ZERO, false);
        let ran_full = |pool: &mut FramePool| {
            let frame = pool.store(&[0; 100], 0).expect("a free buffer");
            let socket = LossySocket(Some(frame), DeviceLosses::default());
            let mut cable = LabCable::new(socket, (at_once, None), LabClock::start(1), Arc::clone(&tally));
            cable.take(Time::ZERO, pool).expect("there is a frame");
            tally.ran_full.load(Ordering::Relaxed)
        };
        assert_eq!([ran_full(&mut pool), ran_full(&mut pool)], [false, true]);
    }

    #[test]
    fn a_frame_lands_when_its_last_bit_has_crossed_the_cable() {
        let mut wire = CableDirection::new(Rate::from_gbps(1), Span::from_us(2), false);
        let full = Span::from_ns(1_538 * 8);
        assert_eq!(wire.lands(Time::ZERO, 1_514), Time::ZERO + full + Span::from_us(2));
        // A short frame does not overtake a long one.
        assert_eq!(wire.lands(Time::ZERO, 60), Time::ZERO + full + Span::from_us(2));
    }

    #[test]
    fn a_sender_that_is_too_fast_is_slowed_down_to_the_rate() {
        let mut wire = CableDirection::new(Rate::from_gbps(1), Span::ZERO, true);
        let full = Span::from_ns(1_538 * 8);
        let lands: Vec<Time> = (0..3).map(|_| wire.lands(Time::ZERO, 1_514)).collect();
        assert_eq!(lands, [full, full * 2, full * 3].map(|span| Time::ZERO + span));
    }
}
