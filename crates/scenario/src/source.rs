//! Texts that settings come from, and places in them: the scenario file, `--set` arguments, sweep values.
//!
//! Knows nothing of TOML or of settings; it only turns byte offsets into lines and columns.

use std::ops::Range;

/// A named text.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What the reader knows it by: a file name, or `--set balance=drill`.
    pub name: String,
    /// The text, exactly as written.
    pub text: String,
}

/// A stretch of one of the [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    source: usize,
    start: usize,
    end: usize,
}

/// Line and column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// All texts that went into a scenario; the first one is the scenario file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources(Vec<Source>);

impl Place {
    /// The bytes `span` of source number `source`.
    #[must_use]
    pub(crate) fn new(source: usize, span: Range<usize>) -> Place {
        Place { source, start: span.start, end: span.end.max(span.start) }
    }

    /// The same stretch `by` bytes further on.
    pub(crate) fn moved(self, by: usize) -> Place {
        Place { start: self.start + by, end: self.end + by, ..self }
    }

    /// Where it starts and ends, in the bytes of its text.
    pub(crate) fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

impl Sources {
    /// Only a scenario file.
    pub(crate) fn of_file(name: &str, text: &str) -> Sources {
        Sources(vec![Source { name: name.to_owned(), text: text.to_owned() }])
    }

    /// Adds a text and returns its number.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        self.0.push(Source { name: name.to_owned(), text: text.to_owned() });
        self.0.len() - 1
    }

    /// The scenario file's text.
    pub(crate) fn file_text(&self) -> &str {
        self.0.first().map_or("", |file| &file.text)
    }

    /// The number of a place's text, for sorting: the file is 0.
    pub(crate) fn number(place: Place) -> usize {
        place.source
    }

    /// The text a place lies in.
    #[must_use]
    pub fn source(&self, place: Place) -> &Source {
        &self.0[place.source]
    }

    /// The place's own characters.
    #[must_use]
    pub fn text(&self, place: Place) -> &str {
        self.source(place).text.get(place.span()).unwrap_or("")
    }

    /// The line and column where a place starts.
    #[must_use]
    pub fn line_column(&self, place: Place) -> LineColumn {
        let text = &self.source(place).text;
        let before = &text.as_bytes()[..place.start.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
        LineColumn { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let sources = Sources::of_file("a.toml", "ab\ncµd = 1\n");
        let at = |start| sources.line_column(Place::new(0, start..start + 1));
        assert_eq!(at(0), LineColumn { line: 1, column: 1 });
        assert_eq!(at(3), LineColumn { line: 2, column: 1 });
        assert_eq!(at(6), LineColumn { line: 2, column: 3 });
        assert_eq!(at(99), LineColumn { line: 3, column: 1 });
        assert_eq!(sources.text(Place::new(0, 3..7)), "cµd");
    }
}
