//! Looks ahead in the event list, without changing it.

use weft_core::{LinkId, PacketId, Time, prefetch};

use super::wheel::{BUCKETS, WORDS};
use super::{Calendar, NONE, Row};

/// Number of buckets that [`Calendar::ahead`] examines.
const HORIZON: u64 = 1 << 10;

impl Calendar {
    /// Passes about `count` pending arrivals to `tell`, starting at the open bucket; returns the last bucket examined.
    pub(crate) fn ahead(&self, count: usize, mut tell: impl FnMut(LinkId, PacketId)) -> u64 {
        let (mut number, mut told) = (self.number, 0);
        let horizon = self.number + HORIZON;
        while number < horizon {
            let bits = self.wheel.occupied[number as usize / 64 % WORDS] & u64::MAX << (number % 64);
            if bits == 0 {
                number = (number / 64 + 1) * 64;
                continue;
            }
            number += u64::from(bits.trailing_zeros()) - number % 64;
            let mut row = self.wheel.first_of(number);
            while row != NONE {
                let Row { next, packet, .. } = *self.row(row);
                if let Some(link) = self.arrival(row).filter(|_| packet != PacketId::NONE) {
                    tell(link, packet);
                }
                told += 1;
                row = next;
            }
            if told >= count {
                return number;
            }
            number += 1;
        }
        number - 1
    }

    /// Prefetches the bucket of an instant.
    #[inline]
    pub(crate) fn prefetch_bucket(&self, time: Time) {
        prefetch(&self.wheel.first[(time.0 >> self.shift) as usize % BUCKETS]);
    }

    /// Prefetches the memory to which the next arrival of a link will be written.
    #[inline]
    pub(crate) fn prefetch(&self, link: LinkId) {
        prefetch(self.row(link.0));
    }
}
