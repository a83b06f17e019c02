//! Writes Parquet tables like those of LeRobot and pandas: with Snappy, and with nested lists for values of
//! several sides.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, IntType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::list_levels::repetition;
use vidrec_format::track::coding::encode_picture;
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// A column of some rows.
pub(super) struct Column {
    pub name: String,
    pub lists: Lists,
    pub values: TrackValues,
}

/// The content of a cell of a column.
pub(super) enum Lists {
    /// A value of this shape: one number or text, or lists of them.
    Shape(Vec<u32>),
    /// A list, whose length differs from row to row.
    Lengths(Vec<usize>),
    /// A picture of a track like this, as a PNG file, the way Hugging Face's `datasets` stores pictures.
    Picture(TrackSchema),
}

impl Column {
    /// Creates a column of single values.
    pub fn plain(name: impl Into<String>, values: TrackValues) -> Self {
        Column { name: name.into(), lists: Lists::Shape(Vec::new()), values }
    }
}

/// A file that grows by row groups with the same columns.
pub(super) struct Table<W: Write + Send> {
    out: SerializedFileWriter<W>,
    /// The name of the file, for errors.
    name: String,
}

impl<W: Write + Send> Table<W> {
    /// Starts a file with the columns of these rows. `pandas` is the text that pandas stores with a table.
    pub fn begin(out: W, name: &str, columns: &[Column], pandas: Option<String>) -> Result<Self> {
        let open = || {
            let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
            let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
            let about = pandas.map(|text| vec![KeyValue::new("pandas".to_owned(), text)]);
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
            let properties = properties.set_key_value_metadata(about).build();
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
        };
        let out = open().map_err(|e| failed(name, e))?;
        Ok(Table { out, name: name.to_owned() })
    }

    /// Writes rows.
    pub fn push(&mut self, columns: &[Column]) -> Result<()> {
        let mut write = || {
            let mut group = self.out.next_row_group()?;
            for column in columns {
                let Some(mut out) = group.next_column()? else { break };
                column.write(&mut out)?;
                out.close()?;
                if let Lists::Picture(schema) = &column.lists {
                    let Some(mut paths) = group.next_column()? else { break };
                    // No picture has a path.
                    let none = vec![1; column.values.count() / schema.numbers_per_value().max(1)];
                    paths.typed::<ByteArrayType>().write_batch(&[], Some(&none), None)?;
                    paths.close()?;
                }
            }
            group.close().map(drop)
        };
        write().map_err(|e| failed(&self.name, e))
    }

    /// Returns the number of bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.out.bytes_written() as u64
    }

    /// Completes the file.
    pub fn finish(self) -> Result<W> {
        self.out.into_inner().map_err(|e| failed(&self.name, e))
    }
}

fn failed(name: &str, e: ParquetError) -> Error {
    Error::io("write the table", name, std::io::Error::other(e))
}

impl Column {
    fn depth(&self) -> usize {
        match &self.lists {
            Lists::Shape(shape) => shape.len(),
            Lists::Lengths(_) => 1,
            Lists::Picture(_) => 0,
        }
    }

    fn field(&self) -> Result<Type, ParquetError> {
        if let Lists::Picture(_) = &self.lists {
            let bytes = Type::primitive_type_builder("bytes", Physical::BYTE_ARRAY);
            let bytes = bytes.with_repetition(Repetition::OPTIONAL).build()?;
            let fields = vec![Arc::new(bytes), Arc::new(primitive("path", TrackType::Utf8)?)];
            let group = Type::group_type_builder(&self.name).with_repetition(Repetition::OPTIONAL);
            return group.with_fields(fields).build();
        }
        let depth = self.depth();
        let name = |level: usize| if level == 0 { self.name.as_str() } else { "element" };
        let mut field = primitive(name(depth), self.values.kind())?;
        for level in (0..depth).rev() {
            let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
            let list = list.with_fields(vec![Arc::new(field)]).build()?;
            let outer = Type::group_type_builder(name(level)).with_repetition(Repetition::OPTIONAL);
            let outer = outer.with_converted_type(ConvertedType::LIST).with_logical_type(Some(LogicalType::List));
            field = outer.with_fields(vec![Arc::new(list)]).build()?;
        }
        Ok(field)
    }

    fn write(&self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        if let (Lists::Picture(schema), TrackValues::U16(numbers)) = (&self.lists, &self.values) {
            let png = |numbers: &[u16]| {
                let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
                let png = encode_picture(&bytes, schema).map(ByteArray::from);
                png.ok_or_else(|| ParquetError::General("a picture cannot be encoded".into()))
            };
            let each = schema.numbers_per_value().max(1);
            let files = numbers.chunks(each).map(png).collect::<Result<Vec<_>, _>>()?;
            let defined = vec![2; files.len()];
            return out.typed::<ByteArrayType>().write_batch(&files, Some(&defined), None).map(drop);
        }
        match &self.values {
            TrackValues::F32(n) => self.batch::<FloatType>(out, n),
            TrackValues::F64(n) => self.batch::<DoubleType>(out, n),
            TrackValues::I16(n) => self.batch::<Int32Type>(out, &n.iter().map(|&n| n.into()).collect::<Vec<_>>()),
            TrackValues::U8(n) => self.batch::<Int32Type>(out, &n.iter().map(|&n| n.into()).collect::<Vec<_>>()),
            TrackValues::U16(n) => self.batch::<Int32Type>(out, &n.iter().map(|&n| n.into()).collect::<Vec<_>>()),
            TrackValues::Bool(n) => self.batch::<BoolType>(out, n),
            TrackValues::I32(n) => self.batch::<Int32Type>(out, n),
            TrackValues::I64(n) => self.batch::<Int64Type>(out, n),
            TrackValues::Texts(texts) => {
                let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                self.batch::<ByteArrayType>(out, &texts)
            }
        }
    }

    fn batch<T: DataType>(&self, out: &mut SerializedColumnWriter<'_>, values: &[T::T]) -> Result<(), ParquetError> {
        // No list and no cell is empty.
        let defined = vec![2 * self.depth() as i16 + 1; values.len()];
        let repeated: Vec<i16> = match &self.lists {
            Lists::Shape(shape) => {
                let sides: Vec<usize> = shape.iter().map(|&side| side as usize).collect();
                let each = sides.iter().product::<usize>().max(1);
                (0..values.len()).map(|i| repetition(&sides, i % each)).collect()
            }
            Lists::Lengths(lengths) => {
                lengths.iter().flat_map(|&length| (0..length).map(|i| i16::from(i > 0))).collect()
            }
            Lists::Picture(_) => vec![0; values.len()],
        };
        out.typed::<T>().write_batch(values, Some(&defined), Some(&repeated)).map(drop)
    }
}

fn primitive(name: &str, kind: TrackType) -> Result<Type, ParquetError> {
    let integer = |bit_width, is_signed| Some(LogicalType::Integer(IntType { bit_width, is_signed }));
    let (physical, logical) = match kind {
        TrackType::F32 => (Physical::FLOAT, None),
        TrackType::F64 => (Physical::DOUBLE, None),
        TrackType::I16 => (Physical::INT32, integer(16, true)),
        TrackType::U8 => (Physical::INT32, integer(8, false)),
        TrackType::U16 => (Physical::INT32, integer(16, false)),
        TrackType::Bool => (Physical::BOOLEAN, None),
        TrackType::I32 => (Physical::INT32, None),
        TrackType::I64 => (Physical::INT64, None),
        TrackType::Utf8 => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    field.with_logical_type(logical).build()
}
