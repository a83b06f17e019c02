//! Clips as they are read for an output, with other JPEGs where a plan says so.

use rayon::prelude::*;

use crate::dataset::Frame;
use crate::jpeg::{ClipRecoder, RecodedClip};
use crate::{Clip, Dataset, Result, threads};

/// How JPEGs change.
pub(super) struct Recoding {
    /// Of coefficients that are chosen again; `None` keeps them.
    quality: Option<u8>,
    pool: rayon::ThreadPool,
}

/// The frames of a clip, which are those that the index promises, and what becomes of their JPEGs.
pub(super) struct ReadClip<'a> {
    frames: Vec<Frame<'a>>,
    recoded: RecodedClip,
}

impl<'a> ReadClip<'a> {
    /// A clip as it is.
    pub fn of(clip: &Clip<'a>) -> Result<Self> {
        let frames = clip.frames().collect::<Result<Vec<_>>>()?;
        frames.iter().try_for_each(Frame::check)?;
        Ok(ReadClip { frames, recoded: RecodedClip::default() })
    }

    /// All frames with the JPEGs that they are to have.
    pub fn jpegs(&self) -> impl Iterator<Item = (&Frame<'a>, &[u8])> {
        let new = |t: usize| self.recoded.jpegs.get(t).and_then(Option::as_deref);
        self.frames.iter().enumerate().map(move |(t, frame)| (frame, new(t).unwrap_or(frame.jpeg())))
    }

    /// What was done to its JPEGs.
    pub fn recoded(&self) -> &RecodedClip {
        &self.recoded
    }

    /// Checks that all bytes that were read so far were in the files.
    pub fn prove_still_there(&self) -> Result<()> {
        self.frames.iter().try_for_each(|frame| frame.prove_still_there())
    }

    fn recode(&mut self, recoder: &mut ClipRecoder) -> Result<()> {
        let jpegs: Vec<_> = self.frames.iter().map(Frame::jpeg).collect();
        self.recoded = recoder.recode(&jpegs, |t, e| self.frames[t].place(e))?;
        Ok(())
    }
}

impl Recoding {
    /// With a `quality`, coefficients are chosen again. `threads` threads; by default, one for each core.
    pub fn new(quality: Option<u8>, threads: Option<usize>) -> Result<Self> {
        Ok(Recoding { quality, pool: threads::pool(threads)? })
    }

    /// The clips of these ordinals, recoded in parallel.
    pub fn read<'a>(&self, clips: &[(&'a Dataset, u64)]) -> Vec<Result<ReadClip<'a>>> {
        let read = |recoder: &mut Result<ClipRecoder>, &(set, ordinal): &(&'a Dataset, u64)| {
            let mut read = ReadClip::of(&set.clip(ordinal)?)?;
            match recoder {
                Ok(recoder) => read.recode(recoder)?,
                // Without memory for one, the next clip may find some.
                Err(_) => read.recode(&mut ClipRecoder::new(self.quality)?)?,
            }
            Ok(read)
        };
        let start = || ClipRecoder::new(self.quality);
        self.pool.install(|| clips.par_iter().map_init(start, read).collect())
    }
}
