//! Finds the clips of each video: from a decoder in this process or another one.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::clip;
use super::fault;
use super::memory::{HeldMemory, MemoryBound};
use super::options::{ClipRecipe, Resources};
use super::packed::{PackedClip, held_bytes};
use super::permits::{Permits, ThreadLimit};
use super::stamp::{Stamp, track_stamps};
use super::worker_process::Pool;
use crate::plan::{self, Job};
use crate::video::{VideoError, open_regular};
use vidrec_core::store::disk::regular_file::{Advice, advise};
use vidrec_core::store::location::is_remote;

/// The most bytes of a file that the system is told to read before a worker begins with it.
const READ_AHEAD: u64 = 64 << 20;
/// A video stays open if another clip of it is among so many before or after one.
const NEAR: usize = 64;

/// The result of packing a video.
pub(crate) struct PackedVideo<'m> {
    /// The size and modification time of the file, taken before it was read.
    pub stamp: Option<Stamp>,
    /// The same for the files of its tracks.
    pub track_stamps: Vec<Option<Stamp>>,
    pub clips: Result<Vec<PackedClip>, VideoError>,
    /// The memory that the JPEGs of the clips use.
    pub _held: HeldMemory<'m>,
}

/// The state that the workers of a run share.
pub(crate) struct Sources<'a> {
    jobs: &'a [&'a Job],
    recipe: ClipRecipe<'a>,
    /// The decoding processes, if this process does not decode.
    pool: Option<&'a Pool<'a>>,
    memory: MemoryBound,
    /// The number of files that the system was told to read.
    ahead: AtomicUsize,
    permits: Permits,
    threads: usize,
}

impl<'a> Sources<'a> {
    /// Creates the sources for this many `threads`.
    pub fn new(
        jobs: &'a [&'a Job],
        recipe: ClipRecipe<'a>,
        resources: &Resources,
        pool: Option<&'a Pool<'a>>,
        threads: usize,
    ) -> Self {
        let ahead = AtomicUsize::new(0);
        let (memory, permits) = (MemoryBound::of(resources), Permits::new(threads));
        Sources { jobs, recipe, pool, memory, ahead, permits, threads }
    }

    /// Says why fewer videos were packed at a time than asked for; `None` if that did not happen.
    pub fn slowed(&self) -> Option<ThreadLimit> {
        self.permits.slowed()
    }

    /// Estimates how long a video takes, relative to others. The estimate is its size in bytes, or 0 if asking for
    /// the size would take a request.
    pub fn cost(&self, ordinal: usize) -> u64 {
        Stamp::of(&self.jobs[ordinal].path).map_or(0, |stamp| stamp.bytes)
    }

    /// Packs a video.
    pub fn pack(&self, ordinal: usize) -> PackedVideo<'_> {
        let job = self.jobs[ordinal];
        let (stamp, track_stamps) = (Stamp::of(&job.path), track_stamps(job));
        let mut held = self.memory.hold();
        let clips = self.decode(ordinal, &mut held);
        // Clips from other places wait to be written too.
        held.set(clips.as_ref().map_or(0, |clips| held_bytes(clips)));
        PackedVideo { stamp, track_stamps, clips, _held: held }
    }

    fn decode(&self, ordinal: usize, held: &mut HeldMemory<'_>) -> Result<Vec<PackedClip>, VideoError> {
        let job = self.jobs[ordinal];
        let next = self.jobs.iter().skip(ordinal + 1).take(self.threads);
        next.for_each(|job| self.recipe.store.expect(&job.path));
        self.read_ahead(ordinal + 2 * self.threads);
        self.permits.pack(|alone| {
            if alone {
                self.pool.into_iter().for_each(Pool::end_idle);
            }
            let recipe = ClipRecipe { shared: shared(self.jobs, ordinal), ..self.recipe };
            pack_somewhere(self.pool, job, recipe, held, alone)
        })
    }

    /// Tells the system to read the files up to that of this job, so that a decoder does not wait for the disk.
    fn read_ahead(&self, last: usize) {
        let first = self.ahead.fetch_max(last + 1, Ordering::Relaxed);
        for job in self.jobs.get(first..=last.min(self.jobs.len().saturating_sub(1))).into_iter().flatten() {
            // The decoder reports what cannot be opened.
            if !is_remote(&job.path)
                && let Ok(Some((file, length))) = open_regular(&job.path)
            {
                advise(&file, 0..length.min(READ_AHEAD), Advice::Soon);
            }
        }
    }
}

/// Returns the stamp of a video of which other clips are made soon before or after this one.
pub(crate) fn shared<J: Borrow<Job>>(jobs: &[J], ordinal: usize) -> Option<Stamp> {
    let path = &jobs[ordinal].borrow().path;
    let (before, after) = jobs.split_at(ordinal);
    let mut near = before.iter().rev().take(NEAR).chain(after.iter().skip(1).take(NEAR));
    near.any(|job| job.borrow().path == *path).then(|| Stamp::of(path))?
}

/// Packs a video in a process of the pool, or in this process if there is no pool.
pub(crate) fn pack_somewhere(
    pool: Option<&Pool<'_>>,
    job: &Job,
    recipe: ClipRecipe<'_>,
    held: &mut HeldMemory<'_>,
    alone: bool,
) -> Result<Vec<PackedClip>, VideoError> {
    fault::wait(&job.source);
    let packed = match pool {
        None => clip::pack_one(job, recipe, held, alone),
        Some(pool) => pool.pack(job, recipe, held, alone),
    };
    packed.map_err(|failure| match job.is_missing().then(|| plan::missing(&job.path)).flatten() {
        Some(why) => {
            let (message, shortage) = (format!("{}; {why}", failure.message()), failure.shortage());
            failure.reworded(message, shortage)
        }
        None => failure,
    })
}
