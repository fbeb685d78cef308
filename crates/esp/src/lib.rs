//! IPsec ESP (RFC 4303): sealing and opening of packets with AES-GCM (RFC 4106) or AES-CBC with HMAC-SHA1-96 (RFC 3602, RFC
//! 2404), sequence numbers, anti-replay. Must not depend on sockets, routes, clocks or files.
//!
//! The ciphers are those of the RustCrypto project. Keys have no textual form: their debug output is a word.
//!
//! ```
//! use weft_esp::{EspCipher, InboundAssociation, OutboundAssociation};
//! let cipher = || EspCipher::aes_128_gcm(&[7; 20]);
//! let (sends, receives) = (OutboundAssociation::new(256, cipher(), 1), InboundAssociation::new(256, cipher(), 64));
//! let (mut sealed, mut opened) = (Vec::new(), Vec::new());
//! sends.seal(4, b"an IP packet", &mut sealed)?;
//! assert_eq!((receives.open(&sealed, &mut opened)?, opened.as_slice()), (4, &b"an IP packet"[..]));
//! assert!(receives.open(&sealed, &mut opened).is_err(), "a replay");
//! # Ok::<(), weft_esp::EspError>(())
//! ```

#![forbid(unsafe_code)]

mod association;
mod cipher;
mod window;

pub use association::{EspError, InboundAssociation, OutboundAssociation, spi_of};
pub use cipher::EspCipher;
pub use window::ReplayWindow;

/// Number of the protocol above IP.
pub const PROTOCOL: u8 = 50;
