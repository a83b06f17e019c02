//! The batches of an epoch whose clips are divided into buckets.

use super::buckets::Buckets;
use super::samples::Samples;
use vidrec_sampler::order::{EpochOrder, LastBatch, Ranks};

/// The batches of one epoch, or of the rest of it. All clips of a batch come from one bucket, which is the same on
/// every rank.
///
/// The clips of a bucket keep their order, which does not depend on ranks or batch sizes. A batch of all ranks
/// comes where the clip that completes it stands in the order of the epoch. Incomplete batches come last. The
/// number of clips that are done in each bucket therefore fully describes a stopped run, whatever the number of
/// ranks.
///
/// If clips have homes, each rank takes the clips of a batch that are at home with it, as far as it has room for
/// them. This does not change the batch of all ranks.
#[derive(Debug)]
pub(super) struct Deal {
    pub epoch: u64,
    /// Positions in the order of the epoch, for each bucket.
    queues: Vec<Vec<u64>>,
    /// The number of positions of each bucket that were done before.
    done: Vec<u64>,
    /// The bucket of each batch, and its number in that bucket.
    batches: Vec<(u8, u64)>,
    /// The number of clips of all ranks in a batch of each bucket.
    global: Vec<u64>,
    world: u32,
    last: LastBatch,
}

impl Deal {
    /// Deals the clips of `order`. `done` is the number of clips that are done in each bucket.
    pub fn new(
        (epoch, order): (u64, &EpochOrder),
        space: &Samples,
        buckets: &Buckets,
        done: Vec<u64>,
        (world, last): (u32, LastBatch),
    ) -> Self {
        let global: Vec<u64> = buckets.shapes.iter().map(|shape| u64::from(shape.clips) * u64::from(world)).collect();
        let queues = vec![Vec::new(); global.len()];
        let mut deal = Deal { epoch, queues, done, batches: Vec::new(), global, world, last };
        for position in 0..order.len() {
            let bucket = order.get(position).map_or(0, |sample| buckets.of(space.place(sample, epoch).clip));
            deal.queues[bucket].push(position);
            let new = (deal.queues[bucket].len() as u64).saturating_sub(deal.done[bucket]);
            if new > 0 && new.is_multiple_of(deal.global[bucket]) {
                deal.batches.push((bucket as u8, new / deal.global[bucket] - 1));
            }
        }
        if last != LastBatch::Drop {
            for bucket in 0..deal.global.len() {
                let new = (deal.queues[bucket].len() as u64).saturating_sub(deal.done[bucket]);
                if !new.is_multiple_of(deal.global[bucket]) {
                    deal.batches.push((bucket as u8, new / deal.global[bucket]));
                }
            }
        }
        deal
    }

    /// The number of batches of each rank.
    pub fn len(&self) -> u64 {
        self.batches.len() as u64
    }

    /// The bucket of batch `k`.
    pub fn bucket(&self, k: u64) -> Option<usize> {
        self.batches.get(usize::try_from(k).ok()?).map(|&(bucket, _)| bucket.into())
    }

    /// The position at place `place` of batch `k` of all ranks, and whether it counts.
    pub fn position(&self, k: u64, place: u64) -> Option<(u64, bool)> {
        let (bucket, number) = *self.batches.get(usize::try_from(k).ok()?)?;
        let (bucket, queue) = (usize::from(bucket), &self.queues[usize::from(bucket)]);
        let i = self.done[bucket] + number * self.global[bucket] + place;
        let real = i < queue.len() as u64;
        let position = *queue.get(usize::try_from(i % queue.len() as u64).ok()?)?;
        Some((position, real || self.last == LastBatch::Wrap))
    }

    /// The positions of batch `k` of all ranks, rank after rank, if ranks have homes and the batch is complete.
    /// Each rank gets the positions at home with it first, then those that other ranks had no room for.
    pub fn at_homes(&self, k: u64, ranks: &Ranks) -> Option<Vec<u64>> {
        let (bucket, number) = *self.batches.get(usize::try_from(k).ok()?)?;
        let (bucket, queue) = (usize::from(bucket), &self.queues[usize::from(bucket)]);
        let begin = self.done[bucket] + number * self.global[bucket];
        let batch = queue.get(usize::try_from(begin).ok()?..usize::try_from(begin + self.global[bucket]).ok()?)?;
        let clips = usize::try_from(self.global[bucket] / u64::from(self.world)).ok()?;
        let (mut room, mut places, mut others) =
            (vec![clips; batch.len() / clips], vec![None; batch.len()], Vec::new());
        for &position in batch {
            let rank = ranks.at_home(position)? as usize;
            match room[rank].checked_sub(1) {
                Some(left) => {
                    places[(rank + 1) * clips - room[rank]] = Some(position);
                    room[rank] = left;
                }
                None => others.push(position),
            }
        }
        let mut others = others.into_iter();
        places.into_iter().map(|place| place.or_else(|| others.next())).collect()
    }

    /// The number of positions of each bucket that are done after `batches` batches.
    pub fn done(&self, batches: u64) -> Vec<u64> {
        let mut done = self.done.clone();
        for &(bucket, _) in self.batches.iter().take(usize::try_from(batches).unwrap_or(usize::MAX)) {
            let bucket = usize::from(bucket);
            done[bucket] = (done[bucket] + self.global[bucket]).min(self.queues[bucket].len() as u64);
        }
        done
    }

    /// The number of clips in each bucket.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.queues.iter().map(Vec::len)
    }
}
