//! Any bytes as a sealed packet: never a panic, and never opened; and every sealed packet can be opened again.
//!
//! Run with `cargo +nightly fuzz run esp`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_esp::{EspCipher, InboundAssociation, OutboundAssociation};

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else { return };
    let cipher = || match which % 3 {
        0 => EspCipher::aes_128_gcm(&[1; 20]),
        1 => EspCipher::aes_256_gcm(&[1; 36]),
        _ => EspCipher::aes_128_cbc_hmac_sha1(&[1; 36]),
    };
    let receives = InboundAssociation::new(0x0101_0101, cipher(), 64);
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    assert!(receives.open(rest, &mut opened).is_err());
    let sends = OutboundAssociation::new(0x0101_0101, cipher(), 0);
    if sends.seal(4, rest, &mut sealed).is_ok() {
        assert_eq!(receives.open(&sealed, &mut opened), Ok(4));
        assert_eq!(opened, rest);
    }
});
