//! The disks of a host: each serves its requests in order, and a request goes to the disk that is free first.

use std::collections::BTreeMap;

use weft_core::{Bytes, HostId, Rate, Span, Time};

/// The disks of all hosts.
pub(crate) type HostDisks = BTreeMap<HostId, Disks>;

/// The properties of a host's disks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskKind {
    /// Number of disks.
    pub(crate) disks: u32,
    /// Sequential rates of a disk.
    pub(crate) read: Rate,
    pub(crate) write: Rate,
    /// Time of a disk before each request.
    pub(crate) seek: Span,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The disks of a host.
#[derive(Clone, Debug)]
pub(crate) struct Disks {
    kind: DiskKind,
    /// When each disk becomes free.
    free: Vec<Time>,
}

impl Disks {
    pub(crate) fn new(kind: DiskKind) -> Disks {
        Disks { kind, free: vec![Time::ZERO; kind.disks as usize] }
    }

    pub(crate) fn count(&self) -> u64 {
        self.free.len() as u64
    }

    /// The name of the first setting in which two sets of disks differ.
    pub(crate) fn differs(&self, other: &Disks) -> Option<&'static str> {
        let (own, other) = (self.kind, other.kind);
        let found = [
            ("disks", own.disks != other.disks),
            ("disk_rate", own.read != other.read),
            ("disk_write_rate", own.write != other.write),
            ("seek", own.seek != other.seek),
        ];
        found.into_iter().find(|(_, differs)| *differs).map(|(name, _)| name)
    }

    /// Queues a request; returns when it begins and when it is done.
    pub(crate) fn serve(&mut self, now: Time, (access, size): (Access, Bytes)) -> (Time, Time) {
        let rate = match access {
            Access::Read => self.kind.read,
            Access::Write => self.kind.write,
        };
        let free = self.free.iter_mut().min().expect("a host has a disk");
        let begins = now.max(*free);
        *free = begins + self.kind.seek + rate.time_for(size);
        (begins, *free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_spread_over_disks_and_queue_when_all_are_busy() {
        let (read, write) = (Rate::from_gbps(1), Rate::from_mbps(500));
        let mut disks = Disks::new(DiskKind { disks: 2, read, write, seek: Span::from_ms(8) });
        let megabyte = Bytes(1_000_000);
        let (each, writing) = (Span::from_ms(16), Span::from_ms(24));
        let asked = [Access::Read, Access::Read, Access::Write];
        let served = asked.map(|access| disks.serve(Time::ZERO, (access, megabyte)));
        let zero = Time::ZERO;
        assert_eq!(served, [(zero, zero + each), (zero, zero + each), (zero + each, zero + each + writing)]);
    }
}
