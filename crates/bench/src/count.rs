//! Instructions and cache misses of a loop: the program runs itself again under callgrind, which counts every instruction,
//! simulates a first-level cache, and splits its counts at the start and the end of the loop. Must not depend on what the
//! loop does.

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

/// The simulated caches: fixed, so that counts do not depend on those of the machine. Bytes, ways, bytes per line.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

/// The counts of callgrind in a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopCounts {
    pub(crate) instructions: u64,
    /// Reads and writes that miss a first-level data cache of 32 kB.
    pub(crate) misses: u64,
}

/// The counts for the loop of a case's reduced form, and the figures of the pass; with `misses`, cache misses as
/// well, which takes three times as long.
///
/// # Errors
/// [`Error::Failed`] if the program cannot be started again or fails.
pub(crate) fn count(name: &str, folder: &Path, misses: bool) -> Result<(LoopCounts, Pass), Error> {
    let (counts, output) = count_output(name, folder, misses)?;
    let pass = serde_json::from_slice(&output)
        .map_err(|cause| Error::Failed(format!("counting {name}: {cause}")))?;
    Ok((counts, pass))
}

/// [`count`], with the output of the pass.
///
/// # Errors
/// As [`count`].
pub(crate) fn count_output(name: &str, folder: &Path, misses: bool) -> Result<(LoopCounts, Vec<u8>), Error> {
    let place = CountFolder::new(&name.replace('/', "-"))?;
    let failed = |what: String| Error::Failed(format!("counting {name}: {what}"));
    let program = std::env::current_exe().map_err(|cause| failed(cause.to_string()))?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .args(if misses { &CACHES[..] } else { &[] })
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
    Ok((place.counts().map_err(failed)?, output.stdout))
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

    /// The counts between the first split and the last. Part n ends at the n-th split; the part after the last split has
    /// no number.
    fn counts(&self) -> Result<LoopCounts, String> {
        let part = |n: usize| std::fs::read_to_string(self.0.join(format!("counts.{n}"))).ok();
        let parts: Vec<String> = (1..).map_while(part).collect();
        let loops = parts.get(1..).unwrap_or_default();
        let counted: Option<Vec<LoopCounts>> = loops.iter().map(|part| totals(part)).collect();
        let sum = |all: Vec<LoopCounts>| LoopCounts {
            instructions: all.iter().map(|part| part.instructions).sum(),
            misses: all.iter().map(|part| part.misses).sum(),
        };
        let counted = counted.map(sum).filter(|counts| counts.instructions > 0);
        counted.ok_or_else(|| "callgrind wrote no count".to_owned())
    }
}

impl Drop for CountFolder {
    fn drop(&mut self) {
        // A leftover folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The counts of a part: its sums in the order of its list of events, zeros at the end left out.
fn totals(part: &str) -> Option<LoopCounts> {
    let line = |name: &str| part.lines().find_map(|line| line.strip_prefix(name));
    let sums: Vec<u64> = (line("totals:").or(line("summary:"))?.split_whitespace())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let names: Vec<&str> = line("events:")?.split_whitespace().collect();
    let of = |event: &str| {
        let place = names.iter().position(|name| *name == event);
        place.and_then(|place| sums.get(place)).copied().unwrap_or(0)
    };
    Some(LoopCounts { instructions: of("Ir"), misses: of("D1mr") + of("D1mw") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_by_the_names_of_their_events() {
        let head = "# callgrind format\nversion: 1\npart: 2\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr\n\nfn=(1) main\n12 7\n\n";
        let counts = |sums: &str| totals(&format!("{head}totals: {sums}\n"));
        assert_eq!(counts("1234567 9 8 7 60 5"), Some(LoopCounts { instructions: 1_234_567, misses: 65 }));
        assert_eq!(counts("12 9"), Some(LoopCounts { instructions: 12, misses: 0 }));
        assert_eq!(totals(head), None);
    }
}
