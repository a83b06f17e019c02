//! The one place from which requests are sent: how many at a time, for how long, and what a failure means.
//!
//! object_store repeats requests that fail on the way or at the server, and continues answers that break off if the
//! object has an ETag. This module adds a limit for all of that together, and repeats what object_store does not:
//! answers of the wrong length, and answers without an ETag that break off.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path as Key;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::failure::{self, Failure, Kind, explain, failing};
use super::http::{ANSWER, Answer};
use super::refusal;
use super::store::Client;
use crate::store::storage::{Counters, add};
use vidrec_format::error::Error;

/// Requests in flight at a time. With ranges of 8 MiB, this fills 10 Gbit/s at 200 ms.
const AT_A_TIME: usize = 32;
/// Tries of a request whose answer object_store does not ask for again.
const TRIES: u32 = 10;
/// The rate at which bytes add to the time limit of a request, so that a slow link that works is not an error.
pub(super) const SLOWEST_BYTES_PER_SECOND: u64 = 256 << 10;

/// The client of one store in this process.
pub(super) struct Link {
    pub client: Client,
    pub counters: Arc<Counters>,
    timeout: Duration,
    permits: Semaphore,
}

/// The subject of a request.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub doing: Doing,
    pub location: PathBuf,
    pub key: Key,
    /// How many bytes go to the server, or are received from it.
    pub bytes: u64,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// It asks about an object, or for its bytes.
    Read,
    Write,
    Remove,
}

/// Why one try of a request failed.
pub(super) enum Broken {
    Store(object_store::Error),
    Answer(Failure),
}

impl From<object_store::Error> for Broken {
    fn from(e: object_store::Error) -> Self {
        Broken::Store(e)
    }
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Broken::Answer(failure)
    }
}

/// Why a request failed. All who wait for the request share it.
#[derive(Debug, Clone)]
pub(crate) struct FetchError {
    /// `None` if the request was not finished.
    task: Option<Task>,
    range: Option<Range<u64>>,
    failure: Failure,
    tries: u64,
}

impl FetchError {
    /// The error for those who wait for a request that ended without an answer.
    pub(super) fn lost() -> Self {
        let failure = failure::refuse("the request was not finished", "try again");
        FetchError { task: None, range: None, failure, tries: 0 }
    }

    pub(super) fn at(self, range: Range<u64>) -> Self {
        FetchError { range: Some(range), ..self }
    }

    /// The number of tries.
    pub(super) fn tries(&self) -> u64 {
        self.tries
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.failure.kind == kind
    }

    /// Converts this into vidrec's error type.
    pub fn error(&self) -> Error {
        // The first bytes are asked for with the file itself.
        let range = self.range.as_ref().filter(|range| range.start > 0);
        let place = range.map_or(String::new(), |range| format!("bytes {} to {}: ", range.start, range.end));
        let tries = if self.tries > 1 { format!(" after {} tries", self.tries) } else { String::new() };
        let doing = match self.task.as_ref().map(|task| task.doing) {
            Some(Doing::Write) => "write",
            Some(Doing::Remove) => "remove",
            _ => "fetch",
        };
        let Failure { what, help, kind } = &self.failure;
        let e = match kind {
            Kind::NotFound => Error::missing("there is no such object"),
            _ => Error::lost(format!("could not {doing}{tries}: {place}{what}")),
        };
        self.task.iter().fold(e.help(*help), |e, task| e.file(&task.location))
    }
}

impl Task {
    pub fn read(location: &Path, key: &Key, bytes: u64) -> Self {
        Task { doing: Doing::Read, location: location.to_owned(), key: key.clone(), bytes }
    }

    /// The error that ends the task.
    pub fn failed(&self, what: impl Into<String>, help: &'static str, tries: u64) -> FetchError {
        self.ended(failure::refuse(what, help), tries)
    }

    fn ended(&self, failure: Failure, tries: u64) -> FetchError {
        FetchError { task: Some(self.clone()), range: None, failure, tries }
    }

    /// Rewords a failure for a request that does not read.
    fn worded(&self, mut failure: Failure) -> Failure {
        if self.doing == Doing::Write && failure.kind == Kind::NotFound {
            let what = failure.what.replace("there is no such object", "there is no such bucket");
            return Failure { what, help: "check its name; vidrec does not create buckets", kind: Kind::Other };
        }
        if self.doing != Doing::Read {
            failure.help = refusal::help_to_write(failure.help);
        }
        failure
    }
}

/// Leaves out the client, which holds the credentials.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Link {
    pub fn new(client: Client, counters: Arc<Counters>, timeout: Duration) -> Self {
        Link { client, counters, timeout, permits: Semaphore::new(AT_A_TIME) }
    }

    /// Makes a request when its turn comes, and waits for its result. The time counts from the turn, because the wait
    /// for it depends on how much was asked for at once. `make` may be called again: the answer to a request that
    /// the server carried out may be lost.
    pub async fn run<T, F>(&self, task: &Task, make: impl Fn() -> F) -> Result<T, FetchError>
    where
        F: Future<Output = Result<T, Broken>>,
    {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        let begin = Instant::now();
        let allowed = self.timeout.saturating_add(Duration::from_secs(task.bytes / SLOWEST_BYTES_PER_SECOND));
        // object_store ends its tries at the timeout, or a wait later, with a better error.
        let until = begin.checked_add(allowed.saturating_add(self.timeout / 4));
        let until = until.unwrap_or(begin + Duration::from_secs(1 << 30));
        let (mut tries, mut last, mut again) = (0, None, TRIES);
        loop {
            again -= 1;
            let answer = Arc::new(Answer::default());
            let one = timeout_at(until, ANSWER.scope(answer.clone(), make())).await;
            add(&self.counters.requests, answer.sent());
            add(&self.counters.retries, answer.sent().saturating_sub(u64::from(tries == 0)));
            tries += answer.sent();
            let failure = match one {
                Ok(Ok(given)) => return Ok(given),
                Ok(Err(Broken::Answer(failure))) => failure,
                Ok(Err(Broken::Store(e))) => task.worded(explain(&e, &answer, &task.key)),
                Err(_) => last.take().unwrap_or_else(|| {
                    let Failure { what, help, kind } = failing(answer.status());
                    Failure { what: format!("{what} in {} s", allowed.as_secs()), help, kind }
                }),
            };
            if again == 0 || failure.kind != Kind::Passing || begin.elapsed() >= allowed {
                return Err(task.ended(failure, tries));
            }
            last = Some(failure);
            tokio::time::sleep(self.timeout / 1000 * (TRIES - again)).await;
        }
    }
}
