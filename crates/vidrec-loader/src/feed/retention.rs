//! The clips that a cache keeps if it is too small and some clips are read again sooner than others.
//!
//! In an order in which each clip comes once an epoch, it does not matter which clips are kept, and nothing is
//! evicted. In other orders, a clip makes room for another one whose next use comes sooner. This is Belady's rule,
//! as far as the uses are known.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::foresight::Foresight;
use super::ring::Number;
use super::schedule::Schedule;
use vidrec_dataset::Dataset;

/// The maximum number of known uses. The other limit is three times the number of clips. Each use takes about 100
/// bytes.
const MOST: u64 = 1 << 22;
/// The number of uses that are looked at for each planned one, until there are enough.
const STEPS: u64 = 16;

/// Knows the next uses of clips, and evicts clips.
#[derive(Debug, Default)]
pub(super) struct Retention(Mutex<Option<State>>);

#[derive(Debug, Default)]
struct State {
    foresight: Foresight,
    /// The ranks whose uses count.
    readers: Range<u32>,
    /// The known batches that are not done, each with the number of the use after its last.
    batches: VecDeque<(Number, u64)>,
    /// The number of these batches that are planned.
    planned: usize,
    /// The next batch to look at.
    next: Option<Number>,
}

impl Retention {
    /// Notes that batches are planned. Returns the next use of each of their clips; `None` if it does not matter
    /// which clips are kept.
    pub fn plan(&self, dataset: &Dataset, schedule: &Schedule, batches: &[Number]) -> Option<HashMap<u64, u64>> {
        let shares_cache = || dataset.remotes().iter().find_map(|remote| remote.shares_cache());
        // With room for the whole data set, nothing has to be evicted.
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

    /// Evicts the clip that is used last, if that use comes after `next`. Returns whether there may be room now.
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
    /// Prepares for batches from `first` on. Starts over if `first` does not follow what was planned.
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

    /// Plans a batch, and all batches before it. Returns the number of the use after its last; `None` if there is
    /// no such batch.
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
            // If an epoch has no batches, the epochs after it have none either.
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

/// Removes a clip from the cache. Returns the number of bytes that became free.
fn evict(dataset: &Dataset, clip: u64) -> u64 {
    let clip = dataset.clip(clip);
    let runs = clip.and_then(|clip| {
        let frames: Vec<u32> = (0..clip.frame_count()).collect();
        Ok(clip.remote_runs(&frames)?.map(|(file, runs)| runs.iter().map(|run| file.evict(run)).sum()))
    });
    // A clip whose index entry cannot be read stays.
    runs.ok().flatten().unwrap_or(0)
}
