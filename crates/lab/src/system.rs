//! System calls of the lab: namespaces, priorities, sockets. The only `unsafe` code of this crate.
//!
//! Each wrapper takes safe types and turns results into [`io::Result`].

use std::ffi::{CString, c_int};
use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Maximum wait of a thread, which is also how soon it stops.
const MOST_WAIT: Duration = Duration::from_millis(50);

/// Checks the result of a call that returns -1 and sets `errno`.
fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Moves the calling thread into a new network namespace.
///
/// # Errors
/// There is no permission, or there are too many.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn leave_network() -> io::Result<()> {
    // SAFETY: no memory is passed; only the calling thread changes its namespace.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Moves the calling process, which has one thread, into a new user namespace.
///
/// # Errors
/// The system does not allow it.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn leave_users() -> io::Result<()> {
    // SAFETY: no memory is passed; with several threads the call fails.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER) }).map(drop)
}

/// The effective user and group.
#[allow(unsafe_code, reason = "system calls")]
pub(crate) fn user_and_group() -> (u32, u32) {
    // SAFETY: these calls take nothing and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Moves the calling thread into a network namespace.
///
/// # Errors
/// There is no permission.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn enter(network: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as the call lasts; no memory is passed.
    checked(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Whether an interface in the namespace of the calling thread carries packets: it is up, and so is the other end.
///
/// # Errors
/// There is no such interface.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn is_running(interface: &str) -> io::Result<bool> {
    let socket = tcp_socket()?;
    // SAFETY: the structure holds integers and unions of integers and pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let place = &mut request.ifr_name[..libc::IFNAMSIZ - 1];
    place.iter_mut().zip(interface.bytes()).for_each(|(place, byte)| *place = byte as libc::c_char);
    // SAFETY: SIOCGIFFLAGS takes a pointer to an `ifreq`, which outlives the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) })?;
    // SAFETY: the call has filled in the flags.
    let flags = c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    Ok(flags & libc::IFF_RUNNING != 0)
}

/// Lets the calling thread run before all ordinary ones (`SCHED_FIFO`).
///
/// # Errors
/// There is no permission.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn run_first(priority: c_int) -> io::Result<()> {
    // SAFETY: all fields of this C structure are integers, for which zero is valid.
    let mut parameters: libc::sched_param = unsafe { zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the pointer is to a structure that outlives the call; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }).map(drop)
}

/// What [`wait`] waits for.
pub(crate) type Awaited = libc::pollfd;

/// Waits for a descriptor to become readable, or writable.
pub(crate) fn awaited(descriptor: RawFd, writable: bool) -> Awaited {
    libc::pollfd { fd: descriptor, events: if writable { libc::POLLOUT } else { libc::POLLIN }, revents: 0 }
}

/// Whether something has happened to a descriptor.
pub(crate) fn has_happened(awaited: &Awaited) -> bool {
    awaited.revents != 0
}

/// Waits until something has happened to one of the descriptors, at most for the time given.
///
/// # Errors
/// A descriptor is bad.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn wait(awaited: &mut [Awaited], most: Duration) -> io::Result<()> {
    let most = most.min(MOST_WAIT);
    let time = libc::timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
    // SAFETY: the pointers are to as many structures as passed and to a time, and outlive the call; signals stay as they are.
    let result = unsafe {
        libc::ppoll(awaited.as_mut_ptr(), awaited.len() as libc::nfds_t, &raw const time, std::ptr::null())
    };
    match checked(result) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// A TCP socket in the namespace of the calling thread, non-blocking.
///
/// # Errors
/// There are too many descriptors.
#[allow(unsafe_code, reason = "system calls")]
pub(crate) fn tcp_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is passed.
    let raw = checked(unsafe { libc::socket(libc::AF_INET, kind, 0) })?;
    // SAFETY: the call has just returned this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Whether a call failed because there are too many descriptors or too little memory, which may pass.
pub(crate) fn is_crowded(error: &io::Error) -> bool {
    let passing = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    error.raw_os_error().is_some_and(|number| passing.contains(&number))
}

/// The numbers of descriptors that this process may have, and that it may ask for.
#[allow(unsafe_code, reason = "a system call")]
fn descriptors() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure that outlives the call.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    Ok(limit)
}

/// The number of descriptors that this process may ask for.
pub(crate) fn most_descriptors() -> u64 {
    descriptors().map_or(u64::MAX, |limit| limit.rlim_max)
}

/// Asks for as many descriptors as this process may have.
///
/// # Errors
/// The system refuses.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn raise_descriptors() -> io::Result<()> {
    let limit = descriptors()?;
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: the pointer is to a structure that outlives the call.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) }).map(drop)
}

/// Sets an option of a socket from bytes.
#[allow(unsafe_code, reason = "a system call")]
fn set(socket: &OwnedFd, (level, option): (c_int, c_int), value: &[u8]) -> io::Result<()> {
    // SAFETY: the pointer is to as many readable bytes as passed, which the call copies.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Chooses the congestion control of a socket.
///
/// # Errors
/// The kernel does not have it.
pub(crate) fn set_congestion_control(socket: &OwnedFd, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    set(socket, (libc::IPPROTO_TCP, libc::TCP_CONGESTION), name.as_bytes())
}

/// Marks all packets of a socket with a differentiated services code point.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn set_code_point(socket: &OwnedFd, code_point: u8) -> io::Result<()> {
    set(socket, (libc::IPPROTO_IP, libc::IP_TOS), &c_int::from(code_point << 2).to_ne_bytes())
}

/// Lets the kernel spread the packets of a socket over the round trip.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn set_paced(socket: &OwnedFd) -> io::Result<()> {
    set(socket, (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE), &(u32::MAX - 1).to_ne_bytes())
}

fn address((host, port): (Ipv4Addr, u16)) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(host).to_be() },
        sin_zero: [0; 8],
    }
}

/// Starts to connect a socket; returns before the connection is established.
///
/// # Errors
/// The address is in use, or there is no route.
#[allow(unsafe_code, reason = "system calls")]
pub(crate) fn connect(socket: OwnedFd, from: (Ipv4Addr, u16), to: (Ipv4Addr, u16)) -> io::Result<TcpStream> {
    set(&socket, (libc::SOL_SOCKET, libc::SO_REUSEADDR), &1_i32.to_ne_bytes())?;
    let (own, other) = (address(from), address(to));
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the pointer is to a `sockaddr_in` of the given length, which the call only reads.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const own).cast(), length) })?;
    // SAFETY: as above.
    match checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const other).cast(), length) }) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(TcpStream::from(socket)),
    }
}

/// The kernel's counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpCounts {
    /// Segments sent again.
    pub(crate) sent_again: u32,
    /// Time-outs; `None` on kernels before 6.7.
    pub(crate) time_outs: Option<u16>,
}

/// Reads the kernel's counters (`TCP_INFO`); `None` if it does not give any.
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn counted(stream: &TcpStream) -> Option<TcpCounts> {
    // Offsets in the kernel's `struct tcp_info`, which only grows at its end.
    const SENT_AGAIN: usize = 100;
    const TIME_OUTS: usize = 240;
    let mut bytes = [0_u8; 256];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the pointers are to a buffer of the given length and to that length, and outlive the call.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        return None;
    }
    let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    let has = length as usize >= TIME_OUTS + 2;
    Some(TcpCounts { sent_again: word(SENT_AGAIN), time_outs: has.then(|| half(TIME_OUTS)) })
}
