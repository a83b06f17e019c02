//! Limits how many videos are packed at a time. The number falls when the machine cannot handle as many as were
//! asked for.
//!
//! A video that fails because the machine has run out of something ([`Shortage`]) is packed once more, alone. If
//! that succeeds, there were too many at a time, and fewer are packed at a time from then on. If it fails, not
//! even one can be packed and the run has to stop, because a machine with too few resources must never produce a
//! smaller data set.

use std::fmt;

use parking_lot::{Condvar, Mutex};

use crate::video::VideoError;
use vidrec_format::machine::Shortage;

pub(crate) struct Permits {
    state: Mutex<PermitState>,
    changed: Condvar,
}

struct PermitState {
    /// The most videos that may be packed at a time.
    most: usize,
    inside: usize,
    /// The number of videos that are packed alone or wait for it.
    alone: usize,
    shortage: Option<Shortage>,
}

/// A video that is being packed. Dropping it lets the next one in.
struct Permit<'a> {
    permits: &'a Permits,
    alone: bool,
}

/// Says that fewer videos were packed at a time than asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadLimit {
    pub shortage: Shortage,
    /// The number of videos packed at a time in the end.
    pub most: usize,
}

impl fmt::Display for ThreadLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out of {}: from then on, packed {} at a time", self.shortage.resource(), self.most)
    }
}

impl Permits {
    pub fn new(most: usize) -> Self {
        let state = PermitState { most: most.max(1), inside: 0, alone: 0, shortage: None };
        Permits { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Packs a video by calling `work`, and tells it whether the video is packed alone.
    pub fn pack<T>(&self, mut work: impl FnMut(bool) -> Result<T, VideoError>) -> Result<T, VideoError> {
        let pass = self.enter();
        let first = work(false);
        let Some(shortage) = first.as_ref().err().and_then(VideoError::shortage) else { return first };
        let crowd = self.state.lock().inside;
        drop(pass);
        let pass = self.enter_alone();
        let again = work(true);
        if again.is_ok() {
            self.lower(crowd, shortage);
        }
        drop(pass);
        again
    }

    /// Says why fewer videos were packed at a time than asked for; `None` if that did not happen.
    pub fn slowed(&self) -> Option<ThreadLimit> {
        let state = self.state.lock();
        state.shortage.map(|shortage| ThreadLimit { shortage, most: state.most })
    }

    /// Lowers the number of videos at a time, because `crowd` of them were too many.
    fn lower(&self, crowd: usize, shortage: Shortage) {
        let mut state = self.state.lock();
        let most = crowd.saturating_sub(1).max(1);
        if most < state.most {
            state.most = most;
            state.shortage = Some(shortage);
        }
    }

    fn enter(&self) -> Permit<'_> {
        let mut state = self.state.lock();
        while state.alone > 0 || state.inside >= state.most {
            self.changed.wait(&mut state);
        }
        state.inside += 1;
        Permit { permits: self, alone: false }
    }

    fn enter_alone(&self) -> Permit<'_> {
        let mut state = self.state.lock();
        state.alone += 1;
        while state.inside > 0 {
            self.changed.wait(&mut state);
        }
        state.inside += 1;
        Permit { permits: self, alone: true }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.permits.state.lock();
        state.inside -= 1;
        state.alone -= usize::from(self.alone);
        drop(state);
        self.permits.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    use super::*;
    use crate::video::Stage;
    use vidrec_format::error::Error;

    fn failure(shortage: Option<Shortage>) -> VideoError {
        VideoError::new(Stage::Encode, Error::decode("")).reworded(String::new(), shortage)
    }

    /// Packs 80 videos on 8 threads on a machine that can handle `enough`; returns how many succeeded, and the
    /// permits.
    fn pack_where_there_is_enough_for(enough: usize) -> (usize, Permits) {
        let (permits, inside, good) = (Permits::new(8), AtomicUsize::new(0), AtomicUsize::new(0));
        let one = |alone: bool| {
            let now = inside.fetch_add(1, SeqCst) + 1;
            assert!(!alone || now == 1);
            (0..10).for_each(|_| thread::yield_now());
            inside.fetch_sub(1, SeqCst);
            if now <= enough { Ok(()) } else { Err(failure(Some(Shortage::Descriptors))) }
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope
                    .spawn(|| (0..10).for_each(|_| _ = good.fetch_add(usize::from(permits.pack(one).is_ok()), SeqCst)));
            }
        });
        (good.into_inner(), permits)
    }

    #[test]
    fn what_fails_in_a_crowd_works_alone_and_then_there_are_fewer() {
        for enough in [1, 3, 7] {
            let (good, permits) = pack_where_there_is_enough_for(enough);
            assert_eq!(good, 80, "enough for {enough}");
            // The scheduler decides whether all eight were ever inside.
            assert!(permits.slowed().is_none_or(|slowed| slowed.most < 8 && slowed.shortage == Shortage::Descriptors));
        }
        let (good, permits) = pack_where_there_is_enough_for(8);
        assert_eq!((good, permits.slowed()), (80, None));
        assert_eq!(pack_where_there_is_enough_for(0).0, 0, "not even alone");
    }

    #[test]
    fn a_video_that_fails_by_itself_is_tried_once_and_slows_nothing() {
        let (permits, tries) = (Permits::new(4), AtomicUsize::new(0));
        let own = |_| -> Result<(), _> {
            tries.fetch_add(1, SeqCst);
            Err(failure(None))
        };
        assert!(permits.pack(own).is_err());
        // A video that gets no memory in a crowd, and that alone turns out to ask for too much.
        let huge = |alone: bool| -> Result<(), _> { Err(failure((!alone).then_some(Shortage::Memory))) };
        assert!(permits.pack(huge).is_err_and(|e| e.shortage().is_none()));
        assert_eq!((tries.into_inner(), permits.slowed()), (1, None));
    }
}
