//! What to send, with the fault in it.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

use super::backend::{Backend, Upload};
use crate::fault::Fault;
use crate::wire::{self, Answer, Framing, Request};

/// All that is needed to send an answer.
pub struct Reply {
    /// 0 if there is no answer.
    pub status: u16,
    pub head: Vec<u8>,
    pub source: Source,
    /// Bytes of the body, if known; otherwise it is sent in chunks.
    pub length: Option<u64>,
    pub ending: Ending,
    /// The byte of the body with a flipped bit.
    pub flipped: Option<u64>,
    pub bits_per_second: Option<u64>,
    /// Whether the fault was applied.
    pub faulty: bool,
}

pub enum Source {
    Backend,
    Bytes(Vec<u8>),
}

/// What happens in or behind the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Whole,
    /// After so many bytes.
    Stall(u64),
    Reset(u64),
    Close(u64),
    /// Zeros, for ever.
    Zeros,
}

impl Reply {
    pub fn make(
        fault: Option<&Fault>,
        request: &Request,
        backend: &mut impl Backend,
        upload: &mut Upload<'_>,
    ) -> io::Result<Self> {
        if let Some(made) = fault.and_then(|fault| made_up(fault, request)) {
            return Ok(made);
        }
        if let Some(Fault::ResetUpload { after }) = fault {
            upload.read_some(*after)?;
            return Ok(Self::without_head(b"", Ending::Reset(0)));
        }
        let mut asked = request.clone();
        if fault == Some(&Fault::WholeObject) {
            asked.fields.remove("Range");
        }
        let answer = match backend.answer(&asked, upload) {
            Ok(answer) => answer,
            Err(error) => return Ok(Self::of_bytes(request, Answer::new(502), format!("fault-proxy: {error}\n"))),
        };
        let mut reply = Self::of_backend(&request.method, &answer);
        if let Some(fault) = fault {
            reply.faulty = reply.apply(fault, request, answer, backend, upload)?;
        }
        Ok(reply)
    }

    fn of_backend(method: &str, answer: &Answer) -> Self {
        let length = match Framing::of_answer(method, answer) {
            Framing::Length(length) => Some(length),
            Framing::Chunked | Framing::UntilClosed => None,
        };
        let mut answer = answer.clone();
        if length.is_none() {
            answer.fields.set("Transfer-Encoding", "chunked");
        }
        let (status, head) = (answer.status, answer.bytes());
        let (source, ending) = (Source::Backend, Ending::Whole);
        Self { status, head, source, length, ending, flipped: None, bits_per_second: None, faulty: false }
    }

    fn of_bytes(request: &Request, answer: Answer, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let reply = Self::of_backend(&request.method, &answer.with("Content-Length", body.len()));
        Self { source: Source::Bytes(body), ..reply }
    }

    /// Whether the connection ends within the request.
    pub fn ends_request(&self) -> bool {
        self.status == 0 && matches!(self.ending, Ending::Reset(_))
    }

    fn without_head(bytes: &[u8], ending: Ending) -> Self {
        let reply = Self::of_backend("GET", &Answer::new(200).with("Content-Length", 0));
        Self { status: 0, head: bytes.to_vec(), ending, faulty: true, ..reply }
    }

    /// Puts the fault into a true answer. Whether it could.
    fn apply(
        &mut self,
        fault: &Fault,
        request: &Request,
        mut answer: Answer,
        backend: &mut impl Backend,
        upload: &mut Upload<'_>,
    ) -> io::Result<bool> {
        let has_body = self.length != Some(0);
        match *fault {
            Fault::Latency { ms } => sleep(Duration::from_millis(ms)),
            Fault::Slow { bits_per_second } => self.bits_per_second = Some(bits_per_second),
            Fault::Stall { after } => self.end_early(after, Ending::Stall),
            Fault::Reset { after } => self.end_early(after, Ending::Reset),
            Fault::Short { after } => self.end_early(after, Ending::Close),
            Fault::Lost => *self = Self::without_head(b"", Ending::Close(0)),
            Fault::FlippedByte { at } if has_body => self.flipped = Some(at % self.length.unwrap_or(u64::MAX)),
            Fault::WholeObject => return Ok(request.fields.get("Range").is_some()),
            Fault::Gzipped if has_body => {
                let mut body = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                body.write_all(&read_all(backend)?)?;
                *self = Self::of_bytes(request, answer.with("Content-Encoding", "gzip"), body.finish()?);
            }
            Fault::WrongBytes { shift } => return wrong_bytes(request, &answer, shift, backend, upload),
            Fault::HugeLength(length) if has_body => {
                answer.fields.set("Content-Length", length);
                let framed = Self::of_backend(&request.method, &answer);
                *self = Self { ending: Ending::Zeros, ..framed };
            }
            _ => {
                if !change_fields(fault, &request.method, &mut answer) {
                    return Ok(false);
                }
                let length = self.length;
                *self = Self { length, ..Self::of_backend(&request.method, &answer) };
            }
        }
        Ok(true)
    }

    fn end_early(&mut self, after: u64, ending: fn(u64) -> Ending) {
        match self.length {
            Some(0) => {
                self.head.truncate(self.head.len() / 2);
                self.ending = ending(0);
            }
            Some(length) => self.ending = ending(after.min(length - 1)),
            None => self.ending = ending(after),
        }
    }
}

/// Faults that touch the fields of the head alone.
fn change_fields(fault: &Fault, method: &str, answer: &mut Answer) -> bool {
    let range = answer.fields.get("Content-Range").and_then(wire::sent);
    match (fault, range) {
        (Fault::ChangedEtag, _) if answer.status < 300 => answer.fields.set("ETag", "\"another-version\""),
        (Fault::WrongContentRange, Some((range, total))) => {
            let (first, last) = (range.end, range.end + (range.end - range.start) - 1);
            answer.fields.set("Content-Range", format!("bytes {first}-{last}/{}", total.max(last + 1)));
        }
        (Fault::OtherLength { more }, Some((range, total))) => {
            let total = total.saturating_add_signed(*more);
            answer.fields.set("Content-Range", format!("bytes {}-{}/{total}", range.start, range.end - 1));
        }
        (Fault::OtherLength { more }, None) if method == "HEAD" => {
            let length = answer.fields.number("Content-Length").unwrap_or(0);
            answer.fields.set("Content-Length", length.saturating_add_signed(*more));
        }
        _ => return false,
    }
    true
}

/// Asks for other bytes, which come under the head of the answer that there is.
fn wrong_bytes(
    request: &Request,
    answer: &Answer,
    shift: u64,
    backend: &mut impl Backend,
    upload: &mut Upload<'_>,
) -> io::Result<bool> {
    let Some((range, total)) = answer.fields.get("Content-Range").and_then(wire::sent) else { return Ok(false) };
    let behind = range.end.checked_add(shift).filter(|end| *end <= total);
    let before = range.start.checked_sub(shift);
    let first = match (behind, before) {
        (Some(_), _) => range.start + shift,
        (None, Some(first)) => first,
        (None, None) => return Ok(false),
    };
    let mut other = request.clone();
    other.fields.set("Range", format!("bytes={first}-{}", first + (range.end - range.start) - 1));
    backend.answer(&other, upload)?;
    Ok(true)
}

fn read_all(backend: &mut impl Backend) -> io::Result<Vec<u8>> {
    let (mut body, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        match backend.read(&mut buffer)? {
            0 => return Ok(body),
            read => body.extend(&buffer[..read]),
        }
    }
}

/// Answers of faults for which nobody is asked.
fn made_up(fault: &Fault, request: &Request) -> Option<Reply> {
    let bytes = |answer, body: &str| Reply::of_bytes(request, answer, body);
    let xml = |status, code| {
        let text = "made by fault-proxy";
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{text}</Message></Error>"
        );
        bytes(Answer::new(status).with("Content-Type", "application/xml"), &body)
    };
    let reply = match fault {
        Fault::NoAnswer => Reply::without_head(b"", Ending::Stall(0)),
        Fault::NotHttp => Reply::without_head(b"220 mail.example.com ESMTP\r\n\r\n", Ending::Close(0)),
        Fault::Unavailable { retry_after_seconds } => {
            bytes(Answer::new(503).with("Retry-After", retry_after_seconds), "busy\n")
        }
        Fault::SlowDown => xml(503, "SlowDown"),
        Fault::Conflict => xml(409, "ConditionalRequestConflict"),
        Fault::Forbidden => xml(403, "AccessDenied"),
        Fault::Status(status) => bytes(Answer::new(*status), ""),
        Fault::Html => {
            let page =
                "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n";
            bytes(Answer::new(200).with("Content-Type", "text/html"), page)
        }
        Fault::RedirectLoop => {
            let host = request.fields.get("Host").unwrap_or("127.0.0.1");
            bytes(Answer::new(302).with("Location", format!("http://{host}{}", request.target)), "")
        }
        Fault::GzipGarbage => bytes(Answer::new(200).with("Content-Encoding", "gzip"), "this is no gzip file\n"),
        Fault::Endless => {
            let head = Reply::of_backend(&request.method, &Answer::new(200));
            let ending = if head.length == Some(0) { Ending::Whole } else { Ending::Zeros };
            Reply { source: Source::Bytes(Vec::new()), ending, ..head }
        }
        _ => return None,
    };
    Some(Reply { faulty: true, ..reply })
}
