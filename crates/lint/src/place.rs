//! Places in the files under examination: a file and a byte in it, told as line and column when a person reads them.
//! Knows no format.

/// A file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    /// The name the user gave.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
}

/// Where something stands: the number of a file and a byte in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) file: usize,
    pub(crate) at: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) at: Spot,
}

/// Line and column of a byte, both from 1; columns count characters.
pub(crate) fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    (line, 1 + String::from_utf8_lossy(&before[start..]).chars().count())
}

/// The lines of a text with the byte at which each one begins.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
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
    fn lines_begin_where_they_say() {
        let text = "ab\r\n\nµcd";
        let found: Vec<_> = lines(text).collect();
        assert_eq!(found, [(0, "ab"), (4, ""), (5, "µcd")]);
        assert_eq!(line_column(text, 7), (3, 2));
        assert_eq!(line_column(text, 999), (3, 4));
    }
}
