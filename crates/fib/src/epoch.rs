//! When a node that was taken out of the table may be used again: once every reader that could have seen it is done.
//!
//! A reader notes the epoch before a batch and leaves after it; the writer raises the epoch with each node it takes out. The two
//! fences order "reader notes its epoch, reads a slot" and "writer changes the slot, reads the notes" against each other: either the
//! writer sees the note, or the reader the change.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A reader that is not reading.
const AWAY: u64 = u64::MAX;

/// The note of one reader, on its own cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Presence(AtomicU64);

/// The epoch and the notes of all readers.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    now: AtomicU64,
    readers: Mutex<Vec<Weak<Presence>>>,
}

/// A reader reads as long as this lives.
pub(crate) struct Reading<'a>(&'a Presence);

impl Epochs {
    /// A new reader.
    pub(crate) fn join(&self) -> Arc<Presence> {
        let presence = Arc::new(Presence(AtomicU64::new(AWAY)));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|reader| reader.strong_count() > 0);
        readers.push(Arc::downgrade(&presence));
        presence
    }

    /// The reader begins to read.
    #[inline]
    pub(crate) fn enter<'a>(&self, presence: &'a Presence) -> Reading<'a> {
        presence.0.store(self.now.load(Ordering::Acquire), Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Reading(presence)
    }

    /// A node was taken out of the table: the epoch in which readers may still see it.
    pub(crate) fn retire(&self) -> u64 {
        fence(Ordering::SeqCst);
        self.now.fetch_add(1, Ordering::AcqRel)
    }

    /// TrieNodes retired in an earlier epoch are seen by nobody.
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
