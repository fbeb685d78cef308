//! Tables with named, typed columns: the form in which rows leave for [`csv`] and [`parquet`](mod@parquet), and a
//! [`sorter`] for more rows than memory should hold. Must not depend on the meaning of the rows.

mod arrow;
pub mod csv;
pub mod parquet;
pub mod sorter;

use std::sync::Arc;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataTable {
    /// File name without extension.
    pub name: String,
    /// The columns, all of the same length.
    pub columns: Vec<Column>,
}

/// A column. Its name ends with its unit, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, for example `start_ps`.
    pub name: String,
    /// Unit, for example `ps`; empty for names, counts and ratios.
    pub unit: String,
    /// The values.
    pub cells: Cells,
}

/// The values of a column; `None` is an empty cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<Option<u64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<String>),
    /// Texts from a list.
    Names(NameColumn),
    /// Yes or no.
    Flags(Vec<bool>),
}

/// Repeating texts: a list of names, and for each row its index in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameColumn {
    /// The names.
    pub names: Arc<[String]>,
    /// By row.
    pub picks: Vec<u32>,
}

impl NameColumn {
    /// The text of a row.
    #[must_use]
    pub fn text(&self, row: usize) -> &str {
        self.names.get(self.picks[row] as usize).map_or("", String::as_str)
    }
}

impl Cells {
    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Cells::Integers(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
            Cells::Names(cells) => cells.picks.len(),
            Cells::Flags(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl DataTable {
    /// A table without columns.
    #[must_use]
    pub fn new(name: &str) -> DataTable {
        DataTable { name: name.to_owned(), columns: Vec::new() }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn integers(self, name: &str, unit: &str, cells: impl Iterator<Item = u64>) -> DataTable {
        self.column(name, unit, Cells::Integers(cells.map(Some).collect()))
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn numbers(self, name: &str, unit: &str, cells: impl Iterator<Item = f64>) -> DataTable {
        self.column(name, unit, Cells::Numbers(cells.map(Some).collect()))
    }

    /// Adds a column of texts.
    #[must_use]
    pub fn texts(self, name: &str, cells: impl Iterator<Item = String>) -> DataTable {
        self.column(name, "", Cells::Texts(cells.collect()))
    }

    /// Adds a column of texts from a list; an index beyond it is an empty text.
    #[must_use]
    pub fn names(self, name: &str, names: &Arc<[String]>, picks: impl Iterator<Item = u32>) -> DataTable {
        let cells = NameColumn { names: Arc::clone(names), picks: picks.collect() };
        self.column(name, "", Cells::Names(cells))
    }

    /// Adds a column of truth values.
    #[must_use]
    pub fn flags(self, name: &str, cells: impl Iterator<Item = bool>) -> DataTable {
        self.column(name, "", Cells::Flags(cells.collect()))
    }

    /// Adds a column of any type. It must have as many rows as those before it.
    #[must_use]
    pub fn column(mut self, name: &str, unit: &str, cells: Cells) -> DataTable {
        assert!(
            self.columns.is_empty() || cells.len() == self.rows(),
            "column {name} of table {} has {} rows instead of {}",
            self.name,
            cells.len(),
            self.rows()
        );
        self.columns.push(Column { name: name.to_owned(), unit: unit.to_owned(), cells });
        self
    }
}
