//! A driver's information about an interface of this network namespace.

use std::ffi::{c_char, c_int};
use std::mem::zeroed;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// `struct ethtool_channels`: the command, then the maximum and current number of each kind.
type Channels = [u32; 9];
/// `ETHTOOL_GCHANNELS` and `SIOCETHTOOL`.
const ASK_CHANNELS: u32 = 0x3c;
const ETHTOOL: c_int = 0x8946;

/// The number of queues in which frames arrive at an interface, if its driver says so.
#[must_use]
#[allow(unsafe_code, reason = "a system call")]
pub fn receive_queues(name: &str) -> Option<u32> {
    if name.len() >= libc::IFNAMSIZ {
        return None;
    }
    // Any socket carries the request; it is about the socket's network namespace.
    let socket = UdpSocket::bind(("127.0.0.1", 0)).or_else(|_| UdpSocket::bind(("0.0.0.0", 0))).ok()?;
    let mut channels: Channels = [0; 9];
    channels[0] = ASK_CHANNELS;
    // SAFETY: the structure holds integers and unions of integers and pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut channels).cast();
    // SAFETY: SIOCETHTOOL takes a pointer to an `ifreq` whose data point to the structure of the command, which the kernel writes; both
    // outlive the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), ETHTOOL as _, &raw mut request) };
    let [.., receiving, _sending, _other, combined] = channels;
    (result == 0).then_some(receiving + combined).filter(|count| *count > 0)
}
