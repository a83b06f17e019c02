//! What a cache that is too small keeps, where some clips are read again sooner than others.
//!
//! Of an order in which each clip comes once an epoch, it does not matter which are kept, and nothing is evicted. In
//! others, a clip makes room for one that is used before it is used again: Belady's rule, as far as is looked ahead.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::foresight::Foresight;
use super::ring::Number;
use super::schedule::Schedule;
use crate::dataset::Dataset;

/// Uses that are looked at ahead: three times as many as there are clips, and no more than this. Each takes about 100
/// bytes.
const MOST: u64 = 1 << 22;
/// Uses that are looked at for each that is planned, until there are enough.
const STEPS: u64 = 16;

/// Knows when clips are used next, and evicts some.
#[derive(Debug, Default)]
pub(super) struct Keeper(Mutex<Option<State>>);

#[derive(Debug, Default)]
struct State {
    foresight: Foresight,
    /// The ranks whose uses are looked at.
    readers: Range<u32>,
    /// The batches that are looked at and not done, and the use behind their last.
    batches: VecDeque<(Number, u64)>,
    /// Of these, how many are planned.
    planned: usize,
    /// The next to look at.
    next: Option<Number>,
}

impl Keeper {
    /// Notes that batches are planned. Returns when the clips of those batches are used after them; `None` if it does not
    /// matter which are kept.
    pub fn plan(&self, dataset: &Dataset, schedule: &Schedule, batches: &[Number]) -> Option<HashMap<u64, u64>> {
        let shares_cache = || dataset.remotes().iter().find_map(|remote| remote.shares_cache());
        // With room for all of it, nothing has to go.
        let shares_cache = dataset.memory_to_hold().and_then(|_| shares_cache());
        let readers = shares_cache.and_then(|shares_cache| schedule.readers(shares_cache));
        let mut state = self.lock();
        let Some(readers) = readers else {
            *state = None;
            return None;
        };
        let state = state.get_or_insert_default();
        state.begin(readers, *batches.first()?);
        let mut end = state.foresight.known().start;
        for &number in batches {
            end = state.plan(schedule, number).unwrap_or(end);
        }
        let planned = end - state.foresight.known().start;
        let next_uses = state.foresight.plan(end);
        let enough = end + MOST.min(dataset.len().saturating_mul(3));
        let known = state.foresight.known().end;
        state.look(schedule, enough.min(known + planned * STEPS));
        Some(next_uses)
    }

    /// Evicts the clip that is used last, if that is after `next`. Returns whether there may be room now.
    pub fn make_room(&self, dataset: &Dataset, next: u64) -> bool {
        loop {
            let farthest = |state: &mut State| state.foresight.farthest(next);
            let Some(clip) = self.lock().as_mut().and_then(farthest) else { return false };
            if evict(dataset, clip) > 0 {
                return true;
            }
        }
    }

    /// Notes that a batch is done.
    pub fn done(&self, number: Number) {
        if let Some(state) = &mut *self.lock() {
            state.finish(number);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Prepares for batches from `first` on, and starts over if it does not follow what was planned.
    fn begin(&mut self, readers: Range<u32>, first: Number) {
        let follows = self.batches.get(self.planned).map(|(number, _)| *number).or(self.next);
        let is_near = |from: Number| from == first || (is_before(from, first) && first.epoch - from.epoch <= 1);
        if readers != self.readers || !follows.is_some_and(is_near) {
            self.foresight.restart();
            *self = State {
                foresight: std::mem::take(&mut self.foresight),
                readers,
                next: Some(first),
                ..State::default()
            };
        }
    }

    /// Plans a batch, and what is before it. Returns the use behind its last; `None` if there is no such batch.
    fn plan(&mut self, schedule: &Schedule, number: Number) -> Option<u64> {
        while self.next.is_some_and(|next| !is_before(number, next)) {
            self.look_at_next(schedule);
        }
        let at = self.batches.iter().skip(self.planned).position(|(found, _)| *found == number)?;
        self.planned += at + 1;
        self.batches.get(self.planned - 1).map(|(_, end)| *end)
    }

    /// Looks at batches until uses before `end` are known.
    fn look(&mut self, schedule: &Schedule, end: u64) {
        while self.foresight.known().end < end && self.next.is_some() {
            self.look_at_next(schedule);
        }
    }

    fn look_at_next(&mut self, schedule: &Schedule) {
        let Some(Number { epoch, k }) = self.next else { return };
        if k >= schedule.batches_in(epoch) {
            // An epoch without batches has none after it, either.
            self.next =
                epoch.checked_add(1).filter(|_| schedule.batches_per_epoch() > 0).map(|epoch| Number { epoch, k: 0 });
            return;
        }
        schedule.clips(epoch, k, self.readers.clone()).for_each(|clip| self.foresight.see(clip));
        self.batches.push_back((Number { epoch, k }, self.foresight.known().end));
        self.next = Some(Number { epoch, k: k + 1 });
    }

    fn finish(&mut self, number: Number) {
        let Some(at) = self.batches.iter().take(self.planned).position(|(found, _)| *found == number) else { return };
        self.planned -= at + 1;
        if let Some((_, end)) = self.batches.drain(..=at).next_back() {
            self.foresight.finish(end);
        }
    }
}

fn is_before(a: Number, b: Number) -> bool {
    (a.epoch, a.k) < (b.epoch, b.k)
}

/// Takes a clip out of the cache. Returns how many bytes there is room for now.
fn evict(dataset: &Dataset, clip: u64) -> u64 {
    let clip = dataset.clip(clip);
    let runs = clip.and_then(|clip| {
        let frames: Vec<u32> = (0..clip.frame_count()).collect();
        Ok(clip.remote_runs(&frames)?.map(|(file, runs)| runs.iter().map(|run| file.evict(run)).sum()))
    });
    // A clip whose entry cannot be read stays.
    runs.ok().flatten().unwrap_or(0)
}
