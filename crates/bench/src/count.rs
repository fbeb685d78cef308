//! Instructions of a loop: the program runs itself again under callgrind, which counts every instruction and splits its
//! count at the start and the end of the loop. Must not depend on what the loop does.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use weft::Error;

use crate::pass::Pass;

/// The function at which the count is split; see [`crate::pass`].
const EDGE: &str = "*loop_edge*";
/// The name under which the bound loop is counted.
pub(crate) const BOUND: &str = "bound";

/// How to install the counter.
const INSTALL: &str = "counting instructions needs valgrind, which is not installed (Debian, Ubuntu: apt-get install \
                       valgrind; Fedora: dnf install valgrind)";

/// Whether instructions can be counted.
///
/// # Errors
/// [`Error::BadInput`] with instructions to install what is missing.
pub(crate) fn available() -> Result<(), Error> {
    let said = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match said {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Error::BadInput(INSTALL.to_owned())),
    }
}

/// The instructions in the loop of a case's reduced form, and the figures of the pass.
///
/// # Errors
/// [`Error::Failed`] if the program cannot be started again or fails.
pub(crate) fn count(name: &str, folder: &Path) -> Result<(u64, Pass), Error> {
    let (instructions, output) = count_output(name, folder)?;
    let pass = serde_json::from_slice(&output)
        .map_err(|cause| Error::Failed(format!("counting {name}: {cause}")))?;
    Ok((instructions, pass))
}

/// [`count`], with the output of the pass.
///
/// # Errors
/// As [`count`].
pub(crate) fn count_output(name: &str, folder: &Path) -> Result<(u64, Vec<u8>), Error> {
    let place = CountFolder::new(&name.replace('/', "-"))?;
    let failed = |what: String| Error::Failed(format!("counting {name}: {what}"));
    let program = std::env::current_exe().map_err(|cause| failed(cause.to_string()))?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", place.file().display()))
        .arg(format!("--dump-before={EDGE}"))
        .arg(program)
        .args(["bench", "--one-pass", name, "--from"])
        .arg(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| failed(cause.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok((place.instructions().map_err(failed)?, output.stdout))
}

/// A folder for callgrind's files, removed when this is dropped.
struct CountFolder(PathBuf);

impl CountFolder {
    fn new(name: &str) -> Result<CountFolder, Error> {
        let folder = std::env::temp_dir().join(format!("weft-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|cause| Error::Failed(format!("cannot make {}: {cause}", folder.display())))?;
        Ok(CountFolder(folder))
    }

    fn file(&self) -> PathBuf {
        self.0.join("counts")
    }

    /// The instructions between the first split and the last. Part n ends at the n-th split; the part after the last
    /// split has no number.
    fn instructions(&self) -> Result<u64, String> {
        let part = |n: usize| std::fs::read_to_string(self.0.join(format!("counts.{n}"))).ok();
        let parts: Vec<String> = (1..).map_while(part).collect();
        let loops = parts.get(1..).unwrap_or_default();
        let counted: Option<u64> = loops.iter().map(|part| total(part)).sum();
        counted.filter(|instructions| *instructions > 0).ok_or_else(|| "callgrind wrote no count".to_owned())
    }
}

impl Drop for CountFolder {
    fn drop(&mut self) {
        // A folder that is left behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The instructions of a part.
fn total(part: &str) -> Option<u64> {
    let line =
        part.lines().find_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_in_its_own_line() {
        let part =
            "# callgrind format\nversion: 1\npart: 2\nevents: Ir\n\nfn=(1) main\n12 7\n\ntotals: 1234567\n";
        assert_eq!(total(part), Some(1_234_567));
        assert_eq!(total("events: Ir\n"), None);
    }
}
