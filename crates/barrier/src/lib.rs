//! A barrier at which threads wait for each other. A waiting thread spins, because threads meet every few
//! microseconds, and soon sleeps, because the machine may have other work. A thread that only yielded would give
//! another process a whole time slice at every meeting.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Iterations that a waiting thread spins before it yields: some microseconds, if every thread has a core.
const PATIENCE: usize = 200;
/// Times that a waiting thread yields, if no other thread wants the core, before it sleeps.
const YIELDS: usize = 200;
/// If a yield takes longer than this, other threads want the core.
const SLICE: Duration = Duration::from_micros(20);
/// Number of waits after such a yield during which no thread yields: each sleeps instead.
const WARY: usize = 10_000;

/// A reusable barrier. All threads see afterwards what any thread wrote before waiting.
pub struct Barrier {
    threads: AtomicUsize,
    patience: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    /// Remaining waits in which no thread yields. Affects only speed.
    wary: AtomicUsize,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Barrier {
        let fits = threads <= thread::available_parallelism().map_or(1, usize::from);
        Barrier {
            threads: AtomicUsize::new(threads),
            patience: if fits { PATIENCE } else { 0 },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            wary: AtomicUsize::new(if fits { 0 } else { usize::MAX }),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Whether each thread has a core, as far as the machine says.
    pub fn cores_suffice(&self) -> bool {
        self.patience > 0
    }

    /// Threads that will never come are not waited for. To be told by one that comes, before it arrives for the first time.
    pub fn do_without(&self, missing: usize) {
        self.threads.fetch_sub(missing, Ordering::SeqCst);
    }

    /// Whether a thread has panicked.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::SeqCst)
    }

    /// Waits until all threads have arrived.
    ///
    /// # Panics
    /// If another thread has panicked and will never arrive.
    pub fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads.load(Ordering::Relaxed) {
            self.arrived.store(0, Ordering::Relaxed);
            // Sequentially consistent with `sleepers`: either the sleeper sees the new round, or it is seen here.
            self.round.store(round.wrapping_add(1), Ordering::SeqCst);
            if self.sleepers.load(Ordering::SeqCst) > 0 {
                self.wake_all();
            }
            return;
        }
        if !self.is_over_soon(round) {
            self.sleep(round);
        }
        assert!(!self.broken.load(Ordering::Relaxed), "another thread of the run panicked");
    }

    /// Whether a round is over, or can never end because a thread has panicked.
    fn is_over(&self, round: usize) -> bool {
        self.round.load(Ordering::SeqCst) != round || self.broken.load(Ordering::Relaxed)
    }

    /// Spins, then yields while no other thread wants the core. Returns whether the round is over.
    #[allow(clippy::disallowed_methods, reason = "how long a yield took decides how to wait, never a result")]
    fn is_over_soon(&self, round: usize) -> bool {
        for _ in 0..self.patience {
            if self.is_over(round) {
                return true;
            }
            spin_loop();
        }
        let wary = self.wary.load(Ordering::Relaxed);
        if wary > 0 {
            self.wary.store(wary - usize::from(wary < usize::MAX), Ordering::Relaxed);
            return self.is_over(round);
        }
        for _ in 0..YIELDS {
            let before = Instant::now();
            thread::yield_now();
            if before.elapsed() > SLICE {
                self.wary.store(WARY, Ordering::Relaxed);
                break;
            }
            if self.is_over(round) {
                return true;
            }
        }
        self.is_over(round)
    }

    /// Sleeps until the round is over.
    #[cold]
    fn sleep(&self, round: usize) {
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !self.is_over(round) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    #[cold]
    fn wake_all(&self) {
        // A thread that is about to sleep either holds the lock, and looks again, or sleeps already.
        drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_all();
    }

    /// While this lives, a panic of the thread releases the others.
    pub fn watch_over(&self) -> Watched<'_> {
        Watched(self)
    }
}

/// See [`Barrier::watch_over`].
pub struct Watched<'a>(&'a Barrier);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_all_have_come() {
        let (barrier, come) = (Barrier::new(3), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=1_000 {
                        come.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert!(come.load(Ordering::Relaxed) >= 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!(come.into_inner(), 3_000);
    }

    /// Two of five threads could not be started: those that wait already go on as soon as the third has come.
    #[test]
    fn threads_that_never_come_are_not_waited_for() {
        let (barrier, come) = (Barrier::new(5), AtomicUsize::new(0));
        let meet = || {
            for round in 1..=100 {
                come.fetch_add(1, Ordering::Relaxed);
                barrier.wait();
                assert!(come.load(Ordering::Relaxed) >= 3 * round);
                barrier.wait();
            }
        };
        thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(meet)));
            barrier.do_without(2);
            meet();
        });
        assert_eq!(come.into_inner(), 300);
    }

    #[test]
    fn a_panic_frees_those_who_wait() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            let failing = scope.spawn(|| {
                let _ending = barrier.watch_over();
                panic!("on purpose");
            });
            assert!(failing.join().is_err() && waiting.join().is_err());
        });
    }
}
