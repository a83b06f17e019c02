//! The heads of requests and answers.

use std::io;

/// The fields of a head, in order.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> io::Result<Self> {
        lines
            .map(|line| {
                let (name, value) = line.split_once(':').ok_or_else(|| bad("a field without a colon", line))?;
                Ok((name.to_owned(), value.trim().to_owned()))
            })
            .collect::<io::Result<_>>()
            .map(Self)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Replaces all fields of that name.
    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.remove(name);
        self.0.push((name.to_owned(), value.to_string()));
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Whether a list, as in `Connection: close`, has that word.
    pub fn says(&self, name: &str, word: &str) -> bool {
        self.get(name).is_some_and(|list| list.split(',').any(|w| w.trim().eq_ignore_ascii_case(word)))
    }

    fn write(&self, first: String) -> Vec<u8> {
        let fields = self.0.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        (first + "\r\n" + &fields.collect::<String>() + "\r\n").into_bytes()
    }
}

/// The head of a request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Path and query as they were sent.
    pub target: String,
    pub fields: Fields,
}

impl Request {
    pub fn parse(head: &str) -> io::Result<Self> {
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad("no request", first));
        };
        Ok(Self { method: method.to_owned(), target: target.to_owned(), fields: Fields::parse(lines)? })
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.fields.write(format!("{} {} HTTP/1.1", self.method, self.target))
    }
}

/// The head of an answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub reason: String,
    pub fields: Fields,
}

impl Answer {
    pub fn new(status: u16) -> Self {
        let reason = match status {
            200 => "OK",
            206 => "Partial Content",
            302 => "Found",
            304 => "Not Modified",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            412 => "Precondition Failed",
            416 => "Range Not Satisfiable",
            502 => "Bad Gateway",
            503 => "Service Unavailable",
            _ => "Other",
        };
        Self { status, reason: reason.to_owned(), fields: Fields::default() }
    }

    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.fields.set(name, value);
        self
    }

    pub fn parse(head: &str) -> io::Result<Self> {
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let mut words = first.splitn(3, ' ');
        let status = words.next().filter(|v| v.starts_with("HTTP/1.")).and(words.next()).and_then(|s| s.parse().ok());
        let status = status.ok_or_else(|| bad("no answer", first))?;
        Ok(Self { status, reason: words.next().unwrap_or_default().to_owned(), fields: Fields::parse(lines)? })
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.fields.write(format!("HTTP/1.1 {} {}", self.status, self.reason))
    }
}

fn bad(what: &str, line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what}: {line:?}"))
}
