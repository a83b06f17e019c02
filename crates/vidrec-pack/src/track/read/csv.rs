//! Text tables with a header. A column in which all cells are numbers becomes `f64`, and any other column becomes
//! texts.

use crate::track::array::Array;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

use super::table::Table;

pub(super) fn read(bytes: &[u8], delimiter: u8) -> Result<Table> {
    let fault = |e: csv::Error| Error::usage(format!("cannot read the table: {e}"));
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(bytes);
    let header = reader.headers().map_err(fault)?.clone();
    if header.len() > limits::MAX_COLUMNS {
        let e = Error::limit("the table has too many columns").expected(format!("at most {}", limits::MAX_COLUMNS));
        return Err(e.found(header.len()));
    }
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); header.len()];
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(fault)? {
        columns.iter_mut().zip(&record).for_each(|(column, cell)| column.push(cell.to_owned()));
    }
    Ok(Table(header.iter().map(str::to_owned).zip(columns.into_iter().map(array)).collect()))
}

fn array(cells: Vec<String>) -> Array {
    let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
    Array::row(numbers.map_or(TrackValues::Texts(cells), TrackValues::F64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbers_or_texts() {
        let table = read(b"\xef\xbb\xbft,x,y,word\n0,1,2,a\n0.5,3,4,b\n", b',').unwrap();
        assert_eq!(table.column("t").unwrap().values, TrackValues::F64(vec![0.0, 0.5]));
        let xy = table.values(&["x".into(), "y".into()], &["t"]).unwrap();
        assert_eq!((xy.values, xy.shape), (TrackValues::F64(vec![1.0, 2.0, 3.0, 4.0]), vec![2, 2]));
        assert_eq!(table.column("word").unwrap().values, TrackValues::Texts(vec!["a".into(), "b".into()]));
        assert!(table.column("z").unwrap_err().to_string().contains("found t, x, y, word"));
        assert!(table.values(&[], &["t"]).unwrap_err().to_string().contains("values=A+B"));
        assert!(read(b"a,b\n1\n", b',').unwrap_err().to_string().contains("line: 2"));
    }
}
