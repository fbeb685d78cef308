//! Tables in a terminal: each column as wide as its widest cell, the first left-aligned, all others right-aligned.

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

    /// Narrows the first column if the table is wider than `width`.
    #[must_use]
    pub fn within(mut self, width: usize) -> Columns {
        let others: usize = self.widths.iter().skip(1).map(|width| width + 2).sum();
        if let Some(first) = self.widths.first_mut() {
            *first = (*first).min(width.saturating_sub(others));
        }
        self
    }

    /// A row as a line, without trailing blanks.
    #[must_use]
    pub fn line(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (n, (cell, &width)) in row.iter().zip(&self.widths).enumerate() {
            let cell = shown(cell);
            match n {
                0 => line += &format!("{:<width$}", cell.chars().take(width).collect::<String>()),
                _ => line += &format!("  {cell:>width$}"),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// A whole table: the header, then one line per row.
    #[must_use]
    pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
        let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
        let all = || std::iter::once(header.as_slice()).chain(rows.iter().map(Vec::as_slice));
        let columns = Columns::of(all());
        all().map(|row| columns.line(row) + "\n").collect()
    }
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
        let columns = Columns::of(rows.iter().map(Vec::as_slice)).within(12);
        assert_eq!(columns.line(&rows[0]), "a lon  12  3");
    }
}
