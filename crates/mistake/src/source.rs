//! Texts that settings come from, and positions in them: the scenario file, `--set` arguments, sweep values.
//!
//! Must not depend on TOML or settings; it only turns byte offsets into lines and columns.

use std::ops::Range;

/// A named text.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The name shown to the reader: a file name, or `--set balance=drill`.
    pub name: String,
    /// The text, exactly as written.
    pub text: String,
}

/// A stretch of one of the [`Sources`], each of which is below 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceSpan {
    source: u32,
    start: u32,
    end: u32,
}

/// Line and column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// All texts that went into a scenario, each with the bytes at which its lines start; the first one is the scenario file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources(Vec<(Source, Vec<usize>)>);

/// A text with the bytes at which its lines start.
fn with_lines(name: &str, text: &str) -> (Source, Vec<usize>) {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    let starts = std::iter::once(0).chain(ends).collect();
    (Source { name: name.to_owned(), text: text.to_owned() }, starts)
}

impl SourceSpan {
    /// The bytes `span` of source number `source`.
    #[must_use]
    pub fn new(source: usize, span: Range<usize>) -> SourceSpan {
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (source, start, end) = (short(source), short(span.start), short(span.end));
        SourceSpan { source, start, end: end.max(start) }
    }

    /// The span moved by `by` bytes.
    pub fn moved(self, by: usize) -> SourceSpan {
        SourceSpan::new(self.source as usize, self.span().start + by..self.span().end + by)
    }

    /// Where it starts and ends, in the bytes of its text.
    pub fn span(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Sources {
    /// The sources of a scenario file alone.
    pub fn of_file(name: &str, text: &str) -> Sources {
        Sources(vec![with_lines(name, text)])
    }

    /// Adds a text and returns its number.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        self.0.push(with_lines(name, text));
        self.0.len() - 1
    }

    /// The scenario file's text.
    pub fn file_text(&self) -> &str {
        self.0.first().map_or("", |(file, _)| &file.text)
    }

    /// The number of a span's text, for sorting: the file is 0.
    pub fn number(place: SourceSpan) -> usize {
        place.source as usize
    }

    /// The text that contains a span.
    #[must_use]
    pub fn source(&self, place: SourceSpan) -> &Source {
        &self.0[Sources::number(place)].0
    }

    /// The characters of a span.
    #[must_use]
    pub fn text(&self, place: SourceSpan) -> &str {
        self.source(place).text.get(place.span()).unwrap_or("")
    }

    /// The line in which a span starts, without its line end, and the byte at which that line starts.
    pub fn line(&self, place: SourceSpan) -> (&str, usize) {
        let start = self.0[Sources::number(place)].1[self.line_column(place).line - 1];
        let rest = &self.source(place).text[start..];
        (rest.split('\n').next().unwrap_or_default(), start)
    }

    /// The line and column at which a span starts.
    #[must_use]
    pub fn line_column(&self, place: SourceSpan) -> LineColumn {
        let (Source { text, .. }, starts) = &self.0[Sources::number(place)];
        let at = place.span().start.min(text.len());
        let line = starts.partition_point(|start| *start <= at);
        let column = 1 + String::from_utf8_lossy(&text.as_bytes()[starts[line - 1]..at]).chars().count();
        LineColumn { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let sources = Sources::of_file("a.toml", "ab\ncµd = 1\n");
        let at = |start| sources.line_column(SourceSpan::new(0, start..start + 1));
        assert_eq!(at(0), LineColumn { line: 1, column: 1 });
        assert_eq!(at(3), LineColumn { line: 2, column: 1 });
        assert_eq!(at(6), LineColumn { line: 2, column: 3 });
        assert_eq!(at(99), LineColumn { line: 3, column: 1 });
        assert_eq!(sources.text(SourceSpan::new(0, 3..7)), "cµd");
    }
}
