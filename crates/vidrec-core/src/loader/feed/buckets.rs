//! The assignment of clips to batches, if clips differ in length or shape, and the batches of such an epoch.

use super::sample_spec::{SampleSpecs, frame_size};
use super::samples::Samples;
use crate::dataset::Clip;
use crate::loader::options::{Layout, LoaderOptions, MAX_BUCKETS, ResolvedOptions};
use vidrec_format::SectionId;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::sampler::order::{EpochOrder, LastBatch, Ranks};

/// The frames of a sample, and width and height of its pictures.
type Shape = (u32, (u32, u32));

/// The buckets, and the bucket of each clip.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub shapes: Vec<BatchShape>,
    /// The bucket of each sample's first clip.
    of_clip: Vec<u16>,
    /// The number of clips of a sample: one of each camera.
    cameras: u64,
}

impl Buckets {
    /// Reads the index entry of every clip.
    pub fn new(specs: &SampleSpecs) -> Result<Self> {
        let SampleSpecs { dataset, options, samples } = specs;
        dataset.prefetch_all(&[SectionId::CLIPS])?;
        let cameras = options.cameras_per_sample();
        // The other cameras have the frames at the times of the first one's.
        let clips = (0..dataset.len()).step_by(cameras).map(|clip| dataset.clip(clip));
        let alone = [samples.frames];
        let lengths = if options.buckets().is_empty() { &alone[..] } else { options.buckets() };
        // Clips without frames have a bucket of their own, whatever the size.
        let shape = |clip: Result<Clip<'_>>| match clip? {
            clip if clip.frame_count() == 0 => Ok((0, options.size())),
            clip => shape(&clip, specs.options_of(clip.ordinal(), 0), lengths),
        };
        // Sizes that follow from those of frames are not known before.
        let sizes = options.samples.iter().flat_map(|samples| samples.crop.sizes());
        let known = sizes.flat_map(|size| lengths.iter().map(move |&frames| (frames, size)));
        let of_clips = clips.map(shape).collect::<Result<Vec<Shape>>>()?;
        let mut shapes: Vec<Shape> = known.chain(of_clips.iter().copied()).collect();
        shapes.sort_unstable();
        shapes.dedup();
        if shapes.is_empty() {
            shapes.push((lengths[0], options.size()));
        }
        if shapes.len() > MAX_BUCKETS {
            return Err(too_many());
        }
        let of_clip = of_clips.iter().map(|shape| shapes.binary_search(shape).unwrap_or(0) as u16).collect();
        let exact = !options.buckets().is_empty() || samples.exact;
        let shapes = shapes.into_iter().map(|(frames, size)| BatchShape::new(options, frames, size, exact));
        Ok(Buckets { shapes: shapes.collect::<Result<_>>()?, of_clip, cameras: cameras as u64 })
    }

    /// The bucket of the next longer clips in pictures of the same size, if there is one.
    pub fn longer(&self, bucket: usize) -> Option<usize> {
        let size = self.shapes[bucket].size;
        (bucket + 1..self.shapes.len()).find(|&longer| self.shapes[longer].size == size)
    }

    /// The bucket of a clip.
    pub fn of(&self, clip: u64) -> usize {
        usize::try_from(clip / self.cameras)
            .ok()
            .and_then(|clip| self.of_clip.get(clip))
            .map_or(0, |&bucket| bucket.into())
    }
}

/// The shape of a clip's sample. It is as long as the shortest of the lengths that has room for it.
fn shape(clip: &Clip<'_>, options: &LoaderOptions, lengths: &[u32]) -> Result<Shape> {
    let frames = options.frames.length(clip, u32::MAX)?;
    let fits = lengths.iter().find(|&&length| frames <= length);
    let length = *fits.ok_or_else(|| too_long(clip, frames, lengths))?;
    let size = match options.crop.sizes()[..] {
        [size] => size,
        _ => {
            let differ = || Error::usage("loader option crop: the frames of a clip differ in size, so no shape fits");
            let frame = frame_size(clip).ok_or_else(differ);
            frame.and_then(|frame| options.picture_size(frame, frames)).map_err(|e| e.in_clip(clip.ordinal()))?
        }
    };
    Ok((length, size))
}

fn too_many() -> Error {
    let e = Error::limit("loader option crop: the frames of the clips have too many sizes for SmartResize");
    e.expected("at most 65536 combinations of lengths and sizes").help("use a larger factor")
}

fn too_long(clip: &Clip<'_>, frames: u32, lengths: &[u32]) -> Error {
    Error::usage("loader option batching: a clip is longer than the last bucket")
        .in_clip(clip.ordinal())
        .expected(format!("at most {} frames", lengths.last().copied().unwrap_or(0)))
        .found(frames)
        .help("add a bucket, or limit the frames of a sample")
}

/// The size of the batches of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchShape {
    pub clips: u32,
    /// The number of cameras of each clip.
    pub cameras: u32,
    /// The maximum number of frames of each clip.
    pub frames: u32,
    /// Whether every batch has exactly this number of frames. If not, each batch has as many as its longest clip.
    pub exact: bool,
    /// Width and height of the pictures.
    pub size: (u32, u32),
}

impl BatchShape {
    /// Returns an error for a batch that no memory can hold, or for a budget below one clip.
    pub fn new(options: &ResolvedOptions, frames: u32, size: (u32, u32), exact: bool) -> Result<Self> {
        let (width, height) = size;
        let cameras = options.cameras_per_sample() as u32;
        // Clips without frames take nothing of a budget.
        let batching = options.batching.as_ref().filter(|_| frames > 0);
        let budget = batching.and_then(|batching| batching.clips(frames, size));
        let clips = budget.map_or(options.batch_size, |clips| clips / cameras);
        if clips == 0 {
            let what = format!(
                "loader option batching: even one clip of {frames} frames of {width}x{height} pixels does not fit"
            );
            return Err(Error::usage(what).found(format!("{batching:?}")));
        }
        BatchShape { clips, cameras, frames, exact, size }.with_clips(clips as usize)
    }

    /// The shape with another number of clips. Returns an error for a batch that no memory can hold.
    pub fn with_clips(self, clips: usize) -> Result<Self> {
        let BatchShape { cameras, frames, size: (width, height), .. } = self;
        let factors = [cameras, frames, width, height, 3 * size_of::<f32>() as u32];
        let bytes = factors.iter().try_fold(clips, |product, &factor| product.checked_mul(factor as usize));
        if let (Ok(clips), Some(true)) = (u32::try_from(clips), bytes.map(|bytes| isize::try_from(bytes).is_ok())) {
            return Ok(BatchShape { clips, ..self });
        }
        let what = format!("a batch of {clips} clips of {frames} frames of {width}x{height} pixels");
        Err(Error::limit(what).hint(Hint::Set("batch_size")))
    }

    /// The dimensions of a batch.
    pub fn dimensions(&self, options: &ResolvedOptions) -> [usize; 5] {
        let [b, t, w, h] = [self.clips * self.cameras, self.frames, self.size.0, self.size.1].map(|side| side as usize);
        let c = options.channels.count();
        match options.layout {
            Layout::Btchw => [b, t, c, h, w],
            Layout::Bcthw => [b, c, t, h, w],
            Layout::Bthwc => [b, t, h, w, c],
        }
    }

    /// The number of values in a batch.
    pub fn values(&self, options: &ResolvedOptions) -> usize {
        // `new` proved that the product fits.
        self.dimensions(options).iter().product()
    }
}

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
pub(crate) struct Queue {
    /// Positions in the order of the epoch: the bucket's own, then those that moved here.
    pub positions: Vec<u64>,
    /// The bucket that each of the last positions comes from.
    moved_from: Vec<u16>,
    /// The way in which ranks share the positions.
    pub ranks: Ranks,
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

    /// The number of clips that are in no batch.
    pub fn left_out(&self) -> u64 {
        self.queues.iter().map(|queue| queue.ranks.left_out()).sum()
    }

    /// The positions of batch `k` of all ranks, rank after rank, if the batch is full. Those of one rank's homes are together, so a
    /// rank reads few clips from the homes of others.
    pub fn by_homes(&self, k: u64, ranks: &Ranks) -> Option<Vec<u64>> {
        let (_, queue, number) = self.batch(k)?;
        let (begin, end) = queue.range(number);
        let mut positions = queue.positions.get(begin as usize..end as usize)?.to_vec();
        positions.sort_by_key(|&position| ranks.at_home(position));
        (end - begin == queue.ranks.most()).then_some(positions)
    }

    /// The positions that are done after `batches` batches, in any order.
    pub fn positions(&self, batches: u64) -> Vec<u64> {
        let before = self.queues.iter().zip(&self.done).flat_map(|(queue, &done)| &queue.positions[..done as usize]);
        let batches_before = self.batches.iter().take(usize::try_from(batches).unwrap_or(usize::MAX));
        let of_batch = batches_before.flat_map(|&(bucket, number)| {
            let queue = &self.queues[usize::from(bucket)];
            let (begin, end) = queue.range(number);
            &queue.positions[begin as usize..end as usize]
        });
        before.chain(of_batch).copied().collect()
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
    pub fn batch(&self, k: u64) -> Option<(usize, &Queue, u64)> {
        let (bucket, number) = *self.batches.get(usize::try_from(k).ok()?)?;
        Some((bucket.into(), &self.queues[usize::from(bucket)], number))
    }
}
