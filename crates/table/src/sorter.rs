//! External sorting: rows beyond a limit are written to a file in sorted runs, which are merged at the end. A row is a
//! few words, compared in order. Must not depend on the meaning of rows.

mod merge;
mod rows;

use merge::Merge;
use rows::Rows;
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

/// The amount that stays in memory, and the folder for the rest.
#[derive(Clone, Debug)]
pub struct Scratch {
    folder: PathBuf,
    words: usize,
}

impl Scratch {
    /// Files in `folder`; up to `words` words of each sorter stay in memory, but at least a row.
    pub fn new(folder: &Path, words: usize) -> Scratch {
        Scratch { folder: folder.to_owned(), words }
    }

    /// Everything stays in memory, so that no error can occur.
    pub fn memory() -> Scratch {
        Scratch { folder: PathBuf::new(), words: usize::MAX }
    }
}

/// Sorts rows added in any order.
pub struct Sorter<const N: usize> {
    rows: Rows,
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
        let down = Down { path, file: None, runs: Vec::new() };
        Sorter { rows: Rows::of_width(N), most: scratch.words / N, down }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Rows cannot be written to the file.
    pub fn add(&mut self, row: Words<N>) -> Result<(), SpillError> {
        self.rows.push(&row);
        if self.rows.len() >= self.most { self.down.put(&mut self.rows) } else { Ok(()) }
    }

    /// The number of its rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.rows.len() as u64 + self.down.runs.iter().sum::<u64>()
    }

    /// No rows?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows in order.
    ///
    /// # Errors
    /// Rows cannot be written to the file or read back.
    pub fn sorted(mut self) -> Result<Sorted<N>, SpillError> {
        if self.down.file.is_none() {
            let order = self.rows.order().into_iter();
            return Ok(Sorted::InMemory(self.rows, order));
        }
        if self.rows.len() > 0 {
            self.down.put(&mut self.rows)?;
        }
        Ok(Sorted::Merged(Merge::new(self.down, N)?))
    }
}

impl Down {
    /// Appends the rows in order and forgets them.
    fn put(&mut self, rows: &mut Rows) -> Result<(), SpillError> {
        self.runs.push(rows.len() as u64);
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let made =
                    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&self.path);
                none.insert(made.map_err(SpillError::at(&self.path))?)
            }
        };
        file.write_all(&rows.take_bytes()).map_err(SpillError::at(&self.path))
    }

    fn read_at(&mut self, at: u64, bytes: usize) -> Result<Vec<u8>, SpillError> {
        let file = self.file.as_mut().expect("runs are in a file");
        let mut read = vec![0; bytes];
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(&mut read))
            .map_err(SpillError::at(&self.path))?;
        Ok(read)
    }
}

/// Rows in order.
pub enum Sorted<const N: usize> {
    /// All were in memory.
    InMemory(Rows, std::vec::IntoIter<u32>),
    /// Merged from sorted runs.
    Merged(Merge),
}

impl<const N: usize> Iterator for Sorted<N> {
    type Item = Result<Words<N>, SpillError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = match self {
            Sorted::InMemory(rows, order) => Ok(rows.row(order.next()? as usize)),
            Sorted::Merged(merge) => merge.next()?,
        };
        Some(row.map(|row| row.try_into().expect("rows have as many words as the sorter says")))
    }
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
            assert_eq!(sorted(&Scratch::new(&folder, 200), count), all, "{count}");
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
