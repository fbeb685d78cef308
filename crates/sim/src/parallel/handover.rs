//! Where threads sleep whose domains the first thread simulates, until it hands them back or the run is over.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often a sleeping thread makes sure that the first has not panicked.
const GLANCE: Duration = Duration::from_millis(50);

/// The message from the first thread to the others.
struct Word<T> {
    /// How many times it has spoken.
    number: u64,
    /// What they go on from; `None`: the run is over.
    what: Option<T>,
}

/// Where threads sleep while the first one simulates their domains.
pub(super) struct Handover<T> {
    word: Mutex<Word<T>>,
    bell: Condvar,
}

impl<T: Clone> Handover<T> {
    pub(super) fn new() -> Handover<T> {
        Handover { word: Mutex::new(Word { number: 0, what: None }), bell: Condvar::new() }
    }

    /// Wakes all who sleep.
    pub(super) fn tell(&self, what: Option<T>) {
        let mut word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        *word = Word { number: word.number + 1, what };
        self.bell.notify_all();
    }

    /// Sleeps until the first thread speaks for the `number`-th time.
    ///
    /// # Panics
    /// If it never will.
    pub(super) fn listen(&self, number: u64, is_broken: impl Fn() -> bool) -> Option<T> {
        let mut word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        while word.number < number {
            assert!(!is_broken(), "another thread of the run panicked");
            let slept = self.bell.wait_timeout(word, GLANCE);
            word = slept.unwrap_or_else(PoisonError::into_inner).0;
        }
        word.what.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_heard_by_those_who_listen_later_too() {
        let handover = Handover::new();
        std::thread::scope(|scope| {
            let sleeping: Vec<_> = (0..3).map(|_| scope.spawn(|| handover.listen(1, || false))).collect();
            handover.tell(Some(7));
            sleeping
                .into_iter()
                .for_each(|thread| assert_eq!(thread.join().expect("nobody panics"), Some(7)));
        });
        assert_eq!(handover.listen(1, || false), Some(7));
        handover.tell(None);
        assert_eq!(handover.listen(2, || false), None);
    }

    #[test]
    #[should_panic(expected = "another thread of the run panicked")]
    fn nobody_sleeps_for_ever() {
        Handover::<()>::new().listen(1, || true);
    }
}
