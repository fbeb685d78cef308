//! Queries of a running router: its counters as Prometheus text, and its ports, workers, routes and neighbours for
//! people.
//!
//! It listens on a loopback address or a Unix socket only and answers `GET /metrics` and `GET /show`, one request per
//! connection.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The address at which a router can be queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchAddress {
    /// A port of this machine.
    Loopback(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl FromStr for WatchAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<WatchAddress, String> {
        match (text.strip_prefix("unix:"), text.parse::<SocketAddr>()) {
            (Some(path), _) if !path.is_empty() => Ok(WatchAddress::Unix(path.into())),
            (None, Ok(address)) if address.ip().is_loopback() => Ok(WatchAddress::Loopback(address)),
            (None, Ok(_)) => Err("can be reached from other machines".to_owned()),
            _ => Err("no address with a port".to_owned()),
        }
    }
}

impl fmt::Display for WatchAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WatchAddress::Loopback(address) => write!(f, "{address}"),
            WatchAddress::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How long the listener sleeps between checks, which is also how soon it stops.
const NAP: Duration = Duration::from_millis(20);
/// How long a client may take to send its request, or to receive the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum size of a request, bytes.
const LONGEST: usize = 4096;

/// An open address.
pub(crate) enum WatchListener {
    Loopback(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// A connection of either kind.
trait Connection: Read + Write {}
impl<C: Read + Write> Connection for C {}

impl WatchListener {
    /// Opens an address. Replaces a stale socket file.
    pub(crate) fn open(address: &WatchAddress) -> io::Result<WatchListener> {
        let listener = match address {
            WatchAddress::Loopback(address) => WatchListener::Loopback(TcpListener::bind(address)?),
            WatchAddress::Unix(path) => {
                remove_stale(path)?;
                WatchListener::Unix(UnixListener::bind(path)?, path.clone())
            }
        };
        match &listener {
            WatchListener::Loopback(listener) => listener.set_nonblocking(true)?,
            WatchListener::Unix(listener, _) => listener.set_nonblocking(true)?,
        }
        Ok(listener)
    }

    fn accept(&self) -> io::Result<Box<dyn Connection>> {
        match self {
            WatchListener::Loopback(listener) => {
                listener.accept().and_then(|(stream, _)| patient_tcp(stream))
            }
            WatchListener::Unix(listener, _) => {
                listener.accept().and_then(|(stream, _)| patient_unix(stream))
            }
        }
    }

    /// Answers until `stop` is set. `page` gives the text at a path.
    pub(crate) fn serve(&self, stop: &AtomicBool, page: impl Fn(&str) -> Option<String>) {
        while !stop.load(Ordering::Relaxed) {
            match self.accept() {
                // A client that fails affects only itself.
                Ok(mut connection) => drop(answer(&mut *connection, &page)),
                Err(_) => std::thread::sleep(NAP),
            }
        }
    }
}

impl Drop for WatchListener {
    fn drop(&mut self) {
        if let WatchListener::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn patient_tcp(stream: TcpStream) -> io::Result<Box<dyn Connection>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(Box::new(stream))
}

fn patient_unix(stream: UnixStream) -> io::Result<Box<dyn Connection>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(Box::new(stream))
}

/// Removes the socket of a router that no longer runs, and never anything else.
fn remove_stale(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    match UnixStream::connect(path) {
        Err(error) if is_socket && error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

/// Reads one request and writes its answer.
fn answer(connection: &mut dyn Connection, page: &impl Fn(&str) -> Option<String>) -> io::Result<()> {
    let mut request = Vec::new();
    let mut part = [0; 512];
    while request.len() < LONGEST && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match connection.read(&mut part)? {
            0 => break,
            count => request.extend_from_slice(&part[..count]),
        }
    }
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split(' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET"), Some(path)) => match page(path) {
            Some(body) => ("200 OK", body),
            None => ("404 Not Found", "there are /metrics and /show\n".to_owned()),
        },
        _ => ("405 Method Not Allowed", "only GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.0 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes())?;
    connection.write_all(body.as_bytes())
}

/// Queries a running router for the page at a path.
///
/// # Errors
/// There is no listener, or the answer is not that of a router.
pub fn ask(address: &WatchAddress, path: &str) -> io::Result<String> {
    let mut connection: Box<dyn Connection> = match address {
        WatchAddress::Loopback(address) => patient_tcp(TcpStream::connect(address)?)?,
        WatchAddress::Unix(path) => patient_unix(UnixStream::connect(path)?)?,
    };
    connection.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.0 200 ") => Ok(body.to_owned()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "no router listens there")),
    }
}
