//! Blocks of pcapng: sections, interfaces, packets.

use super::{CaptureError, CaptureReader, CapturedFrame, ETHERNET, SECTION};

/// The byte order of a file or section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(if self == ByteOrder::Little { u16::from_le_bytes(field) } else { u16::from_be_bytes(field) })
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(if self == ByteOrder::Little { u32::from_le_bytes(field) } else { u32::from_be_bytes(field) })
    }

    fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        let (first, second) = (u64::from(self.u32(bytes, at)?), u64::from(self.u32(bytes, at + 4)?));
        Some(if self == ByteOrder::Little { second << 32 | first } else { first << 32 | second })
    }
}

/// An interface of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    /// Units of time per second.
    pub(super) per_second: u64,
    /// Seconds to add.
    offset: u64,
    /// Frames are truncated to this length; 0: they are not.
    snap: u32,
    is_ethernet: Result<(), u16>,
}

impl Interface {
    pub(super) fn ethernet(per_second: u64, snap: u32) -> Interface {
        Interface { per_second, offset: 0, snap, is_ethernet: Ok(()) }
    }

    /// Units of time as nanoseconds.
    fn nanoseconds(&self, units: u64) -> u64 {
        let scaled = u128::from(units) * 1_000_000_000 / u128::from(self.per_second);
        u64::try_from(scaled).unwrap_or(u64::MAX).saturating_add(self.offset.saturating_mul(1_000_000_000))
    }
}

/// Bytes of a block besides its body: type, length, length.
const AROUND: usize = 12;
/// Kinds of blocks.
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Options of an interface.
const END_OF_OPTIONS: u16 = 0;
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;
/// Maximum number of interfaces remembered.
const MOST_INTERFACES: usize = 65_536;

impl<'a> CaptureReader<'a> {
    /// Reads the next block; a frame, if it has one.
    pub(super) fn block(&mut self) -> Result<Option<CapturedFrame<'a>>, CaptureError> {
        let at = self.at;
        let (damaged, cut) = (CaptureError::Damaged { at }, CaptureError::Cut { at });
        let is_section = self.bytes.get(at..at + 4).ok_or(cut)? == SECTION;
        if is_section {
            self.order = match self.bytes.get(at + 8..at + 12).ok_or(cut)? {
                [0x4d, 0x3c, 0x2b, 0x1a] => ByteOrder::Little,
                [0x1a, 0x2b, 0x3c, 0x4d] => ByteOrder::Big,
                _ => return Err(damaged),
            };
            self.interfaces.clear();
        }
        let kind = self.order.u32(self.bytes, at).ok_or(cut)?;
        let length = self.order.u32(self.bytes, at + 4).ok_or(cut)? as usize;
        let end =
            at.checked_add(length).filter(|_| length >= AROUND && length.is_multiple_of(4)).ok_or(damaged)?;
        let body = self.bytes.get(at + 8..end - 4).filter(|_| end <= self.bytes.len()).ok_or(cut)?;
        self.at = end;
        match kind {
            _ if is_section => self.section(body, damaged).map(|()| None),
            INTERFACE => self.describe(body).ok_or(damaged).map(|()| None),
            OLD_PACKET | ENHANCED_PACKET => self.packet(kind, body, at).map(Some),
            SIMPLE_PACKET => self.simple(body, at).map(Some),
            _ => Ok(None),
        }
    }

    fn section(&self, body: &[u8], damaged: CaptureError) -> Result<(), CaptureError> {
        let major = self.order.u16(body, 4).ok_or(damaged)?;
        let minor = self.order.u16(body, 6).ok_or(damaged)?;
        if major == 1 { Ok(()) } else { Err(CaptureError::Version(major, minor)) }
    }

    fn describe(&mut self, body: &[u8]) -> Option<()> {
        let link = self.order.u16(body, 0)?;
        let mut interface = Interface::ethernet(1_000_000, self.order.u32(body, 4)?);
        interface.is_ethernet = if link == ETHERNET { Ok(()) } else { Err(link) };
        let mut at = 8;
        while let (Some(code), Some(length)) = (self.order.u16(body, at), self.order.u16(body, at + 2)) {
            let value = body.get(at + 4..at + 4 + usize::from(length))?;
            match (code, value) {
                (END_OF_OPTIONS, _) => break,
                (RESOLUTION, [resolution]) => interface.per_second = per_second(*resolution)?,
                (OFFSET, [_, _, _, _, _, _, _, _]) => interface.offset = self.order.u64(value, 0)?,
                _ => {}
            }
            at += 4 + usize::from(length).next_multiple_of(4);
        }
        (self.interfaces.len() < MOST_INTERFACES).then(|| self.interfaces.push(interface))
    }

    fn interface(&self, at: usize, number: u32) -> Result<Interface, CaptureError> {
        let found = self.interfaces.get(number as usize);
        let found = *found.ok_or(CaptureError::Interface { at, interface: number })?;
        found.is_ethernet.map(|()| found).map_err(CaptureError::LinkType)
    }

    fn packet(&self, kind: u32, body: &'a [u8], at: usize) -> Result<CapturedFrame<'a>, CaptureError> {
        let damaged = CaptureError::Damaged { at };
        let field = |at| self.order.u32(body, at).ok_or(damaged);
        let number = match kind {
            OLD_PACKET => u32::from(self.order.u16(body, 0).ok_or(damaged)?),
            _ => field(0)?,
        };
        let interface = self.interface(at, number)?;
        let units = u64::from(field(4)?) << 32 | u64::from(field(8)?);
        let length = field(12)? as usize;
        let bytes = body.get(20..).and_then(|data| data.get(..length)).ok_or(damaged)?;
        let is_cut = (field(16)? as usize) > length;
        Ok(CapturedFrame { time_ns: interface.nanoseconds(units), interface: number, bytes, is_cut })
    }

    /// A packet without time, of the first interface.
    fn simple(&self, body: &'a [u8], at: usize) -> Result<CapturedFrame<'a>, CaptureError> {
        let damaged = CaptureError::Damaged { at };
        let Interface { snap, .. } = self.interface(at, 0)?;
        let sent = self.order.u32(body, 0).ok_or(damaged)?;
        let length = if snap == 0 { sent } else { sent.min(snap) } as usize;
        let bytes = body.get(4..).and_then(|data| data.get(..length)).ok_or(damaged)?;
        Ok(CapturedFrame { time_ns: 0, interface: 0, bytes, is_cut: sent as usize > length })
    }
}

/// Units per second of a resolution: a power of ten, or of two if its highest bit is set.
fn per_second(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 { 10_u64.checked_pow(power) } else { 1_u64.checked_shl(power) }
}
