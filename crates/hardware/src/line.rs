//! A line of a vector file: fields from the most significant bit on, as one hexadecimal number.

/// A line being built.
#[derive(Debug, Default)]
pub(crate) struct VectorLine {
    bits: Vec<bool>,
}

impl VectorLine {
    /// Appends a field of `width` bits.
    pub(crate) fn field(&mut self, value: u64, width: usize) -> &mut VectorLine {
        debug_assert!(width == 64 || value >> width == 0, "{value} does not fit into {width} bits");
        self.bits.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
        self
    }

    /// Appends a one-bit field.
    pub(crate) fn flag(&mut self, value: bool) -> &mut VectorLine {
        self.field(u64::from(value), 1)
    }

    /// Appends a set of ports as a field of `width` bits, port 0 last.
    pub(crate) fn set(&mut self, members: &[u16], width: usize) -> &mut VectorLine {
        self.bits.extend((0..width).rev().map(|port| members.contains(&(port as u16))));
        self
    }

    /// The number, without a line end.
    pub(crate) fn hex(&self) -> String {
        let pad = (4 - self.bits.len() % 4) % 4;
        let bits: Vec<bool> = std::iter::repeat_n(false, pad).chain(self.bits.iter().copied()).collect();
        let digit = |four: &[bool]| four.iter().fold(0, |value, bit| value << 1 | u32::from(*bit));
        bits.chunks(4).map(|four| char::from_digit(digit(four), 16).expect("four bits")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other_from_the_top() {
        let mut line = VectorLine::default();
        line.flag(true).field(0x2a, 8).set(&[0, 2], 3);
        assert_eq!(line.hex(), "955", "1 00101010 101");
        assert_eq!(VectorLine::default().field(5, 3).field(0, 2).hex(), "14");
    }
}
