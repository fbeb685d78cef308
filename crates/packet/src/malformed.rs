//! Why bytes are not a packet.

use thiserror::Error;

/// Why a parser rejects bytes. Each variant is a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The bytes end before the header does.
    #[error("{header}: the bytes end before the header does")]
    Truncated {
        /// The header.
        header: &'static str,
    },
    /// The version field contradicts the Ethernet type.
    #[error("IP version {0} does not match the Ethernet type")]
    Version(u8),
    /// A length field contradicts the header or exceeds the bytes.
    #[error("{header}: the length field says {says} bytes, {has} are there")]
    Length {
        /// The header.
        header: &'static str,
        /// The value of the field.
        says: usize,
        /// The bytes present.
        has: usize,
    },
    /// A wrong checksum.
    #[error("{header}: wrong checksum")]
    Checksum {
        /// The header.
        header: &'static str,
    },
    /// A field has a value that the standard forbids here.
    #[error("{header}: {field} must not be {value}")]
    Forbidden {
        /// The header.
        header: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}
