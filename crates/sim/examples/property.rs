//! Tests random worlds on all cores until all cases are done: `cargo run --release -p weft-sim --example property --
//! CASES [FIRST]`. Prints every seed that breaks a law, and the totals of what occurred. With one case it also prints
//! the world.

#[path = "../tests/lab/mod.rs"]
mod lab;

use std::num::NonZero;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lab::trial::{Coverage, Extent, add, trial};
use lab::worlds::World;

/// The findings of all workers.
#[derive(Default)]
struct Found {
    covered: Coverage,
    failures: Vec<u64>,
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (Some(Ok(cases)), Ok(first)) = (numbers.next(), numbers.next().unwrap_or(Ok(1))) else {
        eprintln!("usage: property CASES [FIRST]");
        return ExitCode::from(2);
    };
    if cases == 1 {
        println!("{}", World::new(first).describe());
    }
    let (next, found) = (AtomicU64::new(first), Mutex::new(Found::default()));
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| work(&next, first + cases, &found));
        }
    });
    let found = found.into_inner().expect("no worker panics with the lock");
    for (what, n) in &found.covered {
        println!("{what:>24} {n}");
    }
    println!(
        "seeds {first} to {}: {} broke a law {:?}",
        first + cases - 1,
        found.failures.len(),
        found.failures
    );
    if found.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn work(next: &AtomicU64, end: u64, found: &Mutex<Found>) {
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return;
        }
        let verdict = catch_unwind(|| trial(seed, Extent::Threads));
        let mut found = found.lock().expect("no worker panics with the lock");
        let why = match verdict {
            Ok(Ok(covered)) => {
                add(&mut found.covered, covered);
                continue;
            }
            Ok(Err(why)) => why,
            Err(_) => "panicked, see above".to_owned(),
        };
        println!("seed {seed}: {why}");
        found.failures.push(seed);
    }
}
