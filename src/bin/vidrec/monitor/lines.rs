//! The lines of a file that another process writes.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};

/// The number of bytes of a line that are read. The lines of a loader have about 400.
const LONGEST: usize = 1 << 16;

/// The lines of a file that grows.
pub struct Lines<F> {
    file: F,
    chunk: Box<[u8]>,
    /// The start of the unprocessed part of `chunk`.
    start: usize,
    end: usize,
    /// The line so far, truncated if it is too long.
    line: Vec<u8>,
    whole: bool,
}

impl<F: Follow> Lines<F> {
    pub fn new(file: F) -> Self {
        Lines { file, chunk: vec![0; 1 << 13].into(), start: 0, end: 0, line: Vec::new(), whole: false }
    }

    /// The next line, truncated if it is too long; `None` if there is none yet.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if std::mem::take(&mut self.whole) {
            self.line.clear();
        }
        loop {
            let rest = &self.chunk[self.start..self.end];
            let newline = rest.iter().position(|&b| b == b'\n');
            let part = &rest[..newline.unwrap_or(rest.len())];
            let room = LONGEST - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            self.start += part.len();
            if newline.is_some() {
                self.start += 1;
                self.whole = true;
                return Ok(Some(&self.line));
            }
            (self.start, self.end) = (0, self.read()?);
            if self.end == 0 {
                if self.file.begins_anew()? {
                    self.line.clear();
                }
                return Ok(None);
            }
        }
    }

    /// Whether nobody has the pipe open for writing, after the end was reached. Nobody knows that of a file.
    pub fn writer_closed(&self) -> io::Result<bool> {
        self.file.writer_closed()
    }

    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.file.read(&mut self.chunk) {
                Err(e) if e.kind() == ErrorKind::Interrupted => (),
                read => return read,
            }
        }
    }
}

/// A file that others may append to while it is read.
pub trait Follow: Read {
    /// Goes to the start if the file was truncated. Returns whether it was.
    fn begins_anew(&mut self) -> io::Result<bool>;

    /// Whether what was read last is the end because the writer closed it.
    fn writer_closed(&self) -> io::Result<bool>;
}

impl Follow for File {
    fn begins_anew(&mut self) -> io::Result<bool> {
        let about = self.metadata()?;
        let cut = about.is_file() && about.len() < self.stream_position()?;
        if cut {
            self.rewind()?;
        }
        Ok(cut)
    }

    fn writer_closed(&self) -> io::Result<bool> {
        // Reading from a pipe waits as long as somebody can write to it, so its end is that of the writer.
        Ok(!self.metadata()?.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is read in pieces of at most the given size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(into.len()));
            into[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    impl Follow for Pieces<'_> {
        fn begins_anew(&mut self) -> io::Result<bool> {
            Ok(false)
        }

        fn writer_closed(&self) -> io::Result<bool> {
            Ok(false)
        }
    }

    #[test]
    fn lines_are_found_in_any_pieces_and_long_ones_are_cut() {
        let long = "x".repeat(3 * LONGEST);
        let text = format!("one\n\n{long}\ntwo\nnot yet whole");
        for size in [1, 2, 7, 1 << 20] {
            let mut lines = Lines::new(Pieces(text.as_bytes(), size));
            let mut found = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                found.push(line.to_vec());
            }
            assert_eq!(found, ["one".as_bytes(), b"", &long.as_bytes()[..LONGEST], b"two"]);
            assert!(lines.next().unwrap().is_none(), "and not yet at the next read");
        }
    }
}
