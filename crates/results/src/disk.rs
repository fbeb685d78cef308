//! Text and JSON files, and the reasons why a file could not be written or read. Must not depend on the contents of
//! the files.

use ::parquet::errors::ParquetError;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use weft_store::{StoreError, in_place};
use weft_table::sorter::SpillError;

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The file system reported an error.
    #[error("{path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The file system's error.
        cause: std::io::Error,
    },
    /// The Parquet writer reported an error.
    #[error("{path}: {cause}", path = .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The writer's error.
        cause: ParquetError,
    },
    /// The file is not in the format of this version.
    #[error("{path}: {cause}; was it written by another version?", path = .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        cause: serde_json::Error,
    },
    /// The file is not as long as it was when its run was written.
    #[error("{path}: {found} bytes instead of {written}: damaged", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Its length now, bytes.
        found: u64,
        /// Its length in the manifest of the run, bytes.
        written: u64,
    },
    /// Two folders have no case in common.
    #[error("{a} and {b} have no case in common: nothing to compare", a = .a.display(), b = .b.display())]
    NothingInCommon {
        /// One folder.
        a: PathBuf,
        /// The other.
        b: PathBuf,
    },
    /// The folder contains no finished run.
    #[error("{path}: no finished run here (no summary.json in it or below it)", path = .path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder contains runs of several scenarios, which do not belong on one page.
    #[error("{path}: runs of several scenarios\nallowed: a folder with runs of one of {names}", path = .path.display())]
    SeveralScenarios {
        /// The folder.
        path: PathBuf,
        /// The names of the scenarios.
        names: String,
    },
}

impl From<SpillError> for DiskError {
    fn from(SpillError { path, cause }: SpillError) -> DiskError {
        DiskError::Io { path, cause }
    }
}

impl From<StoreError> for DiskError {
    fn from(StoreError { path, cause }: StoreError) -> DiskError {
        DiskError::Io { path, cause }
    }
}

impl DiskError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> DiskError + '_ {
        |cause| DiskError::Io { path: path.to_owned(), cause }
    }

    pub(crate) fn parquet(path: &Path) -> impl FnOnce(ParquetError) -> DiskError + '_ {
        |cause| match cause {
            // the system's own words, as for every other file
            ParquetError::External(cause) if cause.is::<std::io::Error>() => {
                let cause = cause.downcast().map_or_else(std::io::Error::other, |cause| *cause);
                DiskError::Io { path: path.to_owned(), cause }
            }
            cause => DiskError::Parquet { path: path.to_owned(), cause },
        }
    }

    fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> DiskError + '_ {
        |cause| DiskError::Json { path: path.to_owned(), cause }
    }
}

/// Writes a value as JSON so that the file is either complete or unchanged.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), DiskError> {
    let mut text = serde_json::to_string_pretty(value).map_err(DiskError::json(path))?;
    text.push('\n');
    write_text(path, &text)
}

/// Writes a text file so that it is either complete or unchanged.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_text(path: &Path, text: &str) -> Result<(), DiskError> {
    in_place(path, |mut file| file.write_all(text.as_bytes()).map_err(DiskError::io(path)))
}

pub(crate) fn read_text(path: &Path) -> Result<String, DiskError> {
    fs::read_to_string(path).map_err(DiskError::io(path))
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, DiskError> {
    serde_json::from_str(&read_text(path)?).map_err(DiskError::json(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_in_the_same_words_for_every_file() {
        let full = || std::io::Error::from_raw_os_error(28);
        let path = Path::new("flows.parquet");
        let told = DiskError::parquet(path)(ParquetError::from(full())).to_string();
        assert_eq!(told, format!("flows.parquet: {}", full()));
        let other = DiskError::parquet(path)(ParquetError::General("no".to_owned())).to_string();
        assert!(other.contains("no") && other.starts_with("flows.parquet: "), "{other}");
    }
}
