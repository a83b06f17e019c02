//! Fetches a range of an object with retries, a second request when an answer is late, and a deadline.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{Either, select};
use object_store::path::Path as Key;

use super::attempt::{Ask, Failure, FinalKind, Got, Version, attempt};
use super::counters::{Counters, add};
use super::requests_in_flight::{Outcome, RequestsInFlight};
use super::sink::Sink;
use super::store::Client;
use vidrec_format::error::Error;
use vidrec_format::random::Random;

/// The longest time that a server may send nothing before the request is retried. The shorter time applies when the
/// server seems to be down.
pub(super) const SILENCE: Duration = Duration::from_secs(10);
const SILENCE_OF_FAILING: Duration = Duration::from_secs(2);
/// The first wait before a retry, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Tries to reach a server that has never answered. As a rule, its address is wrong.
pub(super) const FIRST_TRIES: u32 = 3;
/// The rate at which bytes add to the deadline of a range, so that a slow link that works is not an error.
pub(super) const SLOWEST_BYTES_PER_SECOND: u64 = 256 << 10;

/// The client of one store in this process, and what it has learned.
pub(super) struct Link {
    pub client: Client,
    pub gate: RequestsInFlight,
    pub counters: Arc<Counters>,
    pub timeout: Duration,
    pace: Mutex<Pace>,
    /// Whether the server has ever answered.
    pub is_reached: AtomicBool,
    /// The time at which a range last failed for good, if no request has succeeded since. Ranges that were asked for
    /// before that time get one try, so that those in a queue do not each take as long to fail. Ranges that are asked
    /// for later get their full time, because the server may be back.
    failed: Mutex<Option<Instant>>,
}

/// The object to fetch from.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub location: PathBuf,
    pub key: Key,
    /// `None` until the first answer tells it.
    pub version: Option<Version>,
}

/// Why a request failed. All who wait for the request share it.
#[derive(Debug, Clone)]
pub(crate) struct FetchError {
    /// Completes "could not …".
    doing: &'static str,
    location: PathBuf,
    range: Option<Range<u64>>,
    what: String,
    help: &'static str,
    tries: u32,
    kind: Option<FinalKind>,
}

impl FetchError {
    /// The error for those who wait for a request that was never made, or that ended without an answer.
    pub(super) fn lost(location: &Path) -> Self {
        let (location, what) = (location.to_owned(), "the request was not finished".to_owned());
        FetchError { doing: "fetch", location, range: None, what, help: "try again", tries: 0, kind: None }
    }

    /// The error of a request that does something other than fetching a range; `doing` completes "could not …".
    pub(super) fn of(
        doing: &'static str,
        location: &Path,
        what: impl Into<String>,
        help: &'static str,
        tries: u32,
        kind: Option<FinalKind>,
    ) -> Self {
        FetchError { doing, location: location.to_owned(), range: None, what: what.into(), help, tries, kind }
    }

    /// The number of tries.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// Whether the server does not support the request.
    pub(super) fn is_unsupported(&self) -> bool {
        self.kind == Some(FinalKind::Unsupported)
    }

    /// Whether there is no such object.
    pub(super) fn is_missing(&self) -> bool {
        self.kind == Some(FinalKind::NotFound)
    }

    /// Whether the object ends before the start of the range.
    pub(super) fn is_beyond_end(&self) -> bool {
        self.kind == Some(FinalKind::BeyondEnd)
    }

    /// Converts this into vidrec's error type.
    pub fn error(&self) -> Error {
        // The first bytes are asked for with the file itself.
        let range = self.range.as_ref().filter(|range| range.start > 0);
        let place = range.map_or(String::new(), |range| format!("bytes {} to {}: ", range.start, range.end));
        let tries = if self.tries > 1 { format!(" after {} tries", self.tries) } else { String::new() };
        let e = match self.is_missing() {
            true => Error::missing("there is no such object").file(&self.location),
            false => Error::lost(format!("could not {}{tries}: {place}{}", self.doing, self.what)).file(&self.location),
        };
        e.help(self.help)
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

/// Leaves out the client, which holds the credentials.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("gate", &self.gate).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Link {
    pub fn new(client: Client, counters: Arc<Counters>, timeout: Duration) -> Self {
        Link {
            client,
            gate: RequestsInFlight::new(counters.clone()),
            counters,
            timeout,
            pace: Mutex::default(),
            is_reached: AtomicBool::new(false),
            failed: Mutex::default(),
        }
    }

    /// Whether a range failed for good after the time `asked`, and no request has succeeded since.
    pub(super) fn is_failing(&self, asked: Instant) -> bool {
        self.failed().is_some_and(|failed| failed > asked)
    }

    /// Records that a range failed for good.
    pub(super) fn gave_up(&self) {
        *self.failed() = Some(Instant::now());
    }

    /// Records that a request succeeded.
    pub(super) fn succeeded(&self) {
        *self.failed() = None;
    }

    fn failed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches a range into `sink`, or the whole object if it has at most so many bytes. A retry does not go to the
    /// back of the queue.
    pub async fn fetch(
        &self,
        target: &Target,
        range: Result<Range<u64>, u64>,
        sink: Sink,
    ) -> Result<(Sink, Version), FetchError> {
        let asked = Instant::now();
        let pass = self.gate.enter().await;
        let found = self.fetch_now(target, range, sink, asked).await;
        self.gate.leave(pass);
        found
    }

    /// Like [`fetch`](Self::fetch), but returns `None` if no caller needs the range anymore when its turn comes.
    pub async fn fetch_if(
        &self,
        is_needed: impl Fn() -> bool,
        target: &Target,
        range: Range<u64>,
        sink: Sink,
    ) -> Option<Result<(Sink, Version), FetchError>> {
        let asked = Instant::now();
        let pass = self.gate.enter().await;
        let found = if is_needed() { Some(self.fetch_now(target, Ok(range), sink, asked).await) } else { None };
        self.gate.leave(pass);
        found
    }

    async fn fetch_now(
        &self,
        target: &Target,
        range: Result<Range<u64>, u64>,
        mut sink: Sink,
        asked: Instant,
    ) -> Result<(Sink, Version), FetchError> {
        let failed = |what: String, help, tries, kind| {
            let range = range.clone().ok();
            FetchError { doing: "fetch", location: target.location.clone(), range, what, help, tries, kind }
        };
        let size = range.as_ref().map_or(0, |range| range.end - range.start);
        let allowed = self.timeout.saturating_add(Duration::from_secs(size / SLOWEST_BYTES_PER_SECOND));
        // The time counts from the request's turn, because the wait for it depends on how much was asked for at once.
        let now = Instant::now();
        let until = now.checked_add(allowed).unwrap_or(now + Duration::from_secs(1 << 30));
        let (mut tries, mut last) = (0, String::new());
        loop {
            if target.version.is_none() {
                // The next answer may be of another version than the bytes that have arrived.
                sink = Sink::all(0);
            }
            tries += 1;
            let ask = self.ask(target, &range, &sink, asked);
            let one = tokio::time::timeout_at(until.into(), self.once(&ask, &mut sink)).await;
            self.gate.learn(outcome(&one));
            let wait = match one {
                Ok(Ok(got)) => {
                    self.succeeded();
                    return Ok((sink, got.version));
                }
                Ok(Err(Failure::Final { what, help, kind })) => return Err(failed(what, help, tries, Some(kind))),
                Ok(Err(Failure::Passing { what, is_unreached: true, .. }))
                    if tries >= FIRST_TRIES && !self.is_reached.load(Relaxed) =>
                {
                    return Err(failed(what, "check the host, the port and the endpoint", tries, None));
                }
                Ok(Err(Failure::Passing { what, wait, .. })) => {
                    if let (Some(version), Ok(range)) = (&target.version, &range)
                        && sink.at() >= range.end
                    {
                        // A failure after the last byte does not matter.
                        return Ok((sink, version.clone()));
                    }
                    last = what;
                    if self.is_failing(asked) {
                        return Err(failed(last, "check the connection, or allow more time", tries, None));
                    }
                    if let Some(wait) = wait.filter(|wait| *wait > until.saturating_duration_since(Instant::now())) {
                        let what = format!("{last}, and asks clients to wait {} s", wait.as_secs());
                        return Err(failed(what, "try again later, or allow more time", tries, None));
                    }
                    wait.unwrap_or_else(|| patient(backoff(tries, sink.at()), until))
                }
                Err(_) if last.is_empty() => {
                    self.gave_up();
                    let what = format!("no complete answer in {} s", allowed.as_secs());
                    return Err(failed(what, "check the connection, or allow more time", tries, None));
                }
                Err(_) => Duration::MAX,
            };
            if Instant::now().checked_add(wait).is_none_or(|then| then >= until) {
                tokio::time::sleep_until(until.into()).await;
                self.gave_up();
                let what = format!("no answer in {} s; the last failure: {last}", allowed.as_secs());
                return Err(failed(what, "check the connection, or allow more time", tries, None));
            }
            add(&self.counters.retries, 1);
            tokio::time::sleep(wait).await;
        }
    }

    fn ask(&self, target: &Target, range: &Result<Range<u64>, u64>, sink: &Sink, asked: Instant) -> Ask {
        // The bytes that have arrived are kept.
        let range = range.clone().map(|range| sink.at()..range.end);
        let silence = if self.is_failing(asked) { SILENCE_OF_FAILING } else { SILENCE };
        let (store, key, version) = (self.client.store.clone(), target.key.clone(), target.version.clone());
        Ask { store, key, range, version, silence, received: Arc::default() }
    }

    /// Makes one request, and a second one if the answer is late. The first answer counts.
    async fn once(&self, ask: &Ask, sink: &mut Sink) -> Result<Got, Failure> {
        let (begin, size) = (Instant::now(), ask.range.as_ref().map_or(0, |range| range.end - range.start));
        let Some(late) = self.late(size).filter(|_| ask.version.is_some()) else {
            return self.noted(attempt(ask, &self.counters, sink).await, size, begin);
        };
        let mut other = sink.rest();
        let found = {
            let first = pin!(attempt(ask, &self.counters, sink));
            let first = match select(first, pin!(stalls(&ask.received, late))).await {
                Either::Left((found, _)) => return self.noted(found, size, begin),
                Either::Right((_, first)) => first,
            };
            add(&self.counters.second_requests, 1);
            let second = pin!(attempt(ask, &self.counters, &mut other));
            match select(first, second).await {
                Either::Left((Ok(got), _)) => (Ok(got), true),
                Either::Right((Ok(got), _)) => (Ok(got), false),
                // One of the two failed, so the other decides.
                Either::Left((Err(_), second)) => (second.await, false),
                Either::Right((Err(_), first)) => (first.await, true),
            }
        };
        match found {
            (found, true) => self.noted(found, size, begin),
            (found, false) => {
                if found.is_ok() {
                    *sink = std::mem::replace(sink, Sink::all(0)).replaced_by(other);
                }
                found
            }
        }
    }

    fn noted(&self, found: Result<Got, Failure>, size: u64, begin: Instant) -> Result<Got, Failure> {
        if let Ok(got) = &found {
            self.is_reached.store(true, Relaxed);
            self.pace().note(got.first_byte, size, begin.elapsed());
        }
        found
    }

    /// When an answer of `size` bytes is late; `None` if no second request may be sent.
    fn late(&self, size: u64) -> Option<Duration> {
        let (requests, seconds) = (self.counters.requests.load(Relaxed), self.counters.second_requests.load(Relaxed));
        // At most one request in twenty is a second one, so that a slow server does not get every request twice.
        (seconds < 4 + requests / 20).then(|| self.pace().late(size))
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends when nothing has arrived for `late`. If an answer arrives slowly, a second request would be just as slow.
async fn stalls(received: &AtomicU64, late: Duration) {
    let mut before = 0;
    loop {
        tokio::time::sleep(late).await;
        let now = received.load(Relaxed);
        if now == before {
            return;
        }
        before = now;
    }
}

fn outcome<E>(one: &Result<Result<Got, Failure>, E>) -> Outcome {
    match one {
        Ok(Ok(got)) => Outcome::Answered(got.first_byte),
        Ok(Err(Failure::Passing { is_overload: true, .. })) => Outcome::Overloaded,
        _ => Outcome::Failed,
    }
}

/// How long to wait before try `tries + 1`. The wait doubles each time and has a random part, so that clients that
/// failed together do not return together.
pub(super) fn backoff(tries: u32, salt: u64) -> Duration {
    let (first, most) = WAITS;
    let whole = first.saturating_mul(1 << tries.min(16).saturating_sub(1)).min(most);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
    let mut random = Random::new(salt, &[u64::from(clock), u64::from(std::process::id())]);
    whole / 2 + whole.mul_f64(random.below(1 << 20) as f64 / f64::from(1 << 21))
}

/// Shortens a wait so that it leaves time for another try, as long as there is any.
pub(super) fn patient(wait: Duration, until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    if wait < left || left < WAITS.0 { wait.max(left.min(WAITS.0)) } else { left / 2 }
}

/// How long requests usually take.
#[derive(Debug, Default)]
struct Pace {
    /// The number of measured requests.
    count: u64,
    /// The means of the time to the first byte, and of the seconds per byte after it. Both give recent requests more
    /// weight.
    first_byte: f64,
    per_byte: f64,
}

impl Pace {
    fn note(&mut self, first_byte: Duration, size: u64, whole: Duration) {
        let weight = 1.0 / (self.count + 1).min(32) as f64;
        self.count += 1;
        self.first_byte += (first_byte.as_secs_f64() - self.first_byte) * weight;
        let body = whole.saturating_sub(first_byte).as_secs_f64() / size.max(64 << 10) as f64;
        self.per_byte += (body - self.per_byte) * weight;
    }

    /// Three times the usual time plus 0.2 s, but at least 0.5 s. It is 2 s until eight requests were measured.
    fn late(&self, size: u64) -> Duration {
        if self.count < 8 {
            return Duration::from_secs(2);
        }
        let usual = self.first_byte + self.per_byte * size.max(64 << 10) as f64;
        Duration::try_from_secs_f64(3.0 * usual + 0.2).unwrap_or(Duration::MAX).max(Duration::from_millis(500))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_differ() {
        for tries in 1..40 {
            let wait = backoff(tries, tries.into());
            assert!(wait >= Duration::from_millis(50) && wait <= WAITS.1, "{tries}: {wait:?}");
        }
        assert!(backoff(5, 1) > backoff(1, 1));
    }

    #[test]
    fn an_answer_is_late_after_three_times_the_usual() {
        let mut pace = Pace::default();
        assert_eq!(pace.late(1), Duration::from_secs(2));
        (0..100).for_each(|_| pace.note(Duration::from_millis(100), 8 << 20, Duration::from_millis(1100)));
        let late = pace.late(8 << 20).as_secs_f64();
        assert!((3.4..3.6).contains(&late), "{late}");
        assert!(pace.late(0) >= Duration::from_millis(500));
    }
}
