//! Any bytes as messages of the kernel, with and without sound headers: never a panic, always an end.
//!
//! Run with `cargo +nightly fuzz run netlink`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_netlink::messages;

fuzz_target!(|bytes: &[u8]| {
    assert!(messages(bytes).count() <= bytes.len());
    let Some((kind, body)) = bytes.split_first() else { return };
    let mut message = ((16 + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(u16::from(*kind).to_ne_bytes());
    message.extend([0; 10]);
    message.extend(body);
    assert!(messages(&message).all(|message| message.is_ok()));
});
