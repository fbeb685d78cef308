//! The two memories of a chassis: a small fast one on the chip, and a large one behind a channel of limited bandwidth.

use std::collections::VecDeque;

use weft_core::record::Reason;
use weft_core::{Bytes, Time, Transmission};

use crate::settings::VoqSettings;

/// The contents of both memories, and when the channel to the deep one is free.
pub(crate) struct TieredMemory {
    /// By group: bytes of queues that are on the chip.
    on_chip: Vec<u64>,
    on_chip_size: u64,
    deep: u64,
    deep_size: u64,
    channel: Transmission,
    /// When the channel has finished the requested reads and writes.
    busy_until: Time,
    /// By group: packets on the chip that will be written to deep memory, and when each write ends.
    unwritten: Vec<VecDeque<(Time, u16)>>,
}

impl TieredMemory {
    pub(crate) fn new(settings: &VoqSettings) -> TieredMemory {
        let groups = settings.groups as usize;
        TieredMemory {
            on_chip: vec![0; groups],
            on_chip_size: settings.on_chip.0,
            deep: 0,
            deep_size: settings.deep.0,
            channel: Transmission::at(settings.deep_rate),
            busy_until: Time::ZERO,
            unwritten: vec![VecDeque::new(); groups],
        }
    }

    /// Stores a packet on the chip.
    pub(crate) fn keep(&mut self, now: Time, group: usize, wire: u16) -> Result<(), Reason> {
        if !self.has_room(now, group, wire) {
            return Err(Reason::BufferFull);
        }
        self.on_chip[group] += u64::from(wire);
        Ok(())
    }

    /// Stores a packet in deep memory; returns when it has been written.
    pub(crate) fn write(&mut self, now: Time, group: usize, wire: u16) -> Result<Time, Reason> {
        if self.deep + u64::from(wire) > self.deep_size {
            return Err(Reason::BufferFull);
        }
        self.keep(now, group, wire)?;
        self.deep += u64::from(wire);
        let written = self.use_channel(now, wire);
        self.unwritten[group].push_back((written, wire));
        Ok(written)
    }

    /// Records that a packet leaves the chip.
    pub(crate) fn take(&mut self, group: usize, wire: u16) {
        self.on_chip[group] -= u64::from(wire);
    }

    /// Reads a packet that is in deep memory from `written`; returns when it is on the chip.
    pub(crate) fn read(&mut self, now: Time, written: Time, wire: u16) -> Time {
        self.discard(wire);
        self.use_channel(now.max(written), wire)
    }

    /// Discards a packet in deep memory.
    pub(crate) fn discard(&mut self, wire: u16) {
        self.deep -= u64::from(wire);
    }

    /// Bytes on the chips, and in deep memory.
    pub(crate) fn held(&mut self, now: Time) -> (Bytes, Bytes) {
        (0..self.on_chip.len()).for_each(|group| self.forget_written(now, group));
        (Bytes(self.on_chip.iter().sum()), Bytes(self.deep))
    }

    /// Whether there is room on the chip for a packet of a group.
    #[inline]
    pub(crate) fn has_room(&mut self, now: Time, group: usize, wire: u16) -> bool {
        self.surely_has_room(group, wire) || {
            self.forget_written(now, group);
            self.surely_has_room(group, wire)
        }
    }

    /// Whether there is room even if nothing has been written to deep memory recently.
    #[inline]
    pub(crate) fn surely_has_room(&self, group: usize, wire: u16) -> bool {
        self.on_chip[group] + u64::from(wire) <= self.on_chip_size
    }

    /// Releases chip memory of packets that have been written to deep memory.
    #[inline]
    fn forget_written(&mut self, now: Time, group: usize) {
        while let Some((_, wire)) = self.unwritten[group].pop_front_if(|(written, _)| *written <= now) {
            self.on_chip[group] -= u64::from(wire);
        }
    }

    fn use_channel(&mut self, now: Time, wire: u16) -> Time {
        self.busy_until = self.busy_until.max(now) + self.channel.time(wire);
        self.busy_until
    }
}
