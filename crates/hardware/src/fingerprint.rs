//! A number that identifies the inputs from which something was made.

/// FNV-1a over all texts, each preceded by its length.
pub(crate) fn fingerprint(texts: &[String]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.len().to_le_bytes().into_iter().chain(text.bytes()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
