//! System calls on packet sockets and TAP devices.
//!
//! Each wrapper takes safe types and turns results into [`io::Result`].

use std::ffi::c_int;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::pool::{BATCH, BUFFER, FrameBuffer};

/// The header that the kernel puts in front of each frame (`virtio_net_hdr`): whether the sender has left the checksum
/// to the card.
pub type OffloadNote = [u8; 10];

/// Room in a packet socket for frames that have arrived, bytes.
const ARRIVALS: c_int = 8 << 20;

/// Checks the result of a call that returns -1 and sets `errno`.
fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Whether an error only means "try again".
#[must_use]
pub fn is_busy(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
        || matches!(error.raw_os_error(), Some(libc::ENOBUFS))
}

/// Whether an interface is down, which is temporary.
#[must_use]
pub fn is_link_down(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO))
}

/// Why a device did not accept a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// It has no room for any frame now.
    Busy,
    /// It has dropped this frame for lack of room.
    Full,
    /// It will never send this frame: too long, or forbidden.
    Refused,
    /// The interface is down, or gone.
    Failed,
}

/// The meaning of an error of a call that sends.
#[must_use]
pub fn send_failure(error: &io::Error) -> SendFailure {
    match error.raw_os_error() {
        // A TAP device that is down says EIO.
        Some(libc::ENOBUFS | libc::ENOMEM | libc::EIO) => SendFailure::Full,
        _ if is_busy(error) => SendFailure::Busy,
        Some(libc::EMSGSIZE | libc::EINVAL | libc::EPERM | libc::EACCES) => SendFailure::Refused,
        _ => SendFailure::Failed,
    }
}

/// The number of a network interface.
///
/// # Errors
/// There is no interface with this name.
#[allow(unsafe_code, reason = "a system call")]
pub fn interface_index(name: &str) -> io::Result<c_int> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: `name` is a C string that outlives the call, which only reads it.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 { Err(io::Error::last_os_error()) } else { Ok(index as c_int) }
}

/// A raw packet socket bound to an interface, non-blocking, that does not receive what it sends; unless `receives`,
/// it receives nothing at all.
///
/// # Errors
/// There is no permission (`CAP_NET_RAW`), or the interface is gone.
#[allow(unsafe_code, reason = "system calls")]
pub fn packet_socket(interface: c_int, receives: bool) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is passed. Protocol 0 receives nothing until the socket is bound.
    let raw = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: the call has just returned this descriptor, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    set_option(&socket, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
    set_option(&socket, libc::PACKET_VNET_HDR, &1_i32)?;
    set_option(&socket, libc::PACKET_AUXDATA, &1_i32)?;
    make_room(&socket, ARRIVALS)?;
    // SAFETY: all fields of this C structure are integers, for which zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = if receives { (libc::ETH_P_ALL as u16).to_be() } else { 0 };
    address.sll_ifindex = interface;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer is to a `sockaddr_ll` of the given length, which the call only reads.
    checked(unsafe { libc::bind(raw, (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// A socket for the kernel's messages about routes and links (rtnetlink), non-blocking, in some groups, with room for `backlog` bytes of
/// messages.
///
/// # Errors
/// The system refuses.
#[allow(unsafe_code, reason = "system calls")]
pub fn netlink_socket(groups: u32, backlog: c_int) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is passed.
    let raw = checked(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    // SAFETY: the call has just returned this descriptor, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    make_room(&socket, backlog)?;
    // SAFETY: all fields of this C structure are integers, for which zero is valid.
    let mut address: libc::sockaddr_nl = unsafe { zeroed() };
    (address.nl_family, address.nl_groups) = (libc::AF_NETLINK as u16, groups);
    let length = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
    // SAFETY: the pointer is to a `sockaddr_nl` of the given length, which the call only reads.
    checked(unsafe { libc::bind(raw, (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// Makes room for `bytes` unread bytes of a socket. More than the usual limit needs a privilege; without it, there is
/// less room.
fn make_room(socket: &OwnedFd, bytes: c_int) -> io::Result<()> {
    let room = set(socket, (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE), &bytes);
    room.or_else(|_| set(socket, (libc::SOL_SOCKET, libc::SO_RCVBUF), &bytes))
}

/// Frames that an interface receives in addition to those for its own MAC address, for all its listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeardStations {
    /// Frames for any group, such as the solicitations of neighbour discovery.
    Groups,
    /// All frames (promiscuous mode), as a switch does.
    All,
}

/// Receives frames for other MAC addresses while the socket is open.
///
/// # Errors
/// There is no permission.
#[allow(unsafe_code, reason = "all fields are integers")]
pub fn hear(socket: &OwnedFd, interface: c_int, stations: HeardStations) -> io::Result<()> {
    // SAFETY: all fields of this C structure are integers, for which zero is valid.
    let mut request: libc::packet_mreq = unsafe { zeroed() };
    request.mr_ifindex = interface;
    request.mr_type = match stations {
        HeardStations::Groups => libc::PACKET_MR_ALLMULTI as u16,
        HeardStations::All => libc::PACKET_MR_PROMISC as u16,
    };
    set_option(socket, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Frames for which a packet socket had no room since the last call.
///
/// # Errors
/// It is not a packet socket.
#[allow(unsafe_code, reason = "a system call")]
pub fn missed(socket: &OwnedFd) -> io::Result<u64> {
    let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    let (place, option) = ((&raw mut counts).cast(), libc::PACKET_STATISTICS);
    // SAFETY: `place` points to `length` writable bytes; the kernel writes at most that many.
    checked(unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, place, &raw mut length)
    })?;
    Ok(counts.tp_drops.into())
}

/// Joins a group of sockets among which the kernel distributes arriving frames by flow hash. The group also receives
/// what leaves by the interface, although its sockets by themselves ignore that; a filter keeps it out with any
/// kernel.
///
/// # Errors
/// The kernel refuses.
pub fn share_by_flow(socket: &OwnedFd, group: u16) -> io::Result<()> {
    refuse_outgoing(socket)?;
    set_option(socket, libc::PACKET_FANOUT, &(u32::from(group) | libc::PACKET_FANOUT_HASH << 16))
}

/// Lets a packet socket receive only what has arrived: a program of the classic packet filter looks at the type of each frame.
fn refuse_outgoing(socket: &OwnedFd) -> io::Result<()> {
    const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let step = |code: u32, skip: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: skip, k };
    let frame_type = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE).cast_unsigned();
    let mut steps = [
        step(LOAD_BYTE, 0, frame_type),
        step(IF_EQUAL, 1, libc::PACKET_OUTGOING.into()),
        step(libc::BPF_RET, 0, 0),
        step(libc::BPF_RET, 0, u32::MAX),
    ];
    // The kernel copies the steps during the call, which they outlive.
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    set(socket, (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER), &program)
}

/// Sets an option of a packet socket; `T` is the kernel's type for it.
fn set_option<T: Copy>(socket: &OwnedFd, option: c_int, value: &T) -> io::Result<()> {
    set(socket, (libc::SOL_PACKET, option), value)
}

/// Sets an option of a level of a socket; `T` is the kernel's type for it.
#[allow(unsafe_code, reason = "a system call")]
fn set<T: Copy>(socket: &OwnedFd, (level, option): (c_int, c_int), value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: `value` points to `length` readable bytes, which the call copies.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) })?;
    Ok(())
}

/// The kernel's note beside a frame: a header (`cmsghdr`) and `tpacket_auxdata`, as words.
type SideNote = [u32; 10];

/// Whether the kernel has removed a VLAN tag that names a network; VLAN 0 is none (IEEE 802.1Q, table 9-2). A note
/// that the kernel has not written is zero.
fn was_of_vlan(note: &SideNote) -> bool {
    const STATUS: usize = size_of::<libc::cmsghdr>() / size_of::<u32>();
    // The status, two lengths, two places in the frame, and the tag with its type.
    const TAG: usize = STATUS + 4;
    let kind = [libc::SOL_PACKET, libc::PACKET_AUXDATA].map(c_int::cast_unsigned);
    let [first, second, ..] = note[TAG].to_ne_bytes();
    let is_tagged = note[STATUS - 2..STATUS] == kind && note[STATUS] & libc::TP_STATUS_VLAN_VALID != 0;
    is_tagged && u16::from_ne_bytes([first, second]) & 0xfff != 0
}

/// Messages of two parts: the kernel's header and the frame.
struct Messages {
    parts: [[libc::iovec; 2]; BATCH],
    messages: [libc::mmsghdr; BATCH],
}

impl Messages {
    #[allow(unsafe_code, reason = "all fields are integers and pointers")]
    fn new() -> Messages {
        // SAFETY: all fields of these C structures are integers and pointers, for which zero is valid.
        unsafe { zeroed() }
    }

    /// Sets the parts of message `n`.
    fn set(&mut self, n: usize, note: *mut u8, frame: (*mut u8, usize)) {
        let (note, length) = (note.cast(), size_of::<OffloadNote>());
        self.parts[n] = [
            libc::iovec { iov_base: note, iov_len: length },
            libc::iovec { iov_base: frame.0.cast(), iov_len: frame.1 },
        ];
        let header = &mut self.messages[n].msg_hdr;
        (header.msg_iov, header.msg_iovlen) = (self.parts[n].as_mut_ptr(), 2);
    }
}

/// Receives at most as many frames as there are buffers; calls `got` with the number, length and kernel header of each, and whether
/// it had a tag of another VLAN than 0. A frame longer than its buffer is truncated; its full length is reported.
///
/// # Errors
/// The interface has failed.
#[allow(unsafe_code, reason = "a system call")]
pub fn receive_many(
    socket: &OwnedFd,
    buffers: &mut [&mut FrameBuffer],
    mut got: impl FnMut(usize, usize, &OffloadNote, bool),
) -> io::Result<()> {
    let count = buffers.len().min(BATCH);
    let mut notes: [OffloadNote; BATCH] = [[0; 10]; BATCH];
    let mut beside: [SideNote; BATCH] = [[0; 10]; BATCH];
    let mut messages = Messages::new();
    for (n, buffer) in buffers[..count].iter_mut().enumerate() {
        messages.set(n, notes[n].as_mut_ptr(), (buffer.as_mut_ptr(), BUFFER));
        let header = &mut messages.messages[n].msg_hdr;
        header.msg_control = beside[n].as_mut_ptr().cast();
        header.msg_controllen = size_of::<SideNote>() as _;
    }
    let (flags, messages) = (libc::MSG_DONTWAIT | libc::MSG_TRUNC, &mut messages.messages);
    // SAFETY: `count` messages each point to a side note and to two parts, and these to a note and to a buffer of BUFFER bytes, which
    // are borrowed mutably for as long as the call lasts; all arrays have BATCH elements and outlive it; there is no time-out.
    let result = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            count as u32,
            flags as _,
            std::ptr::null_mut(),
        )
    };
    match checked(result) {
        Ok(received) => {
            for (n, message) in messages[..received as usize].iter().enumerate() {
                let length = (message.msg_len as usize).saturating_sub(size_of::<OffloadNote>());
                let tagged = was_of_vlan(&beside[n]);
                got(n, length, &notes[n], tagged);
            }
            Ok(())
        }
        Err(error) if is_busy(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sends frames; returns how many the kernel accepted, from the first.
///
/// # Errors
/// Why it did not accept the first ([`send_failure`]).
#[allow(unsafe_code, reason = "a system call")]
pub fn send_many(socket: &OwnedFd, frames: &[&[u8]]) -> io::Result<usize> {
    let count = frames.len().min(BATCH);
    let mut note: OffloadNote = [0; 10];
    let mut messages = Messages::new();
    for (n, frame) in frames[..count].iter().enumerate() {
        messages.set(n, note.as_mut_ptr(), (frame.as_ptr().cast_mut(), frame.len()));
    }
    let (flags, messages) = (libc::MSG_DONTWAIT, &mut messages.messages);
    // SAFETY: as in `receive_many`; sending only reads the bytes, so that frames may be shared, and one note serves all.
    let result =
        unsafe { libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), count as u32, flags as _) };
    checked(result).map(|sent| sent as usize)
}

/// Attaches an open `/dev/net/tun` to a TAP device of this name.
///
/// # Errors
/// There is no permission (`CAP_NET_ADMIN`), or the name is too long or in use.
#[allow(unsafe_code, reason = "a system call")]
pub fn attach_tap(device: &impl AsRawFd, name: &str) -> io::Result<()> {
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name of an interface has at most 15 bytes",
        ));
    }
    // SAFETY: the structure holds integers and unions of integers and pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as i16;
    // SAFETY: TUNSETIFF takes a pointer to an `ifreq`, which outlives the call.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })?;
    Ok(())
}

/// Waits until one of the descriptors is readable, or for the time given.
///
/// # Errors
/// A descriptor is bad.
#[allow(unsafe_code, reason = "a system call")]
pub fn wait_readable(descriptors: &[RawFd], milliseconds: u16) -> io::Result<()> {
    let poll = |fd: &RawFd| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
    let mut polled: Vec<libc::pollfd> = descriptors.iter().map(poll).collect();
    // SAFETY: the pointer is to as many structures as passed to the call, and they outlive it.
    let result =
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds.into()) };
    match checked(result) {
        Err(error) if !is_busy(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Runs the calling thread on one core.
///
/// # Errors
/// There is no such core.
#[allow(unsafe_code, reason = "a system call")]
pub fn pin_to_core(core: usize) -> io::Result<()> {
    let most = 8 * size_of::<libc::cpu_set_t>();
    if core >= most {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("cores are numbered up to {}", most - 1),
        ));
    }
    // SAFETY: a set of cores is an array of integers, for which zero is valid.
    let mut cores: libc::cpu_set_t = unsafe { zeroed() };
    // SAFETY: `core` is below the number of bits of the set.
    unsafe { libc::CPU_SET(core, &mut cores) };
    // SAFETY: the pointer is to a set of the size given, which the call only reads; 0 is the calling thread.
    checked(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const cores) })?;
    Ok(())
}

/// Requests large pages for memory that has not been used yet, so that the processor's TLB covers random look-ups.
/// Without such pages only speed suffers.
#[allow(unsafe_code, reason = "a system call")]
pub fn prefer_large_pages(start: *const u8, length: usize) {
    const LARGE: usize = 2 << 20;
    let from = start.addr().next_multiple_of(LARGE);
    let to = (start.addr() + length) / LARGE * LARGE;
    if from < to {
        // SAFETY: this advice changes neither the contents of memory nor what may be done with it, whatever the range; a range that is not
        // mapped is an error, which is ignored.
        unsafe { libc::madvise(start.with_addr(from).cast_mut().cast(), to - from, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::FramePool;

    /// The flag `hg` of a mapping says that large pages have been requested for it.
    #[test]
    #[cfg(target_os = "linux")]
    fn buffers_are_on_large_pages_where_there_are_any() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: no large pages\n");
            return;
        }
        let mut pool = FramePool::in_memory(4_000, prefer_large_pages);
        let middle = pool.buffer(2_000).as_ptr().addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        let mut flags = None;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends =
                range.map(|(from, to)| (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16)));
            if let Some((Ok(from), Ok(to))) = ends {
                inside = (from..to).contains(&middle);
            } else if inside && line.starts_with("VmFlags:") {
                flags = Some(line.split_whitespace().any(|flag| flag == "hg"));
            }
        }
        assert_eq!(flags, Some(true));
    }
}
