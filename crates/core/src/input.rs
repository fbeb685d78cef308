//! Input files, read up to a limit: an endless device or pipe is an error rather than exhausted memory. Files that
//! gzip has compressed are unpacked on the way. Must not depend on the content of the files.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

/// The size limit of a scenario: reading it takes memory of about a hundred times its size, because every value keeps
/// its place and origin.
pub const LARGEST_SCENARIO: u64 = 4_000_000;
/// The size limit of another configuration file.
pub const LARGEST_FILE: u64 = 16_000_000;
/// The size limit of a list: of flows, cables, or points of a distribution.
pub const LARGEST_LIST: u64 = 1_000_000_000;

/// The bytes of a file, at most `most` of them.
///
/// # Errors
/// The system's error, or the file is too large.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    up_to(File::open(path)?, most)
}

fn up_to(source: impl Read, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let words = format!("more than {most} bytes, the limit for such a file");
        return Err(Error::new(ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}

/// Like [`read`], for UTF-8 text.
///
/// # Errors
/// As for [`read`], or the bytes are not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    text(read(path, most)?)
}

/// Like [`read_text`]; a file whose name ends in `.gz` is unpacked, and the limit holds for its contents.
///
/// # Errors
/// As for [`read_text`], or the file is not in gzip format.
pub fn read_packed(path: &Path, most: u64) -> Result<String, Error> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return read_text(path, most);
    }
    let unpacked = up_to(MultiGzDecoder::new(File::open(path)?.take(most)), most);
    text(
        unpacked
            .map_err(|error| Error::new(error.kind(), format!("gzip data that does not unpack: {error}")))?,
    )
}

/// The text without the byte order mark that some editors write before it.
fn text(bytes: Vec<u8>) -> Result<String, Error> {
    let words = |_| Error::new(ErrorKind::InvalidData, "bytes that are not UTF-8 text");
    let mut text = String::from_utf8(bytes).map_err(words)?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
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

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        assert_eq!(text("\u{feff}0 1".into()).unwrap(), "0 1");
        assert_eq!(text("0 \u{feff}1".into()).unwrap(), "0 \u{feff}1");
    }

    #[test]
    fn a_gzip_file_is_unpacked_up_to_the_limit() {
        use std::io::Write as _;
        let path = std::env::temp_dir().join(format!("weft-core-input-{}.csv.gz", std::process::id()));
        let file = File::create(&path).unwrap();
        let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        packer.write_all(&[b'7'; 1_000]).unwrap();
        packer.finish().unwrap();
        let (all, less) = (read_packed(&path, 1_000), read_packed(&path, 999));
        std::fs::write(&path, "start_ns").unwrap();
        let plain = read_packed(&path, 1_000);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(all.unwrap(), "7".repeat(1_000));
        assert!(less.unwrap_err().to_string().contains("more than 999 bytes"));
        assert!(plain.unwrap_err().to_string().contains("gzip data that does not unpack"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_end_is_an_error() {
        assert!(read(Path::new("/dev/zero"), 1_000_000).is_err());
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), b"");
    }
}
