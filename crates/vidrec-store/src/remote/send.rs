//! Sends a request that writes, asks or removes, with retries and a deadline, as in [`fetch`](super::fetch).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use object_store::path::Path as Key;

use super::attempt::{Failure, FinalKind, explain, passing};
use super::counters::add;
use super::fetch::{FIRST_TRIES, FetchError, Link, SILENCE, SLOWEST_BYTES_PER_SECOND, backoff, patient};
use super::http::{ANSWER, Answer};
use super::refusal;
use super::requests_in_flight::Outcome;

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
    /// The server works with bytes that it has, which may take it long: it copies an object, or joins parts.
    Make,
    Remove,
}

impl Doing {
    /// Completes "could not …".
    fn words(self) -> &'static str {
        match self {
            Doing::Read => "fetch",
            Doing::Write | Doing::Make => "write",
            Doing::Remove => "remove",
        }
    }
}

impl Task {
    /// The error that ends the task.
    pub fn failed(&self, what: impl Into<String>, help: &'static str, tries: u32) -> FetchError {
        FetchError::of(self.doing.words(), &self.location, what, help, tries, None)
    }

    /// How long a slow link may take to transfer the bytes.
    fn time_for_bytes(&self) -> Duration {
        Duration::from_secs(self.bytes / SLOWEST_BYTES_PER_SECOND)
    }

    /// Rewords a failure for a request that does not read.
    fn worded(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Final { kind: FinalKind::NotFound, what, .. } if self.doing == Doing::Write => {
                let what = what.replace("there is no such object", "there is no such bucket");
                Failure::Final { what, help: "check its name; vidrec does not create buckets", kind: FinalKind::Other }
            }
            Failure::Final { what, help, kind } if self.doing != Doing::Read => {
                Failure::Final { what, help: refusal::help_to_write(help), kind }
            }
            other => other,
        }
    }
}

impl Link {
    /// Makes a request, and repeats it until it succeeds, is refused, or time is up. The caller makes sure that a
    /// request may be carried out twice, because its answer may be lost.
    pub async fn send<T, F>(&self, task: &Task, make: impl Fn() -> F) -> Result<T, FetchError>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        let asked = Instant::now();
        let pass = self.gate.enter().await;
        let found = self.send_now(task, make, asked).await;
        self.gate.leave(pass);
        found
    }

    async fn send_now<T, F>(&self, task: &Task, make: impl Fn() -> F, asked: Instant) -> Result<T, FetchError>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        let allowed = self.timeout.saturating_add(task.time_for_bytes());
        let now = Instant::now();
        let until = now.checked_add(allowed).unwrap_or(now + Duration::from_secs(1 << 30));
        let mut tries = 0;
        loop {
            tries += 1;
            let (what, wait) = match self.send_once(task, &make, until).await {
                Ok(given) => {
                    self.is_reached.store(true, Relaxed);
                    self.succeeded();
                    return Ok(given);
                }
                Err(Failure::Final { what, help, kind }) => {
                    self.is_reached.store(true, Relaxed);
                    return Err(FetchError::of(task.doing.words(), &task.location, what, help, tries, Some(kind)));
                }
                Err(Failure::Passing { what, is_unreached: true, .. })
                    if tries >= FIRST_TRIES && !self.is_reached.load(Relaxed) =>
                {
                    return Err(task.failed(what, "check the host, the port and the endpoint", tries));
                }
                Err(Failure::Passing { what, wait, .. }) => (what, wait),
            };
            let patience = "check the connection, or allow more time";
            if self.is_failing(asked) {
                return Err(task.failed(what, patience, tries));
            }
            let left = until.saturating_duration_since(Instant::now());
            if let Some(wait) = wait.filter(|wait| *wait > left) {
                let what = format!("{what}, and asks clients to wait {} s", wait.as_secs());
                return Err(task.failed(what, "try again later, or allow more time", tries));
            }
            let wait = wait.unwrap_or_else(|| patient(backoff(tries, task.bytes), until));
            if wait >= left {
                tokio::time::sleep_until(until.into()).await;
                self.gave_up();
                let what = format!("no success in {} s; the last failure: {what}", allowed.as_secs());
                return Err(task.failed(what, patience, tries));
            }
            add(&self.counters.retries, 1);
            tokio::time::sleep(wait).await;
        }
    }

    async fn send_once<T, F>(&self, task: &Task, make: impl Fn() -> F, until: Instant) -> Result<T, Failure>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        let answer = Arc::new(Answer::default());
        let begin = Instant::now();
        let patience = match task.doing {
            Doing::Make => until.saturating_duration_since(begin),
            _ => SILENCE.saturating_add(task.time_for_bytes()).min(until.saturating_duration_since(begin)),
        };
        add(&self.counters.requests, 1);
        let found = match tokio::time::timeout(patience, ANSWER.scope(answer.clone(), make())).await {
            Ok(found) => found.map_err(|e| task.worded(explain(&e, &answer, &task.key))),
            Err(_) => Err(passing(format!("no answer for {} s", patience.as_secs()))),
        };
        self.gate.learn(match &found {
            // If bytes precede the answer, its time says nothing about the load.
            Ok(_) if task.bytes == 0 && task.doing == Doing::Read => Outcome::Answered(begin.elapsed()),
            Err(Failure::Passing { is_overload: true, .. }) => Outcome::Overloaded,
            _ => Outcome::Failed,
        });
        found
    }
}
