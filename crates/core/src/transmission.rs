//! How long a packet occupies a link: exact, and without a division for all common rates.

use crate::units::{Bytes, PS_PER_S, Rate, Span};

/// The transmission time of packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    rate: Rate,
    /// Picoseconds per byte if that is a whole number, else 0.
    per_byte: u64,
}

impl Transmission {
    /// Transmission times on a link of `rate`.
    #[must_use]
    pub fn at(rate: Rate) -> Transmission {
        let per_second = 8 * PS_PER_S;
        let whole = per_second.is_multiple_of(rate.0.max(1));
        Transmission { rate, per_byte: if whole { per_second / rate.0.max(1) } else { 0 } }
    }

    /// Time from the first bit of a packet of `wire` bytes to the last, rounded up to a picosecond.
    #[must_use]
    #[inline]
    pub fn time(&self, wire: u16) -> Span {
        match self.per_byte {
            0 => self.rate.time_for(Bytes(u64::from(wire))),
            per_byte => Span(per_byte * u64::from(wire)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_rate() {
        for rate in [1, 7, 10_000_000_000, 25_000_000_000, 30_000_000_000, 400_000_000_000].map(Rate) {
            for wire in [0, 1, 64, 1_538, 9_038, u16::MAX] {
                let exact = rate.time_for(Bytes(u64::from(wire)));
                assert_eq!(Transmission::at(rate).time(wire), exact, "{wire} at {rate:?}");
            }
        }
    }
}
