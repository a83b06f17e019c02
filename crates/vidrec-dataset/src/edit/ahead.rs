//! Reads and recodes the clips of a plan, some at a time.

use std::collections::VecDeque;

use super::output_plan::{InputSet, OutputPlan, Pick};
use super::recoding::{ReadClip, Recoding};
use super::report::RetileReport;
use crate::Frame;
use vidrec_format::error::Result;

/// Bytes of JPEGs that are recoded together, in parallel. This is enough for all threads, and takes little memory.
const TOGETHER: u64 = 32 << 20;

/// The clips of a plan that recodes them. They are read some at a time.
pub(super) struct Ahead<'a> {
    recoding: &'a Recoding,
    sources: &'a [InputSet<'a>],
    /// Clips that are not read yet.
    rest: &'a [Pick],
    ready: VecDeque<Result<ReadClip<'a>>>,
    /// The report on the clips that were taken.
    pub report: RetileReport,
}

impl<'a> Ahead<'a> {
    pub fn new(recoding: &'a Recoding, plan: &'a OutputPlan<'a>) -> Self {
        let (sources, rest) = (&plan.sources[..], &plan.picks[..]);
        Ahead { recoding, sources, rest, ready: VecDeque::new(), report: RetileReport::default() }
    }

    /// The next clip of the plan; there must be one.
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
        self.report.changed_clips += u64::from(read.recoded().jpegs.iter().any(Option::is_some));
        self.report.tiled += read.recoded().tiled;
        self.report.unfit += read.recoded().unfit;
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
