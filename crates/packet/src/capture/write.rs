//! Blocks of a pcapng file with times in nanoseconds, in the byte order of this format's most common readers.

/// The beginning of a file.
#[must_use]
pub fn section_header() -> Vec<u8> {
    let mut body = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    body.extend([1, 0, 0, 0]);
    // The length of the section is not stated.
    body.extend([0xff; 8]);
    block(0x0a0d_0d0a, &body)
}

/// An Ethernet interface of this name; the first has number 0.
#[must_use]
pub fn interface_description(name: &str) -> Vec<u8> {
    let mut body = vec![1, 0, 0, 0, 0, 0, 0, 0];
    let name = &name.as_bytes()[..name.len().min(usize::from(u16::MAX))];
    body.extend(option(2, name));
    body.extend(option(9, &[9]));
    body.extend(option(0, &[]));
    block(1, &body)
}

/// A frame of an interface.
#[must_use]
pub fn enhanced_packet(interface: u32, time_ns: u64, bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_le_bytes();
    let mut body = interface.to_le_bytes().to_vec();
    body.extend(((time_ns >> 32) as u32).to_le_bytes());
    body.extend((time_ns as u32).to_le_bytes());
    body.extend([length, length].concat());
    body.extend(bytes);
    block(6, &body)
}

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = [code.to_le_bytes(), (value.len() as u16).to_le_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = ((body.len().next_multiple_of(4) + 12) as u32).to_le_bytes();
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(length);
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(length);
    bytes
}
