//! Fingerprints of label lists: a polynomial over a prime field, evaluated at a fixed point. Must not depend on
//! networks.
//!
//! A list of labels is the polynomial whose monomials are its labels and whose coefficients are their multiplicities.
//! Two different polynomials of degree g agree at a random point of a field of p elements with probability at most
//! g/p (Schwartz and Zippel). Labels have degree 3 and two fields of p = 2^61 - 1 are used, so that two different
//! lists collide with a probability of about 10^-36.

use std::ops::{Add, AddAssign, Mul, Neg};
use weft_core::random::mix;

const PRIME: u64 = (1 << 61) - 1;

/// An element of the field, twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Residue([u64; 2]);

impl Residue {
    pub(crate) const ZERO: Residue = Residue([0; 2]);
    pub(crate) const ONE: Residue = Residue([1; 2]);

    /// The coordinate of the fixed point for a name; `kind` separates names of different things.
    pub(crate) fn of(kind: u64, name: [u64; 2]) -> Residue {
        let half = |n: u64| mix(mix(mix(kind << 1 | n) ^ name[0]).wrapping_add(name[1])) % PRIME;
        Residue([half(0), half(1)])
    }

    /// A whole number.
    pub(crate) fn from_count(count: u64) -> Residue {
        Residue([count % PRIME; 2])
    }
}

impl Add for Residue {
    type Output = Residue;
    #[inline]
    fn add(self, other: Residue) -> Residue {
        let sum = |a: u64, b: u64| {
            let sum = a + b;
            if sum >= PRIME { sum - PRIME } else { sum }
        };
        Residue([sum(self.0[0], other.0[0]), sum(self.0[1], other.0[1])])
    }
}

impl Neg for Residue {
    type Output = Residue;
    #[inline]
    fn neg(self) -> Residue {
        Residue(self.0.map(|half| if half == 0 { 0 } else { PRIME - half }))
    }
}

impl AddAssign for Residue {
    #[inline]
    fn add_assign(&mut self, other: Residue) {
        *self = *self + other;
    }
}

impl Mul for Residue {
    type Output = Residue;
    #[inline]
    fn mul(self, other: Residue) -> Residue {
        let product = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            let folded = (product as u64 & PRIME) + (product >> 61) as u64;
            if folded >= PRIME { folded - PRIME } else { folded }
        };
        Residue([product(self.0[0], other.0[0]), product(self.0[1], other.0[1])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_that_of_the_field() {
        let (a, b) = (Residue::of(1, [2, 3]), Residue::of(4, [5, 6]));
        let slow = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64;
        assert_eq!((a * b).0, [slow(a.0[0], b.0[0]), slow(a.0[1], b.0[1])]);
        assert_eq!(Residue([PRIME - 1; 2]) + Residue::ONE, Residue::ZERO);
        assert_eq!(Residue([PRIME - 1; 2]) * Residue([PRIME - 1; 2]), Residue::ONE);
        assert_eq!(Residue::from_count(PRIME + 5), Residue([5; 2]));
        assert_eq!(-Residue::ONE + Residue::ONE, Residue::ZERO);
        assert_eq!(-Residue::ZERO, Residue::ZERO);
    }

    #[test]
    fn different_names_have_different_coordinates() {
        let names = (0..100).flat_map(|a| (0..100).map(move |b| Residue::of(1, [a, b])));
        let distinct: std::collections::HashSet<_> = names.collect();
        assert_eq!(distinct.len(), 10_000);
    }
}
