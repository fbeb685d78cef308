//! Runs many simulations on a few threads: takes jobs in order, reports progress, and survives a failing run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use weft_core::Time;

use crate::clock;
use crate::{FinishedRun, Progress, RunOptions, RunProgress};

/// The interval between updates of the progress display.
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// A computation.
pub(crate) trait Job: Sync {
    /// Its result.
    type Output: Send;
    /// Case and seed.
    fn label(&self) -> String;
    /// Computes the job; calls `watch` occasionally and stops if it returns `false`.
    fn compute(&self, watch: weft_plan::Watch<'_>) -> Result<Self::Output, String>;
    /// The time limit of the run, if there is one.
    fn limit(&self) -> Option<Time>;
    /// Whether a result is partial, because the computation was stopped.
    fn is_partial(result: &Self::Output) -> bool;
}

/// State shared by all threads.
struct Board<'a> {
    options: &'a RunOptions,
    progress: Mutex<Shown>,
}

/// The progress, and when it was last shown.
struct Shown {
    progress: Progress,
    last: Instant,
}

/// Computes all jobs. Results are in the order of the jobs, `None` for jobs not started because of an interruption.
/// The runs with the labels `reused` were already complete.
pub(crate) fn run_all<J: Job>(
    jobs: &[J],
    reused: Vec<String>,
    options: &RunOptions,
) -> Vec<Option<Result<J::Output, String>>> {
    let progress = Progress { runs_total: reused.len() + jobs.len(), ..Progress::default() };
    let board = Board { options, progress: Mutex::new(Shown { progress, last: clock::now() }) };
    for label in reused {
        board.finish(FinishedRun { label, reused: true, ..FinishedRun::default() });
    }
    let next = AtomicUsize::new(0);
    let results: Vec<_> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { return };
            *results[number].lock().expect("no thread panics with the lock") = Some(board.compute(job));
        }
    };
    together(options.jobs.min(jobs.len()), Builder::new, work);
    let result = |cell: Mutex<Option<_>>| cell.into_inner().expect("no thread panics with the lock");
    results.into_iter().map(|cell| result(cell).expect("every job was taken")).collect()
}

/// Works on this thread and on others, `workers` in all, or as many as the system starts.
fn together(workers: usize, builder: impl Fn() -> Builder, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        let starts = |_: &usize| builder().spawn_scoped(scope, &work).is_ok();
        // Where one thread is refused, the next would be as well.
        let _started = (1..workers).take_while(starts).count();
        work();
    });
}

impl Board<'_> {
    /// Computes one job; a panic in it becomes an error.
    fn compute<J: Job>(&self, job: &J) -> Option<Result<J::Output, String>> {
        if self.stopped() {
            return None;
        }
        let label = job.label();
        let began = clock::now();
        self.show(&label, job.limit(), None, began);
        let mut watch = |progress: &weft_plan::EngineProgress| {
            self.show(&label, job.limit(), Some(progress), began);
            !self.stopped()
        };
        let result = catch_unwind(AssertUnwindSafe(|| job.compute(&mut watch)));
        let result = result.unwrap_or_else(|panic| Err(format!("a bug in Weft: {}", message(&*panic))));
        let interrupted = result.as_ref().is_ok_and(J::is_partial);
        let failure = result.as_ref().err().cloned();
        self.finish(FinishedRun { label, interrupted, failure, reused: false });
        Some(result)
    }

    fn stopped(&self) -> bool {
        let stop: &AtomicBool = &self.options.stop;
        stop.load(Ordering::Relaxed)
    }

    /// Updates the line of one run, and shows everything if it is due.
    fn show(
        &self,
        label: &str,
        limit: Option<Time>,
        now: Option<&weft_plan::EngineProgress>,
        began: Instant,
    ) {
        let mut shown = self.progress.lock().expect("no thread panics with the lock");
        let line = run_progress(label, limit, now, began.elapsed().as_secs_f64());
        match shown.progress.current.iter_mut().find(|run| run.label == label) {
            Some(run) => *run = line,
            None => shown.progress.current.push(line),
        }
        if shown.last.elapsed() >= SHOW_EVERY {
            shown.last = clock::now();
            (self.options.progress)(&shown.progress);
        }
    }

    fn finish(&self, run: FinishedRun) {
        let mut shown = self.progress.lock().expect("no thread panics with the lock");
        shown.progress.current.retain(|one| one.label != run.label);
        shown.progress.runs_done += usize::from(!run.interrupted);
        (self.options.progress)(&Progress { finished: Some(run), ..shown.progress.clone() });
    }
}

/// One line of the display.
fn run_progress(
    label: &str,
    limit: Option<Time>,
    now: Option<&weft_plan::EngineProgress>,
    wall: f64,
) -> RunProgress {
    let label = label.to_owned();
    let Some(now) = now else { return RunProgress { label, limit, ..RunProgress::default() } };
    let share = now.flows_done as f64 / now.flows_total.max(1) as f64;
    RunProgress {
        label,
        simulated: now.now,
        limit,
        events: now.events,
        events_per_s: now.events as f64 / wall.max(1e-9),
        flows_done: now.flows_done as u64,
        flows_total: now.flows_total as u64,
        eta_s: (share > 0.01).then(|| wall * (1.0 - share) / share),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_by_the_threads_that_start() {
        let count = |workers, stack: fn(usize) -> usize| {
            let (asked, worked) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let builder = || Builder::new().stack_size(stack(asked.fetch_add(1, Ordering::Relaxed)));
            together(workers, builder, || _ = worked.fetch_add(1, Ordering::Relaxed));
            worked.into_inner()
        };
        const LITTLE: usize = 1 << 16;
        // no machine has so much memory for its stack
        const REFUSED: usize = 1 << 60;
        assert_eq!([0, 1, 4].map(|workers| count(workers, |_| LITTLE)), [1, 1, 4]);
        assert_eq!(count(4, |_| REFUSED), 1, "this thread alone");
        assert_eq!(count(4, |nth| if nth < 2 { LITTLE } else { REFUSED }), 3);
    }
}
