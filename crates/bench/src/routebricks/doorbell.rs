//! Descriptors handed over in groups (kn): a worker that receives 32 frames at a time hands them to a packet socket one by
//! one, or sixteen at a time. A write to a card in 2009 corresponds to a system call here; the socket counts its calls,
//! among them those that follow a call that took only a part of a group. The frames go to the loopback interface and
//! have a type that nobody reads.

use std::io;

use weft_packet::Mac;
use weft_router::app::forward::{CrossConnect, Forwarding};
use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::{Backend, Frame, FrameBatch, FramePool, RouterWorker};

use crate::crew::{Crew, Polled};

/// Frames received at once (kp), and those of the larger group.
const RECEIVED: usize = 32;
const GROUP: usize = 16;
/// Local experimental EtherType (IEEE 802).
const EXPERIMENTAL: [u8; 2] = [0x88, 0xb5];

/// A port at which frames always wait, and which sends nothing.
struct Source([u8; 60]);

impl Backend for Source {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        while batch.room() > 0 {
            let Some(frame) = pool.store(&self.0, 0) else { break };
            batch.push(frame);
        }
        Ok(())
    }

    fn transmit(&mut self, _: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        Ok(std::mem::take(frames).len())
    }
}

/// A port that only sends.
struct Sink(PacketSocket);

impl Backend for Sink {
    fn receive(&mut self, _: &mut FramePool, _: &mut FrameBatch) -> io::Result<()> {
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        self.0.transmit(pool, frames)
    }

    fn send_calls(&self) -> u64 {
        self.0.send_calls()
    }
}

/// The worker that hands over single frames, and the one that hands over groups; nothing without the right to open a
/// packet socket.
pub(super) fn workers() -> io::Result<[Box<dyn Polled>; 2]> {
    Ok([worker(1)?, worker(GROUP)?])
}

fn worker(group: usize) -> io::Result<Box<dyn Polled>> {
    let socket = PacketSocket::open("lo", 1, false, SocketArrivals::None)?;
    let mut bytes = [0; 60];
    bytes[12..14].copy_from_slice(&EXPERIMENTAL);
    let wire = CrossConnect::new(1, Mac::default(), Mac::default());
    let ports: Vec<Box<dyn Backend>> = vec![Box::new(Source(bytes)), Box::new(Sink(socket))];
    let worker = RouterWorker::new(ports, FramePool::new(2 * RECEIVED as u32), Forwarding::new(vec![wire]));
    Ok(Box::new(worker.with_burst(RECEIVED).with_send_burst(group)))
}

/// Both forms.
pub(super) fn crews() -> io::Result<Vec<Crew>> {
    Ok(workers()?.into_iter().map(|worker| Crew::paced(vec![worker])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_takes_one_call_and_single_frames_one_each() {
        let Ok(workers) = workers() else {
            let _ = io::Write::write_all(&mut io::stderr(), b"skipped: no right to open a packet socket\n");
            return;
        };
        let calls = workers.map(|mut worker| {
            assert_eq!(worker.polls(10), 10 * RECEIVED as u64, "the loopback interface takes all frames");
            worker.send_calls()
        });
        assert_eq!(calls, [10 * RECEIVED as u64, 10 * (RECEIVED / GROUP) as u64]);
    }
}
