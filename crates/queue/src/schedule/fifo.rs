//! First in, first out over all queues of a port, by arrival time; ties go to the lower class. With one queue, plain
//! FIFO.

use weft_core::{Headers, settings};

use super::Scheduler;
use crate::ClassQueue;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "first in, first out, regardless of class";

settings! {
    /// No settings.
    pub struct FifoSettings {}
}

/// First in, first out.
#[derive(Clone, Debug)]
pub struct Fifo;

impl Fifo {
    /// For a port with `_queues` queues.
    #[must_use]
    pub fn new(_settings: &FifoSettings, _queues: usize) -> Fifo {
        Fifo
    }
}

impl Scheduler for Fifo {
    #[inline]
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize> {
        if let [only] = queues {
            return (only.ready().is_some()).then_some(0);
        }
        oldest(queues, headers)
    }
}

/// The queue whose head arrived first.
fn oldest(queues: &[ClassQueue], headers: &Headers) -> Option<usize> {
    let fronts = queues.iter().enumerate().filter_map(|(n, queue)| Some((n, queue.ready()?)));
    fronts.min_by_key(|(n, packet)| (headers.get(*packet).arrived, *n)).map(|(n, _)| n)
}
