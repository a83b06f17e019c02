//! Bodies as they come over the wire.

use std::io::{self, Read};

use super::{Answer, Fields, Request, Socket};

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After a piece of length 0.
    Chunked,
    /// Where the connection ends.
    UntilClosed,
}

impl Framing {
    pub fn of_request(request: &Request) -> Self {
        Self::told(&request.fields).unwrap_or(Self::Length(0))
    }

    pub fn of_answer(method: &str, answer: &Answer) -> Self {
        if method == "HEAD" || matches!(answer.status, 100..=199 | 204 | 304) {
            return Self::Length(0);
        }
        Self::told(&answer.fields).unwrap_or(Self::UntilClosed)
    }

    fn told(fields: &Fields) -> Option<Self> {
        if fields.says("Transfer-Encoding", "chunked") {
            return Some(Self::Chunked);
        }
        fields.number("Content-Length").map(Self::Length)
    }
}

/// How far a body was read.
#[derive(Debug)]
pub struct Body {
    framing: Framing,
    /// Of the whole body, or of the piece.
    left: u64,
    first: bool,
    ended: bool,
}

impl Body {
    pub fn new(framing: Framing) -> Self {
        let left = if let Framing::Length(length) = framing { length } else { 0 };
        Self { framing, left, first: true, ended: framing == Framing::Length(0) }
    }

    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Reads on; 0 bytes are the end.
    pub fn read(&mut self, from: &mut Socket, out: &mut [u8]) -> io::Result<usize> {
        if self.ended || out.is_empty() {
            return Ok(0);
        }
        if self.framing == Framing::Chunked && self.left == 0 && !self.next_piece(from)? {
            return Ok(0);
        }
        let most = if self.framing == Framing::UntilClosed { u64::MAX } else { self.left };
        let length = usize::try_from(most).unwrap_or(usize::MAX).min(out.len());
        let read = from.read(&mut out[..length])?;
        match (self.framing, read) {
            (Framing::UntilClosed, 0) => self.ended = true,
            (_, 0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            (Framing::UntilClosed, _) => {}
            _ => self.left -= read as u64,
        }
        self.ended |= matches!(self.framing, Framing::Length(_)) && self.left == 0;
        Ok(read)
    }

    fn next_piece(&mut self, from: &mut Socket) -> io::Result<bool> {
        if !std::mem::take(&mut self.first) {
            from.line()?;
        }
        let line = from.line()?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        self.left = u64::from_str_radix(digits, 16)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, format!("a chunk of length {line:?}")))?;
        if self.left == 0 {
            while !from.line()?.is_empty() {}
            self.ended = true;
        }
        Ok(self.left > 0)
    }
}
