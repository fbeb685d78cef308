//! Sorted runs in a file, read together in one order.

use super::{Down, SpillError};
use std::cmp::Ordering;

/// Bytes of all runs held in memory, unless there are very many runs.
const MERGED_AT_ONCE: u64 = 1 << 20;

/// Merges sorted runs.
pub struct Merge {
    down: Down,
    width: usize,
    runs: Vec<Run>,
    /// The runs that have rows, as a heap: no run's row comes before that of its parent.
    heap: Vec<usize>,
    /// Rows read at a time from each run.
    at_once: u64,
    /// Whether the first row of the heap has been given out.
    taken: bool,
}

/// The part of a run not yet merged.
struct Run {
    /// The offset of the first byte not yet read, and the number of rows from there.
    at: u64,
    left: u64,
    /// Rows that were read, and the first word of the next.
    words: Vec<u64>,
    next: usize,
}

impl Merge {
    pub(super) fn new(down: Down, width: usize) -> Result<Merge, SpillError> {
        let row = 8 * width as u64;
        let at_once = (MERGED_AT_ONCE / down.runs.len() as u64 / row).clamp(16, 1 << 12);
        let mut at = 0;
        let run = |left: &u64| {
            let run = Run { at, left: *left, words: Vec::new(), next: 0 };
            at += left * row;
            run
        };
        let runs: Vec<_> = down.runs.iter().map(run).collect();
        let heap = (0..runs.len()).collect();
        let mut merge = Merge { down, width, runs, heap, at_once, taken: false };
        (0..merge.runs.len()).try_for_each(|run| merge.read(run))?;
        (0..merge.heap.len()).rev().for_each(|place| merge.sink(place));
        Ok(merge)
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Option<Result<&[u64], SpillError>> {
        if std::mem::replace(&mut self.taken, true)
            && let Err(error) = self.advance()
        {
            return Some(Err(error));
        }
        self.heap.first().map(|run| Ok(self.row(*run)))
    }

    /// Leaves the first row of the heap.
    fn advance(&mut self) -> Result<(), SpillError> {
        let Some(&first) = self.heap.first() else { return Ok(()) };
        let run = &mut self.runs[first];
        run.next += self.width;
        if run.next == run.words.len() {
            self.read(first)?;
        }
        if self.runs[first].words.is_empty() {
            self.heap.swap_remove(0);
        }
        self.sink(0);
        Ok(())
    }

    /// Reads the next rows of a run whose rows are used up, if there are any.
    fn read(&mut self, number: usize) -> Result<(), SpillError> {
        let run = &mut self.runs[number];
        let count = run.left.min(self.at_once);
        let bytes = self.down.read_at(run.at, count as usize * 8 * self.width)?;
        run.at += bytes.len() as u64;
        run.left -= count;
        run.next = 0;
        run.words.clear();
        run.words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        Ok(())
    }

    fn row(&self, run: usize) -> &[u64] {
        let Run { words, next, .. } = &self.runs[run];
        &words[*next..][..self.width]
    }

    /// Rows of several runs that are equal come in the order of their runs.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        self.row(a).cmp(self.row(b)).then(a.cmp(&b))
    }

    /// Moves a run down the heap to its place.
    fn sink(&mut self, mut place: usize) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.heap.len());
            let Some(least) = children.min_by(|a, b| self.compare(self.heap[*a], self.heap[*b])) else {
                return;
            };
            if self.compare(self.heap[place], self.heap[least]).is_lt() {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }
}
