//! What the crate `parquet` reads of a file of values.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::file::reader::{ChunkReader, Length};

use crate::track::read::open::ValueFile;

impl Length for ValueFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for ValueFile {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        let mut buffer = Vec::new();
        // The buffer grows with the data, whatever length was asked for.
        self.get_read(start)?.take(length as u64).read_to_end(&mut buffer)?;
        if buffer.len() < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(buffer.into())
    }
}
