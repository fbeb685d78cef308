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
}

impl<W: Write> CsvWriter<W> {
    /// Starts a table.
    pub fn new(to: W) -> CsvWriter<W> {
        CsvWriter { to: BufWriter::new(to), begun: false }
    }

    /// Writes the rows of a part, and the header before the first.
    pub fn append(&mut self, part: &DataTable) -> io::Result<()> {
        let to = &mut self.to;
        if !self.begun {
            self.begun = true;
            let header: Vec<String> = part.columns.iter().map(|column| quoted(&column.name)).collect();
            writeln!(to, "{}", header.join(","))?;
        }
        for row in 0..part.rows() {
            for (n, column) in part.columns.iter().enumerate() {
                to.write_all(if n > 0 { b"," } else { b"" })?;
                cell(&column.cells, row, to)?;
            }
            to.write_all(b"\n")?;
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

fn cell(cells: &Cells, row: usize, to: &mut impl Write) -> io::Result<()> {
    match cells {
        Cells::Integers(cells) => cells[row].map_or(Ok(()), |value| write!(to, "{value}")),
        Cells::Numbers(cells) => cells[row].map_or(Ok(()), |value| write!(to, "{value}")),
        Cells::Texts(cells) => to.write_all(quoted(&inert(&cells[row])).as_bytes()),
    }
}

/// A text that a spreadsheet does not interpret as a formula: prefixed with an apostrophe if it starts like one, unless
/// it is a number.
fn inert(text: &str) -> std::borrow::Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if formula { format!("'{text}").into() } else { text.into() }
}

/// A text, in quotation marks if it needs them.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_formulas() {
        let texts = ["=1+1", "+x", "-x,y", "@sum", "-5", "+0.5", "a=b", ""];
        let table = DataTable::new("t").texts("n", texts.map(str::to_owned).into_iter());
        let mut text = Vec::new();
        write(&table, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "n\n'=1+1\n'+x\n\"'-x,y\"\n'@sum\n-5\n+0.5\na=b\n\n");
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
