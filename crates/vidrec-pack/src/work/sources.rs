//! Finds the clips of each video: from a decoder in this process or another one.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};

use super::clip;
use super::memory::{HeldMemory, MemoryBound};
use super::options::{ClipRecipe, Resources};
use super::packed::PackedVideo;
use super::stamp::{InputStamps, Stamp};
use super::worker_process::Pool;
use crate::plan::{self, Job};
use crate::video::{VideoError, open_regular};
use vidrec_core::store::disk::regular_file::advise;
use vidrec_core::store::location::is_remote;
use vidrec_core::store::read_at::Advice;
use vidrec_format::machine::Shortage;

/// The most bytes of a file that the system is told to read before a worker begins with it.
const READ_AHEAD: u64 = 64 << 20;
/// A video stays open if another clip of it is among so many before or after one.
const NEAR: usize = 64;

/// The result of packing a video.
pub(crate) struct PackResult<'m> {
    /// The stamps of its files, taken before they were read.
    pub stamps: InputStamps,
    pub video: Result<PackedVideo, VideoError>,
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
    /// Videos are packed under a read lock, and those for which the machine had too little under the write lock, alone.
    alone: RwLock<()>,
    /// The resource that the machine had too little of, and the number of videos that were packed alone because of it.
    shortage: Mutex<Option<(Shortage, u64)>>,
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
        let (memory, ahead) = (MemoryBound::of(resources), AtomicUsize::new(0));
        Sources { jobs, recipe, pool, memory, ahead, alone: RwLock::default(), shortage: Mutex::default(), threads }
    }

    /// Says of what the machine had too little; `None` if it had enough.
    pub fn shortage(&self) -> Option<String> {
        let (shortage, videos) = (*self.shortage.lock())?;
        Some(format!("out of {}: {videos} of the videos were packed alone", shortage.resource()))
    }

    /// Packs a video.
    pub fn pack(&self, ordinal: usize) -> PackResult<'_> {
        let stamps = InputStamps::of(self.jobs[ordinal]);
        let mut held = self.memory.hold();
        let video = self.decode(ordinal, &mut held);
        // Clips from other places wait to be written too.
        held.set(video.as_ref().map_or(0, PackedVideo::held_bytes));
        PackResult { stamps, video, _held: held }
    }

    fn decode(&self, ordinal: usize, held: &mut HeldMemory<'_>) -> Result<PackedVideo, VideoError> {
        let next = self.jobs.iter().skip(ordinal + 1).take(self.threads);
        next.for_each(|job| self.recipe.store.expect(&job.path));
        self.read_ahead(ordinal + 2 * self.threads);
        let beside_others = self.alone.read();
        let first = self.pack_once(ordinal, held, false);
        drop(beside_others);
        let Some(shortage) = first.as_ref().err().and_then(|failure| failure.shortage) else { return first };
        let _alone = self.alone.write();
        self.pool.into_iter().for_each(Pool::end_idle);
        let again = self.pack_once(ordinal, held, true);
        if again.is_ok() {
            self.shortage.lock().get_or_insert((shortage, 0)).1 += 1;
        }
        again
    }

    /// Packs a video in a process of the pool, or in this process if there is no pool.
    fn pack_once(&self, ordinal: usize, held: &mut HeldMemory<'_>, alone: bool) -> Result<PackedVideo, VideoError> {
        let job = self.jobs[ordinal];
        let recipe = ClipRecipe { shared: self.shared(ordinal), ..self.recipe };
        #[cfg(debug_assertions)]
        super::tests::fault::wait(&job.source);
        let packed = match self.pool {
            None => clip::pack_one(job, recipe, held, alone),
            Some(pool) => pool.pack(job, recipe, held, alone),
        };
        packed.map_err(|failure| match job.is_missing().then(|| plan::missing(&job.path)).flatten() {
            Some(why) => VideoError { message: format!("{}; {why}", failure.message), ..failure },
            None => failure,
        })
    }

    /// Returns the stamp of a video of which other clips are made soon before or after this one.
    fn shared(&self, ordinal: usize) -> Option<Stamp> {
        let path = &self.jobs[ordinal].path;
        let (before, after) = self.jobs.split_at(ordinal);
        let mut near = before.iter().rev().take(NEAR).chain(after.iter().skip(1).take(NEAR));
        near.any(|job| job.path == *path).then(|| Stamp::of(path))?
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
