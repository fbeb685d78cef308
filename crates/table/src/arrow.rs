//! The Arrow schema of a table as readers of Parquet files expect it: a FlatBuffers message in base64 under a key of
//! the file's metadata. It makes the unit of a column metadata of its field. Depends on columns only, not on values.
//!
//! *Formats*: Arrow columnar format 1.5, encapsulated messages and `Schema.fbs`, `Message.fbs`; FlatBuffers internals
//! (tables, vtables, vectors); RFC 4648 section 4.

use crate::{Cells, Column, DataTable};

/// The key in the file's metadata.
pub(crate) const KEY: &str = "ARROW:schema";

/// The metadata version of the message, V5.
const VERSION: i16 = 4;
/// The kind of message, from the union of headers.
const SCHEMA: u8 = 1;
/// Kinds of types, from the union of types.
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const BOOL: u8 = 6;
/// The precision of a double.
const DOUBLE: i16 = 2;

/// The value of the key.
pub(crate) fn schema(table: &DataTable) -> String {
    let mut message = FlatBuffer::new();
    let header = message.root(&[Slot::Short(VERSION), Slot::Byte(SCHEMA), Slot::Place, Slot::Long(0)])[0];
    let fields = message.table(header, &[Slot::Short(0), Slot::Place])[0];
    let places = message.vector(fields, table.columns.len());
    places.into_iter().zip(&table.columns).for_each(|(place, column)| field(&mut message, place, column));
    base64(&encapsulated(message.bytes))
}

/// A nullable field with its type, no children and, if there is one, its unit.
fn field(message: &mut FlatBuffer, at: usize, column: &Column) {
    let kind = match column.cells {
        Cells::Integers(_) => INT,
        Cells::Numbers(_) => FLOATING_POINT,
        Cells::Texts(_) | Cells::Names(_) => UTF8,
        Cells::Flags(_) => BOOL,
    };
    let metadata = if column.unit.is_empty() { Slot::Absent } else { Slot::Place };
    let slots =
        [Slot::Place, Slot::Byte(1), Slot::Byte(kind), Slot::Place, Slot::Absent, Slot::Place, metadata];
    let places = message.table(at, &slots);
    message.text(places[0], &column.name);
    match kind {
        INT => message.table(places[1], &[Slot::Int(64), Slot::Byte(1)]),
        FLOATING_POINT => message.table(places[1], &[Slot::Short(DOUBLE)]),
        _ => message.table(places[1], &[]),
    };
    message.vector(places[2], 0);
    if let Some(place) = places.get(3) {
        let pair = message.vector(*place, 1)[0];
        let texts = message.table(pair, &[Slot::Place, Slot::Place]);
        message.text(texts[0], "unit");
        message.text(texts[1], &column.unit);
    }
}

/// A message with its length before it, padded to eight bytes.
fn encapsulated(mut message: Vec<u8>) -> Vec<u8> {
    message.resize(message.len().next_multiple_of(8), 0);
    let length = (message.len() as u32).to_le_bytes();
    [&[0xFF; 4][..], &length, &message].concat()
}

/// A field of a FlatBuffers table.
#[derive(Clone, Copy)]
enum Slot {
    Absent,
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    /// Refers to a part that comes later.
    Place,
}

impl Slot {
    fn bytes(self) -> Vec<u8> {
        match self {
            Slot::Absent => Vec::new(),
            Slot::Byte(value) => vec![value],
            Slot::Short(value) => value.to_le_bytes().to_vec(),
            Slot::Int(value) => value.to_le_bytes().to_vec(),
            Slot::Long(value) => value.to_le_bytes().to_vec(),
            Slot::Place => vec![0; 4],
        }
    }
}

/// A buffer that is written from the root: a reference to a later part reserves space for the distance.
struct FlatBuffer {
    bytes: Vec<u8>,
}

impl FlatBuffer {
    fn new() -> FlatBuffer {
        FlatBuffer { bytes: Vec::new() }
    }

    /// The root table; see [`FlatBuffer::table`].
    fn root(&mut self, slots: &[Slot]) -> Vec<usize> {
        self.bytes.extend([0; 4]);
        self.table(0, slots)
    }

    /// A table referred to at `from`; the places of its references, in order.
    fn table(&mut self, from: usize, slots: &[Slot]) -> Vec<usize> {
        let mut body = vec![0; 4];
        let mut offsets = Vec::new();
        let mut places = Vec::new();
        for slot in slots {
            let bytes = slot.bytes();
            body.resize(body.len().next_multiple_of(bytes.len().max(1)), 0);
            offsets.push(if bytes.is_empty() { 0 } else { body.len() as u16 });
            places.extend(matches!(slot, Slot::Place).then_some(body.len()));
            body.extend(bytes);
        }
        self.align(2);
        let vtable = self.bytes.len();
        let head = [4 + 2 * slots.len() as u16, body.len() as u16];
        self.bytes.extend(head.into_iter().chain(offsets).flat_map(u16::to_le_bytes));
        self.align(8);
        let table = self.bytes.len();
        body[..4].copy_from_slice(&((table - vtable) as i32).to_le_bytes());
        self.bytes.extend(body);
        self.refer(from, table);
        places.into_iter().map(|place| table + place).collect()
    }

    /// A vector of references; their places.
    fn vector(&mut self, from: usize, length: usize) -> Vec<usize> {
        self.align(4);
        let start = self.bytes.len();
        self.bytes.extend((length as u32).to_le_bytes());
        self.bytes.resize(start + 4 + 4 * length, 0);
        self.refer(from, start);
        (0..length).map(|n| start + 4 + 4 * n).collect()
    }

    fn text(&mut self, from: usize, text: &str) {
        self.align(4);
        self.refer(from, self.bytes.len());
        self.bytes.extend((text.len() as u32).to_le_bytes());
        self.bytes.extend(text.bytes().chain([0]));
    }

    fn refer(&mut self, from: usize, to: usize) {
        self.bytes[from..from + 4].copy_from_slice(&((to - from) as u32).to_le_bytes());
    }

    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let byte = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit = move |n: u32| char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]);
        let digits = three.len() as u32 + 1;
        (0..4).map(move |n| if n < digits { digit(n) } else { '=' })
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (text, encoded) in examples {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    /// Follows references as a reader does: root, header, fields, name.
    #[test]
    fn the_name_of_a_field_is_found_from_the_root() {
        let mut message = FlatBuffer::new();
        let places = message.root(&[Slot::Short(4), Slot::Place, Slot::Long(7)]);
        message.text(places[0], "start_ps");
        let bytes = &message.bytes;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let short = |at: usize| usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()));
        let table = word(0);
        let vtable = table - word(table);
        let field = |n: usize| table + short(vtable + 4 + 2 * n);
        assert_eq!((short(field(0)), bytes[field(2)], field(2) % 8), (4, 7, 0));
        let text = field(1) + word(field(1));
        assert_eq!(&bytes[text + 4..text + 4 + word(text)], b"start_ps");
    }
}
