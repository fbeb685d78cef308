//! External sorting: rows beyond a limit are written to a file in sorted runs, which are merged at the end. A row is a
//! few words, compared in order. Must not depend on the meaning of rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions, remove_file};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Rows could not be written to the file or read back.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}", path = .path.display())]
pub struct SpillError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub cause: std::io::Error,
}

impl SpillError {
    fn at(path: &Path) -> impl FnOnce(std::io::Error) -> SpillError + '_ {
        |cause| SpillError { path: path.to_owned(), cause }
    }
}

/// A row.
pub type Words<const N: usize> = [u64; N];

/// How many rows stay in memory, and the folder for the others.
#[derive(Clone, Debug)]
pub struct Scratch {
    folder: PathBuf,
    rows: usize,
}

impl Scratch {
    /// Files in `folder`; up to `rows` rows of each sorter stay in memory.
    pub fn new(folder: &Path, rows: usize) -> Scratch {
        Scratch { folder: folder.to_owned(), rows }
    }

    /// The maximum number of rows in memory.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Everything stays in memory, so that no error can occur.
    pub fn memory() -> Scratch {
        Scratch { folder: PathBuf::new(), rows: usize::MAX }
    }
}

/// Sorts rows added in any order.
pub struct Sorter<const N: usize> {
    rows: Vec<Words<N>>,
    most: usize,
    down: Down,
}

/// The file of sorted runs; removed when this is dropped.
struct Down {
    path: PathBuf,
    file: Option<File>,
    /// Number of rows in each run.
    runs: Vec<u64>,
}

impl Drop for Down {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = remove_file(&self.path);
        }
    }
}

impl<const N: usize> Sorter<N> {
    /// A sorter; `name` is the name of its file.
    pub fn new(scratch: &Scratch, name: &str) -> Sorter<N> {
        let path = scratch.folder.join(format!(".{name}.rows"));
        Sorter { rows: Vec::new(), most: scratch.rows, down: Down { path, file: None, runs: Vec::new() } }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Rows cannot be written to the file.
    pub fn add(&mut self, row: Words<N>) -> Result<(), SpillError> {
        self.rows.push(row);
        if self.rows.len() >= self.most { self.put_down() } else { Ok(()) }
    }

    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.rows.len() as u64 + self.down.runs.iter().sum::<u64>()
    }

    /// No rows?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn put_down(&mut self) -> Result<(), SpillError> {
        self.rows.sort_unstable();
        let bytes: Vec<u8> = self.rows.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        self.down.append(&bytes, self.rows.len())?;
        self.rows.clear();
        Ok(())
    }

    /// All rows in order.
    ///
    /// # Errors
    /// Rows cannot be written to the file or read back.
    pub fn sorted(mut self) -> Result<Sorted<N>, SpillError> {
        if self.down.file.is_none() {
            self.rows.sort_unstable();
            return Ok(Sorted::InMemory(self.rows.into_iter()));
        }
        if !self.rows.is_empty() {
            self.put_down()?;
        }
        Ok(Sorted::Merged(Merge::new(self.down)?))
    }
}

impl Down {
    fn append(&mut self, bytes: &[u8], rows: usize) -> Result<(), SpillError> {
        self.runs.push(rows as u64);
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let made =
                    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&self.path);
                none.insert(made.map_err(SpillError::at(&self.path))?)
            }
        };
        file.write_all(bytes).map_err(SpillError::at(&self.path))
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> Result<(), SpillError> {
        let file = self.file.as_mut().expect("runs are in a file");
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(into));
        read.map_err(SpillError::at(&self.path))
    }
}

/// Rows in order.
pub enum Sorted<const N: usize> {
    /// All were in memory.
    InMemory(std::vec::IntoIter<Words<N>>),
    /// Merged from sorted runs.
    Merged(Merge<N>),
}

impl<const N: usize> Iterator for Sorted<N> {
    type Item = Result<Words<N>, SpillError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Sorted::InMemory(rows) => rows.next().map(Ok),
            Sorted::Merged(merge) => merge.next().transpose(),
        }
    }
}

/// Merges sorted runs.
pub struct Merge<const N: usize> {
    down: Down,
    runs: Vec<Run<N>>,
    heads: BinaryHeap<Reverse<(Words<N>, usize)>>,
    /// Rows read at a time from each run.
    at_once: u64,
}

/// The part of a run not yet merged.
struct Run<const N: usize> {
    /// The offset of the first byte not yet read, and the number of rows from there.
    at: u64,
    left: u64,
    rows: std::vec::IntoIter<Words<N>>,
}

/// Bytes of all runs held in memory, unless there are very many runs.
const MERGED_AT_ONCE: u64 = 1 << 20;

impl<const N: usize> Merge<N> {
    fn new(down: Down) -> Result<Merge<N>, SpillError> {
        let at_once = (MERGED_AT_ONCE / down.runs.len() as u64 / Self::ROW).clamp(16, 1 << 12);
        let mut at = 0;
        let run = |left: &u64| {
            let run = Run { at, left: *left, rows: Vec::new().into_iter() };
            at += left * Self::ROW;
            run
        };
        let runs: Vec<_> = down.runs.iter().map(run).collect();
        let mut merge = Merge { down, runs, heads: BinaryHeap::new(), at_once };
        (0..merge.runs.len()).try_for_each(|run| merge.advance(run))?;
        Ok(merge)
    }

    const ROW: u64 = 8 * N as u64;

    fn next(&mut self) -> Result<Option<Words<N>>, SpillError> {
        let Some(Reverse((row, run))) = self.heads.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(row))
    }

    /// Adds the next row of a run to the heads, if there is one.
    fn advance(&mut self, number: usize) -> Result<(), SpillError> {
        let run = &mut self.runs[number];
        if run.rows.len() == 0 && run.left > 0 {
            let count = run.left.min(self.at_once);
            let mut bytes = vec![0; (count * Self::ROW) as usize];
            self.down.read_at(run.at, &mut bytes)?;
            run.at += count * Self::ROW;
            run.left -= count;
            run.rows = bytes.chunks_exact(Self::ROW as usize).map(row).collect::<Vec<_>>().into_iter();
        }
        self.heads.extend(run.rows.next().map(|row| Reverse((row, number))));
        Ok(())
    }
}

fn row<const N: usize>(bytes: &[u8]) -> Words<N> {
    let word = |n: usize| bytes[8 * n..8 * n + 8].try_into().expect("eight bytes");
    std::array::from_fn(|n| u64::from_le_bytes(word(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(count: u64) -> impl Iterator<Item = Words<2>> {
        (0..count).map(move |n| [n * 7_919 % count, n])
    }

    fn sorted(scratch: &Scratch, count: u64) -> Vec<Words<2>> {
        let mut sorter = Sorter::new(scratch, "test");
        shuffled(count).for_each(|row| sorter.add(row).expect("it can be put down"));
        sorter.sorted().expect("it can be read").map(|row| row.expect("it can be read")).collect()
    }

    #[test]
    fn rows_come_back_in_order_whether_they_were_put_down_or_not() {
        let folder = std::env::temp_dir().join(format!("weft-sorter-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room for temporary files");
        for count in [0, 1, 99, 100, 101, 4_000] {
            let mut all: Vec<_> = shuffled(count).collect();
            all.sort_unstable();
            assert_eq!(sorted(&Scratch::memory(), count), all);
            assert_eq!(sorted(&Scratch::new(&folder, 100), count), all, "{count}");
        }
        std::fs::remove_dir(&folder).expect("nothing is left behind");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let mut sorter = Sorter::<1>::new(&Scratch::new(Path::new("/not/there"), 2), "x");
        sorter.add([1]).expect("there is room");
        let error = sorter.add([2]).expect_err("there is no such folder").to_string();
        assert!(error.contains("/not/there/.x.rows"), "{error}");
    }
}
