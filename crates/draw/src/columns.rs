//! Tables in a terminal: each column as wide as its widest cell, the first left-aligned, all others right-aligned. A
//! cell of the first column that does not fit continues on further lines.

use crate::visible::visible;

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    widths: Vec<usize>,
}

impl Columns {
    /// Columns wide enough for these rows, which all have as many cells as the first.
    pub fn of<'a>(rows: impl Iterator<Item = &'a [String]>) -> Columns {
        let mut widths: Vec<usize> = Vec::new();
        for row in rows {
            widths.resize(row.len(), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = shown(cell).chars().count().max(*width);
            }
        }
        Columns { widths }
    }

    /// Narrows the first column if the table is wider than `width`, though not below ten characters.
    #[must_use]
    pub fn within(mut self, width: usize) -> Columns {
        let others: usize = self.widths.iter().skip(1).map(|width| width + 2).sum();
        if let Some(first) = self.widths.first_mut() {
            *first = (*first).min(width.saturating_sub(others).max(LEAST));
        }
        self
    }

    /// A row as lines, without trailing blanks; the second and later ones continue the first cell.
    #[must_use]
    pub fn lines(&self, row: &[String]) -> Vec<String> {
        let first = self.widths.first().copied().unwrap_or(0);
        let mut names = parts(&shown(row.first().map_or("", String::as_str)), first).into_iter();
        let mut line = format!("{:<first$}", names.next().unwrap_or_default());
        for (cell, &width) in row.iter().zip(&self.widths).skip(1) {
            line += &format!("  {:>width$}", shown(cell));
        }
        line.truncate(line.trim_end().len());
        std::iter::once(line).chain(names).collect()
    }

    /// A whole table: the header, then one line per row.
    #[must_use]
    pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
        let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
        let all = || std::iter::once(header.as_slice()).chain(rows.iter().map(Vec::as_slice));
        let columns = Columns::of(all());
        all().flat_map(|row| columns.lines(row)).map(|line| line + "\n").collect()
    }
}

/// Minimum width to which the first column may shrink.
const LEAST: usize = 10;

/// A text in lines of at most `width` characters, broken between words or, if a word is longer, within it: after a sign between its
/// parts, else anywhere.
fn parts(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let length = |text: &str| text.chars().count();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let last = lines.last_mut().expect("there is a line");
        if length(last) + 1 + length(word) <= width && !last.is_empty() {
            *last += &format!(" {word}");
            continue;
        }
        lines.extend(pieces(word, width.max(1)));
        lines.retain(|line| !line.is_empty());
    }
    lines
}

/// A word in pieces of at most `width` characters.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut pieces = Vec::new();
    let mut rest = letters.as_slice();
    while rest.len() > width {
        let joint = rest[..width].iter().rposition(|letter| ".,_-/=".contains(*letter));
        let (piece, left) = rest.split_at(joint.map_or(width, |at| at + 1));
        pieces.push(piece.iter().collect());
        rest = left;
    }
    pieces.push(rest.iter().collect());
    pieces
}

/// A cell for a terminal: thin spaces, which not every terminal shows, become spaces.
fn shown(cell: &str) -> String {
    visible(cell).replace('\u{202f}', " ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn names_stand_left_and_numbers_right() {
        let rows = [row(["ecmp", "1\u{202f}us", ""]), row(["drill", "12 us", "3"])];
        assert_eq!(
            Columns::table(&["", "FCT", "n"], &rows),
            "         FCT  n\necmp    1 us\ndrill  12 us  3\n"
        );
    }

    #[test]
    fn the_first_column_gives_way() {
        let rows = [row(["a long name", "12", "3"])];
        let columns = Columns::of(rows.iter().map(Vec::as_slice)).within(17);
        assert_eq!(columns.lines(&rows[0]), ["a long      12  3", "name"]);
    }

    /// Blanks before, behind and between words do not matter, nor does a cell without any word.
    #[test]
    fn cells_may_be_untidy() {
        let narrow = Columns { widths: vec![10, 2] };
        let lines = |cell: &str| narrow.lines(&[cell.to_owned(), "12".to_owned()]);
        assert_eq!(lines(" ideal run"), ["ideal run   12"]);
        assert_eq!(lines("  an ideal  run "), ["an ideal    12", "run"]);
        assert_eq!(lines("\u{202f}a"), ["a           12"]);
        assert_eq!([lines(""), lines("  ")], [["            12"]; 2]);
        assert_eq!(lines(" undistinguished"), ["undistingu  12", "ished"]);
        assert_eq!(lines("drill links.used_most"), ["drill       12", "links.", "used_most"]);
    }
}
