//! The progress of the parts of a plan.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::note::{self, EVERY};
use super::plan::PartsPlan;
use vidrec_format::error::Result;
use vidrec_format::workers::in_order;

/// An attempt that is silent for this long is dead, or cannot reach the folder.
const SILENCE: Duration = Duration::from_secs(EVERY.as_secs() * 6);

/// The state of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartState {
    /// The part is done: its receipt exists.
    Done,
    /// An attempt wrote its note within the last two minutes. If it died on this machine, that is known at once.
    Running,
    /// The last attempt ended with an error.
    Failed,
    /// No attempt has begun the part, or its last attempt was stopped or died.
    Missing,
}

/// The progress of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PartStatus {
    /// Its number, from 0.
    pub part: u32,
    /// The state of the part.
    pub state: PartState,
    /// The number of its videos.
    pub videos: u64,
    /// The number of videos done, according to the latest note of its attempt.
    pub done: u64,
    /// Where its attempt runs or ran: the name of the machine, and the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Why its last attempt ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The progress of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanStatus {
    /// The number of parts.
    pub parts: u32,
    /// The number of parts that are done.
    pub done: u32,
    /// The number of parts that attempts work on.
    pub running: u32,
    /// The number of parts whose last attempt ended with an error.
    pub failed: u32,
    /// The number of parts that nobody works on.
    pub missing: u32,
    /// The number of videos.
    pub videos: u64,
    /// The number of videos done, in all parts.
    pub videos_done: u64,
    /// The number of videos that one attempt packs in a second, measured over the parts that are done. `None`
    /// before the first.
    pub videos_per_second: Option<f64>,
    /// The seconds that are left if as many attempts as now keep working. 0 if
    /// all parts are done, and otherwise `None` if no attempt is at work or no part is done.
    pub seconds_left: Option<f64>,
    /// The parts, in order.
    pub list: Vec<PartStatus>,
}

impl PlanStatus {
    /// Returns the parts that have to be submitted again: the failed and the missing ones, in order.
    pub fn to_submit(&self) -> impl Iterator<Item = u32> {
        let nobody_works = |part: &&PartStatus| matches!(part.state, PartState::Failed | PartState::Missing);
        self.list.iter().filter(nobody_works).map(|part| part.part)
    }
}

impl PartsPlan {
    /// Checks how far the parts have come. It changes nothing.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): the folder cannot be read.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): a receipt is of another plan.
    pub fn status(&self) -> Result<PlanStatus> {
        let now = OnceLock::new();
        let each = in_order(self.json.parts.len(), self.place.at_once(), |part| self.part_status(part as u32, &now))?;
        let (mut list, mut rates) = (Vec::new(), Rates::default());
        for (status, seconds) in each {
            rates.add(&status, seconds);
            list.push(status);
        }
        let count = |state| list.iter().filter(|part| part.state == state).count() as u32;
        let running = count(PartState::Running);
        Ok(PlanStatus {
            parts: self.parts(),
            done: count(PartState::Done),
            running,
            failed: count(PartState::Failed),
            missing: count(PartState::Missing),
            videos: self.videos(),
            videos_done: list.iter().map(|part| part.done).sum(),
            videos_per_second: rates.videos_per_second(),
            seconds_left: rates.seconds_left(running),
            list,
        })
    }

    /// Returns the state of a part, and how long it took if it is done. `now` is only found out if it is needed.
    fn part_status(&self, part: u32, now: &OnceLock<SystemTime>) -> Result<(PartStatus, Option<f64>)> {
        let videos = self.part(part)?.videos;
        let mut status = PartStatus { part, state: PartState::Missing, videos, done: 0, place: None, error: None };
        if let Some(receipt) = self.receipt(part)? {
            (status.state, status.done) = (PartState::Done, videos);
            return Ok((status, Some(receipt.report.seconds)));
        }
        if let Some(note) = self.note(part)? {
            status.state = match &note.error {
                Some(_) => PartState::Failed,
                None if note.is_dead() => PartState::Missing,
                None => {
                    let age = self.place.age(&note::name(part), *now.get_or_init(|| self.place.now()))?;
                    if age.is_some_and(|age| age <= SILENCE) { PartState::Running } else { PartState::Missing }
                }
            };
            status.done = note.videos.min(videos);
            status.place = Some(format!("{}, process {}", note.host, note.process));
            status.error = note.error;
        }
        Ok((status, None))
    }
}

/// The videos and times of the parts that are done, and the videos that are left.
#[derive(Default)]
struct Rates {
    videos: u64,
    seconds: f64,
    left: u64,
}

impl Rates {
    fn add(&mut self, status: &PartStatus, seconds: Option<f64>) {
        match seconds {
            Some(seconds) => {
                self.videos += status.videos;
                self.seconds += seconds;
            }
            None => self.left += status.videos.saturating_sub(status.done),
        }
    }

    fn videos_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.videos as f64 / self.seconds)
    }

    fn seconds_left(&self, attempts: u32) -> Option<f64> {
        if self.left == 0 {
            return Some(0.0);
        }
        let rate = self.videos_per_second().filter(|_| attempts > 0)?;
        Some(self.left as f64 / rate / f64::from(attempts))
    }
}
