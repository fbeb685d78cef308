//! Time, rate and size as types, and their text form. Integers inside: picoseconds, bits per second, bytes.
//!
//! A byte takes exactly 20 ps at 400 Gb/s, 80 at 100, 200 at 40 and 800 at 10. `u64` picoseconds reach 213 days. Only
//! [`Rate::time_for`] and [`Rate::bytes_in`] cross from one unit to another.

mod text;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

pub use text::{TextError, did_you_mean, nearest};

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// An interval in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than everything: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The interval since `earlier`; zero if `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since the start, for display and floating-point laws.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Span {
    /// The empty interval.
    pub const ZERO: Span = Span(0);

    /// An interval of `n` nanoseconds.
    #[must_use]
    pub const fn from_ns(n: u64) -> Span {
        Span(n * 1_000)
    }

    /// An interval of `n` microseconds.
    #[must_use]
    pub const fn from_us(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// An interval of `n` milliseconds.
    #[must_use]
    pub const fn from_ms(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }

    /// An interval of `n` seconds.
    #[must_use]
    pub const fn from_s(n: u64) -> Span {
        Span(n * PS_PER_S)
    }

    /// The interval nearest to `seconds`; negative and not-a-number give zero.
    #[must_use]
    pub fn from_seconds_rounded(seconds: f64) -> Span {
        Span((seconds * PS_PER_S as f64).round() as u64)
    }

    /// The length in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The length in microseconds.
    #[must_use]
    pub fn micros(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// A moving average of round-trip times after another sample, which counts an eighth (RFC 6298, section 2.3); the first sample
    /// if there was none.
    #[must_use]
    #[inline]
    pub fn smoothed(self, sample: Span) -> Span {
        if self == Span::ZERO { sample } else { Span(self.0 - self.0 / 8 + sample.0 / 8) }
    }
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// The number of bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl Rate {
    /// A rate of `n` gigabits per second.
    #[must_use]
    pub const fn from_gbps(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }

    /// A rate of `n` megabits per second.
    #[must_use]
    pub const fn from_mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }

    /// How long `size` takes at this rate, rounded up to a picosecond. At rate zero it takes forever.
    #[must_use]
    #[inline]
    pub const fn time_for(self, size: Bytes) -> Span {
        const PS_PER_BYTE_PER_S: u64 = 8 * PS_PER_S;
        match size.0.checked_mul(PS_PER_BYTE_PER_S) {
            Some(bit_ps) if self.0 > 0 => Span(bit_ps.div_ceil(self.0)),
            _ => self.long_time_for(size),
        }
    }

    /// [`Rate::time_for`] for more than 2 MB, where the product exceeds 64 bits.
    #[cold]
    const fn long_time_for(self, size: Bytes) -> Span {
        if self.0 == 0 {
            return Span(u64::MAX);
        }
        let span = (size.0 as u128 * 8 * PS_PER_S as u128).div_ceil(self.0 as u128);
        Span(if span > u64::MAX as u128 { u64::MAX } else { span as u64 })
    }

    /// How many whole bytes pass in `span`, rounded down.
    #[must_use]
    #[inline]
    pub const fn bytes_in(self, span: Span) -> Bytes {
        match self.0.checked_mul(span.0) {
            Some(bit_ps) => Bytes(bit_ps / (8 * PS_PER_S)),
            None => Bytes((self.0 as u128 * span.0 as u128 / (8 * PS_PER_S as u128)) as u64),
        }
    }

    /// Gigabits per second, for display.
    #[must_use]
    pub fn gbps(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

macro_rules! quantity {
    ($type:ident) => {
        impl Add for $type {
            type Output = $type;
            #[inline]
            fn add(self, other: $type) -> $type {
                $type(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $type {
            #[inline]
            fn add_assign(&mut self, other: $type) {
                *self = *self + other;
            }
        }
        impl Sub for $type {
            type Output = $type;
            #[inline]
            fn sub(self, other: $type) -> $type {
                $type(self.0 - other.0)
            }
        }
        impl SubAssign for $type {
            #[inline]
            fn sub_assign(&mut self, other: $type) {
                self.0 -= other.0;
            }
        }
        impl Mul<u64> for $type {
            type Output = $type;
            #[inline]
            fn mul(self, times: u64) -> $type {
                $type(self.0.saturating_mul(times))
            }
        }
        impl Div<u64> for $type {
            type Output = $type;
            #[inline]
            fn div(self, parts: u64) -> $type {
                $type(self.0 / parts)
            }
        }
        impl Sum for $type {
            fn sum<I: Iterator<Item = $type>>(items: I) -> $type {
                items.fold($type(0), |total, item| total + item)
            }
        }
    };
}
quantity!(Span);
quantity!(Bytes);
quantity!(Rate);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for Span {
    /// The largest unit in which the value is exact: `2 us`, `1500 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_exact(f, self.0, text::SPAN_UNITS)
    }
}

impl fmt::Display for Bytes {
    /// The largest unit in which the value is exact: `300 kB`, `12 MiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_exact(f, self.0, text::BYTES_UNITS)
    }
}

impl fmt::Display for Rate {
    /// The largest unit in which the value is exact: `40 Gbps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_exact(f, self.0, text::RATE_UNITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_exact_at_data_centre_rates() {
        for (gbps, ps) in [(400, 20), (100, 80), (40, 200), (25, 320), (10, 800)] {
            assert_eq!(Rate::from_gbps(gbps).time_for(Bytes(1)), Span(ps));
        }
    }

    #[test]
    fn time_for_rounds_up_and_bytes_in_rounds_down() {
        let rate = Rate(3);
        assert_eq!(rate.time_for(Bytes(1)), Span(2_666_666_666_667));
        assert_eq!(rate.bytes_in(Span(2_666_666_666_666)), Bytes(0));
        assert_eq!(Rate(0).time_for(Bytes(1)), Span(u64::MAX));
    }

    #[test]
    fn sizes_and_spans_beyond_64_bits_of_product_continue_without_a_step() {
        let rate = Rate::from_gbps(10);
        let last = u64::MAX / (8 * PS_PER_S);
        for size in [last - 1, last, last + 1, 1 << 40] {
            assert_eq!(rate.time_for(Bytes(size)), Span(size * 800));
            assert_eq!(rate.bytes_in(Span(size * 800)), Bytes(size));
            assert_eq!(rate.bytes_in(Span(size * 800 + 799)), Bytes(size));
        }
        assert_eq!(Rate(1).time_for(Bytes(u64::MAX)), Span(u64::MAX));
    }

    #[test]
    fn display_is_the_largest_exact_unit() {
        assert_eq!(Span::from_ns(1500).to_string(), "1500 ns");
        assert_eq!(Bytes(12 << 20).to_string(), "12 MiB");
        assert_eq!(
            [Bytes(128_000), Bytes(65_536), Bytes(131_072_000)].map(|size| size.to_string()),
            ["128 kB", "64 KiB", "125 MiB"]
        );
        assert_eq!(Bytes(300_000).to_string(), "300 kB");
        assert_eq!(Rate::from_gbps(40).to_string(), "40 Gbps");
        assert_eq!(Rate(2_500_000_000).to_string(), "2500 Mbps");
    }
}
