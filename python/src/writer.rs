//! A new data set, clip by clip.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rayon::{ThreadPool, ThreadPoolBuilder};
use vidrec::jpeg::{Decoder, Encoder, Retiled, Retiler};
use vidrec::{
    ClipInfo, EncodedTrack, Error, FrameData, Hint, Meta, Planes, Result, Track, TrackSchema, TrackTimes, TrackTiming,
    TrackValues, WriterOptions,
};

use crate::error::{argument, from_json, raise, raise_worded, to_json};
use crate::per_process::PerProcess;

/// The most bytes of pictures that wait to be encoded or written, unless one clip has more.
const MAX_WAITING_BYTES: usize = 1 << 30;

/// The frames of a clip: RGB of a width and a height, one after the other, or JPEGs.
#[derive(FromPyObject)]
pub enum Pictures {
    Rgb(PyBackedBytes, u32, u32),
    Jpegs(Vec<PyBackedBytes>),
}

/// The schema of a track as JSON, its numbers and texts and how many items each of its lists has, its times and ends in nanoseconds, and the first time and the rate.
pub type NewTrack = (String, (PyBackedBytes, Vec<String>, Vec<u32>), (Vec<i64>, Vec<i64>), (i64, (u32, u32)));

/// The time of each frame, and its place in the source.
type FrameTimes = Vec<(i64, Option<u32>)>;

/// The JPEGs of a clip, and how many of them were and were not retiled.
type Encoded = (Vec<Vec<u8>>, [u64; 2]);

/// How clips are stored. Every key must be there.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(from_item_all)]
pub struct StoreOptions {
    quality: u8,
    retile: bool,
    shard_bytes: u64,
    threads: usize,
}

/// A data set that is being written. It appears when it is finished, and not if it is dropped before.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Writer(PerProcess<Mutex<Option<OpenSet>>>);

#[pymethods]
impl Writer {
    /// `meta`: class names and settings, as JSON. `threads` of 0: one for each core.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, meta: &str, overwrite: bool, storing: StoreOptions) -> PyResult<Self> {
        let mut meta: Meta = from_json("settings", meta)?;
        meta.tool = concat!("vidrec ", env!("CARGO_PKG_VERSION")).into();
        let open = || OpenSet::create(path, WriterOptions { meta, overwrite }, storing);
        let words = |hint: Hint| match hint {
            Hint::Overwrite => "pass if_exists='replace' to replace it".into(),
            Hint::Resume | Hint::Restart => "resume or replace it with vidrec.pack".into(),
            other => argument(other),
        };
        let open = py.detach(open).map_err(|e| raise_worded(e, words))?;
        Ok(Writer(PerProcess::new(Mutex::new(Some(open)))))
    }

    /// Adds a clip, which a [`ClipInfo`] describes as JSON.
    fn add(
        &self,
        py: Python<'_>,
        clip: &str,
        times: FrameTimes,
        pictures: Pictures,
        tracks: Vec<NewTrack>,
    ) -> PyResult<()> {
        let clip: ClipInfo = from_json("fields", clip)?;
        self.with(py, |set| set.as_mut().ok_or_else(closed)?.add(clip, times, pictures, tracks))
    }

    /// Publishes the data set. The report as JSON, and how many JPEGs were and were not retiled.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, [u64; 2])> {
        let mut set = self.with(py, |set| set.take().ok_or_else(closed))?;
        let (written, retiled) = py
            .detach(|| {
                while !set.waiting.is_empty() {
                    set.write_first()?;
                }
                Ok((set.writer.finish()?, set.retiled))
            })
            .map_err(raise)?;
        Ok((to_json(&written)?, retiled))
    }

    /// Drops what was written.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |set| {
            drop(set.take());
            Ok(())
        })
    }
}

impl Writer {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<OpenSet>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let set = self.0.get()?;
        py.detach(|| work(&mut set.lock())).map_err(raise)
    }
}

fn closed() -> Error {
    Error::usage("the writer is closed")
}

/// A data set that grows, and the clips whose frames are being encoded.
struct OpenSet {
    // Declared first: its threads end before the rest goes.
    pool: ThreadPool,
    writer: vidrec::Writer,
    storing: StoreOptions,
    waiting: VecDeque<WaitingClip>,
    waiting_bytes: usize,
    /// The length of the record files when the open shard began.
    shard_start: u64,
    retiled: [u64; 2],
}

/// A clip in its place among the others, whose JPEGs come from a thread.
struct WaitingClip {
    clip: ClipInfo,
    times: FrameTimes,
    tracks: Vec<EncodedTrack>,
    jpegs: Receiver<Result<Encoded>>,
    bytes: usize,
}

impl OpenSet {
    fn create(path: PathBuf, options: WriterOptions, storing: StoreOptions) -> Result<Self> {
        // A panic in a thread becomes an error, because its clip never comes.
        let pool = ThreadPoolBuilder::new().num_threads(storing.threads).panic_handler(|_| ()).build();
        let pool = pool.map_err(|e| Error::start_pool(storing.threads, e))?;
        let (writer, waiting) = (vidrec::Writer::create(path, options)?, VecDeque::new());
        Ok(OpenSet { pool, writer, storing, waiting, waiting_bytes: 0, shard_start: 0, retiled: [0; 2] })
    }

    /// Checks a clip, and lets a thread encode its frames. A clip that is refused leaves no trace.
    fn add(&mut self, clip: ClipInfo, times: FrameTimes, pictures: Pictures, tracks: Vec<NewTrack>) -> Result<()> {
        let ordinal = self.writer.clips() + self.waiting.len() as u64;
        let checked = || {
            let tracks =
                tracks.into_iter().map(|new| track(new)?.encode(times.len() as u32)).collect::<Result<Vec<_>>>()?;
            self.writer.join_tracks(tracks.iter().map(|track| &track.schema))?;
            Ok((pictures.size()?, tracks))
        };
        let ((width, height), tracks) = checked().map_err(|e: Error| e.in_clip(ordinal))?;
        let bytes = pictures.bytes();
        while self.waiting.len() >= 2 * self.pool.current_num_threads()
            || (!self.waiting.is_empty() && self.waiting_bytes + bytes > MAX_WAITING_BYTES)
        {
            self.write_first()?;
        }
        let ((send, jpegs), storing) = (sync_channel(1), self.storing);
        self.pool.spawn(move || drop(send.send(pictures.into_jpegs(storing))));
        self.waiting_bytes += bytes;
        self.waiting.push_back(WaitingClip { clip: ClipInfo { width, height, ..clip }, times, tracks, jpegs, bytes });
        Ok(())
    }

    /// Writes the clip that waits longest. After an error it still waits, so that nothing is written without it.
    fn write_first(&mut self) -> Result<()> {
        let ordinal = self.writer.clips();
        let Some(WaitingClip { clip, times, tracks, jpegs, bytes }) = self.waiting.front() else { return Ok(()) };
        let failed = |_| Error::internal("an earlier clip could not be written").in_clip(ordinal);
        let (jpegs, retiled) = jpegs.recv().map_err(failed)?.map_err(|e| e.in_clip(ordinal))?;
        let frames = jpegs.iter().zip(times);
        let frames: Vec<_> = frames.map(|(jpeg, &(pts, source_index))| FrameData { jpeg, pts, source_index }).collect();
        let tracks: Vec<_> = tracks.iter().map(EncodedTrack::payload).collect();
        self.writer.append_payloads(clip, &frames, &tracks)?;
        if self.writer.bytes() - self.shard_start >= self.storing.shard_bytes {
            self.writer.next_shard()?;
            self.shard_start = self.writer.bytes();
        }
        self.retiled.iter_mut().zip(retiled).for_each(|(all, more)| *all += more);
        self.waiting_bytes -= bytes;
        self.waiting.pop_front();
        Ok(())
    }
}

impl Pictures {
    fn bytes(&self) -> usize {
        match self {
            Pictures::Rgb(pixels, ..) => pixels.len(),
            Pictures::Jpegs(jpegs) => jpegs.iter().map(|jpeg| jpeg.len()).sum(),
        }
    }

    /// The width and height of all frames; 0 where they differ, and where there are none.
    fn size(&self) -> Result<(u32, u32)> {
        let jpegs = match self {
            Pictures::Rgb(_, width, height) => return Ok((*width, *height)),
            Pictures::Jpegs(jpegs) => jpegs,
        };
        let mut decoder = Decoder::new()?;
        let header = |(t, jpeg): (usize, &PyBackedBytes)| decoder.header(jpeg).map_err(|e| e.in_frame(t as u32));
        let headers = jpegs.iter().enumerate().map(header).collect::<Result<Vec<_>>>()?;
        let mut sizes = headers.iter().map(|header| (header.width, header.height));
        let first = sizes.next().unwrap_or((0, 0));
        Ok(if sizes.all(|size| size == first) { first } else { (0, 0) })
    }

    fn into_jpegs(self, storing: StoreOptions) -> Result<Encoded> {
        let (mut jpegs, mut retiled) = (Vec::new(), [0; 2]);
        match self {
            Pictures::Rgb(pixels, width, height) => {
                let mut encoder = Encoder::new(storing.quality)?;
                encoder.set_effort(Encoder::MAX_EFFORT)?;
                for frame in pixels.chunks_exact((width as usize * height as usize * 3).max(1)) {
                    let mut jpeg = Vec::new();
                    encoder.encode(&Planes::from_rgb(frame, width, height)?, &mut jpeg)?;
                    jpegs.push(jpeg);
                }
            }
            Pictures::Jpegs(given) if storing.retile => {
                let mut retiler = Retiler::new()?;
                for (t, jpeg) in given.iter().enumerate() {
                    let tiled = retiler.retile(jpeg).map_err(|e| e.in_frame(t as u32))?;
                    retiled[0] += u64::from(matches!(tiled, Retiled::Tiled(_)));
                    retiled[1] += u64::from(tiled == Retiled::Unfit);
                    jpegs.push(if let Retiled::Tiled(tiled) = tiled { tiled.to_vec() } else { jpeg.to_vec() });
                }
            }
            Pictures::Jpegs(given) => jpegs = given.iter().map(|jpeg| jpeg.to_vec()).collect(),
        }
        Ok((jpegs, retiled))
    }
}

pub fn track((schema, (numbers, texts, lists), (starts, ends), (first_ns, rate)): NewTrack) -> Result<Track> {
    let schema: TrackSchema = serde_json::from_str(&schema).map_err(|e| Error::usage(format!("tracks: {e}")))?;
    let TrackSchema { name, kind, shape, timing, nan, list } = schema;
    let values = TrackValues::of_bytes(kind, &numbers).unwrap_or(TrackValues::Texts(texts));
    let times = match timing {
        TrackTiming::Frames => TrackTimes::Frames,
        TrackTiming::Times => TrackTimes::Times(starts),
        TrackTiming::Spans => TrackTimes::Spans { starts, ends },
        TrackTiming::Rate => TrackTimes::Rate { first_ns, rate },
    };
    Ok(Track { name, values, shape, times, nan, lists: list.then_some(lists), ..Track::default() })
}
