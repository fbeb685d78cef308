//! Epoch-based reclamation: a node removed from the table may be reused once every reader that could have seen it has
//! finished.
//!
//! A reader records the epoch before a batch and leaves after it; the writer raises the epoch with each node it
//! removes. The two fences order "reader records its epoch, reads a slot" and "writer changes the slot, reads the
//! records" against each other: either the writer sees the record, or the reader sees the change.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A reader that is not reading.
const AWAY: u64 = u64::MAX;

/// The epoch recorded by one reader, on its own cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Presence(AtomicU64);

/// The current epoch, and those recorded by all readers.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    now: AtomicU64,
    readers: Mutex<Vec<Weak<Presence>>>,
}

/// A reader is reading while this exists.
pub(crate) struct Reading<'a>(&'a Presence);

impl Epochs {
    /// Adds a reader.
    pub(crate) fn join(&self) -> Arc<Presence> {
        let presence = Arc::new(Presence(AtomicU64::new(AWAY)));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|reader| reader.strong_count() > 0);
        readers.push(Arc::downgrade(&presence));
        presence
    }

    /// The reader starts reading.
    #[inline]
    pub(crate) fn enter<'a>(&self, presence: &'a Presence) -> Reading<'a> {
        presence.0.store(self.now.load(Ordering::Acquire), Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Reading(presence)
    }

    /// Called after a node has been removed from the table. Returns the epoch in which readers may still see it.
    pub(crate) fn retire(&self) -> u64 {
        fence(Ordering::SeqCst);
        self.now.fetch_add(1, Ordering::AcqRel)
    }

    /// The oldest epoch of any reader: no reader sees nodes retired before it.
    pub(crate) fn oldest(&self) -> u64 {
        fence(Ordering::SeqCst);
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let epoch = |reader: &Weak<Presence>| reader.upgrade().map(|reader| reader.0.load(Ordering::Acquire));
        readers.iter().filter_map(epoch).min().unwrap_or(AWAY)
    }
}

impl Drop for Reading<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(AWAY, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_keeps_what_was_retired_after_it_began() {
        let epochs = Epochs::default();
        let (first, second) = (epochs.join(), epochs.join());
        assert!(epochs.retire() < epochs.oldest(), "nobody reads");
        let reading = epochs.enter(&first);
        let retired = epochs.retire();
        assert!(retired >= epochs.oldest(), "the first may see it");
        let later = epochs.enter(&second);
        drop(reading);
        assert!(retired < epochs.oldest(), "the second began after it was taken out");
        drop(later);
    }
}
