//! Strict priority: queue 0 first; a queue is served only if all before it are empty.

use weft_core::{Headers, settings};

use super::Scheduler;
use crate::ClassQueue;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "strict priority, queue 0 first";

settings! {
    /// No settings.
    pub struct StrictSettings {}
}

/// Strict priority.
#[derive(Clone, Debug)]
pub struct Strict;

impl Strict {
    /// For a port with `_queues` queues.
    #[must_use]
    pub fn new(_settings: &StrictSettings, _queues: usize) -> Strict {
        Strict
    }
}

impl Scheduler for Strict {
    fn pick(&mut self, queues: &[ClassQueue], _headers: &Headers) -> Option<usize> {
        queues.iter().position(|queue| queue.ready().is_some())
    }
}
