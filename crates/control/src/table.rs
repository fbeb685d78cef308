//! Layout that several fluid commands share: tables of the page, lines of the terminal.

use weft_draw::{WIDTH, wrapped};
use weft_report::page::TextTable;

/// A table for the page.
pub(crate) fn on_page(title: &str, header: &[&str], rows: &[Vec<String>]) -> TextTable {
    let header = header.iter().map(|cell| (*cell).to_owned()).collect();
    TextTable { title: title.to_owned(), header, rows: rows.to_vec(), is_prose: false }
}

/// Wraps sentences that are too long for a terminal; tables are unchanged.
pub(crate) fn narrow(text: &str) -> String {
    let line = |line: &str| {
        let prose = line.chars().count() > WIDTH && !line.contains("  ");
        let lines = if prose { wrapped(line, WIDTH) } else { vec![line.to_owned()] };
        lines.join("\n") + "\n"
    };
    text.lines().map(line).collect()
}
