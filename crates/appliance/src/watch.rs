//! Queries of a running router: its counters as Prometheus text, and its ports, workers, routes and neighbours as
//! text to read.
//!
//! It listens on a loopback address or a Unix socket only and answers `GET` of its pages, one request per connection.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_core::{Span, Time};
use weft_router::clock::RouterClock;

/// The address at which a router can be queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchAddress {
    /// A port of this machine.
    Loopback(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl WatchAddress {
    /// Reports that the folder of a Unix socket is missing.
    pub(crate) fn without_folder(&self) -> Option<String> {
        let WatchAddress::Unix(path) = self else { return None };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())?;
        Some(format!("metrics: the folder of {self}, {}, does not exist: make it first", folder.display()))
    }
}

impl FromStr for WatchAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<WatchAddress, String> {
        match (text.strip_prefix("unix:"), text.parse::<SocketAddr>()) {
            (Some(path), _) if !path.is_empty() => Ok(WatchAddress::Unix(path.into())),
            (None, Ok(address)) if address.port() == 0 => {
                Err("port 0 means any free port, and nobody would know which".to_owned())
            }
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

/// A page of a router with filters, which are left out where they say nothing.
#[must_use]
pub fn target(path: &str, filters: &[(&str, &Option<String>)]) -> String {
    let given = filters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let given: Vec<String> = given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if given.is_empty() { path.to_owned() } else { format!("{path}?{}", given.join("&")) }
}

/// A value in a query: every byte that may mean something there as `%` and two digits (RFC 3986, section 2.1).
fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b':' | b'/' | b'-' | b'_' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02x}"),
    };
    value.bytes().map(byte).collect()
}

/// The value that `encoded` has made; anything else stays as it is.
fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let byte = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(piece[2..].bytes());
            }
            None => bytes.extend(format!("%{piece}").bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A request for a page: its path, and the query behind it. Parameters that a page does not know are ignored, such as
/// those that Prometheus adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest<'a> {
    pub(crate) path: &'a str,
    query: &'a str,
}

impl PageRequest<'_> {
    fn of(target: &str) -> PageRequest<'_> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        PageRequest { path, query }
    }

    /// The value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| decoded(value))
    }
}

/// How long the listener sleeps between checks, which is also how soon it stops.
const NAP: Duration = Duration::from_millis(20);
/// Total time that a client may take, from its connection to the end of the answer.
const PATIENCE: Span = Span::from_s(2);
/// How long a client waits: for its turn, and for its answer.
const ANSWER: Duration = Duration::from_secs(10);
/// Maximum size of a request, bytes.
const LONGEST: usize = 4096;

/// An open address.
pub(crate) enum WatchListener {
    Loopback(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// A connection of either kind, whose calls wait for a limited time.
trait Connection: Read + Write {}
impl<C: Read + Write> Connection for C {}

/// A client, with its deadline.
struct Served<'a> {
    connection: Box<dyn Connection>,
    /// Started with the connection.
    clock: RouterClock,
    stop: &'a AtomicBool,
}

impl Served<'_> {
    /// Tries again until it succeeds or time runs out.
    fn patiently<T>(
        &mut self,
        mut attempt: impl FnMut(&mut dyn Connection) -> io::Result<T>,
    ) -> io::Result<T> {
        while self.clock.now() < Time::ZERO + PATIENCE && !self.stop.load(Ordering::Relaxed) {
            match attempt(&mut *self.connection) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Read for Served<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.patiently(|connection| connection.read(bytes))
    }
}

impl Write for Served<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|connection| connection.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.connection.flush()
    }
}

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
                listener.accept().and_then(|(stream, _)| patient_tcp(stream, NAP))
            }
            WatchListener::Unix(listener, _) => {
                listener.accept().and_then(|(stream, _)| patient_unix(stream, NAP))
            }
        }
    }

    /// Answers until `stop` is set. `page` gives the text at a path.
    pub(crate) fn serve(&self, stop: &AtomicBool, page: impl Fn(PageRequest<'_>) -> Option<String>) {
        while !stop.load(Ordering::Relaxed) {
            match self.accept() {
                // A client that fails affects only itself.
                Ok(connection) => {
                    let clock = RouterClock::start();
                    drop(answer(&mut Served { connection, clock, stop }, &page));
                }
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

fn patient_tcp(stream: TcpStream, patience: Duration) -> io::Result<Box<dyn Connection>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    Ok(Box::new(stream))
}

fn patient_unix(stream: UnixStream, patience: Duration) -> io::Result<Box<dyn Connection>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
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
fn answer(connection: &mut Served<'_>, page: &impl Fn(PageRequest<'_>) -> Option<String>) -> io::Result<()> {
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
        (Some("GET"), Some(target)) => match page(PageRequest::of(target)) {
            Some(body) => ("200 OK", body),
            None => (
                "404 Not Found",
                "there are /metrics, /show, /workers and /ports, /routes of routing, and /queues of a switch\n".to_owned(),
            ),
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

/// Queries a running router for a page ([`target`]).
///
/// # Errors
/// There is no listener, or the answer does not come from a router.
pub fn ask(address: &WatchAddress, target: &str) -> io::Result<String> {
    let mut connection: Box<dyn Connection> = match address {
        WatchAddress::Loopback(address) => patient_tcp(TcpStream::connect(address)?, ANSWER)?,
        WatchAddress::Unix(path) => patient_unix(UnixStream::connect(path)?, ANSWER)?,
    };
    connection.write_all(format!("GET {target} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.0 200 ") => Ok(body.to_owned()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "no router listens there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_arrives_as_it_was_given() {
        for value in ["left", "10.0.0.0/8", "2001:db8::1", "a b&port=c%", "Größe", ""] {
            let target = target("/routes", &[("prefix", &None), ("port", &Some(value.to_owned()))]);
            let request = PageRequest::of(&target);
            assert_eq!((request.path, request.parameter("prefix")), ("/routes", None));
            assert_eq!(request.parameter("port").as_deref(), Some(value), "{target}");
        }
        assert_eq!(target("/routes", &[("port", &None)]), "/routes");
        assert_eq!(decoded("100%, %zz, %é"), "100%, %zz, %é", "nothing that was encoded");
    }

    /// Listens at a socket of the process while `ask` runs; returns its result, and how long the listener took to
    /// stop.
    fn while_serving<T>(name: &str, ask: impl FnOnce(&WatchAddress) -> T) -> (T, Time) {
        let path = std::env::temp_dir().join(format!("weft-watch-{name}-{}", std::process::id()));
        let (address, stop) = (WatchAddress::Unix(path), AtomicBool::new(false));
        let listener = WatchListener::open(&address).unwrap();
        std::thread::scope(|scope| {
            let thread = scope
                .spawn(|| listener.serve(&stop, |page| (page.path == "/metrics").then(|| "page".to_owned())));
            let found = ask(&address);
            let clock = RouterClock::start();
            stop.store(true, Ordering::Relaxed);
            thread.join().unwrap();
            (found, clock.now())
        })
    }

    fn connect(address: &WatchAddress) -> UnixStream {
        let WatchAddress::Unix(path) = address else { unreachable!("a socket") };
        UnixStream::connect(path).unwrap()
    }

    /// A client that sends a byte from time to time has two seconds in total; then the next is served.
    #[test]
    fn a_slow_client_delays_others_by_its_time_at_most() {
        let ((page, waited), _) = while_serving("slow", |address| {
            let mut slow = connect(address);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    for byte in b"GET /metrics HTTP/1.0 and so on, for as long as anybody listens".iter() {
                        if slow.write_all(&[*byte]).is_err() {
                            return;
                        }
                        std::thread::sleep(Duration::from_millis(200));
                    }
                });
                std::thread::sleep(Duration::from_millis(100));
                let clock = RouterClock::start();
                (ask(address, "/metrics").unwrap(), clock.now())
            })
        });
        assert_eq!(page, "page");
        assert!(waited < Time::ZERO + Span::from_s(4), "{waited:?}");
    }

    /// Prometheus adds the parameters of its configuration.
    #[test]
    fn a_query_is_no_part_of_the_path() {
        let (pages, _) = while_serving("query", |address| {
            ["/metrics", "/metrics?name[]=x", "/metrics?", "/metrics/x?", "/x?/metrics"]
                .map(|target| serves(address, target))
        });
        assert_eq!(pages, [true, true, true, false, false]);
    }

    fn serves(address: &WatchAddress, target: &str) -> bool {
        ask(address, target).is_ok_and(|text| text == "page")
    }

    #[test]
    fn a_client_that_waits_does_not_keep_the_listener() {
        let (_silent, ended) = while_serving("silent", |address| {
            let silent = connect(address);
            std::thread::sleep(Duration::from_millis(100));
            silent
        });
        assert!(ended < Time::ZERO + Span::from_s(1), "{ended:?}");
    }
}
