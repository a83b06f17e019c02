//! Answers to requests: who may ask, what for, and which part of it.

use std::sync::Arc;

use hyper::header::{
    ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST,
    HeaderMap, HeaderName, IF_RANGE, RANGE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use tokio::task::spawn_blocking;
use vidrec::Error;

use super::body::Content;
use super::files::{File, Files};
use super::range::Asked;
use crate::output;

/// What is served, and the word that the path of each request begins with. Other users of this machine do not know it.
pub struct Site {
    pub files: Files,
    pub token: String,
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
    let Some(file) = site.file(request.uri().path()) else {
        return text(StatusCode::NOT_FOUND, "there is nothing at this address: use the one that vidrec browse printed");
    };
    match send(file, request.method() == Method::HEAD, request.headers()).await {
        Ok(answer) => answer,
        Err(e) => {
            output::print_error(&e);
            text(StatusCode::INTERNAL_SERVER_ERROR, &e.to_string())
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
    fn file(&self, path: &str) -> Option<Arc<File>> {
        let (token, name) = path.strip_prefix('/')?.split_once('/')?;
        let name = percent_decode_str(name).decode_utf8().ok()?;
        // The length of the token is no secret.
        let differs = token.bytes().zip(self.token.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
        if differs != 0 || token.len() != self.token.len() {
            return None;
        }
        self.files.get(&name).cloned()
    }
}

async fn send(file: Arc<File>, only_head: bool, headers: &HeaderMap) -> Result<Response<Content>, Error> {
    let opened = file.clone();
    let length = spawn_blocking(move || opened.length()).await;
    let length = length.map_err(|_| Error::internal("opening a file has panicked"))??;
    // A part for those who have seen the same file before: nothing here says whether it is the same.
    let range = headers.get(RANGE).filter(|_| !headers.contains_key(IF_RANGE)).and_then(|range| range.to_str().ok());
    let (status, part) = match Asked::of(range, length) {
        Asked::Whole => (StatusCode::OK, 0..length),
        Asked::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
        Asked::Beyond => {
            let mut answer = text(StatusCode::RANGE_NOT_SATISFIABLE, "the file is shorter");
            answer.headers_mut().insert(CONTENT_RANGE, header(&format!("bytes */{length}")));
            return Ok(answer);
        }
    };
    let kind = file.kind();
    let (bytes, place) =
        (part.end - part.start, format!("bytes {}-{}/{length}", part.start, part.end.saturating_sub(1)));
    let content = if only_head { Content::default() } else { Content::part(file, part).await? };
    let mut answer = with(status, content, kind);
    let headers = answer.headers_mut();
    headers.insert(ACCEPT_RANGES, header("bytes"));
    headers.insert(CONTENT_LENGTH, bytes.into());
    if status == StatusCode::PARTIAL_CONTENT {
        headers.insert(CONTENT_RANGE, header(&place));
    }
    Ok(answer)
}

fn text(status: StatusCode, text: &str) -> Response<Content> {
    with(status, Content::of(format!("{text}\n")), "text/plain; charset=utf-8")
}

fn with(status: StatusCode, content: Content, kind: &'static str) -> Response<Content> {
    let mut answer = Response::new(content);
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
