//! Strict priority for the first queues of a port, and another scheduler among the rest: how switches usually serve a
//! few urgent classes beside classes that share the port. Must not depend on the other scheduler.

use weft_core::Headers;

use super::Scheduler;
use crate::ClassQueue;

/// The first queues by strict priority, the others as `rest` serves them when all of the first are empty or held.
#[derive(Clone, Debug)]
pub(super) struct Ahead<S> {
    first: usize,
    /// Boxed, so that ports with other schedulers are no larger.
    rest: Box<S>,
}

impl<S> Ahead<S> {
    /// The first `first` of `queues` queues go ahead, at most all but one; `rest` is built for the number of the others.
    #[must_use]
    pub(super) fn new(first: u32, queues: usize, rest: impl FnOnce(usize) -> S) -> Ahead<S> {
        let first = (first as usize).min(queues.saturating_sub(1));
        Ahead { first, rest: Box::new(rest(queues - first)) }
    }
}

impl<S: Scheduler> Scheduler for Ahead<S> {
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize> {
        let (first, rest) = queues.split_at(self.first);
        let ahead = first.iter().position(|queue| queue.ready().is_some());
        ahead.or_else(|| Some(self.first + self.rest.pick(rest, headers)?))
    }

    fn refund(&mut self, queue: usize, wire: u16) {
        if let Some(queue) = queue.checked_sub(self.first) {
            self.rest.refund(queue, wire);
        }
    }
}
