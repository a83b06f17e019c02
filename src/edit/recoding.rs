//! Clips as they are read for an output, with other JPEGs where a plan says so.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::output_plan::{InputSet, OutputPlan, Pick};
use super::report::RetileReport;
use crate::dataset::Frame;
use crate::jpeg::{ClipRecoder, RecodedClip};
use crate::{Clip, Dataset, Result, threads};

/// How JPEGs change.
pub(super) struct Recoding {
    /// Of coefficients that are chosen again; `None` keeps them.
    quality: Option<u8>,
    pool: rayon::ThreadPool,
}

/// Bytes of JPEGs that are recoded together, in parallel: enough for all threads, and little memory.
const TOGETHER: u64 = 32 << 20;

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

    fn read<'a>(&self, clips: &[(&'a Dataset, u64)]) -> Vec<Result<ReadClip<'a>>> {
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

/// The clips of a plan that recodes them, read some at a time.
pub(super) struct Ahead<'a> {
    recoding: &'a Recoding,
    sources: &'a [InputSet<'a>],
    /// Those that are not yet read.
    rest: &'a [Pick],
    ready: VecDeque<Result<ReadClip<'a>>>,
    /// Of the clips that were taken.
    pub report: RetileReport,
}

impl<'a> Ahead<'a> {
    pub fn new(recoding: &'a Recoding, plan: &'a OutputPlan<'a>) -> Self {
        let (sources, rest) = (&plan.sources[..], &plan.picks[..]);
        Ahead { recoding, sources, rest, ready: VecDeque::new(), report: RetileReport::default() }
    }

    /// The next clip of the plan, which has one.
    pub fn next(&mut self) -> Result<ReadClip<'a>> {
        let read = loop {
            match self.ready.pop_front() {
                Some(read) => break read?,
                None => self.read_some()?,
            }
        };
        let lengths = |(frame, jpeg): (&Frame<'_>, &[u8])| (frame.jpeg().len() as u64, jpeg.len() as u64);
        for (before, now) in read.jpegs().map(lengths) {
            self.report.jpeg_bytes_before += before;
            self.report.jpeg_bytes += now;
        }
        self.report.changed_clips += u64::from(read.recoded.jpegs.iter().any(Option::is_some));
        self.report.tiled += read.recoded.tiled;
        self.report.unfit += read.recoded.unfit;
        Ok(read)
    }

    fn read_some(&mut self) -> Result<()> {
        let (mut clips, mut bytes) = (Vec::new(), 0);
        while let Some((pick, rest)) = self.rest.split_first()
            && (bytes < TOGETHER || clips.is_empty())
        {
            let set = &self.sources[pick.source].set;
            bytes += set.clip(pick.clip)?.record_bytes()?;
            clips.push((set, pick.clip));
            self.rest = rest;
        }
        self.ready = self.recoding.read(&clips).into();
        Ok(())
    }
}
