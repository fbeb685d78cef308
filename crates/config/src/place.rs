//! Positions in the files under examination: a file and a byte in it, shown to people as line and column. Must not
//! depend on file formats.

/// A file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// The name the user gave.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A position: the number of a file and a byte in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The file's number.
    pub file: usize,
    /// The byte.
    pub at: usize,
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its position.
    pub at: Spot,
}

/// Line and column of a byte, both from 1; columns count characters.
#[must_use]
pub fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    (line, 1 + String::from_utf8_lossy(&before[start..]).chars().count())
}

/// Finds line and column of many positions, each after the previous one or in a later file, in one pass over every
/// text.
#[derive(Debug, Default)]
pub struct Cursor {
    spot: Spot,
    lines: usize,
    column: usize,
}

impl Cursor {
    /// Line and column of a position in its text, both from 1.
    pub fn at(&mut self, spot: Spot, text: &str) -> (usize, usize) {
        if spot.file != self.spot.file || spot.at < self.spot.at {
            *self = Cursor { spot: Spot { file: spot.file, at: 0 }, ..Cursor::default() };
        }
        let until = spot.at.min(text.len()).max(self.spot.at);
        // Bytes inside a character do not begin one.
        for byte in &text.as_bytes()[self.spot.at..until] {
            match byte {
                b'\n' => (self.lines, self.column) = (self.lines + 1, 0),
                0x80..0xc0 => {}
                _ => self.column += 1,
            }
        }
        self.spot.at = until;
        (self.lines + 1, self.column + 1)
    }
}

/// The lines of a text with the byte at which each one begins.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_tells_what_counting_from_the_start_tells() {
        let text = "ab\r\n\nµc😀d\n";
        let mut cursor = Cursor::default();
        for (at, _) in text.char_indices().chain([(999, ' ')]) {
            assert_eq!(cursor.at(Spot { file: 0, at }, text), line_column(text, at), "{at}");
        }
        assert_eq!(cursor.at(Spot { file: 1, at: 1 }, "\n"), (2, 1));
    }

    #[test]
    fn lines_begin_where_they_say() {
        let text = "ab\r\n\nµcd";
        let found: Vec<_> = lines(text).collect();
        assert_eq!(found, [(0, "ab"), (4, ""), (5, "µcd")]);
        assert_eq!(line_column(text, 7), (3, 2));
        assert_eq!(line_column(text, 999), (3, 4));
    }
}
