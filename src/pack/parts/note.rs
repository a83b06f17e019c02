//! What an attempt says of itself while it packs, and why it ended.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::place::Place;
use crate::Result;
use crate::disk::LockName;
use crate::progress::Progress;

/// How often an attempt says how far it is.
pub(super) const EVERY: Duration = Duration::from_secs(20);

/// The latest that an attempt of a part said. Of several attempts at once, the last one that wrote counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Digest of the plan.
    pub plan: String,
    /// The machine, as far as it says who it is.
    pub host: String,
    pub process: u32,
    /// Videos done.
    pub videos: u64,
    /// Time since the attempt began.
    pub seconds: f64,
    /// The lock that it holds, for processes of the same machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockName>,
    /// Why it ended; absent while it packs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Note {
    /// Whether this machine knows that the attempt is dead. Of an attempt elsewhere only its silence says so.
    pub fn is_dead(&self) -> bool {
        self.lock.as_ref().is_some_and(LockName::is_free)
    }
}

/// Name of the note of a part.
pub(super) fn name(part: u32) -> String {
    format!("parts/{part:05}.note")
}

/// Writes the notes of an attempt.
pub(super) struct Notes<'a> {
    place: &'a Place,
    name: String,
    attempt: &'a Attempt,
    plan: &'a str,
    began: Instant,
    last: Option<Instant>,
    videos: u64,
}

impl<'a> Notes<'a> {
    pub fn begin(place: &'a Place, (part, attempt): (u32, &'a Attempt), plan: &'a str) -> Result<Self> {
        let mut notes = Notes { place, name: name(part), attempt, plan, began: Instant::now(), last: None, videos: 0 };
        notes.write(None)?;
        Ok(notes)
    }

    /// Says how far it is, if it is time for that. A note that cannot be written costs nobody the part.
    pub fn progress(&mut self, progress: &Progress) {
        self.videos = progress.done;
        if self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            self.last = Some(Instant::now());
            let _ = self.write(None);
        }
    }

    /// Says why it ended, as far as that can be written: the error itself says more.
    pub fn fail(mut self, error: &crate::Error) {
        let _ = self.write(Some(error.to_string()));
    }

    /// The part is done, which its receipt says.
    pub fn end(self) -> Result<()> {
        self.place.remove(&self.name)
    }

    fn write(&mut self, error: Option<String>) -> Result<()> {
        self.last = Some(Instant::now());
        let (plan, videos, seconds) = (self.plan.to_owned(), self.videos, self.began.elapsed().as_secs_f64());
        let (host, process, lock) = (host(), std::process::id(), self.attempt.lock_name());
        let note = Note { plan, host, process, videos, seconds, lock, error };
        self.place.put(&self.name, self.attempt.number, &note)
    }
}

/// The machine's name, as the schedulers that run parts set it, or as the system has it.
fn host() -> String {
    let from_system = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty()).or_else(from_system);
    name.map_or_else(|| "unknown".into(), |name| name.trim().to_owned())
}
