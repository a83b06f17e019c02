//! Notes in which an attempt reports its progress while it packs, and why it ended.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::place::Place;
use vidrec_format::error::Result;
use vidrec_store::disk::LockName;

/// How often an attempt writes its note.
pub(super) const EVERY: Duration = Duration::from_secs(20);

/// The latest note of an attempt of a part. If several attempts run at once, the last one that wrote counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Digest of the plan.
    pub plan: String,
    /// The machine's name, as far as it is known.
    pub host: String,
    pub process: u32,
    /// The number of videos done.
    pub videos: u64,
    /// The seconds since the attempt began.
    pub seconds: f64,
    /// The lock that it holds, for processes on the same machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockName>,
    /// Why it ended. Absent while it packs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Note {
    /// Whether this machine knows that the attempt is dead. An attempt on another machine only shows it by its
    /// silence.
    pub fn is_dead(&self) -> bool {
        self.lock.as_ref().is_some_and(LockName::is_free)
    }
}

/// Returns the name of the note of a part.
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

    /// Writes the number of videos done, if it is time for that. A note that cannot be written does not fail the part.
    pub fn progress(&mut self, videos: u64) {
        self.videos = videos;
        if self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            let _ = self.write(None);
        }
    }

    /// Writes why the attempt ended, if that is possible. The error itself says more.
    pub fn fail(mut self, error: &vidrec_format::error::Error) {
        let _ = self.write(Some(error.to_string()));
    }

    /// Removes the note of a part that is done, because its receipt says so.
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

/// Returns the machine's name, as set by the schedulers that run parts, or else by the system.
fn host() -> String {
    let from_system = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty()).or_else(from_system);
    name.map_or_else(|| "unknown".into(), |name| name.trim().to_owned())
}
