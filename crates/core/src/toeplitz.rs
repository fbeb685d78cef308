//! The Toeplitz hash of network cards and switches (Microsoft, receive-side scaling).

/// The published key, which most drivers use.
pub const PUBLISHED_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
    0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
    0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// The hash with a fixed key of up to `BYTES` bytes, at most 36: the contribution of each value of each byte.
#[derive(Clone, Debug)]
pub struct Toeplitz<const BYTES: usize> {
    table: Box<[[u32; 256]; BYTES]>,
}

impl<const BYTES: usize> Toeplitz<BYTES> {
    /// The hash with a key.
    #[must_use]
    pub fn new(key: &[u8; 40]) -> Toeplitz<BYTES> {
        const { assert!(BYTES <= 36, "the key has 32 bits more than what is hashed") };
        let mut table = Box::new([[0; 256]; BYTES]);
        for (row, key) in table.iter_mut().zip(key.windows(5)) {
            let bits = key.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            for (value, entry) in row.iter_mut().enumerate() {
                let set = (0..8).filter(|bit| value >> (7 - bit) & 1 == 1);
                *entry = set.fold(0, |hash, bit| hash ^ (bits >> (8 - bit)) as u32);
            }
        }
        Toeplitz { table }
    }

    /// The hash of bytes; bytes beyond `BYTES` are ignored.
    #[must_use]
    #[inline]
    pub fn hash(&self, bytes: &[u8]) -> u32 {
        self.table.iter().zip(bytes).fold(0, |hash, (row, byte)| hash ^ row[usize::from(*byte)])
    }
}
