//! Any bytes as a capture file: never a panic, always an end, and frames that were read can be written and read
//! again.
//!
//! Run with `cargo +nightly fuzz run capture`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_packet::capture::{CaptureReader, enhanced_packet, interface_description, section_header};

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = CaptureReader::new(bytes) else { return };
    let frames: Vec<_> = reader.map_while(Result::ok).collect();
    let mut written = [section_header(), interface_description("fuzz")].concat();
    for frame in &frames {
        written.extend(enhanced_packet(0, frame.time_ns, frame.bytes));
    }
    let again: Vec<_> =
        CaptureReader::new(&written).expect("a file").map(|frame| frame.expect("sound")).collect();
    assert_eq!(frames.len(), again.len());
    assert!(frames.iter().zip(again).all(|(one, two)| (one.time_ns, one.bytes) == (two.time_ns, two.bytes)));
});
