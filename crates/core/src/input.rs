//! Input files, read up to a limit, so that an endless device or pipe is an error and does not exhaust memory. Must
//! not depend on file formats.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

/// The size limit of a scenario or configuration file.
pub const LARGEST_FILE: u64 = 16_000_000;
/// The size limit of a list: of flows, cables, or points of a distribution.
pub const LARGEST_LIST: u64 = 1_000_000_000;

/// The bytes of a file of at most `most` bytes.
///
/// # Errors The system's error, or that the file is larger.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let words = format!("more than {most} bytes, the limit for such a file");
        return Err(Error::new(ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}

/// As [`read`], of a text in UTF-8.
///
/// # Errors As [`read`], or that it is not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    let words = |_| Error::new(ErrorKind::InvalidData, "bytes that are not UTF-8 text");
    String::from_utf8(read(path, most)?).map_err(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("weft-core-input-{}", std::process::id()));
        std::fs::write(&path, "12345").unwrap();
        let (all, less) = (read(&path, 5), read(&path, 4));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(all.unwrap(), b"12345");
        assert!(less.unwrap_err().to_string().contains("more than 4 bytes"));
        assert!(read(&path, 5).is_err(), "it is gone");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_end_is_an_error() {
        assert!(read(Path::new("/dev/zero"), 1_000_000).is_err());
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), b"");
    }
}
