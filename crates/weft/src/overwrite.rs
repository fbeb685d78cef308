//! Files that a command may replace: those written by an earlier call of it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::Error;

/// Refuses to overwrite a file that is neither empty nor of this kind.
pub(crate) fn may_replace(path: &Path, kind: &str, is_ours: impl Fn(&Path) -> bool) -> Result<(), Error> {
    let holds_something = path.is_file() && path.metadata().is_ok_and(|about| about.len() > 0);
    if holds_something && !is_ours(path) {
        let why = format!("{}: this file is no {kind} of weft and is not overwritten", path.display());
        return Err(Error::BadInput(why));
    }
    Ok(())
}

/// Whether a file begins with these bytes.
pub(crate) fn begins_with(path: &Path, begin: &[u8]) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(begin.len() as u64).read_to_end(&mut bytes));
    read.is_ok() && bytes == begin
}
