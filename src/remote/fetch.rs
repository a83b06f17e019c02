//! A range of an object, fetched with patience: retries, a second request when one is late, and a deadline.

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
use super::gate::{Gate, Outcome};
use super::sink::Sink;
use super::store::Client;
use crate::Error;
use crate::random::Random;

/// The longest that a server may send nothing, before the request is made once more; and once it seems to be down.
pub(super) const SILENCE: Duration = Duration::from_secs(10);
const SILENCE_OF_FAILING: Duration = Duration::from_secs(2);
/// The first wait before a retry, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Tries to reach a server that has never answered: as a rule its address is wrong.
pub(super) const FIRST_TRIES: u32 = 3;
/// What a deadline adds for a range, so that a slow link that works is not an error.
pub(super) const SLOWEST_BYTES_PER_SECOND: u64 = 256 << 10;

/// The client of one store in this process, and what it has learned.
pub(super) struct Link {
    pub client: Client,
    pub gate: Gate,
    pub counters: Arc<Counters>,
    pub timeout: Duration,
    pace: Mutex<Pace>,
    /// Whether the server has ever answered.
    pub is_reached: AtomicBool,
    /// When all patience was used up for a range, if no request has succeeded since. What was asked for before that gets one
    /// try, so that what waited in a queue does not take as long to fail once more. What is asked for later gets its time,
    /// since the server may be back.
    failed: Mutex<Option<Instant>>,
}

/// What is fetched.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub location: PathBuf,
    pub key: Key,
    /// `None` until the first answer says it.
    pub version: Option<Version>,
}

/// Why a request failed, once for all who wait for it.
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
    /// For those who wait for what was never asked for, or whose request ended without an answer.
    pub(super) fn lost(location: &Path) -> Self {
        let (location, what) = (location.to_owned(), "the request was not finished".to_owned());
        FetchError { doing: "fetch", location, range: None, what, help: "", tries: 0, kind: None }
    }

    /// For requests that do something else than to fetch a range; `doing` completes "could not …".
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

    /// How often it was tried.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// Whether the server cannot do what it was asked for.
    pub(super) fn is_unsupported(&self) -> bool {
        self.kind == Some(FinalKind::Unsupported)
    }

    /// Whether there is no such object.
    pub(super) fn is_missing(&self) -> bool {
        self.kind == Some(FinalKind::NotFound)
    }

    /// Whether the object is shorter than the range that was asked for begins.
    pub(super) fn is_beyond_end(&self) -> bool {
        self.kind == Some(FinalKind::BeyondEnd)
    }

    /// The same as an error of this crate.
    pub fn error(&self) -> Error {
        let place =
            self.range.as_ref().map_or(String::new(), |range| format!("bytes {} to {}: ", range.start, range.end));
        let tries = if self.tries > 1 { format!(" after {} tries", self.tries) } else { String::new() };
        let e = match self.is_missing() {
            true => Error::missing("there is no such object").file(&self.location),
            false => Error::lost(format!("could not {}{tries}: {place}{}", self.doing, self.what)).file(&self.location),
        };
        if self.help.is_empty() { e } else { e.help(self.help) }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

/// Prints nothing of the client, which has the credentials.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("gate", &self.gate).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Link {
    pub fn new(client: Client, counters: Arc<Counters>, timeout: Duration) -> Self {
        Link {
            client,
            gate: Gate::new(counters.clone()),
            counters,
            timeout,
            pace: Mutex::default(),
            is_reached: AtomicBool::new(false),
            failed: Mutex::default(),
        }
    }

    /// Whether all patience was used up after something was asked for, and no request has succeeded since.
    pub(super) fn is_failing(&self, asked: Instant) -> bool {
        self.failed().is_some_and(|failed| failed > asked)
    }

    /// All patience was used up.
    pub(super) fn gave_up(&self) {
        *self.failed() = Some(Instant::now());
    }

    /// A request has succeeded.
    pub(super) fn succeeded(&self) {
        *self.failed() = None;
    }

    fn failed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches a range into `sink`; or the whole object, of at most so many bytes. What has to be tried again does not
    /// queue up behind all others.
    pub async fn fetch(
        &self,
        target: &Target,
        range: Result<Range<u64>, u64>,
        sink: Sink,
    ) -> Result<(Sink, Version), FetchError> {
        let asked = Instant::now();
        let pass = self.gate.enter(range.as_ref().map_or(0, |range| range.end - range.start)).await;
        let found = self.fetch_now(target, range, sink, asked).await;
        self.gate.leave(pass, found.is_ok());
        found
    }

    /// As [`fetch`](Self::fetch), unless nobody needs the range any more when it is its turn: then `None`.
    pub async fn fetch_if(
        &self,
        is_needed: impl Fn() -> bool,
        target: &Target,
        range: Range<u64>,
        sink: Sink,
    ) -> Option<Result<(Sink, Version), FetchError>> {
        let asked = Instant::now();
        let pass = self.gate.enter(range.end - range.start).await;
        let found = if is_needed() { Some(self.fetch_now(target, Ok(range), sink, asked).await) } else { None };
        self.gate.leave(pass, found.as_ref().is_some_and(Result::is_ok));
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
        // From its turn on: how long that takes depends on how much was asked for at a time.
        let now = Instant::now();
        let until = now.checked_add(allowed).unwrap_or(now + Duration::from_secs(1 << 30));
        let (mut tries, mut last) = (0, String::new());
        loop {
            if target.version.is_none() {
                // What arrived may be of another version than what will.
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
                    return Err(failed(what, "check host, port and endpoint", tries, None));
                }
                Ok(Err(Failure::Passing { what, wait, .. })) => {
                    if let (Some(version), Ok(range)) = (&target.version, &range)
                        && sink.at() >= range.end
                    {
                        // What came after the last byte does not matter.
                        return Ok((sink, version.clone()));
                    }
                    last = what;
                    if self.is_failing(asked) {
                        return Err(failed(last, "check the connection, or allow more time", tries, None));
                    }
                    if let Some(wait) = wait.filter(|wait| *wait > until.saturating_duration_since(Instant::now())) {
                        let what = format!("{last}, and asks for {} s of patience", wait.as_secs());
                        return Err(failed(what, "try again later, or allow more time", tries, None));
                    }
                    wait.unwrap_or_else(|| patient(backoff(tries, sink.at()), until))
                }
                Err(_) if last.is_empty() => {
                    self.gave_up();
                    let what = format!("no whole answer in {} s", allowed.as_secs());
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
        // What has arrived is kept.
        let range = range.clone().map(|range| sink.at()..range.end);
        let silence = if self.is_failing(asked) { SILENCE_OF_FAILING } else { SILENCE };
        let (store, key, version) = (self.client.store.clone(), target.key.clone(), target.version.clone());
        Ask { store, key, range, version, silence, received: Arc::default() }
    }

    /// One request, and a second one if the answer is late; the first answer counts.
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
                // One of the two failed: the other decides.
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
        // One in twenty, so that a slow server is not asked twice for everything.
        (seconds < 4 + requests / 20).then(|| self.pace().late(size))
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends when nothing has come for `late`. An answer that comes slowly is as slow from a second request.
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

/// How long to wait before try `tries + 1`: twice as long each time, and a random part of it, so that clients that failed
/// together do not come back together.
pub(super) fn backoff(tries: u32, salt: u64) -> Duration {
    let (first, most) = WAITS;
    let whole = first.saturating_mul(1 << tries.min(16).saturating_sub(1)).min(most);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
    let mut random = Random::new(salt, &[u64::from(clock), u64::from(std::process::id())]);
    whole / 2 + whole.mul_f64(random.below(1 << 20) as f64 / f64::from(1 << 21))
}

/// A wait that leaves time for another try, as long as there is any: whoever waits for long also waits to the end.
pub(super) fn patient(wait: Duration, until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    if wait < left || left < WAITS.0 { wait.max(left.min(WAITS.0)) } else { left / 2 }
}

/// How long requests take.
#[derive(Debug, Default)]
struct Pace {
    /// Requests that were noted.
    count: u64,
    /// Mean of the times to the first byte, and of the seconds per byte after it. Both forget.
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

    /// Three times what it takes as a rule, and half a second at least; two seconds as long as little is known.
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
