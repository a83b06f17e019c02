//! Where the clips of each video come from: a decoder in this process or in another, or a data set packed before.

use super::clip;
use super::copies::Copies;
use super::failure::ClipFailure;
use super::fault;
use super::gate::{Gate, Slowed};
use super::isolate::{Errand, Pool};
use super::memory::{HeldMemory, MemoryBound};
use super::options::{Recipe, Resources};
use super::packed::{PackedClip, held_bytes};
use super::read_ahead::ReadAhead;
use super::stamp::{Stamp, track_stamps};
use crate::pack::plan::Job;

/// Bytes of the next files that are read ahead.
const READ_AHEAD: u64 = 256 << 20;

/// What became of a video.
pub(crate) struct PackedVideo<'m> {
    /// The file's size and time before it was read.
    pub stamp: Option<Stamp>,
    /// The same of the files of its tracks.
    pub track_stamps: Vec<Option<Stamp>>,
    pub clips: Result<Vec<PackedClip>, ClipFailure>,
    /// The memory of their JPEGs.
    pub held: HeldMemory<'m>,
}

/// What the workers of a run share.
pub(crate) struct Sources<'a> {
    jobs: &'a [Job],
    recipe: Recipe<'a>,
    /// When what failed is retried: what did not.
    copies: Option<Copies<'a>>,
    /// The processes that decode, if this one does not.
    pool: Option<&'a Pool<'a>>,
    memory: MemoryBound,
    ahead: ReadAhead,
    gate: Gate,
    threads: usize,
}

impl<'a> Sources<'a> {
    /// For as many `threads`.
    pub fn new(
        jobs: &'a [Job],
        recipe: Recipe<'a>,
        resources: &Resources,
        copies: Option<Copies<'a>>,
        pool: Option<&'a Pool<'a>>,
        threads: usize,
    ) -> Self {
        let paths = jobs.iter().map(|job| job.path.clone()).collect();
        let ahead = ReadAhead::new(paths, resources.io_threads, READ_AHEAD);
        let (memory, gate) = (MemoryBound::of(resources), Gate::new(threads));
        Sources { jobs, recipe, copies, pool, memory, ahead, gate, threads }
    }

    /// Whether, and why, fewer videos were packed at a time than asked for.
    pub fn slowed(&self) -> Option<Slowed> {
        self.gate.slowed()
    }

    /// How long a video probably takes, in units of its own: its bytes, and 0 where to ask takes a request.
    pub fn cost(&self, ordinal: usize) -> u64 {
        Stamp::of(&self.jobs[ordinal].path).map_or(0, |stamp| stamp.bytes)
    }

    /// Packs a video.
    pub fn pack(&self, ordinal: usize) -> PackedVideo<'_> {
        let job = &self.jobs[ordinal];
        let (stamp, track_stamps) = (Stamp::of(&job.path), track_stamps(job));
        let mut held = self.memory.hold();
        let copied = self.copies.as_ref().and_then(|copies| copies.of(ordinal));
        let clips = copied.unwrap_or_else(|| self.decode(ordinal, &mut held));
        // Clips that come from elsewhere wait to be written like any other.
        held.set(clips.as_ref().map_or(0, |clips| held_bytes(clips)));
        PackedVideo { stamp, track_stamps, clips, held }
    }

    fn decode(&self, ordinal: usize, held: &mut HeldMemory<'_>) -> Result<Vec<PackedClip>, ClipFailure> {
        let job = &self.jobs[ordinal];
        self.ahead.begin(ordinal);
        let next = self.jobs.iter().skip(ordinal + 1).take(self.threads);
        next.for_each(|job| self.recipe.store.expect(&job.path));
        self.gate.pack(|alone| {
            if alone {
                self.ahead.stop();
                self.pool.into_iter().for_each(Pool::end_idle);
            }
            pack_somewhere(self.pool, job, self.recipe, held, alone)
        })
    }
}

/// Packs a video in a process of the pool, or in this one if there is none.
pub(crate) fn pack_somewhere(
    pool: Option<&Pool<'_>>,
    job: &Job,
    recipe: Recipe<'_>,
    held: &mut HeldMemory<'_>,
    alone: bool,
) -> Result<Vec<PackedClip>, ClipFailure> {
    fault::wait(&job.source);
    let Some(pool) = pool else { return clip::pack_one(job, recipe, held, alone) };
    let Recipe { store, channels, measure, .. } = recipe;
    pool.pack(&Errand { job, store, memory: held.memory(), channels, measure, alone })
}
