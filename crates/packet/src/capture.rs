//! Capture files: pcap and pcapng in, pcapng out.
//!
//! The reader takes Ethernet frames of both byte orders and all time resolutions and never panics; blocks without
//! frames are skipped. Formats: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
//!
//! ```
//! use weft_packet::capture::{CaptureReader, enhanced_packet, interface_description, section_header};
//! let blocks = [section_header(), interface_description("left"), enhanced_packet(0, 1_500, &[7; 60])];
//! let file = blocks.concat();
//! let frame = CaptureReader::new(&file)?.next().expect("a frame")?;
//! assert_eq!((frame.time_ns, frame.bytes.len()), (1_500, 60));
//! # Ok::<(), weft_packet::capture::CaptureError>(())
//! ```

use thiserror::Error;

mod blocks;
mod write;

use blocks::{ByteOrder, Interface};
pub use write::{enhanced_packet, interface_description, section_header};

/// A frame of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedFrame<'a> {
    /// Time in nanoseconds, since 1970 in most captures; 0 if the capture has none.
    pub time_ns: u64,
    /// Number of its interface.
    pub interface: u32,
    /// Its bytes, as many as were captured.
    pub bytes: &'a [u8],
    /// Whether the recorder has cut off its end (snap length).
    pub is_cut: bool,
}

/// Why a file is not a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CaptureError {
    /// It does not start with a known magic number.
    #[error("neither pcap nor pcapng: it begins with {0:02x?}")]
    Format([u8; 4]),
    /// A version other than pcap 2.4 or pcapng 1.x.
    #[error("version {0}.{1} of the format is not known")]
    Version(u16, u16),
    /// Frames other than Ethernet.
    #[error("link type {0}: only Ethernet (1) can be read")]
    LinkType(u16),
    /// There is nothing in the file.
    #[error("the file is empty")]
    Empty,
    /// A record or block ends beyond the file, because its writer did not finish. The frames read before are sound.
    #[error("the record at byte {at} is cut off")]
    Cut {
        /// Where it begins.
        at: usize,
    },
    /// A record or block contradicts itself.
    #[error("the record at byte {at} is damaged")]
    Damaged {
        /// Where it begins.
        at: usize,
    },
    /// A frame names an interface that no block describes.
    #[error("the frame at byte {at} is of interface {interface}, which is not described")]
    Interface {
        /// Where the block begins.
        at: usize,
        /// The interface.
        interface: u32,
    },
}

/// Reads the frames of a file; after an error it is at its end.
#[derive(Clone, Debug)]
pub struct CaptureReader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
    /// pcapng: the interfaces of the section. pcap: one interface.
    interfaces: Vec<Interface>,
    has_blocks: bool,
}

/// Magic number of a pcapng section, the same in both byte orders.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Bytes of the header of a pcap file, and of a record.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
/// The only link type that is read.
const ETHERNET: u16 = 1;

impl<'a> CaptureReader<'a> {
    /// Begins to read a file.
    ///
    /// # Errors
    /// It is not a capture, or not of Ethernet.
    pub fn new(bytes: &'a [u8]) -> Result<CaptureReader<'a>, CaptureError> {
        if bytes.is_empty() {
            return Err(CaptureError::Empty);
        }
        let magic: [u8; 4] = bytes
            .first_chunk()
            .copied()
            .ok_or(CaptureError::Format(std::array::from_fn(|n| bytes.get(n).copied().unwrap_or(0))))?;
        if magic == SECTION {
            let (order, interfaces) = (ByteOrder::Little, Vec::new());
            return Ok(CaptureReader { bytes, at: 0, order, interfaces, has_blocks: true });
        }
        let (order, per_second) = match u32::from_le_bytes(magic) {
            0xa1b2_c3d4 => (ByteOrder::Little, 1_000_000),
            0xa1b2_3c4d => (ByteOrder::Little, 1_000_000_000),
            0xd4c3_b2a1 => (ByteOrder::Big, 1_000_000),
            0x4d3c_b2a1 => (ByteOrder::Big, 1_000_000_000),
            _ => return Err(CaptureError::Format(magic)),
        };
        let damaged = CaptureError::Damaged { at: 0 };
        let field = |at| order.u16(bytes, at).ok_or(damaged);
        let version = (field(4)?, field(6)?);
        if version != (2, 4) {
            return Err(CaptureError::Version(version.0, version.1));
        }
        // The upper half of the field shows whether frames end with a checksum.
        let link = order.u32(bytes, 20).ok_or(damaged)? as u16;
        if link != ETHERNET {
            return Err(CaptureError::LinkType(link));
        }
        let interfaces = vec![Interface::ethernet(per_second, 0)];
        Ok(CaptureReader { bytes, at: FILE_HEADER, order, interfaces, has_blocks: false })
    }

    /// The frame of the next record of a pcap file.
    fn record(&mut self) -> Result<CapturedFrame<'a>, CaptureError> {
        let cut = CaptureError::Cut { at: self.at };
        let field = |at| self.order.u32(self.bytes, self.at + at).ok_or(cut);
        let (seconds, part, length) = (u64::from(field(0)?), u64::from(field(4)?), field(8)? as usize);
        let is_cut = (field(12)? as usize) > length;
        let from = self.at + RECORD_HEADER;
        let end = from.checked_add(length).ok_or(cut)?;
        let bytes = self.bytes.get(from..end).ok_or(cut)?;
        self.at = end;
        let per_second = self.interfaces[0].per_second;
        let time_ns =
            seconds.saturating_mul(1_000_000_000).saturating_add(part * (1_000_000_000 / per_second));
        Ok(CapturedFrame { time_ns, interface: 0, bytes, is_cut })
    }
}

impl<'a> Iterator for CaptureReader<'a> {
    type Item = Result<CapturedFrame<'a>, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.bytes.len() {
            let found = if self.has_blocks { self.block() } else { self.record().map(Some) };
            match found {
                Ok(Some(frame)) => return Some(Ok(frame)),
                Ok(None) => {}
                Err(error) => {
                    self.at = self.bytes.len();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(file: &[u8]) -> Result<Vec<(u64, u32, Vec<u8>)>, CaptureError> {
        let owned = |frame: CapturedFrame<'_>| (frame.time_ns, frame.interface, frame.bytes.to_vec());
        CaptureReader::new(file)?.map(|frame| frame.map(owned)).collect()
    }

    /// A pcap file with a frame of three bytes at 5 s and 7 units.
    fn pcap(magic: u32, link: u32, big: bool) -> Vec<u8> {
        let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut file =
            [word(magic).as_slice(), &half(2), &half(4), &[0; 8], &word(65_535), &word(link)].concat();
        file.extend([word(5), word(7), word(3), word(60)].concat());
        file.extend([1, 2, 3]);
        file
    }

    #[test]
    fn pcap_of_both_byte_orders_and_resolutions() {
        for big in [false, true] {
            let micro = frames(&pcap(0xa1b2_c3d4, 1, big)).unwrap();
            assert_eq!(micro, [(5_000_007_000, 0, vec![1, 2, 3])]);
            assert_eq!(frames(&pcap(0xa1b2_3c4d, 1, big)).unwrap()[0].0, 5_000_000_007);
            let is_cut = |file: &[u8]| CaptureReader::new(file).unwrap().next().unwrap().unwrap().is_cut;
            let mut whole = pcap(0xa1b2_c3d4, 1, big);
            assert!(is_cut(&whole), "three of sixty bytes");
            whole[if big { 39 } else { 36 }] = 3;
            assert!(!is_cut(&whole), "three of three");
        }
        assert_eq!(frames(&pcap(0xa1b2_c3d4, 113, false)), Err(CaptureError::LinkType(113)));
        assert_eq!(frames(b"GIF8"), Err(CaptureError::Format(*b"GIF8")));
        let whole = pcap(0xa1b2_c3d4, 1, false);
        assert_eq!(frames(&whole[..whole.len() - 1]), Err(CaptureError::Cut { at: 24 }));
        assert_eq!(frames(&[]), Err(CaptureError::Empty));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut file =
            [section_header(), interface_description("left"), interface_description("right")].concat();
        let expected: Vec<_> = (0..70_u32)
            .map(|n| (1_700_000_000_000_000_001 + u64::from(n), n % 2, vec![n as u8; n as usize]))
            .collect();
        for (time, interface, bytes) in &expected {
            file.extend(enhanced_packet(*interface, *time, bytes));
        }
        assert_eq!(file.len() % 4, 0, "blocks are padded");
        assert_eq!(frames(&file).unwrap(), expected);
    }

    #[test]
    fn other_blocks_sections_and_resolutions_are_understood() {
        let block = |kind: u32, body: &[u8]| {
            let length = (12 + body.len() as u32).to_be_bytes();
            [&kind.to_be_bytes()[..], &length, body, &length].concat()
        };
        // A section of the other byte order: Ethernet with time in units of 2^-10 s from 3 s on, snap length 4.
        let mut file = block(0x0a0d_0d0a, &[&[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0][..], &[0xff; 8]].concat());
        let resolution = [0, 9, 0, 1, 0x8a, 0, 0, 0];
        let offset = [0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 3];
        file.extend(block(1, &[&[0, 1, 0, 0, 0, 0, 0, 4][..], &resolution, &offset, &[0; 4]].concat()));
        file.extend(block(0x0bad, b"anything"));
        let packet =
            [&[0; 4][..], &[0; 4], &[0, 0, 2, 0], &[0, 0, 0, 2], &[0, 0, 0, 2], &[8, 9, 0, 0]].concat();
        file.extend(block(6, &packet));
        file.extend(block(3, &[0, 0, 0, 60, 1, 2, 3, 4]));
        file.extend([section_header(), interface_description("x"), enhanced_packet(0, 5, &[6])].concat());
        let expected = [(3_500_000_000, 0, vec![8, 9]), (0, 0, vec![1, 2, 3, 4]), (5, 0, vec![6])];
        assert_eq!(frames(&file).unwrap(), expected);
        let stray = [section_header(), enhanced_packet(2, 5, &[6])].concat();
        assert_eq!(frames(&stray), Err(CaptureError::Interface { at: 28, interface: 2 }));
    }

    #[test]
    fn a_file_cut_or_changed_anywhere_is_an_error_or_shorter() {
        let blocks = [section_header(), interface_description("left"), enhanced_packet(0, 9, &[1; 61])];
        for whole in [blocks.concat(), pcap(0xa1b2_c3d4, 1, false)] {
            for at in 0..whole.len() {
                let _ = frames(&whole[..at]);
                for value in [0, 1, 0x7f, 0xff] {
                    let mut changed = whole.clone();
                    changed[at] = value;
                    if let Ok(found) = frames(&changed) {
                        assert!(found.len() <= 8);
                    }
                }
            }
        }
    }
}
