//! What the allocator says. It counts only in programs whose global allocator is [`ALLOCATOR`]; elsewhere everything
//! reads zero.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// The system's allocator, counted: a few atomic additions per call, and simulations make hardly any.
pub type Counted = &'static StatsAlloc<System>;

/// What a program makes its global allocator.
pub const ALLOCATOR: Counted = &INSTRUMENTED_SYSTEM;

/// The state of the heap at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// Calls that asked for memory so far, growing of what was there included.
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
