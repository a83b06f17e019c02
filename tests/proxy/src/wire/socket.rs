//! A connection that is read with a buffer.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// More than any honest head; a longer one is an error.
const LONGEST_HEAD: usize = 64 << 10;

/// One end of a connection, and the bytes that were read ahead.
pub struct Socket {
    stream: TcpStream,
    ahead: Vec<u8>,
    at: usize,
}

impl Socket {
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, ahead: Vec::new(), at: 0 })
    }

    pub fn connect(address: &str) -> io::Result<Self> {
        Self::new(TcpStream::connect(address)?)
    }

    /// The lines of the next head without its empty last line; `None` if the other end closed the connection before it.
    pub fn head(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(length) = find(&self.ahead[self.at..], b"\r\n\r\n") {
                let bytes = self.ahead[self.at..self.at + length].to_vec();
                self.at += length + 4;
                return String::from_utf8(bytes).map(Some).map_err(|_| bad("a head that is no UTF-8"));
            }
            if !self.more()? {
                return if self.ahead.len() == self.at { Ok(None) } else { Err(bad("a head that ends early")) };
            }
        }
    }

    /// The next line without its end, as between the pieces of a chunked body.
    pub fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(length) = find(&self.ahead[self.at..], b"\r\n") {
                let line = String::from_utf8_lossy(&self.ahead[self.at..self.at + length]).into_owned();
                self.at += length + 2;
                return Ok(line);
            }
            if !self.more()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn more(&mut self) -> io::Result<bool> {
        self.ahead.drain(..self.at);
        self.at = 0;
        if self.ahead.len() >= LONGEST_HEAD {
            return Err(bad("a head of more than 64 KiB"));
        }
        let old = self.ahead.len();
        self.ahead.resize(old + 4096, 0);
        let read = self.stream.read(&mut self.ahead[old..]);
        self.ahead.truncate(old + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    /// Waits until the other end closes the connection, or this end is shut down, and takes no notice of what it sends.
    pub fn wait_for_end(&mut self) {
        let mut ignored = [0; 4096];
        while matches!(self.stream.read(&mut ignored), Ok(1..)) {}
    }

    /// Ends the connection so that the other end sees a reset.
    pub fn reset(self) -> io::Result<()> {
        socket2::SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO))
    }
}

impl Read for Socket {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let ahead = &self.ahead[self.at..];
        if ahead.is_empty() {
            return self.stream.read(out);
        }
        let length = ahead.len().min(out.len());
        out[..length].copy_from_slice(&ahead[..length]);
        self.at += length;
        Ok(length)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
