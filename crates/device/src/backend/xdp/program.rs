//! The program in front of an interface: it passes what arrives on a queue to the socket of that queue, if there is
//! one, and to the kernel otherwise. Five instructions, assembled here.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A program and its map of sockets, attached while it exists.
#[derive(Debug)]
pub(crate) struct AttachedProgram {
    sockets: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
}

/// Commands of the system call.
const MAP_CREATE: i64 = 0;
const MAP_UPDATE: i64 = 2;
const PROGRAM_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;
/// Kinds of maps, programs and places.
const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_XDP: u32 = 6;
const PLACE_XDP: u32 = 37;
/// Modes of attaching.
const GENERIC: u32 = 1 << 1;
const DRIVER: u32 = 1 << 2;
/// Most queues of an interface.
pub(crate) const MOST_QUEUES: u32 = 256;

/// The arguments of `bpf`: as many bytes as any command reads; unset bytes are zero.
#[repr(C, align(8))]
struct Arguments([u8; 128]);

impl Arguments {
    fn new() -> Arguments {
        Arguments([0; 128])
    }

    fn u32(mut self, at: usize, value: u32) -> Arguments {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn address<T>(mut self, at: usize, value: *const T) -> Arguments {
        self.0[at..at + 8].copy_from_slice(&(value.addr() as u64).to_ne_bytes());
        self
    }

    /// Makes the call; the targets of the addresses outlive it.
    #[allow(unsafe_code, reason = "a system call")]
    fn call(&self, command: i64) -> io::Result<i64> {
        // SAFETY: the structure is longer than any command's part of it and zero beyond; the addresses in it are those of values that
        // the callers below keep until this returns, and which the kernel only reads.
        let result =
            unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_ptr(), size_of::<Arguments>()) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
    }

    #[allow(unsafe_code, reason = "a new descriptor")]
    fn open(&self, command: i64) -> io::Result<OwnedFd> {
        let raw = self.call(command)?;
        // SAFETY: these commands return a new descriptor, which nothing else owns.
        Ok(unsafe { OwnedFd::from_raw_fd(raw as i32) })
    }
}

/// An instruction: code, registers, offset, number.
const fn instruction(code: u8, target: u8, source: u8, offset: i16, number: i32) -> u64 {
    code as u64
        | (target as u64) << 8
        | (source as u64) << 12
        | (offset as u16 as u64) << 16
        | (number as u32 as u64) << 32
}

/// `return bpf_redirect_map(map, context.rx_queue_index, XDP_PASS)`.
const fn program(map: i32) -> [u64; 6] {
    const QUEUE: i16 = 16;
    const PASS: i32 = 2;
    const REDIRECT_MAP: i32 = 51;
    const IS_MAP: u8 = 1;
    [
        instruction(0x61, 2, 1, QUEUE, 0),
        instruction(0x18, 1, IS_MAP, 0, map),
        0,
        instruction(0xb7, 3, 0, 0, PASS),
        instruction(0x85, 0, 0, 0, REDIRECT_MAP),
        instruction(0x95, 0, 0, 0, 0),
    ]
}

impl AttachedProgram {
    /// Attaches the program to an interface, in its driver or in front of the kernel's own processing.
    ///
    /// # Errors
    /// There is no permission (`CAP_NET_ADMIN` and `CAP_BPF`), the driver does not support it, or another program is
    /// attached.
    pub(crate) fn attach(interface: u32, in_driver: bool) -> io::Result<AttachedProgram> {
        let sockets = Arguments::new()
            .u32(0, MAP_OF_SOCKETS)
            .u32(4, size_of::<u32>() as u32)
            .u32(8, size_of::<u32>() as u32)
            .u32(12, MOST_QUEUES)
            .open(MAP_CREATE)?;
        let instructions = program(sockets.as_raw_fd());
        let licence = c"Apache-2.0";
        let program = Arguments::new()
            .u32(0, PROGRAM_XDP)
            .u32(4, instructions.len() as u32)
            .address(8, instructions.as_ptr())
            .address(16, licence.as_ptr())
            .open(PROGRAM_LOAD)?;
        let link = Arguments::new()
            .u32(0, program.as_raw_fd() as u32)
            .u32(4, interface)
            .u32(8, PLACE_XDP)
            .u32(12, if in_driver { DRIVER } else { GENERIC })
            .open(LINK_CREATE)?;
        Ok(AttachedProgram { sockets, _program: program, _link: link })
    }

    /// Directs a queue's frames to a socket from now on.
    ///
    /// # Errors
    /// The socket is bound to another queue.
    pub(crate) fn insert(&self, queue: u32, socket: &OwnedFd) -> io::Result<()> {
        let value = socket.as_raw_fd() as u32;
        Arguments::new()
            .u32(0, self.sockets.as_raw_fd() as u32)
            .address(8, &raw const queue)
            .address(16, &raw const value)
            .call(MAP_UPDATE)
            .map(|_| ())
    }
}
