//! The disks of a host: each serves its requests in order, and a request goes to the disk that is free first.

use std::collections::BTreeMap;

use weft_core::{Bytes, HostId, Rate, Span, Time};

/// The disks of all hosts.
pub(crate) type HostDisks = BTreeMap<HostId, Disks>;

/// The disks of a host.
#[derive(Clone, Debug)]
pub(crate) struct Disks {
    rate: Rate,
    seek: Span,
    /// When each disk becomes free.
    free: Vec<Time>,
}

impl Disks {
    pub(crate) fn new(disks: u32, rate: Rate, seek: Span) -> Disks {
        Disks { rate, seek, free: vec![Time::ZERO; disks as usize] }
    }

    pub(crate) fn count(&self) -> u64 {
        self.free.len() as u64
    }

    /// The name of the first setting in which two sets of disks differ.
    pub(crate) fn differs(&self, other: &Disks) -> Option<&'static str> {
        let found = [
            ("disks", self.count() != other.count()),
            ("disk_rate", self.rate != other.rate),
            ("seek", self.seek != other.seek),
        ];
        found.into_iter().find(|(_, differs)| *differs).map(|(name, _)| name)
    }

    /// Queues a request; returns when it begins and when it is done.
    pub(crate) fn serve(&mut self, now: Time, size: Bytes) -> (Time, Time) {
        let free = self.free.iter_mut().min().expect("a host has a disk");
        let begins = now.max(*free);
        *free = begins + self.seek + self.rate.time_for(size);
        (begins, *free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_spread_over_disks_and_queue_when_all_are_busy() {
        let mut disks = Disks::new(2, Rate::from_gbps(1), Span::from_ms(8));
        let megabyte = Bytes(1_000_000);
        let each = Span::from_ms(16);
        let served: Vec<_> = (0..3).map(|_| disks.serve(Time::ZERO, megabyte)).collect();
        let zero = Time::ZERO;
        assert_eq!(served, [(zero, zero + each), (zero, zero + each), (zero + each, zero + each * 2)]);
    }
}
