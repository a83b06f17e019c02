//! What a loader says of a data set and of itself, once, before a run and in each epoch.

use super::engine::{Engine, Loader};
use crate::loader::decoded::DecodedFrames;
use crate::loader::options::{LoaderOptions, ShortClips};
use vidrec_format::sampler::order::LastBatch;

impl Loader {
    /// Unexpected properties of the batches, one sentence each: clips that are shorter than a sample and what
    /// happens to them, clips whose frames are enlarged, shares of a mix that change, samples that are in no batch. Show them once.
    pub fn warnings(&self) -> Vec<String> {
        let engine = &*self.engine;
        let mut warnings = Vec::new();
        let (short, clips) = (engine.specs.samples.short, engine.specs.dataset.len());
        // All ranks know the same of the data set.
        let is_first = engine.options.rank.0 == 0;
        if short > 0 && is_first {
            let fate = |samples: &LoaderOptions| match samples.frames.short() {
                ShortClips::Skip => "are skipped",
                ShortClips::Pad => "are padded",
                ShortClips::Repeat => "repeat frames",
            };
            let mut fates: Vec<_> = engine.options.samples.iter().map(fate).collect();
            fates.dedup();
            let fates = fates.join(" or ");
            warnings.push(format!("{short} of {clips} clips have fewer frames than a sample and {fates}"));
        }
        if let Some((clip, from, to)) = engine.enlarged.filter(|_| is_first) {
            let sizes = format!("from {}x{} to {}x{} pixels", from.0, from.1, to.0, to.1);
            warnings.push(format!("the frames of clip {clip} are smaller than the pictures and are enlarged, {sizes}"));
        }
        warnings.extend(engine.change.clone().filter(|_| is_first));
        warnings.extend(engine.left_out(engine.schedule.first_epoch()));
        if let Some(failure) = engine.specs.dataset.cache_failure() {
            warnings.push(format!("the cache does not store what the loader reads: {failure}"));
        }
        if let Some(failure) = engine.decoded.as_ref().and_then(DecodedFrames::failure) {
            warnings
                .push(format!("the loader does not use the cache of decoded frames, or no longer uses it: {failure}"));
        }
        warnings
    }

    /// Unexpected properties of the batches of `epoch` that [`warnings`](Self::warnings) did not mention, because they are
    /// not those of the first epoch. The epochs of a mix have different samples.
    pub fn warnings_of(&self, epoch: u64) -> Vec<String> {
        let schedule = &self.engine.schedule;
        let is_known = schedule.left_out(epoch) == schedule.left_out(schedule.first_epoch());
        self.engine.left_out(epoch).filter(|_| !is_known).into_iter().collect()
    }
}

impl Engine {
    /// The samples that cannot be shared among the ranks.
    fn left_out(&self, epoch: u64) -> Option<String> {
        let (last, (_, world_size)) = (self.options.last, self.options.rank);
        let (left_out, samples) = (self.schedule.left_out(epoch), self.schedule.positions);
        (left_out > 0 && last == LastBatch::Keep).then(|| {
            format!(
                "{left_out} of {samples} samples are in no batch of an epoch, because fewer of them remain than there \
                 are ranks ({world_size}), and batches of one clip or too few clips of a shape cannot share them"
            )
        })
    }
}
