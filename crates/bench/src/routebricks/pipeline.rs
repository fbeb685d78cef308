//! Two cores as a pipeline, against two cores that each do everything: the work of forwarding on frames in memory. Batches of
//! frames pass from core to core by reference, through rings without locks (one producer, one consumer).

use rtrb::{Consumer, Producer, PushError, RingBuffer};
use weft_packet::{EthernetHeader, ipv4};

use crate::crew::{Crew, Polled};
use crate::router;

/// Bytes of a frame in memory, FCS included.
const FRAME: usize = 64;
/// Bytes of its packet.
const PACKET: usize = FRAME - 4 - EthernetHeader::LEN;
/// Frames of a batch.
const BATCH: usize = 32;
/// Batches in memory, as many frames as the rings of the router have.
const BATCHES: usize = router::RING / BATCH;

type FrameGroup = Box<[[u8; FRAME]; BATCH]>;

/// Two cores in a pipeline, and side by side.
pub(super) fn crews() -> [Crew; 2] {
    let both = || -> Vec<Box<dyn Polled>> { vec![Box::new(WholeWork::new()), Box::new(WholeWork::new())] };
    [Crew::paced(pipeline()), Crew::paced(both())]
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

/// A core that does everything.
struct WholeWork {
    groups: Vec<FrameGroup>,
    fresh: [u8; FRAME],
    addresses: [u8; 12],
}

impl WholeWork {
    fn new() -> WholeWork {
        WholeWork { groups: groups(), fresh: fresh(), addresses: addresses() }
    }
}

impl Polled for WholeWork {
    fn polls(&mut self, polls: usize) -> u64 {
        let mut sound = 0;
        for n in 0..polls {
            let group = &mut self.groups[n % BATCHES];
            sound += first(group, &self.fresh);
            second(std::hint::black_box(group), self.addresses);
        }
        sound as u64
    }
}

/// The first core of a pipeline.
struct FirstStage {
    back: Consumer<FrameGroup>,
    onwards: Producer<FrameGroup>,
    fresh: [u8; FRAME],
}

/// The second.
struct SecondStage {
    arriving: Consumer<FrameGroup>,
    back: Producer<FrameGroup>,
    addresses: [u8; 12],
}

fn pipeline() -> Vec<Box<dyn Polled>> {
    let (onwards, arriving) = RingBuffer::new(BATCHES);
    let (mut filling, back) = RingBuffer::new(BATCHES);
    groups().into_iter().for_each(|group| push(&mut filling, group));
    let first = FirstStage { back, onwards, fresh: fresh() };
    vec![Box::new(first), Box::new(SecondStage { arriving, back: filling, addresses: addresses() })]
}

impl Polled for FirstStage {
    fn polls(&mut self, polls: usize) -> u64 {
        let mut sound = 0;
        for _ in 0..polls {
            let mut group = pop(&mut self.back);
            sound += first(&mut group, &self.fresh);
            push(&mut self.onwards, group);
        }
        std::hint::black_box(sound);
        0
    }
}

impl Polled for SecondStage {
    /// A frame is done once it has passed here.
    fn polls(&mut self, polls: usize) -> u64 {
        for _ in 0..polls {
            let mut group = pop(&mut self.arriving);
            second(std::hint::black_box(&mut group), self.addresses);
            push(&mut self.back, group);
        }
        (polls * BATCH) as u64
    }
}

/// Polls as a router does, until the other core has put something into the ring.
fn pop(ring: &mut Consumer<FrameGroup>) -> FrameGroup {
    loop {
        match ring.pop() {
            Ok(group) => return group,
            Err(_) => std::hint::spin_loop(),
        }
    }
}

/// A ring has room for all groups that there are.
fn push(ring: &mut Producer<FrameGroup>, mut group: FrameGroup) {
    while let Err(PushError::Full(again)) = ring.push(group) {
        group = again;
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

    #[test]
    fn a_pipeline_counts_each_frame_once_and_gives_it_back() {
        let mut stages = pipeline();
        for polls in [1, 3 * BATCHES] {
            let [first, second] = stages.as_mut_slice() else { panic!("two cores") };
            let done = std::thread::scope(|scope| {
                let running = [scope.spawn(|| first.polls(polls)), scope.spawn(|| second.polls(polls))];
                running.map(|thread| thread.join().unwrap())
            });
            assert_eq!(done, [0, (polls * BATCH) as u64]);
        }
        assert_eq!(WholeWork::new().polls(2), 2 * BATCH as u64);
    }
}
