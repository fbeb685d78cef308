//! The CRC of Ethernet (IEEE 802.3, 3.2.9), lowest bit first: hashes of switches, and the invariant check of RoCE.

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The CRC of some bytes. Ethernet's starts from `u32::MAX`; hashes start from a seed.
#[must_use]
#[inline]
pub fn crc32(initial: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(initial, |crc, byte| crc >> 8 ^ TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value, over "123456789", is part of the definition.
    #[test]
    fn the_crc_is_that_of_ethernet() {
        assert_eq!(crc32(u32::MAX, b"123456789"), 0xcbf4_3926);
    }
}
