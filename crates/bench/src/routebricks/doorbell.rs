//! Descriptors handed over in groups (kn): frames sent through a packet socket one by one, and sixteen at a time. A
//! write to a card in 2009 corresponds to a system call here. The frames go to the loopback interface and have a type
//! that nobody reads.

use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::{Backend, Frame, FramePool};

use crate::clock;

/// Frames sent, and frames of the larger group.
const SENT: usize = 200_000;
const GROUP: usize = 16;
/// Local experimental EtherType (IEEE 802).
const EXPERIMENTAL: [u8; 2] = [0x88, 0xb5];

/// Million packets per second and system calls per packet, one by one and in groups; `None` without the right to open
/// a packet socket.
pub(super) fn measure() -> Option<[(f64, f64); 2]> {
    let mut socket = PacketSocket::open("lo", 0, false, SocketArrivals::None).ok()?;
    Some([one_size(&mut socket, 1)?, one_size(&mut socket, GROUP)?])
}

fn one_size(socket: &mut PacketSocket, group: usize) -> Option<(f64, f64)> {
    let mut pool = FramePool::new(GROUP as u32);
    let mut bytes = [0; 60];
    bytes[12..14].copy_from_slice(&EXPERIMENTAL);
    let mut frames: Vec<Frame> = Vec::with_capacity(group);
    let (mut calls, mut lost) = (0, 0);
    let (result, seconds) = clock::timed(|| {
        for _ in 0..SENT / group {
            frames.extend((0..group).filter_map(|_| pool.store(&bytes, 0)));
            lost += socket.transmit(&mut pool, &mut frames)?;
            calls += 1;
        }
        std::io::Result::Ok(())
    });
    result.ok().filter(|()| lost == 0)?;
    let sent = (calls * group) as f64;
    Some((sent / seconds / 1e6, calls as f64 / sent))
}
