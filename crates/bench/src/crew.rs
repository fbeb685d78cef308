//! Workers that do the same work at once, each on a core: how fast they are, and whether the machine gave them their cores.
//! Must not depend on what they do.

use std::sync::Barrier;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::clock;

/// Passes are at least this long, which is long beside the turns in which a kernel shares out a core.
const LEAST_SECONDS: f64 = 0.02;
/// Part of a pass that brings caches up to date before the clock starts.
const WARM: usize = 8;

/// A worker.
pub(crate) trait Polled: Send {
    /// Polls `polls` times; returns the number of frames done.
    fn polls(&mut self, polls: usize) -> u64;

    /// System calls that it has made to send so far.
    fn send_calls(&self) -> u64 {
        0
    }
}

/// A timed pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimedPass {
    /// Million packets per second of all workers together.
    pub(crate) mpps: f64,
    /// The share of its time in which a worker did not wait for a core, of the worker that waited most.
    pub(crate) share: f64,
}

/// Workers that run together.
pub(crate) struct Crew {
    workers: Vec<Box<dyn Polled>>,
    /// Polls of a pass.
    polls: usize,
    sent: u64,
}

impl Crew {
    /// Workers that poll `polls` times each in a pass.
    pub(crate) fn new(workers: Vec<Box<dyn Polled>>, polls: usize) -> Crew {
        Crew { workers, polls, sent: 0 }
    }

    /// Workers whose passes are long enough to be timed.
    pub(crate) fn paced(workers: Vec<Box<dyn Polled>>) -> Crew {
        let mut crew = Crew::new(workers, WARM);
        while clock::timed(|| crew.run(crew.polls)).1 < LEAST_SECONDS {
            crew.polls *= 2;
        }
        crew
    }

    /// A pass, after a short one that is not timed.
    pub(crate) fn pass(&mut self) -> TimedPass {
        self.run(self.polls / WARM);
        self.run(self.polls)
    }

    /// All workers poll this often.
    pub(crate) fn run(&mut self, polls: usize) -> TimedPass {
        let barrier = Barrier::new(self.workers.len());
        let run = &|worker: &mut Box<dyn Polled>| {
            barrier.wait();
            let (sent, seconds, share) = clock::timed_on_core(|| worker.polls(polls));
            (sent, sent as f64 / seconds / 1e6, share)
        };
        let outcomes: Vec<(u64, f64, f64)> = match self.workers.as_mut_slice() {
            [only] => vec![run(only)],
            several => std::thread::scope(|scope| {
                let start = |(number, worker)| {
                    scope.spawn(move || {
                        stay_on_a_core(number);
                        run(worker)
                    })
                };
                let running: Vec<_> = several.iter_mut().enumerate().map(start).collect();
                running.into_iter().map(|thread| thread.join().expect("workers do not panic")).collect()
            }),
        };
        self.sent += outcomes.iter().map(|(sent, ..)| sent).sum::<u64>();
        TimedPass {
            mpps: outcomes.iter().map(|(_, mpps, _)| mpps).sum(),
            share: outcomes.iter().map(|(.., share)| *share).fold(1.0, f64::min),
        }
    }

    /// System calls to send per frame sent, over all passes.
    pub(crate) fn calls_per_frame(&self) -> f64 {
        let calls: u64 = self.workers.iter().map(|worker| worker.send_calls()).sum();
        calls as f64 / self.sent as f64
    }
}

/// Binds the thread to one of the cores that it may use, so that two workers do not begin on the same one. Where the kernel does
/// not allow it, the thread goes where the kernel puts it, and the share tells.
fn stay_on_a_core(number: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    if let Some(core) = cores.get(number % cores.len().max(1)) {
        let mut own = CpuSet::new();
        own.set(*core);
        let _ = sched_setaffinity(None, &own);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Works until every worker has begun to.
    struct Companion {
        begun: Arc<AtomicUsize>,
        all: usize,
    }

    impl Polled for Companion {
        fn polls(&mut self, polls: usize) -> u64 {
            self.begun.fetch_add(1, Ordering::Relaxed);
            while self.begun.load(Ordering::Relaxed) < self.all {
                std::hint::spin_loop();
            }
            polls as u64
        }
    }

    /// Binds this thread, and those that it starts, to one core; whether the kernel keeps account of their waiting.
    fn one_core() -> bool {
        stay_on_a_core(0);
        let bound = sched_getaffinity(None).is_ok_and(|allowed| allowed.count() == 1);
        bound && std::fs::metadata("/proc/thread-self/schedstat").is_ok()
    }

    /// Whoever begins first cannot end before the others have had the one core that there is.
    #[test]
    fn workers_that_wait_for_a_core_know_it() {
        const WORKERS: usize = 4;
        if !one_core() {
            let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: no account of waiting\n");
            return;
        }
        let begun = Arc::new(AtomicUsize::new(0));
        let worker = |_| Box::new(Companion { begun: begun.clone(), all: WORKERS }) as Box<dyn Polled>;
        let crowded = Crew::new((0..WORKERS).map(worker).collect(), 1_000).run(1_000);
        assert!((0.0..0.9).contains(&crowded.share) && crowded.mpps > 0.0, "{crowded:?}");
    }

    #[test]
    fn calls_are_those_of_all_passes_per_frame() {
        struct Caller(u64);
        impl Polled for Caller {
            fn polls(&mut self, polls: usize) -> u64 {
                self.0 += polls as u64;
                4 * polls as u64
            }

            fn send_calls(&self) -> u64 {
                self.0
            }
        }
        let mut crew = Crew::new(vec![Box::new(Caller(0)), Box::new(Caller(0))], 16);
        crew.run(3);
        crew.pass();
        assert_eq!(crew.calls_per_frame(), 0.25);
    }
}
