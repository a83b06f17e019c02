//! Runs of records of an object that are held in memory ahead of their use, by several batches at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fetch::FetchError;
use crate::{Result, allocation, stop};

/// How far back a run is looked for that begins before others. More than one only where batches far from each other use
/// different parts of a clip.
const LOOK_BACK: usize = 8;

/// How long a reader waits for what is planned but was not asked for, because there was no memory for it.
const PLANNED: Duration = Duration::from_secs(1);

/// What is held of an object.
#[derive(Debug, Default)]
pub(super) struct Held {
    runs: Mutex<BTreeMap<(u64, u64), Run>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Run {
    /// Batches that need it and are not done.
    uses: u32,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    /// Nobody has asked for it yet.
    Planned,
    Coming,
    Here(Arc<Vec<u8>>),
    Failed(FetchError),
    /// Its bytes were wrong: whoever needs them fetches them.
    Forgotten,
}

/// What is known about a range.
pub(super) enum Found {
    /// It is in the buffer now.
    Read,
    /// It is not held, or not asked for yet: the caller fetches it.
    Absent,
    Failed(FetchError),
}

impl Held {
    /// One more batch needs a run. Returns whether it is the first, so that the run has to be fetched.
    pub fn hold(&self, run: &Range<u64>) -> bool {
        let mut runs = self.lock();
        let run = runs.entry(key(run)).or_insert(Run { uses: 0, state: State::Planned });
        run.uses += 1;
        run.uses == 1
    }

    /// A run is about to be asked for. Returns whether anybody still needs it, and nobody else has asked.
    pub fn coming(&self, run: &Range<u64>) -> bool {
        let mut runs = self.lock();
        let found = runs.get_mut(&key(run)).filter(|run| matches!(run.state, State::Planned));
        found.is_some_and(|run| {
            run.state = State::Coming;
            true
        })
    }

    /// Whether a batch needs a run.
    pub fn is_needed(&self, run: &Range<u64>) -> bool {
        self.lock().contains_key(&key(run))
    }

    /// A run arrived, or will not. Returns whether it is held now. If not, because nobody needs it any more or another
    /// request has brought it, the memory that was taken for it is the caller's to give back.
    pub fn arrived(&self, run: &Range<u64>, bytes: Result<Vec<u8>, FetchError>) -> bool {
        let mut runs = self.lock();
        let found = runs.get_mut(&key(run)).filter(|run| match run.state {
            State::Coming => true,
            // Those who needed it before are gone. Others will ask again for what failed.
            State::Planned => bytes.is_ok(),
            State::Here(_) | State::Failed(_) | State::Forgotten => false,
        });
        let is_held = found.is_some();
        if let Some(run) = found {
            run.state = bytes.map_or_else(State::Failed, |bytes| State::Here(Arc::new(bytes)));
        }
        drop(runs);
        self.changed.notify_all();
        is_held
    }

    /// A batch that needed a run is done. Returns the bytes of memory that are free now: those of the run, if this was the
    /// last such batch and the run is here. What is still on its way takes memory until it has come.
    pub fn release(&self, run: &Range<u64>) -> u64 {
        let mut runs = self.lock();
        let Some(found) = runs.get_mut(&key(run)) else { return 0 };
        found.uses -= 1;
        if found.uses > 0 {
            return 0;
        }
        let removed = runs.remove(&key(run));
        if removed.is_none_or(|run| matches!(run.state, State::Planned | State::Coming)) {
            0
        } else {
            run.end - run.start
        }
    }

    /// The bytes of runs in a range proved wrong: whoever needs them fetches them.
    pub fn forget(&self, range: &Range<u64>) {
        for (&(start, end), run) in self.lock().range_mut(..(range.end, 0)) {
            if end > range.start && start < range.end && matches!(run.state, State::Here(_)) {
                run.state = State::Forgotten;
            }
        }
    }

    /// Reads a range into `buffer`. Waits, at most until `until`, if it is on its way; `waited` is told how long. An error
    /// if nobody wants it any more.
    pub fn read(
        &self,
        range: &Range<u64>,
        buffer: &mut Vec<u8>,
        until: Instant,
        waited: impl FnOnce(Duration),
    ) -> Result<Found> {
        let mut runs = self.lock();
        let (mut begin, mut found) = (None, find(&runs, range));
        while let Some((_, State::Planned | State::Coming)) = &found {
            stop::check()?;
            let begin = *begin.get_or_insert_with(Instant::now);
            let is_coming = matches!(found, Some((_, State::Coming)));
            let until = if is_coming { until } else { until.min(begin + PLANNED) };
            let left = until.saturating_duration_since(begin.max(Instant::now()));
            if left.is_zero() {
                found = None;
                break;
            }
            runs = self.changed.wait_timeout(runs, left.min(stop::LOOK)).unwrap_or_else(PoisonError::into_inner).0;
            found = find(&runs, range);
        }
        drop(runs);
        if let Some(begin) = begin {
            waited(begin.elapsed());
        }
        match found {
            Some((start, State::Here(bytes))) => {
                let part = &bytes[(range.start - start) as usize..(range.end - start) as usize];
                buffer.clear();
                allocation::reserve(buffer, part.len(), "a record")?;
                buffer.extend_from_slice(part);
                Ok(Found::Read)
            }
            // What failed before anybody waited for it may come now.
            Some((_, State::Failed(e))) if begin.is_some() => Ok(Found::Failed(e)),
            _ => Ok(Found::Absent),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(u64, u64), Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(run: &Range<u64>) -> (u64, u64) {
    (run.start, run.end)
}

/// The run that contains a range: where it begins, and its state.
fn find(runs: &BTreeMap<(u64, u64), Run>, range: &Range<u64>) -> Option<(u64, State)> {
    let before = runs.range(..=(range.start, u64::MAX)).rev().take(LOOK_BACK);
    let mut containing = before.filter(|((_, end), _)| *end >= range.end);
    containing.next().map(|((start, _), run)| (*start, run.state.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(held: &Held, range: Range<u64>) -> Option<Vec<u8>> {
        let mut buffer = Vec::new();
        let found = held.read(&range, &mut buffer, Instant::now(), |_| {}).unwrap();
        matches!(found, Found::Read).then_some(buffer)
    }

    #[test]
    fn a_run_is_held_until_the_last_batch_that_needs_it_is_done() {
        let held = Held::default();
        assert!(held.hold(&(10..20)));
        assert!(!held.hold(&(10..20)));
        assert_eq!(read(&held, 12..14), None, "only planned");
        assert!(held.coming(&(10..20)));
        assert!(held.arrived(&(10..20), Ok((10..20).collect())));
        assert_eq!(read(&held, 12..14), Some(vec![12, 13]));
        assert_eq!((read(&held, 9..14), read(&held, 19..21)), (None, None));
        assert_eq!(held.release(&(10..20)), 0);
        assert!(read(&held, 10..20).is_some());
        assert_eq!(held.release(&(10..20)), 10);
        assert_eq!(read(&held, 12..14), None);
        assert!(!held.arrived(&(10..20), Ok(vec![0; 10])));
        assert_eq!(read(&held, 12..14), None, "nobody needs what arrives too late");
    }

    #[test]
    fn a_run_is_asked_for_once() {
        let held = Held::default();
        held.hold(&(0..4));
        held.release(&(0..4));
        assert!(held.hold(&(0..4)), "again, before the first request for it was sent");
        assert!(held.coming(&(0..4)) && !held.coming(&(0..4)));
        assert!(held.arrived(&(0..4), Ok(vec![1; 4])));
        assert!(!held.coming(&(0..4)) && read(&held, 0..4).is_some());
        assert_eq!(held.release(&(0..4)), 4);
    }

    /// A loader is dropped and another one begins while a request is on its way: each request's memory is given back once.
    #[test]
    fn memory_is_given_back_once_for_each_request() {
        let (held, run) = (Held::default(), 0..4);
        let bytes = || Ok(vec![1; 4]);
        let ask = || held.hold(&run) && held.coming(&run);
        assert!(ask());
        assert_eq!(held.release(&run), 0, "its bytes are still on their way");
        assert!(!held.is_needed(&run) && !held.arrived(&run, bytes()), "the request gives it back");
        // The first request answers before the second is sent, which then is not, and gives its own back.
        assert!(ask());
        held.release(&run);
        held.hold(&run);
        assert!(held.arrived(&run, bytes()) && !held.coming(&run));
        assert_eq!(held.release(&run), 4);
        // Both are sent.
        assert!(ask());
        held.release(&run);
        assert!(ask());
        assert!(held.arrived(&run, bytes()) && !held.arrived(&run, bytes()));
        assert_eq!(held.release(&run), 4);
        // A failure is not one of those who come later.
        assert!(ask());
        held.release(&run);
        held.hold(&run);
        assert!(!held.arrived(&run, Err(FetchError::lost(std::path::Path::new("x")))) && held.coming(&run));
    }

    #[test]
    fn runs_may_overlap_and_wrong_bytes_are_forgotten() {
        let held = Held::default();
        for (run, fill) in [(0..100, 1), (20..30, 2), (25..60, 3)] {
            held.hold(&run);
            let bytes = vec![fill; (run.end - run.start) as usize];
            assert!(held.arrived(&run, Ok(bytes)));
        }
        assert_eq!(read(&held, 70..80), Some(vec![1; 10]));
        assert_eq!(read(&held, 21..22), Some(vec![2]));
        assert_eq!(read(&held, 29..40), Some(vec![3; 11]));
        held.forget(&(58..59));
        assert_eq!((read(&held, 29..40), read(&held, 70..80)), (None, None));
        assert_eq!(read(&held, 20..30), Some(vec![2; 10]));
    }

    #[test]
    fn a_reader_waits_for_what_is_coming() {
        let held = Held::default();
        held.hold(&(0..4));
        assert!(held.coming(&(0..4)) && !held.coming(&(0..5)));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut buffer, mut waited) = (Vec::new(), None);
                let until = Instant::now() + Duration::from_secs(60);
                held.read(&(1..3), &mut buffer, until, |time| waited = Some(time)).unwrap();
                (buffer, waited.is_some())
            });
            assert!(held.arrived(&(0..4), Ok(vec![0, 1, 2, 3])));
            let (buffer, _) = reader.join().unwrap();
            assert_eq!(buffer, [1, 2]);
        });
    }
}
