//! A text of comma-separated values with a head. Must not depend on particular columns.

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// From a text without quotes.
    #[must_use]
    pub fn parse(text: &str) -> Table {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines();
        Table { head: lines.next().map(cells).unwrap_or_default(), rows: lines.map(cells).collect() }
    }

    /// The cells of some columns, row by row.
    ///
    /// # Panics
    /// There is no such column.
    pub fn texts<const N: usize>(&self, columns: &[&str; N]) -> impl Iterator<Item = [&str; N]> {
        let places = columns.map(|column| self.place(column));
        self.rows.iter().map(move |row| places.map(|place| row[place].as_str()))
    }

    /// The same as numbers; an empty cell is -1.
    ///
    /// # Panics
    /// The column is missing, or a cell is not a number.
    pub fn numbers<const N: usize>(&self, columns: &[&str; N]) -> impl Iterator<Item = [f64; N]> {
        let number = |cell: &str| if cell.is_empty() { -1.0 } else { cell.parse().expect("a number") };
        self.texts(columns).map(move |row| row.map(number))
    }

    fn place(&self, column: &str) -> usize {
        self.head.iter().position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let table = Table::parse("a,b,c\n1,x,3\n4,y,\n");
        assert_eq!(table.numbers(&["c", "a"]).collect::<Vec<_>>(), [[3.0, 1.0], [-1.0, 4.0]]);
        assert_eq!(table.texts(&["b"]).collect::<Vec<_>>(), [["x"], ["y"]]);
    }
}
