//! Answers to requests: who may ask, and what for.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};

use crate::report::Answer;
use crate::{Error, ErrorKind, report};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use tokio::task::spawn_blocking;

use crate::cli::output;

/// What is served, and the word that the path of each request begins with. Other users of this machine do not know it.
pub struct Site {
    pub pages: report::Site,
    pub token: String,
}

/// The contents of an answer.
#[derive(Default)]
pub struct Content {
    bytes: Bytes,
    /// What is shared until the answer is sent, or given up.
    _shared: Option<Arc<AtomicU64>>,
}

impl Content {
    /// Shares something until the answer is sent, or given up.
    pub fn shares(self, shared: Arc<AtomicU64>) -> Self {
        Content { _shared: Some(shared), ..self }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

/// Answers a request. Its own body is not read.
pub async fn answer<B>(site: Arc<Site>, request: Request<B>) -> Response<Content> {
    if !is_for_this_machine(request.headers()) {
        return text(StatusCode::FORBIDDEN, "this server answers only to names of this machine");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "this server only reads: GET and HEAD");
        answer.headers_mut().insert(ALLOW, header("GET, HEAD"));
        return answer;
    }
    let nothing = "there is nothing at this address: use the one that vidrec browse printed";
    let Some(path) = site.path(request.uri().path()) else { return text(StatusCode::NOT_FOUND, nothing) };
    let found = spawn_blocking(move || site.pages.answer(&path)).await;
    match found.unwrap_or_else(|_| Err(Error::internal("an answer has panicked"))) {
        Ok(Some(found)) => send(found, request.method() == Method::HEAD),
        Ok(None) => text(StatusCode::NOT_FOUND, nothing),
        // The page says so in its place.
        Err(e) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Decode | ErrorKind::Limit) => {
            text(StatusCode::UNPROCESSABLE_ENTITY, &output::printable(&e.to_string()))
        }
        Err(e) => {
            output::print_error(&e);
            text(StatusCode::INTERNAL_SERVER_ERROR, &output::printable(&e.to_string()))
        }
    }
}

/// Whether a browser believes to talk to this machine. The page of another site that has its name lead here does not.
fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    headers.get_all(HOST).iter().count() == 1 && (name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost"))
}

impl Site {
    /// The part of a request's path behind the token, if it begins with the token.
    fn path(&self, path: &str) -> Option<String> {
        let (token, rest) = path.strip_prefix('/')?.split_once('/')?;
        // The length of the token is no secret.
        let differs = token.bytes().zip(self.token.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
        (differs == 0 && token.len() == self.token.len()).then(|| rest.to_owned())
    }
}

fn send(found: Answer, only_head: bool) -> Response<Content> {
    let length = found.bytes.len();
    let bytes = if only_head { Bytes::new() } else { found.bytes.into() };
    let mut answer = with(StatusCode::OK, bytes, found.kind);
    answer.headers_mut().insert(CONTENT_LENGTH, length.into());
    answer
}

fn text(status: StatusCode, text: &str) -> Response<Content> {
    with(status, format!("{text}\n").into(), "text/plain; charset=utf-8")
}

fn with(status: StatusCode, bytes: Bytes, kind: &'static str) -> Response<Content> {
    let mut answer = Response::new(Content { bytes, _shared: None });
    *answer.status_mut() = status;
    let rules = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    answer.headers_mut().extend(rules.map(|(name, value)| (name, header(value))));
    answer
}

/// A value of a header. What is written here has no control characters.
fn header(value: &str) -> hyper::header::HeaderValue {
    hyper::header::HeaderValue::from_str(value).unwrap_or_else(|_| hyper::header::HeaderValue::from_static(""))
}
