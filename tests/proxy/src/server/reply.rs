//! Answers with faults in them.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use http_body_util::{BodyExt, Empty};
use hyper::Method;
use hyper::body::Bytes;
use tokio::time::sleep;

use super::backend::Backend;
use super::connection::Connection;
use crate::fault::Fault;
use crate::message::{self, Answer, Head, Pieces, Upload, get, set, with};
use crate::{link, range};

/// How long what was sent may take to leave before its connection ends.
const LEAVING: Duration = Duration::from_millis(20);

/// The answer to a request with a fault, which `is_faulty` learns if the fault can be applied. An error ends the connection
/// without an answer.
pub async fn make(
    fault: Option<Fault>,
    head: &Head,
    mut upload: Upload,
    backend: &dyn Backend,
    connection: &Arc<Connection>,
    is_faulty: impl Fn(),
) -> io::Result<Answer> {
    let Some(fault) = fault else { return Ok(true_answer(backend, head, upload).await) };
    if let Fault::ResetUpload { after } = fault {
        is_faulty();
        read(&mut upload, after).await;
        return Err(connection.reset());
    }
    if let Some(made) = made_up(&fault, head) {
        is_faulty();
        read(&mut upload, u64::MAX).await;
        return Ok(made);
    }
    match fault {
        Fault::NoAnswer => {
            is_faulty();
            read(&mut upload, u64::MAX).await;
            std::future::pending().await
        }
        Fault::NotHttp => {
            is_faulty();
            read(&mut upload, u64::MAX).await;
            (&connection.socket).write_all(b"220 mail.example.com ESMTP\r\n\r\n")?;
            Err(io::ErrorKind::ConnectionAborted.into())
        }
        Fault::WholeObject => {
            let mut asked = head.clone();
            if asked.headers_mut().remove("Range").is_some() {
                is_faulty();
            }
            Ok(true_answer(backend, &asked, upload).await)
        }
        fault => {
            let answer = true_answer(backend, head, upload).await;
            apply(&fault, head, answer, backend, connection, is_faulty).await
        }
    }
}

async fn true_answer(backend: &dyn Backend, head: &Head, upload: Upload) -> Answer {
    let answer = backend.answer(head, upload).await;
    answer.unwrap_or_else(|error| message::bytes(502, format!("fault-proxy: {error}\n")))
}

/// Reads so many bytes of the body of a request, or all.
async fn read(upload: &mut Upload, bytes: u64) {
    let mut seen = 0;
    while seen < bytes
        && let Some(Ok(frame)) = upload.frame().await
    {
        seen += frame.data_ref().map_or(0, Bytes::len) as u64;
    }
}

/// Puts a fault into a true answer.
async fn apply(
    fault: &Fault,
    head: &Head,
    mut answer: Answer,
    backend: &dyn Backend,
    connection: &Arc<Connection>,
    is_faulty: impl Fn(),
) -> io::Result<Answer> {
    let has_body = head.method() != Method::HEAD && message::length(&answer) != Some(0);
    let answer = match *fault {
        Fault::Latency { ms } => {
            sleep(Duration::from_millis(ms)).await;
            answer
        }
        Fault::Slow { bits_per_second } => answer.map(|body| slow(body, bits_per_second)),
        Fault::Stall { after } | Fault::Reset { after } | Fault::Short { after } => {
            is_faulty();
            let end = end(fault.clone(), connection.clone());
            if !has_body {
                return end.await.map(|_| answer);
            }
            let after = after.min(message::length(&answer).map_or(u64::MAX, |length| length - 1));
            return Ok(answer.map(|body| cut(body, after).chain(stream::once(end)).boxed()));
        }
        Fault::Lost => {
            is_faulty();
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Fault::FlippedByte { at } if has_body => {
            let at = at % message::length(&answer).unwrap_or(u64::MAX);
            answer.map(|body| flip(body, at))
        }
        Fault::Gzipped if has_body => {
            let (parts, body) = answer.into_parts();
            let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            body.try_for_each(|piece| std::future::ready(zipped.write_all(&piece))).await?;
            let (length, body) = message::bytes(200, zipped.finish()?).into_parts();
            let mut answer = with(Answer::from_parts(parts, body), "Content-Encoding", "gzip");
            answer.headers_mut().extend(length.headers);
            answer
        }
        Fault::WrongBytes { shift } => match other_bytes(head, &answer, shift) {
            Some(other) => {
                let upload = Empty::new().map_err(|never| match never {}).boxed();
                let other = backend.answer(&other, upload).await?;
                answer.map(|_| other.into_body())
            }
            None => return Ok(answer),
        },
        Fault::HugeLength(length) if has_body => {
            with(answer, "Content-Length", length).map(|body| body.chain(zeros()).boxed())
        }
        _ if change_fields(fault, head, &mut answer) => answer,
        _ => return Ok(answer),
    };
    is_faulty();
    Ok(answer)
}

/// What becomes of a connection after a part of an answer.
async fn end(fault: Fault, connection: Arc<Connection>) -> io::Result<Bytes> {
    sleep(LEAVING).await;
    match fault {
        Fault::Stall { .. } => std::future::pending().await,
        Fault::Reset { .. } => Err(connection.reset()),
        _ => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

/// The first bytes of a body.
fn cut(body: Pieces, mut left: u64) -> Pieces {
    body.map_ok(move |piece| {
        let length = left.min(piece.len() as u64);
        left -= length;
        piece.slice(..length as usize)
    })
    .boxed()
}

fn flip(body: Pieces, at: u64) -> Pieces {
    let mut seen = 0;
    body.map_ok(move |piece| {
        let mut piece = Vec::from(piece);
        if let Some(byte) = at.checked_sub(seen).and_then(|at| piece.get_mut(at as usize)) {
            *byte ^= 1;
        }
        seen += piece.len() as u64;
        piece.into()
    })
    .boxed()
}

fn slow(body: Pieces, bits_per_second: u64) -> Pieces {
    body.and_then(move |piece| async move {
        sleep(link::transfer_time(piece.len(), bits_per_second)).await;
        Ok(piece)
    })
    .boxed()
}

fn zeros() -> Pieces {
    stream::repeat_with(|| Ok(Bytes::from_static(&[0; 64 << 10]))).boxed()
}

/// Faults that touch the fields of the head alone. Whether this is one of them.
fn change_fields(fault: &Fault, head: &Head, answer: &mut Answer) -> bool {
    let (status, length) = (answer.status(), message::length(answer));
    let fields = answer.headers_mut();
    let range = get(fields, "Content-Range").and_then(range::sent);
    match (fault, range) {
        (Fault::ChangedEtag, _) if status.is_success() => set(fields, "ETag", "\"another-version\""),
        (Fault::WrongContentRange, Some((range, total))) => {
            let (first, last) = (range.end, range.end + (range.end - range.start) - 1);
            set(fields, "Content-Range", format!("bytes {first}-{last}/{}", total.max(last + 1)));
        }
        (Fault::OtherLength { more }, Some((range, total))) => {
            let total = total.saturating_add_signed(*more);
            set(fields, "Content-Range", format!("bytes {}-{}/{total}", range.start, range.end - 1));
        }
        (Fault::OtherLength { more }, None) if head.method() == Method::HEAD => {
            set(fields, "Content-Length", length.unwrap_or(0).saturating_add_signed(*more));
        }
        _ => return false,
    }
    true
}

/// Asks for other bytes than a request, if the object has some.
fn other_bytes(head: &Head, answer: &Answer, shift: u64) -> Option<Head> {
    let (range, total) = get(answer.headers(), "Content-Range").and_then(range::sent)?;
    let behind = range.end.checked_add(shift).is_some_and(|end| end <= total);
    let first = if behind { range.start + shift } else { range.start.checked_sub(shift)? };
    let mut other = head.clone();
    set(other.headers_mut(), "Range", format!("bytes={first}-{}", first + (range.end - range.start) - 1));
    Some(other)
}

/// Answers of faults for which nobody is asked.
fn made_up(fault: &Fault, head: &Head) -> Option<Answer> {
    Some(match fault {
        Fault::Unavailable { retry_after_seconds } => {
            with(message::bytes(503, "busy\n"), "Retry-After", retry_after_seconds)
        }
        Fault::SlowDown => message::error(503, "SlowDown"),
        Fault::Conflict => message::error(409, "ConditionalRequestConflict"),
        Fault::Forbidden => message::error(403, "AccessDenied"),
        Fault::Status(status) => message::empty(*status),
        Fault::Html => {
            let page =
                "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n";
            with(message::bytes(200, page), "Content-Type", "text/html")
        }
        Fault::RedirectLoop => {
            let host = get(head.headers(), "Host").unwrap_or("127.0.0.1");
            with(message::empty(302), "Location", format!("http://{host}{}", head.uri()))
        }
        Fault::Redirect(to) => with(message::empty(302), "Location", format!("{to}{}", head.uri())),
        Fault::GzipGarbage => with(message::bytes(200, "this is no gzip file\n"), "Content-Encoding", "gzip"),
        Fault::Endless => Answer::new(zeros()),
        _ => return None,
    })
}
