//! A table as a Parquet file: Snappy, a row group for each part of it, optional columns. The unit of every column is
//! in the metadata of its Arrow field, under `unit`, and in the file's key-value metadata, under `unit.<column>`.
//! Depends on tables, not on their content.

use crate::{Cells, Column, DataTable, NameColumn, arrow};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::sync::Arc;

/// Writes the table as one row group.
///
/// # Errors
/// Errors of the destination or of the Parquet writer.
pub fn write(table: &DataTable, to: impl Write + Send + 'static) -> Result<(), ParquetError> {
    let mut writer = ParquetWriter::new(table, to)?;
    writer.append(table)?;
    writer.finish()
}

/// A table written in parts with the same columns.
pub struct ParquetWriter {
    // of one type, so that the writer is compiled once
    file: SerializedFileWriter<Box<dyn Write + Send>>,
}

impl ParquetWriter {
    /// Starts a table with the columns of `part`.
    pub fn new(part: &DataTable, to: impl Write + Send + 'static) -> Result<ParquetWriter, ParquetError> {
        let to: Box<dyn Write + Send> = Box::new(to);
        let file = SerializedFileWriter::new(to, Arc::new(schema(part)?), Arc::new(properties(part)))?;
        Ok(ParquetWriter { file })
    }

    /// Writes a part as a row group.
    pub fn append(&mut self, part: &DataTable) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in &part.columns {
            let mut writer =
                group.next_column()?.ok_or_else(|| ParquetError::General("too few columns".into()))?;
            write_cells(&column.cells, &mut writer)?;
            writer.close()?;
        }
        group.close().map(|_| ())
    }

    /// Ends the table.
    ///
    /// # Errors
    /// Errors of the Parquet writer.
    pub fn finish(self) -> Result<(), ParquetError> {
        self.file.close().map(|_| ())
    }
}

fn schema(table: &DataTable) -> Result<Type, ParquetError> {
    let fields = table.columns.iter().map(|column| field(column).map(Arc::new));
    Type::group_type_builder(&table.name).with_fields(fields.collect::<Result<_, _>>()?).build()
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.cells {
        Cells::Integers(_) => (Physical::INT64, None),
        Cells::Numbers(_) => (Physical::DOUBLE, None),
        Cells::Texts(_) | Cells::Names(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cells::Flags(_) => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn properties(table: &DataTable) -> WriterProperties {
    let with_unit = table.columns.iter().filter(|column| !column.unit.is_empty());
    let units = with_unit.map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.clone()));
    let units = units.chain([KeyValue::new(arrow::KEY.to_owned(), arrow::schema(table))]);
    let common = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(units.collect()));
    table.columns.iter().fold(common, encoded).build()
}

/// Texts with few different values use a dictionary, and their extremes help no reader; numbers that mostly differ do
/// not, which saves looking each up.
fn encoded(properties: WriterPropertiesBuilder, column: &Column) -> WriterPropertiesBuilder {
    let path = ColumnPath::new(vec![column.name.clone()]);
    let encoding = match column.cells {
        Cells::Texts(_) | Cells::Names(_) => {
            return properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
        Cells::Integers(_) => Encoding::DELTA_BINARY_PACKED,
        Cells::Numbers(_) | Cells::Flags(_) => Encoding::PLAIN,
    };
    properties.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, encoding)
}

fn write_cells(cells: &Cells, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    match cells {
        Cells::Integers(cells) => {
            let (values, present) = split(cells, |n| i64::try_from(n).unwrap_or(i64::MAX));
            writer.typed::<Int64Type>().write_batch(&values, Some(&present), None)?;
        }
        Cells::Numbers(cells) => {
            let (values, present) = split(cells, |n| n);
            writer.typed::<DoubleType>().write_batch(&values, Some(&present), None)?;
        }
        Cells::Texts(cells) => {
            let values: Vec<ByteArray> = cells.iter().map(|text| ByteArray::from(text.as_str())).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&vec![1; cells.len()]), None)?;
        }
        Cells::Names(NameColumn { names, picks }) => {
            let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
            let empty = ByteArray::from("");
            let name = |pick: &u32| names.get(*pick as usize).unwrap_or(&empty).clone();
            let values: Vec<ByteArray> = picks.iter().map(name).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&vec![1; picks.len()]), None)?;
        }
        Cells::Flags(cells) => {
            writer.typed::<BoolType>().write_batch(cells, Some(&vec![1; cells.len()]), None)?;
        }
    }
    Ok(())
}

/// The values of cells that are not empty, and the definition levels of all: 1 for a value, 0 for an empty cell.
fn split<T: Copy + Default, V>(cells: &[Option<T>], value: impl Fn(T) -> V) -> (Vec<V>, Vec<i16>) {
    if cells.iter().all(Option::is_some) {
        let values = cells.iter().map(|cell| value(cell.unwrap_or_default()));
        return (values.collect(), vec![1; cells.len()]);
    }
    let present = cells.iter().map(|cell| i16::from(cell.is_some()));
    (cells.iter().flatten().map(|cell| value(*cell)).collect(), present.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;

    #[test]
    fn what_is_written_reads_back_with_units() {
        let table = DataTable::new("flows")
            .texts("tag", ["a".into(), "b".into()].into_iter())
            .column("fct_ps", "ps", Cells::Integers(vec![Some(7), None]))
            .numbers("slowdown", "", [1.5, 2.5].into_iter())
            .names("src", &["host0".to_owned(), "host1".to_owned()].into(), [1, 9].into_iter())
            .flags("measured", [true, false].into_iter());
        let path = std::env::temp_dir().join(format!("weft-parquet-{}", std::process::id()));
        write(&table, std::fs::File::create(&path).unwrap()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert!(metadata.contains(&KeyValue::new("unit.fct_ps".into(), "ps".to_owned())));
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!((rows[0].get_string(0).unwrap().as_str(), rows[0].get_long(1).unwrap()), ("a", 7));
        assert!(rows[1].get_long(1).is_err());
        assert_eq!(rows[1].get_double(2).unwrap(), 2.5);
        assert_eq!((rows[0].get_string(3).unwrap().as_str(), rows[0].get_bool(4).unwrap()), ("host1", true));
        assert_eq!((rows[1].get_string(3).unwrap().as_str(), rows[1].get_bool(4).unwrap()), ("", false));
    }
}
