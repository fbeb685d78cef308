//! Workers driven by recorded times instead of a clock: frames of captures in, frames with their times out. Every run gives
//! the same bytes.
//!
//! Order: arrivals by time, then port, then position in the capture; at one instant arrivals come before what is due. Each
//! arrival goes to its worker, then all workers poll, in the order of their numbers.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_core::{Span, Time};

use weft_router::backend::DeviceLosses;
use weft_router::{Application, BUFFER, Backend, Frame, FrameBatch, FramePool, RouterCounters, RouterWorker};

/// How long after the last arrival the router may still send, such as errors about stations that do not answer.
const PATIENCE: Span = Span::from_s(60);

/// Frames between the player and a worker, by port.
type Shelf = Arc<Mutex<VecDeque<Vec<u8>>>>;

fn lock(shelf: &Shelf) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker's queue of a port whose frames come from the player.
#[derive(Debug)]
pub(crate) struct PlayedPort {
    port: u16,
    arriving: Shelf,
    leaving: Shelf,
    losses: DeviceLosses,
}

impl Backend for PlayedPort {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        let mut arriving = lock(&self.arriving);
        while batch.room() > 0 {
            let Some(bytes) = arriving.pop_front() else { break };
            match pool.store(&bytes, self.port) {
                Some(frame) => {
                    batch.push(frame);
                }
                None if bytes.len() > BUFFER => {
                    self.losses.oversized += 1;
                    self.losses.arrived_bytes += bytes.len() as u64;
                }
                None => self.losses.missed += 1,
            }
        }
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let mut leaving = lock(&self.leaving);
        leaving.extend(frames.iter().map(|frame| pool.bytes(*frame).to_vec()));
        frames.drain(..).for_each(|frame| pool.give(frame.buffer));
        Ok(0)
    }

    fn losses(&mut self) -> DeviceLosses {
        std::mem::take(&mut self.losses)
    }
}

/// A frame on its way through a playback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlayedFrame<'a> {
    /// When it arrives, or leaves.
    pub(crate) time: Time,
    /// The port by which it arrives or leaves.
    pub(crate) port: u16,
    /// Its bytes.
    pub(crate) bytes: &'a [u8],
}

/// Workers, and the rings between them and the player.
pub(crate) struct Playback<A> {
    workers: Vec<RouterWorker<A>>,
    /// By worker and port.
    arriving: Vec<Vec<Shelf>>,
    leaving: Vec<Vec<Shelf>>,
    now: Time,
}

impl<A: Application> Playback<A> {
    /// `workers` workers of a router with `ports` ports, each with `buffers` buffers.
    #[must_use]
    pub(crate) fn new(workers: u16, ports: u16, buffers: u32, app: impl Fn(u16) -> A) -> Playback<A> {
        let shelves = || {
            (0..workers).map(|_| (0..ports).map(|_| Shelf::default()).collect()).collect::<Vec<Vec<Shelf>>>()
        };
        let (arriving, leaving) = (shelves(), shelves());
        let worker = |number: u16| {
            let own = usize::from(number);
            let port = |port: u16| {
                let (arriving, leaving) =
                    (&arriving[own][usize::from(port)], &leaving[own][usize::from(port)]);
                let (arriving, leaving) = (Arc::clone(arriving), Arc::clone(leaving));
                Box::new(PlayedPort { port, arriving, leaving, losses: DeviceLosses::default() })
                    as Box<dyn Backend>
            };
            RouterWorker::new((0..ports).map(port).collect(), FramePool::new(buffers), app(number))
        };
        let built = (0..workers).map(worker).collect();
        Playback { workers: built, arriving, leaving, now: Time::ZERO }
    }

    /// Receives at most this many frames at once.
    #[must_use]
    pub(crate) fn with_burst(self, burst: usize) -> Playback<A> {
        let workers = self.workers.into_iter().map(|worker| worker.with_burst(burst)).collect();
        Playback { workers, ..self }
    }

    /// A frame arrives for a worker, not before any earlier one. First everything due before then happens.
    ///
    /// # Errors
    /// A frame cannot be written.
    pub(crate) fn arrive(
        &mut self,
        worker: u16,
        frame: PlayedFrame<'_>,
        sent: &mut impl FnMut(PlayedFrame<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.run_until(frame.time, sent)?;
        self.now = self.now.max(frame.time);
        lock(&self.arriving[usize::from(worker)][usize::from(frame.port)]).push_back(frame.bytes.to_vec());
        self.poll(sent)
    }

    /// Called after the last arrival: runs until nothing is left inside, for at most a minute.
    ///
    /// # Errors
    /// A frame cannot be written.
    pub(crate) fn finish(
        &mut self,
        sent: &mut impl FnMut(PlayedFrame<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let end = self.now + PATIENCE;
        while self.counters().inside() > 0 && self.step(end, sent)? {}
        Ok(())
    }

    /// The counters of all workers.
    #[must_use]
    pub(crate) fn counters(&mut self) -> RouterCounters {
        let mut sum = RouterCounters::default();
        for worker in &mut self.workers {
            worker.count_losses();
            sum.add(worker.counters());
        }
        sum
    }

    fn run_until(
        &mut self,
        time: Time,
        sent: &mut impl FnMut(PlayedFrame<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        while self.step(time, sent)? {}
        Ok(())
    }

    /// Handles the next event, if it is due before `end`.
    fn step(
        &mut self,
        end: Time,
        sent: &mut impl FnMut(PlayedFrame<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let due = self.workers.iter().filter_map(RouterWorker::next_tick).min();
        // Events due at an instant happen just after it, because arrivals of that instant come first.
        let Some(due) = due.map(|due| self.now.max(due + Span(1))).filter(|due| *due < end) else {
            return Ok(false);
        };
        self.now = due;
        self.poll(sent)?;
        Ok(true)
    }

    fn poll(&mut self, sent: &mut impl FnMut(PlayedFrame<'_>) -> io::Result<()>) -> io::Result<()> {
        let time = self.now;
        for (worker, shelves) in self.workers.iter_mut().zip(&self.leaving) {
            worker.poll(time)?;
            for (port, shelf) in (0..).zip(shelves) {
                for bytes in lock(shelf).drain(..) {
                    sent(PlayedFrame { time, port, bytes: &bytes })?;
                }
            }
        }
        Ok(())
    }
}
