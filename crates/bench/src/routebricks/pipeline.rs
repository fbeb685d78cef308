//! Two cores as a pipeline, against two cores that each do everything: the work of forwarding on frames in memory. Batches of
//! frames pass from core to core by reference.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use weft_packet::{EthernetHeader, ipv4};

use crate::{clock, router};

/// Bytes of a frame in memory, FCS included.
const FRAME: usize = 64;
/// Bytes of its packet.
const PACKET: usize = FRAME - 4 - EthernetHeader::LEN;
/// Frames of a batch.
const BATCH: usize = 32;
/// Batches in memory, as many frames as the rings of the router have.
const BATCHES: usize = router::RING / BATCH;
/// Batches processed.
const WORK: usize = 400_000;

type FrameGroup = Box<[[u8; FRAME]; BATCH]>;

/// Million packets per second of two cores: in a pipeline, and side by side.
pub(super) fn mpps() -> [f64; 2] {
    [pipeline(), parallel()]
}

fn groups() -> Vec<FrameGroup> {
    let frame = fresh();
    (0..BATCHES).map(|_| Box::new([frame; BATCH])).collect()
}

/// What the first core of a pipeline does: examines the header and counts the hop. A frame whose hops are used up
/// begins again.
fn first(group: &mut FrameGroup, fresh: &[u8; FRAME]) -> usize {
    let mut sound = 0;
    for frame in group.iter_mut() {
        if frame[EthernetHeader::LEN + 8] < 2 {
            frame.copy_from_slice(fresh);
        }
        let packet = &mut frame[EthernetHeader::LEN..];
        if let Some(header) = packet.first_chunk() {
            sound += usize::from(ipv4::forwardable_header(header, PACKET).is_some());
        }
        ipv4::decrement_ttl(packet);
    }
    sound
}

fn fresh() -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    let bytes = router::frame(FRAME);
    frame[..bytes.len()].copy_from_slice(&bytes);
    frame
}

/// What the second does: sets the addresses for the next link.
fn second(group: &mut FrameGroup, addresses: [u8; 12]) {
    group.iter_mut().for_each(|frame| frame[..12].copy_from_slice(&addresses));
}

/// Sets the addresses as minimal forwarding does; the destination stays the router's own, so that frames can
/// circulate.
fn addresses() -> [u8; 12] {
    *fresh().first_chunk().expect("a frame is longer")
}

fn rate(batches: usize, seconds: f64) -> f64 {
    (batches * BATCH) as f64 / seconds / 1e6
}

fn parallel() -> f64 {
    let barrier = Barrier::new(2);
    let worker = || {
        let (mut groups, fresh, addresses, mut sound) = (groups(), fresh(), addresses(), 0);
        barrier.wait();
        let ((), seconds) = clock::timed(|| {
            for n in 0..WORK {
                let group = &mut groups[n % BATCHES];
                sound += first(group, &fresh);
                second(std::hint::black_box(group), addresses);
            }
        });
        std::hint::black_box(sound);
        rate(WORK, seconds)
    };
    std::thread::scope(|scope| {
        let running = [scope.spawn(worker), scope.spawn(worker)];
        running.into_iter().map(|thread| thread.join().expect("workers do not panic")).sum()
    })
}

fn pipeline() -> f64 {
    let (to_second, from_first) = sync_channel::<FrameGroup>(BATCHES);
    let (to_first, from_second) = sync_channel::<FrameGroup>(BATCHES);
    groups().into_iter().for_each(|group| send(&to_first, group));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let addresses = addresses();
            while let Some(mut group) = receive(&from_first) {
                second(std::hint::black_box(&mut group), addresses);
                send(&to_first, group);
            }
        });
        let stage = scope.spawn(move || {
            let (fresh, mut sound) = (fresh(), 0);
            let ((), seconds) = clock::timed(|| {
                for _ in 0..WORK {
                    let Some(mut group) = receive(&from_second) else { return };
                    sound += first(&mut group, &fresh);
                    send(&to_second, group);
                }
            });
            std::hint::black_box(sound);
            rate(WORK, seconds)
        });
        stage.join().expect("workers do not panic")
    })
}

/// Polls as a router does; `None` once the other core has ended.
fn receive(from: &Receiver<FrameGroup>) -> Option<FrameGroup> {
    loop {
        match from.try_recv() {
            Ok(group) => return Some(group),
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
}

fn send(to: &SyncSender<FrameGroup>, mut group: FrameGroup) {
    loop {
        match to.try_send(group) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => return,
            Err(TrySendError::Full(again)) => group = again,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_both_cores_leaves_frames_that_can_be_forwarded_again() {
        let mut group = groups().remove(0);
        for _ in 0..200 {
            assert_eq!(first(&mut group, &fresh()), BATCH);
            second(&mut group, addresses());
        }
    }
}
