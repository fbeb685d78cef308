//! A stable checksum of a byte sequence: equal on every machine, to distinguish inputs. Not cryptographic.

/// FNV-1a, 64 bits (draft-eastlake-fnv), taken byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Continues the checksum with these bytes.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Checksum {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Checksum(bytes.iter().fold(self.0, step))
    }

    /// The checksum of all bytes so far.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_published_ones() {
        let of = |bytes: &[u8]| Checksum::default().with(bytes).value();
        assert_eq!((of(b""), of(b"a")), (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c));
        assert_eq!(Checksum::default().with(b"foo").with(b"bar").value(), 0x8594_4171_f739_67e8);
    }
}
