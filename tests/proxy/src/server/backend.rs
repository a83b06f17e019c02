//! Where answers come from.

use std::io::{self, Write};

use crate::wire::{Answer, Body, Framing, Request, Socket};

/// The server behind one connection.
pub trait Backend {
    /// The head of the true answer. It has a `Content-Length` if the length of the body is known.
    fn answer(&mut self, request: &Request, upload: &mut Upload<'_>) -> io::Result<Answer>;

    /// Reads on in the body of the last answer; 0 bytes are its end.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize>;
}

/// The body of a request.
pub struct Upload<'a> {
    client: &'a mut Socket,
    body: Body,
    /// The client waits for a word before it sends the body.
    waits: bool,
}

impl<'a> Upload<'a> {
    pub fn new(client: &'a mut Socket, request: &Request) -> Self {
        let waits = request.fields.says("Expect", "100-continue");
        Self { client, body: Body::new(Framing::of_request(request)), waits }
    }

    /// Whether there is nothing left of it.
    pub fn ended(&self) -> bool {
        self.body.ended()
    }

    pub fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.waits) {
            self.client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        self.body.read(self.client, out)
    }

    /// Reads so many bytes of it, or all.
    pub fn read_some(&mut self, mut bytes: u64) -> io::Result<()> {
        let mut ignored = vec![0; 64 << 10];
        while bytes > 0 && !self.ended() {
            let most = usize::try_from(bytes).unwrap_or(usize::MAX).min(ignored.len());
            bytes -= self.read(&mut ignored[..most])? as u64;
        }
        Ok(())
    }

    /// Reads what is left of it, so that the next request can be read.
    pub fn drain(&mut self) -> io::Result<()> {
        let mut ignored = vec![0; 64 << 10];
        while !self.ended() {
            self.read(&mut ignored)?;
        }
        Ok(())
    }
}
