//! Requests and answers, and their fields.

use std::io;

use futures_util::stream::{self, BoxStream, StreamExt};
use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use hyper::{Request, Response};

/// A request without its body.
pub type Head = Request<()>;
/// The body of a request.
pub type Upload = BoxBody<Bytes, hyper::Error>;
/// The body of an answer. An error in it ends the connection.
pub type Pieces = BoxStream<'static, io::Result<Bytes>>;
/// An answer, with a `Content-Length` if its length is known. Else its body is sent in chunks.
pub type Answer = Response<Pieces>;

/// An answer without a body.
pub fn empty(status: u16) -> Answer {
    bytes(status, Vec::new())
}

/// An answer with this body.
pub fn bytes(status: u16, body: impl Into<Bytes>) -> Answer {
    let body = body.into();
    let answer = Response::builder().status(status).header(CONTENT_LENGTH, body.len());
    answer.body(stream::iter([Ok(body)]).boxed()).unwrap()
}

/// An answer as stores give them.
pub fn xml(status: u16, body: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}");
    with(bytes(status, body), "Content-Type", "application/xml")
}

/// An error of a store.
pub fn error(status: u16, code: &str) -> Answer {
    xml(status, &format!("<Error><Code>{code}</Code><Message>of fault-proxy</Message></Error>"))
}

/// The same answer with another value of a field.
pub fn with(mut answer: Answer, name: &'static str, value: impl ToString) -> Answer {
    set(answer.headers_mut(), name, value);
    answer
}

pub fn set(fields: &mut HeaderMap, name: &'static str, value: impl ToString) {
    fields.insert(name, HeaderValue::from_str(&value.to_string()).unwrap());
}

/// A field as text.
pub fn get<'a>(fields: &'a HeaderMap, name: &str) -> Option<&'a str> {
    fields.get(name)?.to_str().ok()
}

/// The length of an answer's body.
pub fn length(answer: &Answer) -> Option<u64> {
    get(answer.headers(), "Content-Length")?.parse().ok()
}
