//! Runs of records of an object that are held in memory ahead of their use. Several batches may share them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fetch::FetchError;
use vidrec_format::error::Result;
use vidrec_format::{allocation, stop};

/// How many earlier runs are searched for one that contains a range. More than one matters only when batches far from
/// each other use different parts of a clip.
const LOOK_BACK: usize = 8;

/// How long a reader waits for a planned run that was not asked for yet, because there was no memory for it.
const PLANNED: Duration = Duration::from_secs(1);

/// The runs of an object.
#[derive(Debug, Default)]
pub struct Prefetched {
    runs: Mutex<BTreeMap<(u64, u64), Run>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Run {
    /// The batches that need the run and are not done.
    uses: u32,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    /// No request has asked for it yet.
    Planned,
    PendingRange,
    Here(Arc<Vec<u8>>),
    Failed(FetchError),
    /// Its bytes were wrong: a reader that needs them fetches them.
    Forgotten,
}

/// The result of a read.
pub enum Found {
    /// The range is in the buffer now.
    Read,
    /// The range is not held, or was not asked for yet: the caller fetches it.
    Absent,
    Failed(FetchError),
}

impl Prefetched {
    /// Registers one more batch that needs a run. Returns whether it is the first, so that the caller has to fetch
    /// the run.
    pub fn hold(&self, run: &Range<u64>) -> bool {
        let mut runs = self.lock();
        let run = runs.entry(key(run)).or_insert(Run { uses: 0, state: State::Planned });
        run.uses += 1;
        run.uses == 1
    }

    /// Records that a run is about to be asked for. Returns whether a batch still needs it and no other request has
    /// asked for it.
    pub fn coming(&self, run: &Range<u64>) -> bool {
        let mut runs = self.lock();
        let found = runs.get_mut(&key(run)).filter(|run| matches!(run.state, State::Planned));
        found.is_some_and(|run| {
            run.state = State::PendingRange;
            true
        })
    }

    /// Whether a batch needs a run.
    pub fn is_needed(&self, run: &Range<u64>) -> bool {
        self.lock().contains_key(&key(run))
    }

    /// Records that a run arrived, or that it will not. Returns whether it is held now. It is not if no batch needs
    /// it anymore, or if another request has fetched it. The caller must then return the memory that was taken for
    /// it.
    pub fn arrived(&self, run: &Range<u64>, bytes: Result<Vec<u8>, FetchError>) -> bool {
        let mut runs = self.lock();
        let found = runs.get_mut(&key(run)).filter(|run| match run.state {
            State::PendingRange => true,
            // The batches that needed the run before are gone. After a failure, later ones ask again.
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

    /// Unregisters a batch that needed a run and is done. Returns the bytes of memory that are free now. These are
    /// the bytes of the run, if no other batch needs it and it has arrived. A run that is still in flight keeps its
    /// memory until it arrives.
    pub fn release(&self, run: &Range<u64>) -> u64 {
        let mut runs = self.lock();
        let Some(found) = runs.get_mut(&key(run)) else { return 0 };
        found.uses -= 1;
        if found.uses > 0 {
            return 0;
        }
        let removed = runs.remove(&key(run));
        if removed.is_none_or(|run| matches!(run.state, State::Planned | State::PendingRange)) {
            0
        } else {
            run.end - run.start
        }
    }

    /// Forgets the bytes of runs in a range, because they proved wrong. A reader that needs them fetches them.
    pub fn forget(&self, range: &Range<u64>) {
        for (&(start, end), run) in self.lock().range_mut(..(range.end, 0)) {
            if end > range.start && start < range.end && matches!(run.state, State::Here(_)) {
                run.state = State::Forgotten;
            }
        }
    }

    /// Reads a range into `buffer`. If the range is in flight, it waits at most until `until`, and tells `waited` how
    /// long it took. It is an error if the thread's work is stopped.
    pub fn read(
        &self,
        range: &Range<u64>,
        buffer: &mut Vec<u8>,
        until: Instant,
        waited: impl FnOnce(Duration),
    ) -> Result<Found> {
        let mut runs = self.lock();
        let (mut begin, mut found) = (None, find(&runs, range));
        while let Some((_, State::Planned | State::PendingRange)) = &found {
            stop::check()?;
            let begin = *begin.get_or_insert_with(Instant::now);
            let is_coming = matches!(found, Some((_, State::PendingRange)));
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
            // A run that failed before this read began to wait may succeed now, so the caller fetches it.
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

/// Finds a run that contains a range: its start and its state.
fn find(runs: &BTreeMap<(u64, u64), Run>, range: &Range<u64>) -> Option<(u64, State)> {
    let before = runs.range(..=(range.start, u64::MAX)).rev().take(LOOK_BACK);
    let mut containing = before.filter(|((_, end), _)| *end >= range.end);
    containing.next().map(|((start, _), run)| (*start, run.state.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(held: &Prefetched, range: Range<u64>) -> Option<Vec<u8>> {
        let mut buffer = Vec::new();
        let found = held.read(&range, &mut buffer, Instant::now(), |_| {}).unwrap();
        matches!(found, Found::Read).then_some(buffer)
    }

    #[test]
    fn a_run_is_held_until_the_last_batch_that_needs_it_is_done() {
        let held = Prefetched::default();
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
        let held = Prefetched::default();
        held.hold(&(0..4));
        held.release(&(0..4));
        assert!(held.hold(&(0..4)), "again, before the first request for it was sent");
        assert!(held.coming(&(0..4)) && !held.coming(&(0..4)));
        assert!(held.arrived(&(0..4), Ok(vec![1; 4])));
        assert!(!held.coming(&(0..4)) && read(&held, 0..4).is_some());
        assert_eq!(held.release(&(0..4)), 4);
    }

    /// A loader is dropped and another one begins while a request is in flight. Each request's memory is returned
    /// once.
    #[test]
    fn memory_is_given_back_once_for_each_request() {
        let (held, run) = (Prefetched::default(), 0..4);
        let bytes = || Ok(vec![1; 4]);
        let ask = || held.hold(&run) && held.coming(&run);
        assert!(ask());
        assert_eq!(held.release(&run), 0, "its bytes are still on their way");
        assert!(!held.is_needed(&run) && !held.arrived(&run, bytes()), "the request gives it back");
        // The first request is answered before the second is sent. The second is then not sent, and returns its own
        // memory.
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
        // A failure does not count for batches that come later.
        assert!(ask());
        held.release(&run);
        held.hold(&run);
        assert!(!held.arrived(&run, Err(FetchError::lost(std::path::Path::new("x")))) && held.coming(&run));
    }

    #[test]
    fn runs_may_overlap_and_wrong_bytes_are_forgotten() {
        let held = Prefetched::default();
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
        let held = Prefetched::default();
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
