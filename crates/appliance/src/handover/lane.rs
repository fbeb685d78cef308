//! Lanes: bounded rings of packets with one producer and one consumer, whose buffers go back and forth. Must not depend on devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rtrb::{Consumer, Producer, RingBuffer};
use weft_router::BUFFER;
use weft_router::backend::DeviceLosses;

use super::bell::Bell;

/// Packets that a lane holds: eight batches.
pub(super) const LANE: usize = 8 * weft_router::BATCH;

struct Packet {
    bytes: Box<[u8; BUFFER]>,
    length: usize,
}

/// Where packets enter.
pub(super) struct LaneStart {
    full: Producer<Packet>,
    empty: Consumer<Packet>,
    bell: Bell,
    ended: Arc<AtomicBool>,
}

/// Where packets leave.
pub(super) struct LaneEnd {
    full: Consumer<Packet>,
    empty: Producer<Packet>,
    ended: Arc<AtomicBool>,
}

/// An empty lane; `bell` is that of its consumer.
pub(super) fn lane(bell: Bell) -> (LaneStart, LaneEnd) {
    let ((full, leaving), (mut returning, empty)) = (RingBuffer::new(LANE), RingBuffer::new(LANE));
    for _ in 0..LANE {
        let _ = returning.push(Packet { bytes: Box::new([0; BUFFER]), length: 0 });
    }
    let ended = Arc::new(AtomicBool::new(false));
    let start = LaneStart { full, empty, bell, ended: Arc::clone(&ended) };
    (start, LaneEnd { full: leaving, empty: returning, ended })
}

impl LaneStart {
    /// Puts a packet of at most [`BUFFER`] bytes in; false if the lane is full or has ended.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        if self.ended.load(Ordering::Relaxed) {
            return false;
        }
        let Ok(mut packet) = self.empty.pop() else { return false };
        packet.bytes[..bytes.len()].copy_from_slice(bytes);
        packet.length = bytes.len();
        self.full.push(packet).is_ok()
    }

    /// Wakes the consumer, if it sleeps; after some calls of [`LaneStart::put`].
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// Whether the consumer is gone.
    pub(super) fn is_abandoned(&self) -> bool {
        self.full.is_abandoned()
    }

    /// Nothing more will be put in.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.bell.ring();
    }
}

impl LaneEnd {
    /// Takes at most `most` packets out; returns how many.
    pub(super) fn take(&mut self, most: usize, mut take: impl FnMut(&[u8])) -> usize {
        for count in 0..most {
            let Ok(packet) = self.full.pop() else { return count };
            take(&packet.bytes[..packet.length]);
            let _ = self.empty.push(packet);
        }
        most
    }

    pub(super) fn is_empty(&self) -> bool {
        self.full.is_empty()
    }

    /// Whether nothing more will come: the producer has ended or is gone, and everything it had put in has been
    /// taken.
    pub(super) fn has_ended(&self) -> bool {
        (self.ended.load(Ordering::Acquire) || self.full.is_abandoned()) && self.full.is_empty()
    }
}

/// What an owner could not send for a member, until the member asks.
#[derive(Clone, Debug, Default)]
pub(super) struct SendAccount(Arc<AccountState>);

#[derive(Debug, Default)]
struct AccountState {
    /// Packets, their bytes, and the number of them that the device refused.
    lost: [AtomicU64; 3],
    /// Whether the owner has sent, or lost, everything that the member will ever send.
    settled: AtomicBool,
}

impl SendAccount {
    /// `lost` of the packets that the member has sent are lost. Further losses of the device are counted at the
    /// owner.
    pub(super) fn lose(&self, lost: u64, owner: &mut DeviceLosses, device: DeviceLosses) {
        for (own, count) in self.0.lost.iter().zip([lost, device.unsent_bytes, device.refused]) {
            own.fetch_add(count, Ordering::Relaxed);
        }
        *owner += DeviceLosses { unsent_bytes: 0, refused: 0, ..device };
    }

    /// What has been lost since the last call.
    pub(super) fn take(&self) -> DeviceLosses {
        let [unsent_later, unsent_bytes, refused] =
            self.0.lost.each_ref().map(|own| own.swap(0, Ordering::Relaxed));
        DeviceLosses { unsent_later, unsent_bytes, refused, ..DeviceLosses::default() }
    }

    /// Nothing more will be lost.
    pub(super) fn settle(&self) {
        self.0.settled.store(true, Ordering::Release);
    }

    pub(super) fn is_settled(&self) -> bool {
        self.0.settled.load(Ordering::Acquire)
    }
}
