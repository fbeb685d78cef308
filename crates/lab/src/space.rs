//! Network namespaces that belong to this process. They have no names, so nothing of them remains when the process
//! ends, however it ends: the kernel removes a namespace, its interfaces and its sockets with the last descriptor
//! that refers to it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use crate::system;

/// A network namespace.
#[derive(Debug)]
pub(crate) struct Space(File);

impl Space {
    /// A new namespace with only a loopback interface that is down.
    ///
    /// # Errors
    /// There is no permission, or there are too many.
    pub(crate) fn new() -> io::Result<Space> {
        let open = || -> io::Result<Space> {
            system::leave_network()?;
            Ok(Space(File::open("/proc/thread-self/ns/net")?))
        };
        on_a_thread(open)
    }

    /// The namespace of this thread, for tests that do not enter it.
    #[cfg(test)]
    pub(crate) fn own() -> io::Result<Space> {
        Ok(Space(File::open("/proc/thread-self/ns/net")?))
    }

    /// Runs a function on a thread inside.
    ///
    /// # Errors
    /// The namespace cannot be entered.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        on_a_thread(|| self.enter().and_then(|()| work()))
    }

    /// Moves the calling thread into it.
    ///
    /// # Errors
    /// There is no permission.
    pub(crate) fn enter(&self) -> io::Result<()> {
        system::enter(&self.0)
    }

    /// A path by which other programs find it while this process runs.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Runs lines of a program (`ip`, `tc`) inside.
    ///
    /// # Errors
    /// The program is missing or refuses a line; the text says which.
    pub(crate) fn batch(&self, program: &'static str, lines: &[String]) -> io::Result<()> {
        self.within(|| batch(program, lines))
    }

    /// Sets switches of the kernel's IPv4; those that it lacks are skipped and returned.
    ///
    /// # Errors
    /// The namespace cannot be entered.
    pub(crate) fn switch(&self, switches: &[(&'static str, String)]) -> io::Result<Vec<&'static str>> {
        self.within(|| {
            let fails = |(name, value): &&(&'static str, String)| {
                std::fs::write(format!("/proc/sys/net/ipv4/{name}"), value).is_err()
            };
            // Hosts send nothing of their own accord.
            let _ = std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
            Ok(switches.iter().filter(fails).map(|(name, _)| *name).collect())
        })
    }
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let result = std::thread::scope(|scope| scope.spawn(work).join());
    result.unwrap_or_else(|_| Err(io::Error::other("a thread of the lab has failed")))
}

/// Runs lines of a program in the namespace of the calling thread.
fn batch(program: &'static str, lines: &[String]) -> io::Result<()> {
    let missing = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other(format!("`{program}` is missing: install iproute2")),
        _ => error,
    };
    let mut child = Command::new(program)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    let written =
        child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all((lines.join("\n") + "\n").as_bytes()));
    let output = child.wait_with_output()?;
    if output.status.success() {
        return written;
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(io::Error::other(format!("{program}: {said}")))
}
