//! Words that several fluid commands share: tables for the terminal, the page's cells, who says what.

use weft_report::page::TextTable;
use weft_report::terminal::{WIDTH, wrapped};

/// Columns as wide as their widest cell; the first to the left, all others to the right.
pub(crate) fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |n: usize| {
        let cells = rows.iter().map(|row| row[n].chars().count());
        cells.chain([header[n].chars().count()]).max().unwrap_or(0)
    };
    let line = |cells: &[String]| {
        let padded = cells.iter().enumerate().map(|(n, cell)| {
            let gap = " ".repeat(width(n) - cell.chars().count());
            if n == 0 { format!("{cell}{gap}") } else { format!("  {gap}{cell}") }
        });
        format!("{}\n", padded.collect::<String>().trim_end())
    };
    let head: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    line(&head) + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// The same for the page.
pub(crate) fn on_page(title: &str, header: &[&str], rows: &[Vec<String>]) -> TextTable {
    let header = header.iter().map(|cell| (*cell).to_owned()).collect();
    TextTable { title: title.to_owned(), header, rows: rows.to_vec() }
}

/// Sentences that are too long for a terminal are broken; tables stay.
pub(crate) fn narrow(text: &str) -> String {
    let line = |line: &str| {
        let prose = line.chars().count() > WIDTH && !line.contains("  ");
        let lines = if prose { wrapped(line, WIDTH) } else { vec![line.to_owned()] };
        lines.join("\n") + "\n"
    };
    text.lines().map(line).collect()
}
