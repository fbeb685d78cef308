//! A barrier for threads: it spins, because they meet every few microseconds, and soon yields, because the machine
//! may have other work.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Loop iterations before a waiting thread yields: a few microseconds, if every thread has a core.
const PATIENCE: u32 = 200;

/// See the file's head. What a thread wrote before waiting, all can read afterwards.
pub(crate) struct Barrier {
    threads: usize,
    patience: u32,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
}

impl Barrier {
    /// For so many threads.
    pub(crate) fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            patience: if threads <= thread::available_parallelism().map_or(1, usize::from) {
                PATIENCE
            } else {
                0
            },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all threads have come.
    ///
    /// # Panics If another thread has panicked and will never arrive.
    pub(crate) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut turns = 0;
        while self.round.load(Ordering::Acquire) == round {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of the run panicked");
            turns += 1;
            if turns < self.patience { spin_loop() } else { thread::yield_now() }
        }
    }

    /// Until this is dropped, a panic of the thread releases the others.
    pub(crate) fn watch_over(&self) -> Watched<'_> {
        Watched(self)
    }
}

/// See [`Barrier::watch_over`].
pub(crate) struct Watched<'a>(&'a Barrier);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
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
