//! How far the parts of a plan are.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::in_order::in_order;
use super::note::{self, EVERY};
use super::plan::PartsPlan;
use crate::Result;

/// An attempt that says nothing for so long is dead, or cannot reach the folder.
const SILENCE: Duration = Duration::from_secs(EVERY.as_secs() * 6);

/// What is known of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartState {
    /// Its receipt is there.
    Done,
    /// An attempt has said something within the last two minutes. One that died on this machine is known to be dead at once.
    Running,
    /// The last attempt ended with an error.
    Failed,
    /// Nobody has begun it, or the last attempt was stopped or died. The next attempt resumes what it left.
    Missing,
}

/// How far a part is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PartStatus {
    /// Its number, from 0.
    pub part: u32,
    /// What is known of it.
    pub state: PartState,
    /// Number of its videos.
    pub videos: u64,
    /// Videos that are done, as its attempt said last.
    pub done: u64,
    /// Where its attempt runs or ran: the machine's name and the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Why its last attempt ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How far a plan is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanStatus {
    /// Number of parts.
    pub parts: u32,
    /// Parts that are done.
    pub done: u32,
    /// Parts that attempts work on.
    pub running: u32,
    /// Parts of which the last attempt ended with an error.
    pub failed: u32,
    /// Parts that nobody works on.
    pub missing: u32,
    /// Number of videos.
    pub videos: u64,
    /// Videos that are done, in all parts.
    pub videos_done: u64,
    /// Videos that one attempt packs in a second, by the parts that are done; `None` before the first.
    pub videos_per_second: Option<f64>,
    /// Time that is left in seconds, if as many attempts as now go on working, by the expected costs of the parts;
    /// `None` if none is at work, or none is done.
    pub seconds_left: Option<f64>,
    /// Each part, in order.
    pub list: Vec<PartStatus>,
}

impl PlanStatus {
    /// The parts that somebody has to submit again: the failed and the missing ones, in order.
    pub fn to_submit(&self) -> impl Iterator<Item = u32> {
        let nobody_works = |part: &&PartStatus| matches!(part.state, PartState::Failed | PartState::Missing);
        self.list.iter().filter(nobody_works).map(|part| part.part)
    }
}

impl PartsPlan {
    /// Looks how far the parts are. It changes nothing.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the folder cannot be read. [`Usage`](crate::ErrorKind::Usage): a receipt is of another
    /// plan.
    pub fn status(&self) -> Result<PlanStatus> {
        let now = OnceLock::new();
        let each = in_order(self.json.parts.len(), self.place.at_once(), |part| self.part_status(part as u32, &now))?;
        let (mut list, mut rates) = (Vec::new(), Rates::default());
        for ((status, seconds), planned) in each.into_iter().zip(&self.json.parts) {
            match seconds {
                Some(seconds) => rates.done(planned.cost, planned.videos, seconds),
                None => {
                    let left = planned.videos.saturating_sub(status.done);
                    rates.left += u128::from(planned.cost) * u128::from(left) / u128::from(planned.videos.max(1));
                }
            }
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

    /// What is known of a part, and how long it took if it is done. `now` is found out when it is needed.
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

/// What the parts that are done took, and the costs that are left.
#[derive(Default)]
struct Rates {
    cost: u128,
    videos: u64,
    seconds: f64,
    left: u128,
}

impl Rates {
    fn done(&mut self, cost: u64, videos: u64, seconds: f64) {
        self.cost += u128::from(cost);
        self.videos += videos;
        self.seconds += seconds;
    }

    fn videos_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.videos as f64 / self.seconds)
    }

    fn seconds_left(&self, attempts: u32) -> Option<f64> {
        if self.left == 0 {
            return Some(0.0);
        }
        let is_known = attempts > 0 && self.cost > 0 && self.seconds > 0.0;
        is_known.then(|| self.left as f64 / self.cost as f64 * self.seconds / f64::from(attempts))
    }
}
