//! A new data set, clip by clip.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use vidrec::jpeg::{Decoder, Encoder, Retiled, Retiler};
use vidrec::{
    ClipInfo, EncodedTrack, Error, FrameData, Hint, Meta, Planes, Result, Track, TrackNumber, TrackSchema, TrackTimes,
    TrackTiming, TrackType, TrackValues, WriteReport, WriterOptions,
};

use crate::error::{argument, raise, raise_worded, refuse, to_json, usage};
use crate::per_process::PerProcess;

/// The most bytes of pictures that wait for their encoding or for clips before them, unless one clip has more.
const MAX_WAITING_BYTES: usize = 1 << 30;

/// The pictures of a clip: RGB of a width and a height, one frame after the other, or JPEGs.
#[derive(FromPyObject)]
pub enum Pictures {
    Rgb(PyBackedBytes, u32, u32),
    Jpegs(Vec<PyBackedBytes>),
}

/// The schema of a track as JSON, its numbers or texts, times and ends in nanoseconds, and the first time and the rate.
type NewTrack = (String, (Option<PyBackedBytes>, Option<Vec<String>>), (Vec<i64>, Vec<i64>), Option<(i64, (u32, u32))>);

/// How clips are stored. Every key must be there.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Storing {
    quality: u8,
    retile: bool,
    shard_bytes: u64,
    threads: Option<usize>,
}

/// A data set that is being written. It is there when it is finished, and never if it is dropped before.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Writer(PerProcess<Mutex<Option<OpenSet>>>);

#[pymethods]
impl Writer {
    /// `meta`: class names and settings, as JSON.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, meta: &str, overwrite: bool, storing: Storing) -> PyResult<Self> {
        let mut meta: Meta = serde_json::from_str(meta).map_err(|e| usage(format!("settings: {e}")))?;
        meta.tool = concat!("vidrec ", env!("CARGO_PKG_VERSION")).into();
        Encoder::new(storing.quality).map_err(|e| refuse("quality", &e))?;
        let open = || OpenSet::create(path, WriterOptions { meta, overwrite }, storing);
        let open = py.detach(open).map_err(|e| raise_worded(e, words))?;
        Ok(Writer(PerProcess::new(Mutex::new(Some(open)))))
    }

    /// Adds a clip that a [`ClipInfo`] describes as JSON, with the time of each frame and its place in the source.
    fn add(
        &self,
        py: Python<'_>,
        clip: &str,
        times: Vec<(i64, Option<u32>)>,
        pictures: Pictures,
        tracks: Vec<NewTrack>,
    ) -> PyResult<()> {
        let clip: ClipInfo = serde_json::from_str(clip).map_err(|e| usage(format!("fields: {e}")))?;
        let tracks = tracks.into_iter().map(track).collect::<Result<Vec<_>>>().map_err(raise)?;
        let state = self.0.get()?;
        let add = || match &mut *state.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(set) => set.add(clip, times, pictures, &tracks),
            None => Err(closed()),
        };
        py.detach(add).map_err(raise)
    }

    /// Publishes the data set. The report, as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.0.get()?;
        let set = state.lock().unwrap_or_else(PoisonError::into_inner).take();
        to_json(&py.detach(|| set.ok_or_else(closed)?.finish()).map_err(raise)?)
    }

    /// Drops what was written.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.0.get()?;
        py.detach(|| drop(state.lock().unwrap_or_else(PoisonError::into_inner).take()));
        Ok(())
    }
}

/// A hint as what to pass to a writer.
fn words(hint: Hint) -> String {
    match hint {
        Hint::Overwrite => "pass if_exists='replace' to replace it".into(),
        Hint::Resume | Hint::Restart => "resume or replace it with vidrec.pack".into(),
        other => argument(other),
    }
}

fn closed() -> Error {
    Error::usage("the writer is closed")
}

/// A data set that grows, and the clips whose pictures are being encoded.
struct OpenSet {
    // Declared first: its threads end before the rest goes.
    pool: ThreadPool,
    writer: vidrec::Writer,
    storing: Storing,
    waiting: VecDeque<WaitingClip>,
    waiting_bytes: usize,
    /// The length of the record files when the open shard began.
    shard_start: u64,
    is_broken: bool,
    retiled: u64,
    not_retiled: u64,
}

/// A clip in its place among the others, whose JPEGs come from a thread.
struct WaitingClip {
    clip: ClipInfo,
    times: Vec<(i64, Option<u32>)>,
    tracks: Vec<EncodedTrack>,
    jpegs: Receiver<Result<Jpegs>>,
    bytes: usize,
}

#[derive(Default)]
struct Jpegs {
    jpegs: Vec<Vec<u8>>,
    retiled: u64,
    not_retiled: u64,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    written: WriteReport,
    retiled: u64,
    not_retiled: u64,
}

impl OpenSet {
    fn create(path: PathBuf, options: WriterOptions, storing: Storing) -> Result<Self> {
        // A panic in a thread becomes an error, because its clip never comes.
        let pool = ThreadPoolBuilder::new().num_threads(storing.threads.unwrap_or(0)).panic_handler(|_| ()).build();
        let pool = pool.map_err(|e| Error::start_pool(storing.threads.unwrap_or(0), e))?;
        let (waiting, writer) = (VecDeque::new(), vidrec::Writer::create(path, options)?);
        let (waiting_bytes, shard_start, is_broken, retiled, not_retiled) = (0, 0, false, 0, 0);
        Ok(OpenSet { pool, writer, storing, waiting, waiting_bytes, shard_start, is_broken, retiled, not_retiled })
    }

    /// Checks a clip, and lets a thread encode its pictures. A clip that is refused leaves no trace.
    fn add(
        &mut self,
        clip: ClipInfo,
        times: Vec<(i64, Option<u32>)>,
        pictures: Pictures,
        tracks: &[Track],
    ) -> Result<()> {
        if self.is_broken {
            return Err(Error::usage("the writer cannot go on, because an earlier clip failed"));
        }
        let ordinal = self.writer.clips() + self.waiting.len() as u64;
        let (width, height) = pictures.size().map_err(|e| e.in_clip(ordinal))?;
        let tracks = tracks.iter().map(|track| track.encode(times.len() as u32)).collect::<Result<Vec<_>>>();
        let tracks = tracks.map_err(|e| e.in_clip(ordinal))?;
        self.writer.join_tracks(tracks.iter().map(|track| &track.schema)).map_err(|e| e.in_clip(ordinal))?;
        let bytes = pictures.bytes();
        while self.waiting.len() >= 2 * self.pool.current_num_threads()
            || (!self.waiting.is_empty() && self.waiting_bytes + bytes > MAX_WAITING_BYTES)
        {
            self.write_first()?;
        }
        let ((send, jpegs), storing) = (sync_channel(1), self.storing);
        // Nobody waits for it any more if the writer was dropped.
        self.pool.spawn(move || drop(send.send(pictures.into_jpegs(storing))));
        self.waiting_bytes += bytes;
        self.waiting.push_back(WaitingClip { clip: ClipInfo { width, height, ..clip }, times, tracks, jpegs, bytes });
        Ok(())
    }

    fn write_first(&mut self) -> Result<()> {
        let Some(WaitingClip { clip, times, tracks, jpegs, bytes }) = self.waiting.pop_front() else { return Ok(()) };
        self.is_broken = true;
        let ordinal = self.writer.clips();
        let ended = |_| Error::internal("a thread that encodes has ended");
        let made = jpegs.recv().map_err(ended).flatten().map_err(|e| e.in_clip(ordinal))?;
        self.waiting_bytes -= bytes;
        let frames = made.jpegs.iter().zip(times);
        let frames: Vec<_> = frames.map(|(jpeg, (pts, source_index))| FrameData { jpeg, pts, source_index }).collect();
        let tracks: Vec<_> = tracks.iter().map(EncodedTrack::payload).collect();
        self.writer.append_payloads(&clip, &frames, &tracks)?;
        if self.writer.bytes() - self.shard_start >= self.storing.shard_bytes {
            self.writer.next_shard()?;
            self.shard_start = self.writer.bytes();
        }
        (self.retiled, self.not_retiled) = (self.retiled + made.retiled, self.not_retiled + made.not_retiled);
        self.is_broken = false;
        Ok(())
    }

    fn finish(mut self) -> Result<Report> {
        if self.is_broken {
            return Err(Error::usage("the data set is incomplete, because a clip failed"));
        }
        while !self.waiting.is_empty() {
            self.write_first()?;
        }
        let OpenSet { writer, retiled, not_retiled, .. } = self;
        Ok(Report { written: writer.finish()?, retiled, not_retiled })
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
        let Pictures::Jpegs(jpegs) = self else {
            let Pictures::Rgb(_, width, height) = *self else { return Ok((0, 0)) };
            return Ok((width, height));
        };
        let mut decoder = Decoder::new()?;
        let size = |(t, jpeg): (usize, &PyBackedBytes)| {
            let header = decoder.header(jpeg).map_err(|e| e.in_frame(t as u32))?;
            Ok((header.width, header.height))
        };
        let sizes = jpegs.iter().enumerate().map(size).collect::<Result<Vec<_>>>()?;
        let first = sizes.first().copied().unwrap_or((0, 0));
        Ok(if sizes.iter().all(|size| *size == first) { first } else { (0, 0) })
    }

    fn into_jpegs(self, storing: Storing) -> Result<Jpegs> {
        let mut made = Jpegs::default();
        match self {
            Pictures::Rgb(pixels, width, height) => {
                let mut encoder = Encoder::new(storing.quality)?;
                encoder.set_effort(Encoder::MAX_EFFORT)?;
                encoder.start_clip();
                for frame in pixels.chunks_exact((width as usize * height as usize * 3).max(1)) {
                    let mut jpeg = Vec::new();
                    encoder.encode(&Planes::from_rgb(frame, width, height)?, &mut jpeg)?;
                    made.jpegs.push(jpeg);
                }
            }
            Pictures::Jpegs(jpegs) if storing.retile => {
                let mut retiler = Retiler::new()?;
                for (t, jpeg) in jpegs.iter().enumerate() {
                    let tiled = retiler.retile(jpeg).map_err(|e| e.in_frame(t as u32))?;
                    made.retiled += u64::from(matches!(tiled, Retiled::Tiled(_)));
                    made.not_retiled += u64::from(tiled == Retiled::Unfit);
                    made.jpegs.push(if let Retiled::Tiled(tiled) = tiled { tiled.to_vec() } else { jpeg.to_vec() });
                }
            }
            Pictures::Jpegs(jpegs) => made.jpegs = jpegs.iter().map(|jpeg| jpeg.to_vec()).collect(),
        }
        Ok(made)
    }
}

fn track((schema, (numbers, texts), (starts, ends), rate): NewTrack) -> Result<Track> {
    let schema: TrackSchema = serde_json::from_str(&schema).map_err(|e| Error::usage(format!("tracks: {e}")))?;
    let TrackSchema { name, kind, shape, timing, nan } = schema;
    let bytes = numbers.as_deref().unwrap_or_default();
    let values = match kind {
        TrackType::F32 => TrackValues::F32(all(bytes)),
        TrackType::F64 => TrackValues::F64(all(bytes)),
        TrackType::I16 => TrackValues::I16(all(bytes)),
        TrackType::I32 => TrackValues::I32(all(bytes)),
        TrackType::I64 => TrackValues::I64(all(bytes)),
        TrackType::U8 => TrackValues::U8(bytes.to_vec()),
        TrackType::U16 => TrackValues::U16(all(bytes)),
        TrackType::Bool => TrackValues::Bool(bytes.iter().map(|&byte| byte != 0).collect()),
        TrackType::Utf8 => TrackValues::Texts(texts.unwrap_or_default()),
    };
    let times = match (timing, rate) {
        (TrackTiming::Frames, _) => TrackTimes::Frames,
        (TrackTiming::Times, _) => TrackTimes::Times(starts),
        (TrackTiming::Spans, _) => TrackTimes::Spans { starts, ends },
        (TrackTiming::Rate, Some((first_ns, rate))) => TrackTimes::Rate { first_ns, rate },
        (TrackTiming::Rate, None) => return Err(Error::usage("a track at a rate has no rate").in_track(&name)),
    };
    Ok(Track { name, values, shape, times, nan, ..Track::default() })
}

fn all<T: TrackNumber>(bytes: &[u8]) -> Vec<T> {
    vidrec::raw::track::payload::numbers(bytes).into_owned()
}
