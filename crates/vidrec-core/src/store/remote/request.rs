//! The one place from which requests are sent: how many at a time, for how long, and what a failure means.
//!
//! object_store repeats requests that fail on the way or at the server, and continues answers that break off if the
//! object has an ETag. This module adds a limit for all of that together, and repeats what object_store does not:
//! answers of the wrong length, and answers without an ETag that break off.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use object_store::path::Path as Key;
use object_store::{Attribute, GetOptions, GetRange, ObjectMeta};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::client::StoreApi;
use super::failure::{Failure, Kind, ResponseInfo, cause, explain, failing, passing, refuse};
use super::http_client::RESPONSE;
use crate::store::storage::Counters;
use vidrec_format::allocation;
use vidrec_format::error::Error;

/// Requests in flight at a time, if all are small. Those of 1 MiB or more count as [`LARGE`]: with ranges of 8 MiB, 32 at a
/// time fill 10 Gbit/s at 200 ms.
const AT_A_TIME: usize = 128;
const LARGE: u64 = 4;
/// Tries of a request whose answer object_store does not ask for again.
const TRIES: u32 = 10;
/// The rate at which bytes add to the time limit of a request, so that a slow link that works is not an error.
pub(super) const SLOWEST_BYTES_PER_SECOND: u64 = 256 << 10;

/// The client of one store in this process.
pub(super) struct StoreClient {
    pub api: StoreApi,
    pub counters: Arc<Counters>,
    timeout: Duration,
    permits: Semaphore,
}

/// The subject of a request.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub operation: Operation,
    pub location: PathBuf,
    pub key: Key,
    /// Bytes that go to the server, or are received from it.
    pub bytes: u64,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Operation {
    /// It asks about an object, or for its bytes.
    #[strum(to_string = "fetch")]
    Read,
    Write,
    Remove,
}

/// The failure of a request. All who wait for the request share it.
#[derive(Debug, Clone)]
pub(crate) struct FetchError {
    /// `None` if the request was not finished.
    request: Option<Box<Request>>,
    failure: Failure,
    pub(super) tries: u64,
}

impl FetchError {
    /// The error for those who wait for a request that ended without an answer.
    pub(super) fn lost() -> Self {
        let failure = refuse("the request was not finished", "try again");
        FetchError { request: None, failure, tries: 0 }
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.failure.kind == kind
    }

    /// Converts this into vidrec's error type.
    pub fn error(&self) -> Error {
        let tries = if self.tries > 1 { format!(" after {} tries", self.tries) } else { String::new() };
        let operation = self.request.as_ref().map_or(Operation::Read, |request| request.operation);
        let Failure { what, help, kind } = &self.failure;
        let e = match kind {
            Kind::NotFound => Error::missing("there is no such object"),
            _ => Error::lost(format!("could not {operation}{tries}: {what}")),
        };
        self.request.iter().fold(e.help(*help), |e, request| e.file(&request.location))
    }
}

/// The result of a request; `None` if there is no such object.
pub(super) fn if_found<T>(result: Result<T, FetchError>) -> Result<Option<T>, FetchError> {
    match result {
        Err(e) if e.is(Kind::NotFound) => Ok(None),
        result => result.map(Some),
    }
}

impl Request {
    pub fn read(location: &Path, key: &Key, bytes: u64) -> Self {
        Request { operation: Operation::Read, location: location.to_owned(), key: key.clone(), bytes }
    }

    /// The error that ends the request.
    pub fn failed(&self, what: impl Into<Cow<'static, str>>, help: &'static str, tries: u64) -> FetchError {
        self.ended(refuse(what, help), tries)
    }

    fn ended(&self, failure: Failure, tries: u64) -> FetchError {
        FetchError { request: Some(Box::new(self.clone())), failure, tries }
    }

    /// Rewords a failure for a request that does not read.
    fn worded(&self, failure: Failure) -> Failure {
        if self.operation == Operation::Write && failure.kind == Kind::NotFound {
            let what = failure.what.replace("there is no such object", "there is no such bucket");
            return refuse(what, "check its name; vidrec does not create buckets");
        }
        failure
    }
}

/// Leaves out the client, which holds the credentials.
impl fmt::Debug for StoreClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreClient").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl StoreClient {
    pub fn new(api: StoreApi, counters: Arc<Counters>, timeout: Duration) -> Self {
        StoreClient { api, counters, timeout, permits: Semaphore::new(AT_A_TIME) }
    }

    /// Makes a request when its turn comes, and waits for its result. The time counts from the turn, because the wait
    /// for it depends on how much was asked for at once. `make` may be called again: the answer to a request that
    /// the server carried out may be lost.
    pub async fn run<T, F>(&self, request: &Request, make: impl Fn() -> F) -> Result<T, FetchError>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        // The semaphore is never closed.
        let _permits = self.permits.acquire_many((request.bytes >> 18).clamp(1, LARGE) as u32).await;
        let begin = Instant::now();
        let allowed = self.timeout.saturating_add(Duration::from_secs(request.bytes / SLOWEST_BYTES_PER_SECOND));
        // object_store ends its tries at the timeout, or a wait later, with a better error.
        let until = begin.checked_add(allowed.saturating_add(self.timeout / 4));
        let until = until.unwrap_or(begin + Duration::from_secs(1 << 30));
        let (mut tries, mut last, mut again) = (0, None, TRIES);
        loop {
            again -= 1;
            let response = Arc::new(Mutex::new(ResponseInfo::default()));
            let one = timeout_at(until, RESPONSE.scope(response.clone(), make())).await;
            let answer = response.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.counters.stats.lock().requests += answer.sent;
            self.counters.stats.lock().retries += answer.sent.saturating_sub(u64::from(tries == 0));
            tries += answer.sent;
            let failure = match one {
                Ok(Ok(given)) => return Ok(given),
                Ok(Err(e)) => request.worded(explain(&e, &answer, &request.key)),
                Err(_) => last.take().unwrap_or_else(|| {
                    let Failure { what, help, kind } = failing(answer.status);
                    Failure { what: format!("{what} in {} s", allowed.as_secs()).into(), help, kind }
                }),
            };
            if again == 0 || failure.kind != Kind::Passing || begin.elapsed() >= allowed {
                return Err(request.ended(failure, tries));
            }
            last = Some(failure);
            tokio::time::sleep(self.timeout / 1000 * (TRIES - again)).await;
        }
    }
}

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

    /// The tag for a condition of a request. A weak ETag never matches (RFC 9110, section 13.1.1).
    fn strong_tag(&self) -> Option<String> {
        let is_strong = self.tag.starts_with('"') || !self.tag.contains(['/', ' ']);
        (is_strong && !self.tag.is_empty()).then(|| self.tag.clone())
    }

    fn check(&self, found: &Version) -> Result<(), Failure> {
        if self == found {
            return Ok(());
        }
        let say =
            |v: &Version| format!("{} bytes, version {}", v.length, if v.tag.is_empty() { "unknown" } else { &v.tag });
        let what = format!("the object was replaced: expected {}, found {}", say(self), say(found));
        Err(refuse(what, "open the data set again"))
    }
}

/// The bytes that a request asks for.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Range(Range<u64>),
    /// The whole object, if it has at most so many bytes.
    Whole(u64),
}

impl StoreClient {
    /// Fetches a part of an object, which must have this version if one is given.
    pub async fn fetch(
        &self,
        request: &Request,
        part: Part,
        version: Option<&Version>,
    ) -> Result<(Vec<u8>, ObjectMeta), FetchError> {
        let found = self.run(request, || self.fetch_once(&request.key, &part, version)).await;
        found.map_err(|mut e| {
            // The first bytes are asked for with the file itself.
            if let Part::Range(Range { start: start @ 1.., end }) = part {
                e.failure.what = format!("bytes {start} to {end}: {}", e.failure.what).into();
            }
            e
        })
    }

    async fn fetch_once(
        &self,
        key: &Key,
        part: &Part,
        version: Option<&Version>,
    ) -> object_store::Result<(Vec<u8>, ObjectMeta)> {
        let range = match part {
            Part::Range(range) => Some(GetRange::Bounded(range.clone())),
            Part::Whole(_) => None,
        };
        let if_match = version.and_then(Version::strong_tag);
        let found = self.api.store.get_opts(key, GetOptions { if_match, range, ..GetOptions::default() }).await?;
        let now = Version::of(&found.meta);
        version.map_or(Ok(()), |expected| expected.check(&now))?;
        let encoding = found.attributes.get(&Attribute::ContentEncoding).map_or("", |encoding| encoding.as_ref());
        if !matches!(encoding, "" | "identity") {
            let what = format!("the answer is compressed ({encoding})");
            return Err(refuse(what, "store and serve the files of data sets as they are").into());
        }
        let wanted = match part {
            Part::Range(range) => now.length.min(range.end).saturating_sub(range.start),
            Part::Whole(most) if now.length > *most => {
                let what = format!("expected at most {most} bytes, found {}", now.length);
                return Err(refuse(what, "check the location").into());
            }
            Part::Whole(_) => now.length,
        };
        let meta = found.meta.clone();
        Ok((self.receive(found.into_stream(), wanted).await?, meta))
    }

    /// Receives `wanted` bytes, and no more, whatever the server sends.
    async fn receive(
        &self,
        mut body: impl StreamExt<Item = object_store::Result<impl AsRef<[u8]>>> + Unpin,
        wanted: u64,
    ) -> object_store::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let no_memory = |e: vidrec_format::error::Error| refuse(e.to_string(), "close other programs");
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|e| {
                let cause = cause(&e);
                passing(format!("the answer broke off after {} of {wanted} bytes: {cause}", bytes.len()))
            })?;
            let chunk = chunk.as_ref();
            self.counters.stats.lock().fetched_bytes += chunk.len() as u64;
            let left = wanted - bytes.len() as u64;
            if chunk.len() as u64 > left {
                return Err(
                    passing(format!("the answer is longer than the {wanted} bytes that vidrec requested")).into()
                );
            }
            allocation::reserve(&mut bytes, usize::try_from(left).unwrap_or(usize::MAX), "what was fetched")
                .map_err(no_memory)?;
            bytes.extend_from_slice(chunk);
        }
        if (bytes.len() as u64) < wanted {
            return Err(passing(format!("the answer ended after {} of {wanted} bytes", bytes.len())).into());
        }
        Ok(bytes)
    }
}
