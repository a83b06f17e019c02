//! The batches of an epoch whose clips are divided into buckets.

use super::buckets::Buckets;
use super::samples::Samples;
use vidrec_format::sampler::order::{EpochOrder, LastBatch, Ranks, Slot};

/// The batches of one epoch, or of the rest of it. All clips of a batch come from one bucket, which is the same on
/// every rank.
///
/// The clips of a bucket keep their order, which does not depend on ranks or batch sizes. A batch of all ranks
/// comes where the clip that completes it stands in the order of the epoch. Incomplete batches come last, in the
/// order of buckets. The number of clips that are done in each bucket therefore fully describes a stopped run,
/// whatever the number of ranks.
///
/// With [`LastBatch::Keep`], the clips of a bucket may be too few for one on each rank. They then move to the next
/// longer bucket, after its own clips, and the batches that they are in come last, too. Each counts as done in the
/// bucket that it comes from. The clips that are done are therefore the first ones of each bucket even then.
#[derive(Debug)]
pub(crate) struct BucketedEpoch {
    pub epoch: u64,
    queues: Vec<Queue>,
    /// The number of positions of each bucket that were done before.
    done: Vec<u64>,
    /// The bucket of each batch, and its number in that bucket.
    batches: Vec<(u16, u64)>,
}

/// The clips in the batches of a bucket.
#[derive(Debug)]
struct Queue {
    /// Positions in the order of the epoch: the bucket's own, then those that moved here.
    positions: Vec<u64>,
    /// The bucket that each of the last positions comes from.
    moved_from: Vec<u16>,
    /// The way in which ranks share the positions.
    ranks: Ranks,
}

impl Queue {
    /// The number of positions of the bucket itself.
    fn own(&self) -> usize {
        self.positions.len() - self.moved_from.len()
    }

    /// Removes the last positions. Returns each with the bucket that it comes from; `bucket` is this one.
    fn split_off(&mut self, count: usize, bucket: usize) -> Vec<(u64, u16)> {
        let (own, end) = (self.own(), self.positions.len().saturating_sub(count));
        let of = |i: usize| i.checked_sub(own).map_or(bucket as u16, |i| self.moved_from[i]);
        let from: Vec<u16> = (end..self.positions.len()).map(of).collect();
        self.moved_from.truncate(end.saturating_sub(own));
        self.positions.split_off(end).into_iter().zip(from).collect()
    }

    /// The positions in batch `number`, from and to.
    fn range(&self, number: u64) -> (u64, u64) {
        (self.ranks.consumed(number), self.ranks.consumed(number + 1))
    }
}

impl BucketedEpoch {
    /// Deals the clips of `order`. `done` is the number of clips that are done in each bucket, and `ranks` the way
    /// in which ranks share the clips of each.
    pub fn new(
        (epoch, order): (u64, &EpochOrder),
        samples: &Samples,
        buckets: &Buckets,
        done: Vec<u64>,
        ranks: &[Ranks],
    ) -> Self {
        let queue = |&ranks: &Ranks| Queue { positions: Vec::new(), moved_from: Vec::new(), ranks };
        let mut queues: Vec<Queue> = ranks.iter().map(queue).collect();
        for position in 0..order.len() {
            let bucket = order.get(position).map_or(0, |sample| buckets.of(samples.clip(sample, epoch)));
            queues[bucket].positions.push(position);
        }
        let done = done.into_iter().zip(&queues).map(|(done, queue)| done.min(queue.positions.len() as u64)).collect();
        let mut shared = BucketedEpoch { epoch, queues, done, batches: Vec::new() };
        shared.share_out(buckets);
        shared.list_batches();
        shared
    }

    /// Shares the clips of each bucket among the ranks. Those that cannot be shared move to the next longer bucket,
    /// if there is one.
    fn share_out(&mut self, buckets: &Buckets) {
        for bucket in 0..self.queues.len() {
            let done = self.done[bucket];
            let queue = &mut self.queues[bucket];
            let share = |queue: &Queue| queue.ranks.of(queue.positions.len() as u64).after(done);
            queue.ranks = share(queue);
            let left_out = queue.ranks.left_out();
            let Some(longer) = buckets.longer(bucket).filter(|_| queue.ranks.last() == LastBatch::Keep) else {
                continue;
            };
            if left_out > 0 {
                let moved = queue.split_off(left_out as usize, bucket);
                queue.ranks = share(queue);
                let (positions, from): (Vec<u64>, Vec<u16>) = moved.into_iter().unzip();
                self.queues[longer].positions.extend(positions);
                self.queues[longer].moved_from.extend(from);
            }
        }
    }

    /// Puts the batches of all buckets in order.
    fn list_batches(&mut self) {
        let (mut full, mut last) = (Vec::new(), Vec::new());
        for (bucket, queue) in self.queues.iter().enumerate() {
            for number in 0..queue.ranks.batches() {
                let (begin, end) = queue.range(number);
                let batch = (bucket as u16, number);
                match queue.positions[..queue.own()].get(begin as usize..end as usize) {
                    Some(&[.., completed]) if end - begin == queue.ranks.most() => full.push((completed, batch)),
                    _ => last.push(batch),
                }
            }
        }
        full.sort_unstable();
        self.batches = full.into_iter().map(|(_, batch)| batch).chain(last).collect();
    }

    /// The number of batches of each rank.
    pub fn len(&self) -> u64 {
        self.batches.len() as u64
    }

    /// The bucket of batch `k`.
    pub fn bucket(&self, k: u64) -> Option<usize> {
        self.batch(k).map(|(bucket, _, _)| bucket)
    }

    /// The number of clips of batch `k` on a rank.
    pub fn clips(&self, k: u64, rank: u32) -> u32 {
        self.batch(k).map_or(0, |(_, queue, number)| queue.ranks.clips(number, rank))
    }

    /// The number of clips of batch `k` on all ranks that count.
    pub fn clips_on_all_ranks(&self, k: u64) -> u64 {
        self.batch(k).map_or(0, |(_, queue, number)| queue.ranks.clips_on_all_ranks(number))
    }

    /// The number of clips that are in no batch.
    pub fn left_out(&self) -> u64 {
        self.queues.iter().map(|queue| queue.ranks.left_out()).sum()
    }

    /// Place `slot` in batch `k` of a rank.
    pub fn slot(&self, k: u64, rank: u32, slot: u32) -> Option<Slot> {
        let (_, queue, number) = self.batch(k)?;
        let slot = queue.ranks.slot(number, rank, slot)?;
        let position = *queue.positions.get(usize::try_from(slot.position).ok()?)?;
        Some(Slot { position, ..slot })
    }

    /// The number of positions of each bucket that are done after `batches` batches.
    pub fn done(&self, batches: u64) -> Vec<u64> {
        let mut done = self.done.clone();
        for &(bucket, number) in self.batches.iter().take(usize::try_from(batches).unwrap_or(usize::MAX)) {
            let queue = &self.queues[usize::from(bucket)];
            let ((begin, end), own) = (queue.range(number), queue.own() as u64);
            done[usize::from(bucket)] += end.min(own) - begin.min(own);
            let moved = begin.max(own) - own..end.max(own) - own;
            for &from in &queue.moved_from[moved.start as usize..moved.end as usize] {
                done[usize::from(from)] += 1;
            }
        }
        done
    }

    /// The bucket of batch `k`, its clips, and its number among the batches of the bucket.
    fn batch(&self, k: u64) -> Option<(usize, &Queue, u64)> {
        let (bucket, number) = *self.batches.get(usize::try_from(k).ok()?)?;
        Some((bucket.into(), &self.queues[usize::from(bucket)], number))
    }
}
