//! One request for a range of an object, and its result.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use object_store::client::HttpError;
use object_store::path::Path as Key;
use object_store::{Attribute, Extensions, GetOptions, GetRange, ObjectMeta, ObjectStore};

use super::aws::NoCredentials;
use super::counters::{Counters, add};
use super::http::Answer;
use super::redirect_policy::Refused;
use super::refusal;
use super::sink::Sink;

/// The version of an object. Every answer must agree with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub length: u64,
    /// The ETag, or the time of the last change if the server sends no ETag, or empty if it sends neither.
    pub tag: String,
}

impl Version {
    /// The version that an answer describes.
    pub fn of(meta: &ObjectMeta) -> Self {
        let tag = meta.e_tag.clone().unwrap_or_else(|| match meta.last_modified.timestamp_millis() {
            0 => String::new(),
            changed => format!("changed {changed}"),
        });
        Version { length: meta.size, tag }
    }
}

/// A request.
#[derive(Clone)]
pub(super) struct Ask {
    pub store: Arc<dyn ObjectStore>,
    pub key: Key,
    /// The range. `Err` asks for the whole object, which may have at most so many bytes.
    pub range: Result<Range<u64>, u64>,
    /// The version that the object must have, if it is known.
    pub version: Option<Version>,
    /// The longest time that the server may send nothing.
    pub silence: Duration,
    /// The number of bytes received so far, for the task that watches the request.
    pub received: Arc<AtomicU64>,
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another try would fail the same way.
    Final { what: String, help: &'static str, kind: FinalKind },
    /// Another try may succeed.
    Passing {
        what: String,
        wait: Option<Duration>,
        is_overload: bool,
        /// No connection was made.
        is_unreached: bool,
    },
}

/// The kinds of final failures that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalKind {
    NotFound,
    Replaced,
    /// The object ends before the start of the range.
    BeyondEnd,
    /// The server does not support the request.
    Unsupported,
    Other,
}

/// The result of a successful request.
#[derive(Debug)]
pub(super) struct Got {
    pub version: Version,
    /// The time from the request to the head of the answer.
    pub first_byte: Duration,
}

pub(super) fn refuse(what: impl Into<String>, help: &'static str) -> Failure {
    Failure::Final { what: what.into(), help, kind: FinalKind::Other }
}

pub(super) fn passing(what: impl Into<String>) -> Failure {
    Failure::Passing { what: what.into(), wait: None, is_overload: false, is_unreached: false }
}

fn unreached(what: impl Into<String>) -> Failure {
    Failure::Passing { what: what.into(), wait: None, is_overload: false, is_unreached: true }
}

/// Makes one request. All bytes that arrive go to `sink`, even before a failure.
pub(super) async fn attempt(ask: &Ask, counters: &Counters, sink: &mut Sink) -> Result<Got, Failure> {
    let answer = Arc::new(Answer::default());
    let mut extensions = Extensions::new();
    extensions.insert(answer.clone());
    // A weak ETag never matches (RFC 9110, section 13.1.1).
    let strong = |tag: &&str| tag.starts_with('"') || !tag.contains(['/', ' ']);
    let if_match =
        ask.version.as_ref().map(|v| &*v.tag).filter(|tag| !tag.is_empty()).filter(strong).map(str::to_owned);
    let range = ask.range.clone().ok().map(GetRange::Bounded);
    let options = GetOptions { if_match, range, extensions, ..GetOptions::default() };
    add(&counters.requests, 1);
    let begin = Instant::now();
    let response = tokio::time::timeout(ask.silence, ask.store.get_opts(&ask.key, options)).await;
    let response = response.map_err(|_| passing(format!("no answer for {} s", ask.silence.as_secs())))?;
    let response = response.map_err(|e| explain(&e, &answer, &ask.key))?;
    let first_byte = begin.elapsed();
    let version = Version::of(&response.meta);
    if let Some(expected) = &ask.version
        && *expected != version
    {
        let say =
            |v: &Version| format!("{} bytes, version {}", v.length, if v.tag.is_empty() { "unknown" } else { &v.tag });
        let what = format!("the object was replaced: expected {}, found {}", say(expected), say(&version));
        return Err(Failure::Final { what, help: "open the data set again", kind: FinalKind::Replaced });
    }
    if let Some(encoding) =
        response.attributes.get(&Attribute::ContentEncoding).filter(|e| !matches!(e.as_ref(), "" | "identity"))
    {
        let what = format!("the answer is compressed ({})", encoding.as_ref());
        return Err(refuse(what, "store and serve the files of data sets as they are"));
    }
    let wanted = match &ask.range {
        Ok(range) => version.length.min(range.end).saturating_sub(range.start),
        Err(most) if version.length > *most => {
            return Err(refuse(
                format!("expected at most {most} bytes, found {}", version.length),
                "check the location",
            ));
        }
        Err(_) => version.length,
    };
    receive(response.into_stream(), wanted, ask, counters, sink).await?;
    Ok(Got { version, first_byte })
}

/// Receives `wanted` bytes, and no more, whatever the server sends.
async fn receive(
    mut body: impl StreamExt<Item = object_store::Result<impl AsRef<[u8]>>> + Unpin,
    wanted: u64,
    ask: &Ask,
    counters: &Counters,
    sink: &mut Sink,
) -> Result<(), Failure> {
    let mut found = 0u64;
    loop {
        let chunk = tokio::time::timeout(ask.silence, body.next()).await;
        let chunk = chunk.map_err(|_| passing(format!("the answer stopped after {found} of {wanted} bytes")))?;
        let Some(chunk) = chunk else { break };
        let chunk = chunk
            .map_err(|e| passing(format!("the answer broke off after {found} of {wanted} bytes: {}", cause(&e))))?;
        let chunk = chunk.as_ref();
        found += chunk.len() as u64;
        add(&counters.fetched_bytes, chunk.len() as u64);
        add(&ask.received, chunk.len() as u64);
        if found > wanted {
            return Err(passing(format!("the answer is longer than the {wanted} bytes that vidrec requested")));
        }
        sink.push(chunk).map_err(|e| refuse(e.to_string(), "close other programs, or fetch less at a time"))?;
    }
    if found < wanted {
        return Err(passing(format!("the answer ended after {found} of {wanted} bytes")));
    }
    Ok(())
}

/// The innermost cause, which contains no URL.
fn cause(e: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = e;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// Explains a failed request: what it means, and what to do about it.
pub(super) fn explain(e: &object_store::Error, answer: &Answer, key: &Key) -> Failure {
    use object_store::Error as E;
    let status = answer.status();
    let said = |what: &str| status.map_or_else(|| what.to_owned(), |status| format!("{what} (HTTP {status})"));
    let refused = || {
        let refusal::Refusal { what, help } = match answer.hub_code() {
            Some(code) => refusal::on_hub(code, &cause(e), status),
            None => refusal::of(&cause(e), status, answer.region()),
        };
        refuse(what, help)
    };
    if let Some(none) = inside::<NoCredentials>(e) {
        return refuse(none.to_string(), "run the command by hand, and sign in if it asks for that");
    }
    if let Some(refused) = inside::<Refused>(e) {
        return refuse(refused.to_string(), refused.help());
    }
    if status.is_some_and(|status| status >= 400) && inside::<HttpError>(e).is_some() {
        return passing(said("the server's explanation of the error broke off"));
    }
    match (e, status) {
        (E::NotFound { .. }, _) if matches!(answer.hub_code(), Some("RepoNotFound" | "RevisionNotFound")) => refused(),
        (E::NotFound { .. }, _) => {
            let help = "check the location: bucket or host, and path";
            Failure::Final { what: said("there is no such object"), help, kind: FinalKind::NotFound }
        }
        (E::Precondition { .. }, _) => {
            let what = said("the object was replaced while it was open");
            Failure::Final { what, help: "open the data set again", kind: FinalKind::Replaced }
        }
        (E::PermissionDenied { .. } | E::Unauthenticated { .. }, _) | (_, Some(401 | 403)) => refused(),
        (E::NotImplemented { .. }, _) | (_, Some(501)) => {
            let what = said("the server does not support this request");
            Failure::Final { what, help: "use another server", kind: FinalKind::Unsupported }
        }
        (E::NotSupported { .. }, _) => refuse(
            said("the server does not support requests for ranges of bytes"),
            "use another server, or fetch a local copy first",
        ),
        (_, Some(429 | 503)) => Failure::Passing {
            what: said("the server is overloaded"),
            wait: answer.wait(),
            is_overload: true,
            is_unreached: false,
        },
        (_, Some(408 | 409 | 425 | 500 | 502 | 504)) => Failure::Passing {
            what: said("the server failed"),
            wait: answer.wait(),
            is_overload: false,
            is_unreached: false,
        },
        (_, Some(416)) => Failure::Final {
            what: said("the object is shorter than it was"),
            help: "open the data set again",
            kind: FinalKind::BeyondEnd,
        },
        (_, Some(301 | 307 | 308 | 400..=499)) => refused(),
        _ => transport(e, status, key),
    }
}

/// The error of type `E` inside another error.
fn inside<'a, E: std::error::Error + 'static>(e: &'a (dyn std::error::Error + 'static)) -> Option<&'a E> {
    std::iter::successors(Some(e), |e| e.source()).find_map(|e| e.downcast_ref())
}

/// Explains a failure outside HTTP. Only the words of the error tell such failures apart.
fn transport(e: &object_store::Error, status: Option<u16>, key: &Key) -> Failure {
    // The words of the location itself say nothing about the failure.
    let mut text = format!("{e:?}").to_ascii_lowercase().replace("continuation-token", "");
    for part in key.parts() {
        text = text.replace(&format!("/{}", part.as_ref().to_ascii_lowercase()), "/");
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["certificate", "unknownissuer"]) {
        let (what, help) = match () {
            () if has(&["unknownissuer"]) => (
                "is signed by an authority that this machine does not know",
                "name a file of certificates that includes it: the storage option ca_bundle, or SSL_CERT_FILE",
            ),
            () if has(&["expired"]) => ("has expired", "renew it on the server, or set the clock of this machine"),
            () if has(&["notvalidyet"]) => ("is not valid yet", "set the clock of this machine"),
            () if has(&["notvalidforname"]) => ("is for another host", "check the host name or the endpoint"),
            () => ("is not accepted", "check the host name and the certificates of this machine"),
        };
        return refuse(format!("the server's certificate {what}: {}", cause(e)), help);
    }
    if has(&["dns error", "failed to lookup", "name or service not known"]) {
        return refuse(
            format!("the host name cannot be resolved: {}", cause(e)),
            "check the bucket, the region and the endpoint",
        );
    }
    if has(&["unexpectedrange", "parsecontentrange", "nocontentrange"]) {
        return refuse(
            "the server sent a different range of the file than vidrec requested",
            "use another server, or fetch a local copy first",
        );
    }
    if has(&["content-length header missing", "missingcontentlength"]) {
        return refuse(
            "the server does not say how long the file is",
            "use another server, or fetch a local copy first",
        );
    }
    if has(&["169.254.169.254", "metadata", "credential", "oauth", "token"]) && status.is_none() {
        return refuse(
            format!("there are no credentials: {}", cause(e)),
            "set them in the environment or as storage options; for a public bucket, set the option skip_signature to true",
        );
    }
    if has(&["connection refused", "connectionrefused"]) {
        return unreached("the connection was refused");
    }
    if has(&["kind: connect"]) {
        return unreached(format!("could not connect: {}", cause(e)));
    }
    passing(format!("the request failed: {}", cause(e)))
}
