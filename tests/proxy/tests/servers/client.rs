//! As little of a client as will do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection, for one request after the other.
pub struct Client(BufReader<TcpStream>);

/// An answer, as far as it came.
#[derive(Debug, Default)]
pub struct Got {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// How the connection ended within the answer, if it did: `Ok` in good order.
    pub cut: Option<std::io::Result<()>>,
}

impl Got {
    pub fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub fn is_reset(&self) -> bool {
        matches!(&self.cut, Some(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionReset)
    }

    pub fn is_cut_in_good_order(&self) -> bool {
        matches!(self.cut, Some(Ok(())))
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    pub fn send(&mut self, first: &str, fields: &str) {
        let head = format!("{first} HTTP/1.1\r\nHost: example\r\n{fields}\r\n");
        self.0.get_mut().write_all(head.as_bytes()).unwrap();
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    pub fn get(&mut self, path: &str, range: &str) -> Got {
        let range = if range.is_empty() { String::new() } else { format!("Range: bytes={range}\r\n") };
        self.send(&format!("GET {path}"), &range);
        self.receive(true, u64::MAX)
    }

    pub fn head(&mut self, path: &str) -> Got {
        self.send(&format!("HEAD {path}"), "");
        self.receive(false, 0)
    }

    /// Reads an answer, and no more than `most` bytes of its body.
    pub fn receive(&mut self, with_body: bool, most: u64) -> Got {
        let mut got = Got::default();
        let mut first = String::new();
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(_) if line.ends_with("\r\n") => {}
                Ok(_) => got.cut = Some(Ok(())),
                Err(error) => got.cut = Some(Err(error)),
            }
            match line.trim_end().split_once(": ") {
                _ if got.cut.is_some() => return got,
                Some((name, value)) if !first.is_empty() => got.fields.push((name.to_owned(), value.to_owned())),
                _ if line == "\r\n" => break,
                _ => first = line,
            }
        }
        got.status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        if with_body && ![0, 304].contains(&got.status) {
            self.body(&mut got, most);
        }
        got
    }

    fn body(&mut self, got: &mut Got, most: u64) {
        if let Ok(length) = got.field("Content-Length").parse::<u64>() {
            let wanted = length.min(most);
            let read = (&mut self.0).take(wanted).read_to_end(&mut got.body);
            got.cut = ((got.body.len() as u64) < wanted).then(|| read.map(|_| ()));
            return;
        }
        while (got.body.len() as u64) < most {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let mut piece = vec![0; length + 2];
            self.0.read_exact(&mut piece).unwrap();
            got.body.extend(&piece[..length]);
            if length == 0 {
                break;
            }
        }
    }
}
