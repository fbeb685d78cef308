//! A table as comma-separated text (RFC 4180): a header line, `\n` line ends, empty cells for absent values. A text
//! that a spreadsheet would interpret as a formula is prefixed with an apostrophe, in CSV only.

use crate::{Cells, DataTable};
use std::io::{self, BufWriter, Write};

/// Writes the table.
///
/// # Errors
/// Errors of the destination.
pub fn write(table: &DataTable, to: impl Write) -> io::Result<()> {
    let mut writer = CsvWriter::new(to);
    writer.append(table)?;
    writer.finish()
}

/// A table written in parts with the same columns.
pub struct CsvWriter<W: Write> {
    to: BufWriter<W>,
    begun: bool,
    /// The row that is being written.
    row: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Starts a table.
    pub fn new(to: W) -> CsvWriter<W> {
        CsvWriter { to: BufWriter::new(to), begun: false, row: Vec::new() }
    }

    /// Writes the rows of a part, and the header before the first.
    pub fn append(&mut self, part: &DataTable) -> io::Result<()> {
        let to = &mut self.to;
        if !self.begun {
            self.begun = true;
            let header: Vec<_> = part.columns.iter().map(|column| quoted(&column.name)).collect();
            writeln!(to, "{}", header.join(","))?;
        }
        for row in 0..part.rows() {
            self.row.clear();
            for column in &part.columns {
                cell(&column.cells, row, &mut self.row)?;
                self.row.push(b',');
            }
            self.row.pop();
            self.row.push(b'\n');
            to.write_all(&self.row)?;
        }
        Ok(())
    }

    /// Ends the table.
    ///
    /// # Errors
    /// Errors of the destination.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn cell(cells: &Cells, row: usize, to: &mut Vec<u8>) -> io::Result<()> {
    match cells {
        Cells::Integers(cells) => cells[row].into_iter().for_each(|value| digits(value, to)),
        Cells::Numbers(cells) => return cells[row].map_or(Ok(()), |value| write!(to, "{value}")),
        Cells::Texts(cells) => to.extend(quoted(&inert(&cells[row])).bytes()),
        Cells::Names(cells) => to.extend(quoted(&inert(cells.text(row))).bytes()),
        Cells::Flags(cells) => to.extend(if cells[row] { &b"true"[..] } else { b"false" }),
    }
    Ok(())
}

/// A whole number in decimal digits.
fn digits(mut value: u64, to: &mut Vec<u8>) {
    let start = to.len();
    loop {
        to.push(b'0' + (value % 10) as u8);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    to[start..].reverse();
}

/// A text that a spreadsheet does not interpret as a formula: prefixed with an apostrophe if it starts like one, unless
/// it is a number.
fn inert(text: &str) -> std::borrow::Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if formula { format!("'{text}").into() } else { text.into() }
}

/// A text, in quotation marks if it needs them.
pub fn quoted(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn texts_are_no_formulas() {
        let texts = ["=1+1", "+x", "-x,y", "@sum", "-5", "+0.5", "a=b", ""];
        let table = DataTable::new("t").texts("n", texts.map(str::to_owned).into_iter());
        let mut text = Vec::new();
        write(&table, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "n\n'=1+1\n'+x\n\"'-x,y\"\n'@sum\n-5\n+0.5\na=b\n\n");
    }

    #[test]
    fn whole_numbers_are_those_of_the_standard_library() {
        for value in [0, 7, 10, 99, 100, 1_234_567_890, u64::MAX] {
            let mut text = Vec::new();
            digits(value, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), value.to_string());
        }
    }

    #[test]
    fn truth_values_and_names_are_words() {
        let names = Arc::from(["leaf0".to_owned(), "a,b".to_owned()]);
        let table = DataTable::new("t")
            .names("node", &names, [1, 0].into_iter())
            .flags("failed", [true, false].into_iter());
        let mut text = Vec::new();
        write(&table, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "node,failed\n\"a,b\",true\nleaf0,false\n");
    }

    #[test]
    fn quotes_commas_and_empty_cells() {
        let table = DataTable::new("t")
            .texts("name", ["a,b".into(), "say \"hi\"".into()].into_iter())
            .column("x_us", "us", Cells::Numbers(vec![Some(1.5), None]));
        let mut text = Vec::new();
        write(&table, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "name,x_us\n\"a,b\",1.5\n\"say \"\"hi\"\"\",\n");
    }
}
