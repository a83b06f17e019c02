//! The threads that decode, and the decoder of each, which turns a stored frame into a picture.

use std::num::NonZero;

use parking_lot::{Mutex, MutexGuard};

use crate::dataset::Clip;
use crate::loader::decoded::{DecodedFrames, FrameKey, Kept};
use crate::loader::kernel::{Decoded, DecodedForm, Kernel, PictureBuffer, SampleType, Scratch};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_format::frame_entry::FrameEntry;
use vidrec_jpeg::between_reads;
use vidrec_jpeg::{Cut, Pixels, Region, RegionDecoder, Scale, TileGrid, TileIndex, changed};

/// The maximum number of threads, unless the caller asks for more.
const DEFAULT_THREADS: usize = 8;

/// A pool of threads and their workers.
pub(crate) struct WorkerPool {
    threads: rayon::ThreadPool,
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

    pub fn threads(&self) -> usize {
        self.threads.current_num_threads()
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
    /// The pixels of a part of the frame, 3 bytes each.
    rgb: Vec<u8>,
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

/// The use of the cache of decoded frames for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheUse {
    /// The planes came from the cache.
    Hit,
    /// The frame was decoded.
    Miss(Kept),
    /// The cache does not keep frames of this kind.
    OtherFrame,
}

/// Tables that the caller provided, or that were made for a frame of another size.
enum Tables<'a> {
    Given(&'a Kernel),
    Own(Box<Kernel>),
}

impl<'a> Tables<'a> {
    /// The tables for a frame of this size.
    fn of_size(given: Option<&'a Kernel>, size: (u32, u32), other: impl Fn((u32, u32)) -> Kernel) -> Self {
        let given = given.filter(|kernel| kernel.frame() == size);
        given.map_or_else(|| Tables::Own(Box::new(other(size))), Tables::Given)
    }

    fn kernel(&self) -> &Kernel {
        match self {
            Tables::Given(kernel) => kernel,
            Tables::Own(kernel) => kernel,
        }
    }
}

/// The key of a frame in a cache.
pub(super) fn frame_key(clip: &Clip<'_>, t: u32) -> Result<FrameKey> {
    let (number, entry) = clip.numbered_entry(t)?;
    let FrameEntry { record_offset, jpeg_length, jpeg_crc32, .. } = entry;
    Ok(FrameKey { number, record_offset, jpeg_length, jpeg_crc32 })
}

impl Worker {
    fn new() -> Result<Self> {
        let (planes, rgb, scratch, record) = Default::default();
        Ok(Worker { decoder: RegionDecoder::new()?, planes, rgb, scratch, record })
    }

    /// Writes the picture of frame `t` of `clip` to `slot`. Takes it from the cache if the cache has the frame.
    /// Otherwise reads the frame, checks it and decodes it.
    ///
    /// `kernel` has the tables for frames of the size in the clip's entry, if the entry has one. `other` makes those for a
    /// frame of another size.
    pub fn frame<S: SampleType>(
        &mut self,
        clip: &Clip<'_>,
        t: u32,
        (kernel, cache): (Option<&Kernel>, Option<&DecodedFrames>),
        other: impl Fn((u32, u32)) -> Kernel,
        slot: PictureBuffer<'_, S>,
    ) -> Result<DecodeCost> {
        let cache = cache.map(|cache| Ok((cache, frame_key(clip, t)?))).transpose()?;
        if let Some((cache, frame)) = cache
            && let Some((tables, cut, scale)) = self.read_kept(cache, frame, kernel, &other)
        {
            self.run(tables.kernel(), Pixels::Ycc420, &cut, pitches(&cut, scale), slot);
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
            if let Some((cache, frame)) = cache {
                cost.cached = Some(match whole {
                    DecodedFrame::Planes(grid, scale) => CacheUse::Miss(cache.keep(frame, grid, scale, &self.planes)),
                    DecodedFrame::NoRoom => CacheUse::Miss(Kept::NoRoom),
                    DecodedFrame::Other => CacheUse::OtherFrame,
                });
            }
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

    /// Finds the tiles of a JPEG: see [`RegionDecoder::tiles`].
    pub fn tiles(&mut self, jpeg: &[u8]) -> Result<Option<TileIndex>> {
        self.decoder.tiles(jpeg)
    }

    /// Copies what the picture needs of a frame from the cache to the planes, if the cache has the frame. Returns the
    /// tables for the frame, and the part and the scale of the planes.
    fn read_kept<'a>(
        &mut self,
        cache: &DecodedFrames,
        frame: FrameKey,
        kernel: Option<&'a Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
    ) -> Option<(Tables<'a>, Cut, Scale)> {
        let in_cache = || Scale::ALL.into_iter().find_map(|scale| cache.find(frame, scale));
        let size = kernel.map(Kernel::frame).or_else(|| in_cache().map(|stored| stored.grid().size))?;
        let tables = Tables::of_size(kernel, size, other);
        let (DecodedForm::Planes(scale), region) = tables.kernel().needs(Pixels::Ycc420) else { return None };
        let stored = cache.find(frame, scale).filter(|stored| stored.grid().size == size)?;
        let cut = stored.grid().cut(&stored.grid().touched(region));
        cache.read(&stored, &cut, &mut self.planes)?;
        Some((tables, cut, scale))
    }

    /// Decodes `jpeg` and writes the picture to `slot`. Decodes the whole frame if the cache has room for it, and
    /// otherwise the parts that the picture needs.
    fn picture<S: SampleType>(
        &mut self,
        jpeg: &[u8],
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
        cache: Option<&DecodedFrames>,
        slot: PictureBuffer<'_, S>,
    ) -> Result<(DecodeCost, DecodedFrame)> {
        let picture = self.decoder.format(jpeg)?;
        let tables = Tables::of_size(kernel, picture.size, other);
        let kernel = tables.kernel();
        between_reads();
        let (cut, pitches, whole) = match kernel.needs(picture.pixels) {
            (DecodedForm::Planes(scale), region) => {
                let mut grid = || self.decoder.grid(jpeg).unwrap_or(TileGrid { size: picture.size, tile_width: 0 });
                let is_kept = cache.is_some_and(|cache| cache.has_room(grid(), scale).is_some());
                let region = if is_kept { Region::whole(picture.size) } else { region };
                let (cut, grid) = self.decoder.planes_and_grid(jpeg, region, scale, &mut self.planes)?;
                if grid.size != picture.size {
                    return Err(changed());
                }
                let whole = if is_kept { DecodedFrame::Planes(grid, scale) } else { DecodedFrame::NoRoom };
                (cut, pitches(&cut, scale), whole)
            }
            (DecodedForm::Rgb, region) => {
                let (cut, pitches) = self.decode_rgb(jpeg, picture.size, region)?;
                (cut, pitches, DecodedFrame::Other)
            }
        };
        self.run(kernel, picture.pixels, &cut, pitches, slot);
        let (tiles_decoded, tiles_skipped) = (cut.tiles.into(), cut.skipped.into());
        Ok((DecodeCost { bytes: jpeg.len() as u64, tiles_decoded, tiles_skipped, cached: None }, whole))
    }

    fn run<S: SampleType>(
        &mut self,
        kernel: &Kernel,
        pixels: Pixels,
        cut: &Cut,
        pitches: [usize; 3],
        slot: PictureBuffer<'_, S>,
    ) {
        let planes = self.planes.each_ref().map(Vec::as_slice);
        let frame = Decoded { planes, pitches, origin: (cut.region.x, cut.region.y) };
        kernel.run(pixels, &frame, &mut self.scratch, slot);
    }

    fn decode_rgb(&mut self, jpeg: &[u8], size: (u32, u32), region: Region) -> Result<(Cut, [usize; 3])> {
        let cut = self.decoder.rgb(jpeg, size, region, &mut self.rgb)?;
        let pixels = cut.region.width as usize * cut.region.height as usize;
        let rgb = &self.rgb.as_chunks().0[..pixels];
        for (c, plane) in self.planes.iter_mut().enumerate() {
            allocation::resize(plane, pixels, 0, "a frame")?;
            plane.iter_mut().zip(rgb).for_each(|(sample, pixel): (_, &[u8; 3])| *sample = pixel[c]);
        }
        Ok((cut, [cut.region.width as usize; 3]))
    }
}

/// The frame that the planes of a worker hold after a decode for a cache.
enum DecodedFrame {
    /// The whole frame.
    Planes(TileGrid, Scale),
    /// A part, because the cache has no room.
    NoRoom,
    /// The frame is not 4:2:0.
    Other,
}

/// The number of samples from one row of each plane to the next.
fn pitches(cut: &Cut, scale: Scale) -> [usize; 3] {
    let pitch = cut.luma_pitch(scale);
    [pitch, pitch / 2, pitch / 2]
}
