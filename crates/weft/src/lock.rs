//! Ensures that one process at a time writes results into a folder. The lock belongs to the operating system, so it
//! ends with the process, however that ends; the file only names the holder. Must not depend on results.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// The lock file beside a folder: `.tiny.lock` for `tiny`. It stays there, empty: if it were removed, two processes
/// could hold two files of one name.
fn file_for(folder: &Path) -> PathBuf {
    folder.with_file_name(format!(".{}.lock", folder.file_name().unwrap_or_default().to_string_lossy()))
}

/// The right to write into a folder, until dropped.
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock of an existing folder. A lock file left by a dead process is reused.
    ///
    /// # Errors
    /// Another process holds it, or the file cannot be created.
    pub(crate) fn take(folder: &Path) -> Result<Lock, Error> {
        let path = file_for(folder);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        match file {
            Ok(file) => Lock::on(file, folder, true),
            // Left by another user: whoever may read it can lock it.
            Err(cause) if cause.kind() == ErrorKind::PermissionDenied && path.exists() => {
                let file = File::open(&path).map_err(|cause| {
                    let remedy = "if no weft is writing there, it is a leftover: remove it";
                    Error::Failed(format!("the lock of another user, {}: {cause}; {remedy}", path.display()))
                })?;
                Lock::on(file, folder, false)
            }
            Err(cause) => Err(refused(&path)(cause)),
        }
    }

    /// Takes a lock with its open file, which names the holder if it may be written.
    fn on(mut file: File, folder: &Path, writable: bool) -> Result<Lock, Error> {
        let path = file_for(folder);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(folder, &mut file)),
            // On a file system without locks, no lock is better than no results.
            Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(cause)) => return Err(refused(&path)(cause)),
        }
        let mut lock = Lock(file);
        if writable {
            lock.say(&std::process::id().to_string()).map_err(refused(&path))?;
        }
        Ok(lock)
    }

    fn say(&mut self, who: &str) -> std::io::Result<()> {
        self.0.set_len(0)?;
        self.0.write_all(who.as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only a courtesy to readers: the lock itself is released with the file.
        let _ = self.0.set_len(0);
    }
}

fn refused(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    |cause| Error::Failed(format!("cannot write results to {}: {cause}", path.display()))
}

fn taken(folder: &Path, file: &mut File) -> Error {
    let mut who = String::new();
    let _ = file.read_to_string(&mut who);
    let who = if who.is_empty() { String::new() } else { format!(" (process {who})") };
    Error::Failed(format!(
        "another weft{who} is writing to {}: wait until it finishes, or give another --out",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first user of a shared folder leaves a file that others may only read.
    #[test]
    fn a_lock_file_that_may_only_be_read_can_be_locked() {
        let folder = std::env::temp_dir().join(format!("weft-lock-{}", std::process::id()));
        drop(Lock::take(&folder).expect("a new file"));
        let file = File::open(file_for(&folder)).expect("it stays there");
        let held = Lock::on(file, &folder, false).expect("nobody holds it");
        let told = Lock::take(&folder).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("another weft is writing to"), "{told}");
        drop(held);
        assert!(Lock::take(&folder).is_ok());
        std::fs::remove_file(file_for(&folder)).expect("it is ours");
    }
}
