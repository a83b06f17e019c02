//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan (inputs.rs, manifest.rs) -> one video each thread (clip.rs) -> ordered writer (ordered.rs, run.rs)
//! ```
//!
//! What is done is noted in a journal (journal.rs, outcome.rs), from which an interrupted run is resumed (resume.rs), if
//! its inputs and settings are still the same (fingerprint.rs).

mod clip;
mod existing;
mod fingerprint;
mod inputs;
mod isolate;
mod journal;
mod manifest;
mod ordered;
mod outcome;
mod policy;
mod report;
mod resume;
mod run;
mod wire;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub use clip::PackStage;
pub use inputs::{Item, Plan};
pub use isolate::serve;
pub use policy::{Interrupted, MaxFailures, OnError, Shards};
pub use report::{Failure, PackReport, Progress, Warning};

use crate::folder_lock::FolderLock;
use crate::format::meta::Meta;
use crate::sampler::{Rule, Short};
use crate::video::{self, FrameSize};
use crate::{Error, Result, limits};

use existing::Existing;
use fingerprint::{RunFingerprint, Stamp};
use isolate::Pool;
use journal::Summary;
use resume::Start;
use run::{LastCommit, Packed, Run};

/// How videos are packed. The same inputs and options give the same bytes, whatever `threads` is.
#[derive(Debug, Clone)]
pub struct PackOptions {
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
    /// Seed of [`Rule::Random`]. Default 0.
    pub seed: u64,
    /// Videos that are decoded at a time; `None`: one for each core.
    pub threads: Option<usize>,
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
            frames: 8,
            rule: Rule::Uniform,
            short: Short::RepeatLast,
            size: FrameSize::ShortSide(256),
            quality: 90,
            seed: 0,
            threads: None,
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

/// Packs `inputs` into the data set directory `out`.
///
/// An input is a directory (the class is the name of the first folder level), a video file, or a manifest (`.csv` or
/// `.tsv` with a header that names the columns `path` and, if there are labels, `label`). Clips stand in the order of the inputs;
/// within a directory, in the order of the paths. `progress` is called after each video, from this thread.
///
/// A video that cannot be packed is left out whole and listed in `failures.jsonl`. If none can be packed, no data set
/// is made: the report then says `clips: 0`.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): no videos found, a bad line in a manifest, a data set is there already.
/// [`Decode`](crate::ErrorKind::Decode): a video failed and `on_error` is [`OnError::Stop`].
/// [`Io`](crate::ErrorKind::Io): the output cannot be written. [`Interrupted`](crate::ErrorKind::Interrupted): see
/// [`PackOptions::cancel`]. On an error no data set is published, but what was done is kept, if it was brought to the disk:
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
    let plan = Plan::from_inputs(inputs)?;
    let out = out.as_ref();
    let meta = Meta {
        classes: plan.classes.clone(),
        tool: tool(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: all_settings(options),
    };
    let mode = options.retry_failed.then_some("retry what failed");
    let fingerprint = RunFingerprint::new(&plan, &meta, mode, options.overwrite);
    let pool = options.isolate.as_deref().map(|command| Pool::start(command, options)).transpose()?;
    let lock = FolderLock::take(out)?;
    let found = resume::find(out)?;
    let existing = existing_set(out, &plan, options, &fingerprint, found.as_ref())?;
    if let Some(existing) = existing.as_ref().filter(|e| !options.retry_failed || !e.has_failures()) {
        return existing.report(&plan);
    }
    let (writer, journal, report) = match resume::start(out, lock, found, &plan, meta, &fingerprint, options)? {
        Start::At(start) => *start,
        Start::Published(report) => return Ok(*report),
    };
    let sources = Sources::new(&plan, options, existing.as_ref(), pool.as_ref());
    let last_commit = LastCommit { at: Instant::now(), videos: report.videos(), bytes: writer.bytes() };
    let first = usize::try_from(report.videos()).unwrap_or(usize::MAX);
    let mut run = Run { plan: &plan, options, writer, journal, report, progress, last_commit, stopped: None };
    let work = |ordinal: usize| sources.pack(ordinal);
    let cancelled = || options.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed));
    let threads = options.threads.unwrap_or_else(available_cores).clamp(1, plan.items.len().max(1));
    let window = threads * IN_FLIGHT_PER_THREAD;
    ordered::for_each(first..plan.items.len(), threads, window, cancelled, work, |ordinal, packed| {
        run.take(ordinal, packed)
    });
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

/// Where the clip of each video comes from.
struct Sources<'a> {
    plan: &'a Plan,
    options: &'a PackOptions,
    /// When what failed is retried: the data set that was packed before, and the clip of each video that did not fail.
    packed: Option<(&'a Existing, Vec<Option<u64>>)>,
    /// The processes that decode, if not this one does.
    pool: Option<&'a Pool<'a>>,
}

impl<'a> Sources<'a> {
    fn new(
        plan: &'a Plan,
        options: &'a PackOptions,
        existing: Option<&'a Existing>,
        pool: Option<&'a Pool<'a>>,
    ) -> Self {
        let packed = existing.map(|e| (e, e.sources(plan).map(|(_, s)| s.ok()).collect()));
        Sources { plan, options, packed, pool }
    }

    fn pack(&self, ordinal: usize) -> Packed {
        let item = &self.plan.items[ordinal];
        let stamp = Stamp::of(&item.path);
        let copied = self.packed.as_ref().and_then(|(set, clips)| Some((set, clips[ordinal]?)));
        let clip = match (copied, self.pool) {
            (Some((set, clip)), _) => set.copy(clip),
            (None, Some(pool)) => pool.pack(item, ordinal as u64),
            (None, None) => clip::pack_one(item, ordinal as u64, self.options),
        };
        Packed { stamp, clip }
    }
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
    if options.rule == (Rule::Clip { stride: 0 }) {
        return Err(Error::usage("the stride must be at least 1"));
    }
    crate::jpeg::Encoder::new(options.quality).map(drop)
}

fn tool() -> String {
    concat!("vidrec ", env!("CARGO_PKG_VERSION")).into()
}

/// Everything that determines the bytes, as it is stored.
fn all_settings(options: &PackOptions) -> Map<String, Value> {
    let mut settings = settings(options);
    policy::add_to_settings(options, &mut settings);
    settings
}

/// The options that determine the bytes of clips, as they are stored.
fn settings(options: &PackOptions) -> Map<String, Value> {
    let size = match options.size {
        FrameSize::ShortSide(side) => json!({"short_side": side}),
        FrameSize::Exact { width, height } => json!({"width": width, "height": height}),
        FrameSize::Original => json!("original"),
    };
    let mut map = Map::new();
    map.insert("frames".into(), options.frames.into());
    map.insert("sample".into(), options.rule.to_string().into());
    map.insert("short".into(), options.short.to_string().into());
    map.insert("size".into(), size);
    map.insert("scaling".into(), "bicubic".into());
    map.insert("quality".into(), options.quality.into());
    map.insert("chroma".into(), "4:2:0".into());
    map.insert("seed".into(), options.seed.into());
    map
}

/// Name of the list of videos that were left out.
const FAILURES: &str = "failures.jsonl";
