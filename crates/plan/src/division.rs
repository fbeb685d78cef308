//! How many threads a run may use. Affects its speed, never a result.

/// How a run is divided among threads, one per domain of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The number of threads.
    pub threads: Threads,
    /// Cut the network at random with this seed: for tests.
    pub scatter: Option<u64>,
}

/// The number of threads of a run. An engine uses fewer if the network has fewer parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Exactly this many, whether or not they help.
    Exactly(usize),
    /// As many as help, but at most this many.
    UpTo(usize),
}

impl Division {
    /// One thread.
    pub const LONE: Division = Division { threads: Threads::Exactly(1), scatter: None };

    /// Exactly this many threads, at least one.
    #[must_use]
    pub fn threads(threads: usize) -> Division {
        Division { threads: Threads::Exactly(threads.max(1)), scatter: None }
    }

    /// As many threads as help, but at most this many.
    #[must_use]
    pub fn up_to(threads: usize) -> Division {
        Division { threads: Threads::UpTo(threads.max(1)), scatter: None }
    }
}

impl Default for Division {
    fn default() -> Division {
        Division::LONE
    }
}
