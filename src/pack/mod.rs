//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan (inputs.rs, folders.rs, manifest/, labels.rs) -> one video each thread (clip.rs, pictures.rs)
//!        -> ordered writer (ordered.rs, run.rs)  estimate.rs: the same for a few videos, and nothing written
//! ```
//!
//! What is done is noted in a journal (journal.rs, outcome.rs), from which an interrupted run is resumed (resume.rs), if
//! its inputs and settings are still the same (fingerprint.rs).

mod attributes;
mod clip;
mod endings;
mod estimate;
mod existing;
mod fault;
mod fingerprint;
mod folders;
mod gate;
mod inputs;
mod isolate;
mod journal;
mod labels;
mod manifest;
mod memory;
mod ordered;
mod outcome;
mod passed_over;
mod pictures;
mod policy;
mod read_ahead;
mod report;
mod resume;
mod run;
mod segment;
mod sources;
mod wire;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub use attributes::Attributes;
pub use clip::PackStage;
pub use estimate::{Estimate, estimate};
pub use inputs::{InputOptions, Item, Plan};
pub use isolate::serve;
pub use passed_over::PassedOver;
pub use policy::{Interrupted, MaxFailures, OnError, Shards};
pub use report::{Failure, PackReport, Progress, Warning};
pub use segment::{Segment, SegmentClock};

use crate::disk::free_space::Watch;
use crate::disk::{FolderLock, publication};
use crate::format::meta::Meta;
use crate::machine::Shortage;
use crate::sampler::{Pace, Rate, Rule, Short};
use crate::video::{self, Decode, FrameSize};
use crate::{Error, Result, limits};

use existing::Existing;
use fingerprint::RunFingerprint;
use gate::Slowed;
use isolate::Pool;
use journal::Summary;
use memory::Memory;
use read_ahead::ReadAhead;
use resume::Start;
use run::{LastCommit, Run, Stop};
use sources::Sources;

/// How videos are packed. The same inputs and options give the same bytes, whatever `threads` is.
#[derive(Debug, Clone)]
pub struct PackOptions {
    /// How inputs are read.
    pub input: InputOptions,
    /// Frames a clip. Default 8.
    pub frames: u32,
    /// Which frames. Default [`Rule::Uniform`]: the centres of equal segments.
    pub rule: Rule,
    /// What to do with a video of fewer frames than asked for. Default [`Short::RepeatLast`].
    pub short: Short,
    /// Size of the stored frames. Default: short side 256, never enlarged.
    pub size: FrameSize,
    /// JPEG quality, 1 to 100. Default 90.
    pub quality: u8,
    /// Gives each JPEG Huffman tables of its own: smaller files, the same pixels, slower. Off by default.
    pub optimize: bool,
    /// How much of each video is decoded. Default: what the chosen frames need.
    pub decode: Decode,
    /// Seed of the random rules. Default 0.
    pub seed: u64,
    /// Take as many frames as the video has at this pace, instead of `frames` by `rule`; of a segment, from its first
    /// frame on. Clips then differ in length. Default `None`.
    pub pace: Option<Pace>,
    /// With `pace`: of more frames than these, so many are taken, spread evenly from the first to the last. Default
    /// `None`.
    pub max_frames: Option<u32>,
    /// Independent draws of each video by a random `rule`; each is a clip, side by side with its siblings. Default 1.
    pub draws: u32,
    /// Store the JPEGs of folders of pictures as they are, without decoding and scaling. Off by default.
    pub pass_through: bool,
    /// How many pictures of a folder make a second. Default `None`: picture `i` counts as shown at second `i`, and
    /// nothing can be chosen by time.
    pub picture_rate: Option<Rate>,
    /// The clock of the segments that manifests give. Default: a player's.
    pub segment_clock: SegmentClock,
    /// Videos that are decoded at a time; `None`: one for each core.
    pub threads: Option<usize>,
    /// Threads that read the next files into the system's cache, apart from decoding; 0: none. Default 1.
    pub io_threads: usize,
    /// Bytes that all videos in work may take together. Counted are, of each that is decoded, an upper bound for its
    /// compressed data that is kept, all pictures that its decoder may hold and the one being stored; and all JPEGs until
    /// they are written, of at most 3 videos for each thread. A video waits until there is room, and one that needs more
    /// than there is decodes alone. `None`: 480 MiB for each of `threads`.
    ///
    /// A video that has begun is finished, so the JPEGs of those being decoded, whose number is known only then, may go
    /// over it. Not counted: folders of pictures while they are read (one picture a thread), and the processes of
    /// `isolate`, of which each decodes one video whatever it needs.
    pub memory: Option<u64>,
    /// What to do with a video that cannot be packed.
    pub on_error: OnError,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// Longest time by the clock for one video. Default 10 minutes.
    pub timeout: Duration,
    /// Most pixels that a decoded picture may have; a video with more fails. Default: [`limits::MAX_PIXELS`].
    pub max_pixels: u64,
    /// Longest video, by the times of its frames; a longer one fails. Default: any.
    pub max_duration: Option<Duration>,
    /// How many videos may fail before the run stops. Default: any number.
    pub max_failures: Option<MaxFailures>,
    /// How clips are spread over shards. Default: one shard.
    pub shards: Shards,
    /// What to do with an interrupted run in the same folder. Default: refuse to begin.
    pub interrupted: Interrupted,
    /// Pack again only what failed when the data set in the folder was packed from the same inputs. Off by default.
    ///
    /// The clips that are there are copied, checked and not decoded, and the new ones stand at their places in the order of
    /// the inputs, so the result is that of a run in which they had not failed. It replaces the data set when it is whole.
    pub retry_failed: bool,
    /// How often what is done is brought to the disk, so that a crash costs no more. Default: 10 seconds. (Also after
    /// each 1 GiB.)
    pub commit_every: Duration,
    /// Decode in processes of their own, so that a codec that crashes costs one video, and one that hangs is killed after
    /// `timeout`: the command line of a program that calls [`serve`] with these options. The bytes are the same. Off by
    /// default.
    pub isolate: Option<Vec<OsString>>,
    /// When this becomes true, the videos in hand are finished and [`pack`] ends with
    /// [`Interrupted`](crate::ErrorKind::Interrupted); the run can be resumed.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for PackOptions {
    fn default() -> Self {
        PackOptions {
            input: InputOptions::default(),
            frames: 8,
            rule: Rule::Uniform,
            short: Short::RepeatLast,
            size: FrameSize::ShortSide(256),
            quality: 90,
            optimize: false,
            decode: Decode::Needed,
            seed: 0,
            pace: None,
            max_frames: None,
            draws: 1,
            pass_through: false,
            picture_rate: None,
            segment_clock: SegmentClock::Player,
            threads: None,
            io_threads: 1,
            memory: None,
            on_error: OnError::Skip,
            overwrite: false,
            timeout: Duration::from_secs(600),
            max_pixels: limits::MAX_PIXELS,
            max_duration: None,
            max_failures: None,
            shards: Shards::One,
            interrupted: Interrupted::Refuse,
            retry_failed: false,
            commit_every: Duration::from_secs(10),
            isolate: None,
            cancel: None,
        }
    }
}

/// Videos held in memory, decoded but not yet written, for each thread.
const IN_FLIGHT_PER_THREAD: usize = 3;

/// Bytes of the next files that are read ahead.
const READ_AHEAD: u64 = 256 << 20;

/// Packs `inputs` into the data set directory `out`.
///
/// An input is a directory (the class is the name of the first folder level), a video file, or a manifest: `.csv` or
/// `.tsv` with a header that names the columns, `.jsonl`, `.txt` with a path and a label a line, MXNet's `.lst`, the
/// lists of Kinetics and Something-Something. Clips stand in the order of the inputs; within a directory, in the order
/// of the paths. `progress` is called after each video, from this thread.
///
/// A video that cannot be packed is left out whole and listed in `failures.jsonl`. If none can be packed, no data set
/// is made: the report then says `clips: 0`.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): no videos found, a bad line in a manifest, a data set is there already.
/// [`Decode`](crate::ErrorKind::Decode): a video failed and `on_error` is [`OnError::Stop`].
/// [`Io`](crate::ErrorKind::Io): the output cannot be written. [`Interrupted`](crate::ErrorKind::Interrupted): see
/// [`PackOptions::cancel`]. [`Resources`](crate::ErrorKind::Resources): the machine has not enough memory, file descriptors
/// or processes to pack even one video at a time; where it has too little for `threads` at a time, there are fewer
/// ([`PackReport::shortage`]), and no video is left out for it. On an error no data set is published, but what was done is kept, if it was brought to the disk:
/// a call with the same inputs and options and [`Interrupted::Resume`] goes on with it, and the result is byte for byte
/// that of a run that was not interrupted.
///
/// ```no_run
/// use vidrec::pack::{PackOptions, pack};
///
/// let report = pack(&["videos"], "train", &PackOptions { frames: 16, ..PackOptions::default() }, &mut |_| ())?;
/// println!("{} clips, {} left out", report.clips, report.failed);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn pack<P: AsRef<Path>>(
    inputs: &[P],
    out: impl AsRef<Path>,
    options: &PackOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Result<PackReport> {
    let started = Instant::now();
    check_options(options)?;
    video::init();
    let plan = Plan::from_inputs(inputs, &options.input)?;
    let out = out.as_ref();
    let meta = Meta {
        classes: plan.classes.clone(),
        tool: tool(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: all_settings(options),
        draws: Some(options.draws).filter(|&draws| draws > 1),
        ..Meta::default()
    };
    let mode = options.retry_failed.then_some("retry what failed");
    let fingerprint = RunFingerprint::new(&plan, &meta, mode, options.overwrite);
    let pool = options.isolate.as_deref().map(|command| Pool::start(command, options)).transpose()?;
    let lock = FolderLock::take(out)?;
    publication::recover(out)?;
    let found = resume::find(out)?;
    let existing = existing_set(out, &plan, options, &fingerprint, found.as_ref())?;
    if let Some(existing) = existing.as_ref().filter(|e| !options.retry_failed || !e.has_failures()) {
        return existing.report(&plan);
    }
    // A probe decodes in this process, and in no other.
    if found.is_none() && existing.is_none() && pool.is_none() {
        estimate::check_space(&plan, out, options)?;
    }
    let (writer, journal, report) = match resume::start(out, lock, found, &plan, meta, &fingerprint, options)? {
        Start::At(start) => *start,
        Start::Published(report) => return Ok(*report),
    };
    let last_commit = LastCommit { at: Instant::now(), videos: report.videos(), bytes: writer.bytes() };
    let first = usize::try_from(report.videos()).unwrap_or(usize::MAX);
    let space = Watch::new(out);
    let mut run = Run { plan: &plan, options, writer, journal, report, progress, space, last_commit, stopped: None };
    let cancelled = || options.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed));
    let threads = options.threads.unwrap_or_else(available_cores).clamp(1, plan.items.len().max(1));
    let memory = Memory::of(options);
    let paths = plan.items.iter().map(|item| item.path.clone()).collect();
    let ahead = ReadAhead::new(paths, options.io_threads, READ_AHEAD);
    let sources = Sources::new(&plan, options, existing.as_ref(), pool.as_ref(), threads);
    let (window, work) = (threads * IN_FLIGHT_PER_THREAD, |i| sources.pack(i, &memory, &ahead));
    let packed = ordered::for_each(first..plan.items.len(), threads, window, cancelled, work, |ordinal, packed| {
        run.take(ordinal, packed)
    });
    let threads_started = match packed {
        Ok(started) => started,
        Err(e) => {
            run.stopped = Some(Stop::Orderly(Error::start("a thread", e)));
            0
        }
    };
    run.report.shortage = match sources.slowed() {
        None if (1..threads).contains(&threads_started) => {
            Some(Slowed { shortage: Shortage::Threads, most: threads_started })
        }
        slowed => slowed,
    }
    .map(|slowed| slowed.to_string());
    run.finish(out, started)
}

/// The finished data set that this run has to do with: all of it is there already, or what failed is to be retried.
fn existing_set(
    out: &Path,
    plan: &Plan,
    options: &PackOptions,
    fingerprint: &RunFingerprint,
    found: Option<&Summary>,
) -> Result<Option<Existing>> {
    // Half published, it can only be gone on with.
    if found.is_some_and(|f| f.complete.is_some()) {
        return Ok(None);
    }
    if options.retry_failed {
        let nothing = || {
            let e = Error::usage("there is no data set here of which to retry what failed");
            e.file(out).help("pack it first, with the same inputs and options")
        };
        return Existing::open(out, plan, fingerprint)?.map_or_else(|| Err(nothing()), |e| Ok(Some(e)));
    }
    let is_resumed = options.interrupted == Interrupted::Resume && found.is_none() && !options.overwrite;
    if is_resumed { Existing::open(out, plan, fingerprint) } else { Ok(None) }
}

fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn check_options(options: &PackOptions) -> Result<()> {
    if options.frames == 0 || options.frames > limits::MAX_FRAMES_PER_CLIP {
        return Err(Error::usage("frames a clip")
            .expected(format!("1 to {}", limits::MAX_FRAMES_PER_CLIP))
            .found(options.frames));
    }
    if options.rule.stride() == 0 || options.pace == Some(Pace::Every(0)) {
        return Err(Error::usage("the step from frame to frame must be at least 1"));
    }
    if options.max_frames.is_some_and(|max| max == 0 || max > limits::MAX_FRAMES_PER_CLIP) {
        return Err(Error::usage("the most frames a clip").expected(format!("1 to {}", limits::MAX_FRAMES_PER_CLIP)));
    }
    if options.draws == 0 || options.draws > MAX_DRAWS {
        return Err(Error::usage("draws of a video").expected(format!("1 to {MAX_DRAWS}")).found(options.draws));
    }
    if options.draws > 1 && (options.pace.is_some() || !options.rule.is_random()) {
        return Err(Error::usage("several draws of a video would all be the same")
            .help("choose a random rule: random or random-clip"));
    }
    crate::jpeg::Encoder::new(options.quality).map(drop)
}

/// More draws of a video than anybody trains epochs on it.
const MAX_DRAWS: u32 = 10_000;

fn tool() -> String {
    concat!("vidrec ", env!("CARGO_PKG_VERSION")).into()
}

/// Everything that determines the bytes, as it is stored.
fn all_settings(options: &PackOptions) -> Map<String, Value> {
    let mut settings = settings(options);
    policy::add_to_settings(options, &mut settings);
    settings
}

/// The options that determine the bytes of clips, as they are stored. Those that are at rest are left out.
fn settings(options: &PackOptions) -> Map<String, Value> {
    let size = match options.size {
        FrameSize::ShortSide(side) => json!({"short_side": side}),
        FrameSize::ShortSideAlways(side) => json!({"short_side": side, "enlarge": true}),
        FrameSize::Exact { width, height } => json!({"width": width, "height": height}),
        FrameSize::Original => json!("original"),
    };
    let mut map = Map::new();
    if let Some(pace) = options.pace {
        map.insert("sample".into(), pace.to_string().into());
        map.extend(options.max_frames.map(|max| ("max_frames".into(), max.into())));
    } else {
        map.insert("frames".into(), options.frames.into());
        map.insert("sample".into(), options.rule.to_string().into());
        map.insert("short".into(), options.short.to_string().into());
    }
    if options.draws > 1 {
        map.insert("draws".into(), options.draws.into());
    }
    if options.pass_through {
        map.insert("pass_through".into(), true.into());
    }
    map.extend(options.picture_rate.map(|rate| ("picture_fps".into(), rate.to_string().into())));
    if options.segment_clock != SegmentClock::default() {
        map.insert("segment_clock".into(), options.segment_clock.to_string().into());
    }
    map.extend(options.input.shuffle_seed.map(|seed| ("shuffle_seed".into(), seed.into())));
    map.insert("size".into(), size);
    map.insert("scaling".into(), "bicubic".into());
    map.insert("quality".into(), options.quality.into());
    map.insert("chroma".into(), "4:2:0".into());
    if options.optimize {
        map.insert("optimize".into(), true.into());
    }
    if options.decode == Decode::All {
        map.insert("decode".into(), "all".into());
    }
    map.insert("seed".into(), options.seed.into());
    map
}
