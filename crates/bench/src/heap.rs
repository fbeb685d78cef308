//! Counts of the allocator. They are available only in programs whose global allocator is [`ALLOCATOR`]; elsewhere
//! everything reads zero.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// The system's allocator with counters: a few atomic additions per call, and simulations make very few calls.
pub type Counted = &'static StatsAlloc<System>;

/// The global allocator of a program that counts.
pub const ALLOCATOR: Counted = &INSTRUMENTED_SYSTEM;

/// The state of the heap at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// Allocations so far, including reallocations.
    pub(crate) calls: u64,
    /// Bytes in use.
    pub(crate) bytes: u64,
}

/// The heap now.
pub(crate) fn now() -> Heap {
    let stats = INSTRUMENTED_SYSTEM.stats();
    let bytes = stats.bytes_allocated.saturating_sub(stats.bytes_deallocated);
    Heap { calls: (stats.allocations + stats.reallocations) as u64, bytes: bytes as u64 }
}
