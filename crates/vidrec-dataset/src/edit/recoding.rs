//! Reads clips for an output, and recodes their JPEGs if the plan says so.

use rayon::prelude::*;

use crate::Frame;
use crate::{Clip, Dataset};
use vidrec_format::error::Result;
use vidrec_format::threads;
use vidrec_jpeg::{ClipRecoder, RecodedClip};

/// How JPEGs change.
pub(super) struct Recoding {
    /// The quality at which coefficients are chosen again; `None` keeps them.
    quality: Option<u8>,
    pool: rayon::ThreadPool,
}

/// The frames of a clip, as the index describes them, and the recoded JPEGs.
pub(super) struct ReadClip<'a> {
    frames: Vec<Frame<'a>>,
    recoded: RecodedClip,
}

impl<'a> ReadClip<'a> {
    /// Reads a clip without a change.
    pub fn of(clip: &Clip<'a>) -> Result<Self> {
        let frames = clip.frames().collect::<Result<Vec<_>>>()?;
        frames.iter().try_for_each(Frame::check)?;
        Ok(ReadClip { frames, recoded: RecodedClip::default() })
    }

    /// All frames with their JPEGs for the output.
    pub fn jpegs(&self) -> impl Iterator<Item = (&Frame<'a>, &[u8])> {
        let new = |t: usize| self.recoded.jpegs.get(t).and_then(Option::as_deref);
        self.frames.iter().enumerate().map(move |(t, frame)| (frame, new(t).unwrap_or(frame.jpeg())))
    }

    /// The result of recoding the clip's JPEGs.
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
    /// Prepares recoding. With a `quality`, coefficients are chosen again. `threads` is the number of threads; by
    /// default, one for each core.
    pub fn new(quality: Option<u8>, threads: Option<usize>) -> Result<Self> {
        Ok(Recoding { quality, pool: threads::pool(threads)? })
    }

    /// Reads the clips of these ordinals, and recodes them in parallel.
    pub fn read<'a>(&self, clips: &[(&'a Dataset, u64)]) -> Vec<Result<ReadClip<'a>>> {
        let read = |recoder: &mut Result<ClipRecoder>, &(set, ordinal): &(&'a Dataset, u64)| {
            let mut read = ReadClip::of(&set.clip(ordinal)?)?;
            match recoder {
                Ok(recoder) => read.recode(recoder)?,
                // There was no memory for a recoder. The next clip may find some.
                Err(_) => read.recode(&mut ClipRecoder::new(self.quality)?)?,
            }
            Ok(read)
        };
        let start = || ClipRecoder::new(self.quality);
        self.pool.install(|| clips.par_iter().map_init(start, read).collect())
    }
}
