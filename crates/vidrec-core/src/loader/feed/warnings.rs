//! Properties of the batches that a user may not expect.

use super::buckets::BatchShape;
use super::engine::Engine;
use super::samples::EnlargedClips;
use crate::loader::decoded::DecodedFrames;
use crate::loader::options::ShortClips;
use vidrec_format::sampler::order::{LastBatch, Order};

impl Engine {
    /// The warnings of a later epoch that [`warnings`](Self::warnings) does not have: in a mix, each epoch has other samples.
    pub fn warnings_of(&self, epoch: u64) -> Vec<String> {
        let is_known = self.schedule.left_out(epoch) == self.schedule.left_out(self.schedule.first_epoch());
        self.left_out(epoch).filter(|_| !is_known).into_iter().collect()
    }

    /// Notes how many samples of an epoch are in no batch, if they are more than in those before.
    pub fn count_left_out(&self, epoch: u64) {
        let left_out = &mut self.counters.lock().stats.samples_left_out;
        *left_out = self.schedule.left_out(epoch).max(*left_out);
    }

    /// The samples that cannot be shared among the ranks.
    fn left_out(&self, epoch: u64) -> Option<String> {
        let (last, (_, world_size)) = (self.options.last, self.options.rank);
        let (left_out, samples) = (self.schedule.left_out(epoch), self.schedule.positions());
        (left_out > 0 && last == LastBatch::Keep).then(|| {
            format!(
                "{left_out} of {samples} samples are in no batch of an epoch, because fewer of them remain than there \
                 are ranks ({world_size}), and batches of one clip or too few clips of a shape cannot share them"
            )
        })
    }

    /// A warning that says how well an order of blocks mixes a remote data set. Remote data sets have such an order by default.
    fn mixing(&self) -> Option<String> {
        let order = self.schedule.order();
        let (n, clips) = (self.schedule.positions(), self.schedule.shapes()[0].clips);
        let is_blocks = matches!(order, Order::Blocks { .. } | Order::Homes { .. });
        let is_mixed = self.specs.dataset.is_remote() && is_blocks && n > 1;
        let chance = order.neighbors_share_a_batch(n, clips).filter(|_| is_mixed)?;
        let exact = Order::Shuffled.neighbors_share_a_batch(n, clips)?;
        let percent = |chance: f64| format!("{:.2} %", chance * 100.0);
        let (chance, exact) = (percent(chance), percent(exact));
        // Nothing is lost where they are the same.
        (chance != exact).then(|| {
            format!(
                "the order mixes blocks of clips: two neighbors on disk share a batch with a chance of {chance}, \
                 against {exact} in the order \"shuffled\", which needs a request for each clip"
            )
        })
    }

    /// Properties of the batches that a user may not expect.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (short, clips) = (self.specs.samples.short, self.specs.dataset.len());
        // All ranks know the same of the data set.
        let is_first = self.options.rank.0 == 0;
        if short > 0 && is_first {
            let mut fates: Vec<_> = self.options.samples.iter().map(|samples| fate(samples.frames.short())).collect();
            fates.dedup();
            let fates = fates.join(" or ");
            warnings.push(format!("{short} of {clips} clips have fewer frames than a sample and {fates}"));
        }
        if self.enlarged.count > 0 && is_first {
            let EnlargedClips { count, seen, example: (from, to) } = self.enlarged;
            let looked_at = if seen < clips { " that were looked at" } else { "" };
            warnings.push(format!(
                "{count} of {seen} clips{looked_at} have frames that are smaller than the pictures and are enlarged, such \
                 as from {}x{} to {}x{} pixels",
                from.0, from.1, to.0, to.1
            ));
        }
        warnings.extend(self.left_out(self.schedule.first_epoch()));
        warnings.extend(self.mixing());
        if let Some(failure) = self.specs.dataset.cache_failure() {
            warnings.push(format!("the cache does not store what the loader reads: {failure}"));
        }
        if let Some(failure) = self.decoded.as_ref().and_then(DecodedFrames::failure) {
            warnings
                .push(format!("the loader does not use the cache of decoded frames, or no longer uses it: {failure}"));
        }
        for BatchShape { frames, size: (width, height), .. } in self.schedule.empty_buckets() {
            warnings.push(format!("no clip is in the bucket of {frames} frames of {width}x{height} pixels"));
        }
        warnings
    }
}

/// The handling of short clips, in words.
fn fate(short: ShortClips) -> &'static str {
    match short {
        ShortClips::Skip => "are skipped",
        ShortClips::Pad => "are padded",
        _ => "repeat frames",
    }
}
