//! A worker: one thread that receives, processes and sends frames, with its own buffers, queues and application.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use weft_core::{Span, Time};

use crate::app::{Application, Desk};
use crate::backend::{Backend, DeviceLosses, Ending, system};
use crate::clock::RouterClock;
use crate::counters::RouterCounters;
use crate::pool::{Frame, FrameBatch, FramePool, SendQueues};

/// Number of polls without frames before a worker sleeps until a device has some.
const IDLE_POLLS: u32 = 64;
/// Longest sleep in milliseconds, which is also how soon a worker stops.
const NAP: u16 = 20;
/// How long an ending worker waits for others.
const PATIENCE: Span = Span::from_s(1);
/// Maximum age of published counters.
const PUBLISHED_EVERY: Span = Span::from_ms(50);

/// A worker with an application of type `A`.
pub struct RouterWorker<A> {
    ports: Vec<Box<dyn Backend>>,
    pool: FramePool,
    batch: FrameBatch,
    out: SendQueues,
    app: A,
    counters: RouterCounters,
    /// Maximum number of frames received at once, and passed to a device at once.
    burst: usize,
    send_burst: usize,
    /// The port whose device has failed in the last poll.
    failed: Option<usize>,
}

/// The first failure of a poll, and its port.
type PortFailure = Option<(usize, io::Error)>;

/// Records a failure, unless there is already one; but a link that is down hides no other failure.
#[cold]
fn note(failure: &mut PortFailure, port: usize, error: io::Error) {
    if failure.as_ref().is_none_or(|(_, first)| system::is_link_down(first)) {
        *failure = Some((port, error));
    }
}

/// Passes frames to the device of a port and counts what becomes of them.
#[inline(always)]
fn send(
    (number, port): (usize, &mut dyn Backend),
    frames: &mut Vec<Frame>,
    (pool, counters): (&mut FramePool, &mut RouterCounters),
    failure: &mut PortFailure,
) {
    let bytes: u64 = frames.iter().map(|frame| u64::from(frame.length)).sum();
    let count = frames.len();
    let outcome = port.transmit(pool, frames);
    counters.send(number, (count as u64, bytes));
    match outcome {
        Ok(0) => {}
        Ok(lost) => counters.lose(number, lost as u64, port.losses()),
        Err(error) => {
            let losses = DeviceLosses { unsent_bytes: bytes, ..port.losses() };
            counters.lose(number, count as u64, losses);
            note(failure, number, error);
        }
    }
}

/// The same in groups of at most `most` frames.
#[cold]
fn send_in_groups(
    (number, port): (usize, &mut dyn Backend),
    (frames, most): (&mut Vec<Frame>, usize),
    (pool, counters): (&mut FramePool, &mut RouterCounters),
    failure: &mut PortFailure,
) {
    let mut group = Vec::with_capacity(most);
    for part in frames.chunks(most) {
        group.extend_from_slice(part);
        send((number, &mut *port), &mut group, (&mut *pool, &mut *counters), failure);
    }
    frames.clear();
}

impl<A: Application> RouterWorker<A> {
    /// A worker with one queue of each port.
    #[must_use]
    pub fn new(ports: Vec<Box<dyn Backend>>, pool: FramePool, app: A) -> RouterWorker<A> {
        let out = SendQueues::new(ports.len());
        let (batch, counters) = (FrameBatch::default(), RouterCounters::of_ports(ports.len()));
        let (burst, send_burst) = (crate::pool::BATCH, usize::MAX);
        RouterWorker { ports, pool, batch, out, app, counters, burst, send_burst, failed: None }
    }

    /// Receives at most this many frames at once (kp of RouteBricks); at least 1.
    #[must_use]
    pub fn with_burst(self, burst: usize) -> RouterWorker<A> {
        RouterWorker { burst: burst.clamp(1, crate::pool::BATCH), ..self }
    }

    /// Passes at most this many frames to a device at once (kn of RouteBricks); at least 1. Without it a device gets
    /// all frames of a poll together. No frame waits for a group to fill.
    #[must_use]
    pub fn with_send_burst(self, burst: usize) -> RouterWorker<A> {
        RouterWorker { send_burst: burst.max(1), ..self }
    }

    /// System calls that the devices have made to send.
    #[must_use]
    pub fn send_calls(&self) -> u64 {
        self.ports.iter().map(|port| port.send_calls()).sum()
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    /// When the application must be called next, if no frames arrive before.
    #[must_use]
    pub fn next_tick(&self) -> Option<Time> {
        self.app.next_tick()
    }

    /// The application.
    pub fn app(&mut self) -> &mut A {
        &mut self.app
    }

    /// Buffers that are free.
    #[must_use]
    pub fn free_buffers(&self) -> usize {
        self.pool.free()
    }

    /// The port whose device has failed, if one has ended [`RouterWorker::run`] or failed in the last poll.
    #[must_use]
    pub fn failed_port(&self) -> Option<usize> {
        self.failed
    }

    /// Polls every port once. Returns the number of frames received.
    ///
    /// # Errors
    /// A device has failed, or the input of a port has ended.
    #[inline]
    pub fn poll(&mut self, now: Time) -> io::Result<usize> {
        let mut received = 0;
        let mut failure = None;
        for port in 0..self.ports.len() {
            self.batch.limit(self.burst);
            if let Err(error) = self.ports[port].receive(&mut self.pool, &mut self.batch) {
                note(&mut failure, port, error);
            }
            let frames = self.batch.frames();
            if frames.is_empty() {
                continue;
            }
            received += frames.len();
            let bytes = frames.iter().map(|frame| u64::from(frame.length)).sum();
            self.counters.receive(port, (frames.len() as u64, bytes));
            self.counters.begin(Some(port));
            let (pool, out, counters) = (&mut self.pool, &mut self.out, &mut self.counters);
            self.app.handle(&mut Desk { now, pool, out, counters }, &self.batch);
            self.flush(&mut failure);
        }
        self.counters.begin(None);
        self.counters.polls = (self.counters.polls.0 + 1, self.counters.polls.1 + u64::from(received > 0));
        if self.app.next_tick().is_some_and(|due| due <= now) {
            let (pool, out, counters) = (&mut self.pool, &mut self.out, &mut self.counters);
            self.app.tick(&mut Desk { now, pool, out, counters });
            self.flush(&mut failure);
        }
        self.failed = failure.as_ref().map(|(port, _)| *port);
        failure.map_or(Ok(received), |(_, error)| Err(error))
    }

    /// Passes queued frames to the devices.
    #[inline]
    fn flush(&mut self, failure: &mut PortFailure) {
        for (number, port) in self.ports.iter_mut().enumerate() {
            let frames = self.out.queue(number);
            if frames.is_empty() {
                continue;
            }
            let desk = (&mut self.pool, &mut self.counters);
            if frames.len() > self.send_burst {
                send_in_groups((number, port.as_mut()), (frames, self.send_burst), desk, failure);
            } else {
                send((number, port.as_mut()), frames, desk, failure);
            }
        }
    }

    /// How long the worker may sleep, in milliseconds: at most until the application's next tick.
    fn nap(&self, now: Time) -> u16 {
        let until = |due: Time| u16::try_from(due.since(now).0 / Span::from_ms(1).0).unwrap_or(NAP).min(NAP);
        self.app.next_tick().map_or(NAP, until)
    }

    /// Runs until `stop` is set or the input of a port ends. Publishes its counters periodically, and at the end.
    ///
    /// # Errors
    /// A device has failed.
    pub fn run(
        &mut self,
        clock: RouterClock,
        stop: &AtomicBool,
        published: &Mutex<RouterCounters>,
    ) -> io::Result<()> {
        let served = self.serve(clock, stop, published);
        if served.is_ok() {
            self.wind_up(clock);
        }
        self.counters.begin(None);
        let (pool, out, counters) = (&mut self.pool, &mut self.out, &mut self.counters);
        self.app.end(&mut Desk { now: clock.now(), pool, out, counters });
        self.publish(published);
        served
    }

    /// Polls until `stop` is set or the input of a port ends.
    fn serve(
        &mut self,
        clock: RouterClock,
        stop: &AtomicBool,
        published: &Mutex<RouterCounters>,
    ) -> io::Result<()> {
        let descriptors: Vec<RawFd> = self.ports.iter().flat_map(|port| port.descriptors()).collect();
        let (mut idle, mut due) = (0, Time::ZERO);
        while !stop.load(Ordering::Relaxed) {
            let now = clock.now();
            idle = match self.poll(now) {
                Ok(0) => idle + 1,
                Ok(_) => 0,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) if system::is_link_down(&error) => idle + 1,
                Err(error) => return Err(error),
            };
            if now >= due {
                self.publish(published);
                due = now + PUBLISHED_EVERY;
            }
            if idle > IDLE_POLLS {
                match self.nap(clock.now()) {
                    0 => std::thread::yield_now(),
                    nap => system::wait_readable(&descriptors, nap).inspect_err(|_| self.failed = None)?,
                }
            }
        }
        Ok(())
    }

    /// Processes frames that other workers have handed over or will hand over until they end as well.
    fn wind_up(&mut self, clock: RouterClock) {
        let latest = clock.now() + PATIENCE;
        for ending in [Ending::Arrivals, Ending::Departures] {
            while self.ports.iter_mut().fold(false, |more, port| port.end(ending) | more)
                && clock.now() < latest
            {
                // A device that fails now has lost what it has counted.
                let _ = self.poll(clock.now());
                std::thread::yield_now();
            }
        }
    }

    /// Counts the losses of devices since they were last asked.
    pub fn count_losses(&mut self) {
        for (number, port) in self.ports.iter_mut().enumerate() {
            self.counters.lose(number, 0, port.losses());
        }
    }

    fn publish(&mut self, published: &Mutex<RouterCounters>) {
        self.count_losses();
        published.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.counters);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::app::forward::{CrossConnect, Forwarding};
    use crate::counters::DropCause;
    use weft_packet::Mac;

    /// ENETDOWN and EBADFD of Linux.
    const NETWORK_DOWN: i32 = 100;
    const BAD_STATE: i32 = 77;

    /// A port at which frames of some lengths arrive, and that sends none above 100 bytes and none at all once it is broken.
    struct NarrowPort {
        arriving: VecDeque<usize>,
        broken: bool,
        calls: u64,
        losses: DeviceLosses,
    }

    impl Backend for NarrowPort {
        fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
            while let Some(length) = self.arriving.pop_front() {
                batch.push(pool.store(&vec![0; length], 0).expect("a free buffer"));
            }
            Ok(())
        }

        fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
            let mut lost = 0;
            self.calls += 1;
            for frame in frames.drain(..) {
                pool.give(frame.buffer);
                if frame.length > 100 {
                    lost += 1;
                    self.losses.refused += 1;
                    self.losses.unsent_bytes += u64::from(frame.length);
                }
            }
            if self.broken { Err(io::ErrorKind::NotConnected.into()) } else { Ok(lost) }
        }

        fn losses(&mut self) -> DeviceLosses {
            std::mem::take(&mut self.losses)
        }

        fn send_calls(&self) -> u64 {
            self.calls
        }
    }

    /// The device of the second of two ports fails, while the link of the first is down.
    #[test]
    fn a_failure_is_that_of_its_port() {
        struct Failing(i32);
        impl Backend for Failing {
            fn receive(&mut self, _: &mut FramePool, _: &mut FrameBatch) -> io::Result<()> {
                Err(io::Error::from_raw_os_error(self.0))
            }

            fn transmit(&mut self, _: &mut FramePool, _: &mut Vec<Frame>) -> io::Result<usize> {
                Ok(0)
            }
        }
        let ports: Vec<Box<dyn Backend>> =
            vec![Box::new(Failing(NETWORK_DOWN)), Box::new(Failing(BAD_STATE))];
        let mut worker = RouterWorker::new(ports, FramePool::new(8), Forwarding::new(Vec::new()));
        let error = worker.run(RouterClock::start(), &AtomicBool::new(false), &Mutex::default()).unwrap_err();
        assert_eq!((error.raw_os_error(), worker.failed_port()), (Some(BAD_STATE), Some(1)));
        worker.ports.pop();
        assert!(worker.poll(Time::ZERO).is_err());
        assert_eq!(worker.failed_port(), Some(0));
    }

    fn worker(arriving: &[usize], broken: bool) -> RouterWorker<Forwarding> {
        let losses = DeviceLosses {
            missed: 5,
            oversized: 2,
            tagged: 1,
            arrived_bytes: 9_100,
            ..DeviceLosses::default()
        };
        let port = NarrowPort { arriving: arriving.iter().copied().collect(), broken, calls: 0, losses };
        let wire = CrossConnect::new(0, Mac([2; 6]), Mac([4; 6]));
        RouterWorker::new(vec![Box::new(port)], FramePool::new(8), Forwarding::new(vec![wire]))
    }

    #[test]
    fn refused_frames_are_counted_and_the_others_sent() {
        let mut worker = worker(&[60, 200, 90], false);
        assert_eq!(worker.poll(Time::ZERO).unwrap(), 3);
        let counters = worker.counters();
        assert_eq!((counters.sent, counters.sent_bytes), (2, 150));
        let dropped = [DropCause::Refused, DropCause::Oversized, DropCause::Unsupported];
        assert_eq!(dropped.map(|cause| counters.dropped(cause)), [1, 2, 1]);
        // Frames that the device missed never reached the router; received frames also count bytes.
        assert_eq!((counters.received, counters.received_bytes, counters.missed), (3 + 3, 350 + 9_100, 5));
        assert_eq!((counters.inside(), worker.free_buffers()), (0, 8));
        let port = &counters.interfaces()[0];
        assert_eq!((port.received, port.sent, port.missed), ((6, 9_450), (2, 150), 5));
        assert_eq!(dropped.map(|cause| port.dropped(cause)), [1, 2, 1]);
    }

    /// Five frames in groups of two: the device gets three groups, and the counters are those of one.
    #[test]
    fn a_device_gets_frames_in_groups() {
        let lengths = [60, 200, 90, 70, 80];
        let outcome = |mut worker: RouterWorker<Forwarding>| {
            worker.poll(Time::ZERO).unwrap();
            let counters = worker.counters();
            assert_eq!((counters.inside(), worker.free_buffers()), (0, 8));
            (worker.send_calls(), counters.sent, counters.sent_bytes, counters.dropped(DropCause::Refused))
        };
        assert_eq!(outcome(worker(&lengths, false)), (1, 4, 300, 1));
        assert_eq!(outcome(worker(&lengths, false).with_send_burst(2)), (3, 4, 300, 1));
        let (mut broken, groups) = (worker(&lengths, true), worker(&lengths, true).with_send_burst(2));
        for worker in [&mut broken, &mut { groups }] {
            assert!(worker.poll(Time::ZERO).is_err());
            let counters = worker.counters();
            assert_eq!((counters.sent, counters.sent_bytes, counters.inside()), (0, 0, 0), "{counters}");
            assert_eq!(worker.free_buffers(), 8);
        }
    }

    #[test]
    fn a_broken_device_sends_nothing_and_its_counters_are_published() {
        let (mut worker, published) = (worker(&[60, 200, 90], true), Mutex::default());
        let stop = AtomicBool::new(false);
        assert!(worker.run(RouterClock::start(), &stop, &published).is_err());
        assert_eq!(worker.failed_port(), Some(0));
        let counters: RouterCounters = published.into_inner().unwrap();
        assert_eq!((counters.sent, counters.sent_bytes, counters.inside()), (0, 0, 0), "{counters}");
        assert_eq!(counters.dropped(DropCause::DeviceFull) + counters.dropped(DropCause::Refused), 3);
    }
}
