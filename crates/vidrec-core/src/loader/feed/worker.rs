//! The threads that decode, and the decoder of each, which turns a stored frame into a picture.

use std::borrow::Cow;
use std::num::NonZero;

use parking_lot::{Mutex, MutexGuard};

use crate::dataset::Clip;
use crate::loader::decoded::{CacheUse, DecodedFrames, FrameKey};
use crate::loader::kernel::{self, DecodedForm, Kernel, Machine, PictureBuffer, SampleType, Scratch};
use vidrec_format::error::{Error, Result};
use vidrec_format::frame_entry::FrameEntry;
use vidrec_jpeg::{
    Cut, DecodedPart, Pixels, Region, RegionDecoder, Scale, TileGrid, TileHeader, between_reads, changed,
};

/// The maximum number of threads, unless the caller asks for more.
const DEFAULT_THREADS: usize = 8;

/// A pool of threads and their workers.
pub(crate) struct WorkerPool {
    pub threads: rayon::ThreadPool,
    /// One worker for each thread, so that no thread ever waits for a lock.
    workers: Vec<Mutex<Worker>>,
}

impl WorkerPool {
    /// Creates a pool with the given number of threads, or with one for each core, up to 8.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get).min(DEFAULT_THREADS);
        let count = threads.unwrap_or_else(cores);
        let threads = rayon::ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("vidrec-loader-{i}"));
        let threads = threads.build().map_err(|e| Error::start_pool(count, e))?;
        let worker = |_| Worker::new().map(Mutex::new);
        let workers = (0..threads.current_num_threads()).map(worker).collect::<Result<_>>()?;
        Ok(WorkerPool { threads, workers })
    }

    /// Runs work on the threads of the pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// The worker of this thread of the pool. It holds only buffers, which each use fills first.
    pub fn worker(&self) -> MutexGuard<'_, Worker> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.workers.len();
        self.workers[thread].lock()
    }
}

/// A decoder and its buffers, which are kept from frame to frame.
pub(crate) struct Worker {
    decoder: RegionDecoder,
    /// The planes of a part of the frame: luma and chroma, or red, green and blue.
    planes: [Vec<u8>; 3],
    scratch: Scratch,
    /// The frame's record, if files are not mapped.
    record: Vec<u8>,
}

/// The cost of decoding a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DecodeCost {
    /// The length of the JPEG in bytes.
    pub bytes: u64,
    /// Tiles of the JPEG that were decoded; 0 if the JPEG has no tiles and was decoded whole.
    pub tiles_decoded: u64,
    /// Tiles of the JPEG that were not decoded because they are not in the picture.
    pub tiles_skipped: u64,
    /// The use of the cache, if there is one.
    pub cached: Option<CacheUse>,
}

/// The given tables, or others if the frame has another size or other pixels.
fn fitting<'a>(
    given: Option<&'a Kernel>,
    (size, pixels): ((u32, u32), Pixels),
    other: impl Fn((u32, u32), Pixels) -> Kernel,
) -> Cow<'a, Kernel> {
    let given = given.filter(|kernel| (kernel.frame, kernel.pixels) == (size, pixels));
    given.map_or_else(|| Cow::Owned(other(size, pixels)), Cow::Borrowed)
}

/// The form of a whole frame in the planes of a worker, or why the cache gets none.
type WholeFrame = std::result::Result<(TileGrid, Scale), CacheUse>;

/// The key of a frame in a cache.
pub(super) fn frame_key(clip: &Clip<'_>, t: u32) -> Result<FrameKey> {
    let (number, entry) = clip.numbered_entry(t)?;
    let FrameEntry { record_offset, jpeg_length, jpeg_crc32, .. } = entry;
    Ok(FrameKey { number, record_offset, jpeg_length, jpeg_crc32 })
}

impl Worker {
    fn new() -> Result<Self> {
        let (planes, scratch, record) = Default::default();
        Ok(Worker { decoder: RegionDecoder::new()?, planes, scratch, record })
    }

    /// Writes the picture of frame `t` of `clip` to `slot`. Takes it from the cache if the cache has the frame.
    /// Otherwise reads the frame, checks it and decodes it.
    ///
    /// `kernel` has the tables for 4:2:0 frames of the size in the clip's entry, if the entry has one. `other` makes those for
    /// another frame.
    pub fn frame<S: SampleType>(
        &mut self,
        clip: &Clip<'_>,
        t: u32,
        (kernel, cache): (Option<&Kernel>, Option<&DecodedFrames>),
        other: impl Fn((u32, u32), Pixels) -> Kernel,
        slot: PictureBuffer<'_, S>,
    ) -> Result<DecodeCost> {
        let cache = cache.map(|cache| Ok((cache, frame_key(clip, t)?))).transpose()?;
        if let Some((cache, frame)) = cache
            && let Some((kernel, cut, scale)) = self.read_kept(cache, frame, kernel, &other)
        {
            self.run(&kernel, &cut, cut.pitches(scale), slot);
            return Ok(DecodeCost { cached: Some(CacheUse::Hit), ..DecodeCost::default() });
        }
        let mut record = std::mem::take(&mut self.record);
        let cost = clip.frame_with(t, &mut record).and_then(|frame| {
            // Fetched records have already been checked.
            if !clip.is_remote() {
                frame.check()?;
            }
            let made = self.picture(frame.jpeg(), kernel, &other, cache.map(|(cache, _)| cache), slot);
            frame.prove_still_there()?;
            let (mut cost, whole) = made.map_err(|e| frame.place(e))?;
            cost.cached = cache.map(|(cache, frame)| match whole {
                Ok((grid, scale)) => cache.keep(frame, grid, scale, &self.planes),
                Err(unkept) => unkept,
            });
            Ok(cost)
        });
        self.record = record;
        cost
    }

    /// Copies the JPEG of frame `t` of `clip` to `to`, which must have its length. Checks the copy,
    /// and returns the width and height in its header.
    pub fn jpeg(&mut self, clip: &Clip<'_>, t: u32, to: &mut [u8]) -> Result<(u32, u32)> {
        let mut record = std::mem::take(&mut self.record);
        let size = clip.frame_with(t, &mut record).and_then(|frame| {
            let jpeg = frame.jpeg();
            if jpeg.len() != to.len() {
                let e = Error::format("record-length", "the length of the frame's JPEG changed while it was read");
                return Err(frame.place(e.expected(to.len()).found(jpeg.len())));
            }
            to.copy_from_slice(jpeg);
            // Fetched records have already been checked.
            if !clip.is_remote() {
                frame.check_copy(to)?;
            }
            let format = self.decoder.format(to);
            frame.prove_still_there()?;
            format.map(|format| format.size).map_err(|e| frame.place(e))
        });
        self.record = record;
        size
    }

    /// Reads the header of a JPEG: see [`RegionDecoder::tile_header`].
    pub fn tile_header(&mut self, jpeg: &[u8]) -> Result<Option<TileHeader>> {
        self.decoder.tile_header(jpeg)
    }

    /// Copies what the picture needs of a frame from the cache to the planes, if the cache has the frame. Returns the
    /// tables for the frame, and the part and the scale of the planes.
    fn read_kept<'a>(
        &mut self,
        cache: &DecodedFrames,
        frame: FrameKey,
        kernel: Option<&'a Kernel>,
        other: impl Fn((u32, u32), Pixels) -> Kernel,
    ) -> Option<(Cow<'a, Kernel>, Cut, Scale)> {
        let in_cache = || Scale::ALL.into_iter().find_map(|scale| cache.find(frame, scale));
        let size = kernel.map(|kernel| kernel.frame).or_else(|| in_cache().map(|stored| stored.grid().size))?;
        let kernel = fitting(kernel, (size, Pixels::Ycc420), other);
        let DecodedForm::Planes(scale) = kernel.form else { return None };
        let stored = cache.find(frame, scale).filter(|stored| stored.grid().size == size)?;
        let cut = stored.grid().cut(&stored.grid().touched(kernel.region));
        cache.read(&stored, &cut, &mut self.planes)?;
        Some((kernel, cut, scale))
    }

    /// Decodes `jpeg` and writes the picture to `slot`. Decodes the whole frame if the cache has room for it, and
    /// otherwise the parts that the picture needs. Also returns the form of a whole frame in the planes, or else why there is
    /// none for the cache.
    fn picture<S: SampleType>(
        &mut self,
        jpeg: &[u8],
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32), Pixels) -> Kernel,
        cache: Option<&DecodedFrames>,
        slot: PictureBuffer<'_, S>,
    ) -> Result<(DecodeCost, WholeFrame)> {
        let picture = self.decoder.format(jpeg)?;
        let kernel = fitting(kernel, (picture.size, picture.pixels), other);
        between_reads();
        let (cut, pitches, whole) = match kernel.form {
            DecodedForm::Planes(scale) => {
                let mut grid = || self.decoder.grid(jpeg).unwrap_or(TileGrid { size: picture.size, tile_width: 0 });
                let is_kept = cache.is_some_and(|cache| cache.has_room(grid(), scale).is_some());
                let region = if is_kept { Region::whole(picture.size) } else { kernel.region };
                let (cut, grid) = self.decoder.planes_and_grid(jpeg, region, scale, &mut self.planes)?;
                if grid.size != picture.size {
                    return Err(changed());
                }
                let whole = if is_kept { Ok((grid, scale)) } else { Err(CacheUse::NoRoom) };
                (cut, cut.pitches(scale), whole)
            }
            DecodedForm::Rgb => {
                let cut = self.decoder.rgb_planes(jpeg, picture.size, kernel.region, &mut self.planes)?;
                (cut, [cut.region.width as usize; 3], Err(CacheUse::OtherFrame))
            }
        };
        self.run(&kernel, &cut, pitches, slot);
        let (tiles_decoded, tiles_skipped) = (cut.tiles.into(), cut.skipped.into());
        Ok((DecodeCost { bytes: jpeg.len() as u64, tiles_decoded, tiles_skipped, cached: None }, whole))
    }

    fn run<S: SampleType>(&mut self, kernel: &Kernel, cut: &Cut, pitches: [usize; 3], slot: PictureBuffer<'_, S>) {
        let planes = self.planes.each_ref().map(Vec::as_slice);
        let frame = DecodedPart { planes, pitches, origin: (cut.region.x, cut.region.y) };
        kernel::run(Machine::best(), kernel, &frame, &mut self.scratch, slot);
    }
}
