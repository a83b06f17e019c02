//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan (inputs.rs, folders.rs, manifest/, labels.rs) -> one video each thread (clip.rs, pictures.rs)
//!        -> ordered writer (ordered.rs)          estimate.rs: the same for a few videos, and nothing written
//! ```

mod attributes;
mod clip;
mod estimate;
mod folders;
mod inputs;
mod labels;
mod manifest;
mod memory;
mod ordered;
mod pictures;
mod read_ahead;
mod report;
mod segment;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub use attributes::Attributes;
pub use clip::PackStage;
pub use estimate::{Estimate, estimate};
pub use inputs::{InputOptions, Item, Plan};
pub use report::{Failure, PackReport, Progress, Warning};
pub use segment::Segment;

use memory::Memory;
use read_ahead::ReadAhead;

use crate::format::meta::Meta;
use crate::free_space::Watch;
use crate::sampler::{Pace, Rate, Rule, Short};
use crate::video::{self, Decode, FrameSize};
use crate::{Error, FrameData, Result, Writer, WriterOptions, atomic_file, limits};

/// What to do with a video that cannot be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Leave the video out, whole, and list it in the report and in `failures.jsonl`.
    #[default]
    Skip,
    /// Stop; nothing is published.
    Stop,
}

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
    /// Videos that are decoded at a time; `None`: one for each core.
    pub threads: Option<usize>,
    /// Threads that read the next files into the system's cache, apart from decoding; 0: none. Default 1.
    pub io_threads: usize,
    /// Bytes that all videos in work may take together, by an upper bound for each (compressed data that is kept, and all
    /// pictures that its decoder may hold): a video waits until there is room, and one that needs more runs alone.
    /// `None`: 480 MiB for each of `threads`. The clips that wait to be written, at most 3 for each thread, come on top.
    pub memory: Option<u64>,
    /// What to do with a video that cannot be packed.
    pub on_error: OnError,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// Longest time by the clock for one video. Default 10 minutes.
    pub timeout: Duration,
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
            threads: None,
            io_threads: 1,
            memory: None,
            on_error: OnError::Skip,
            overwrite: false,
            timeout: Duration::from_secs(600),
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
/// [`Io`](crate::ErrorKind::Io): the output cannot be written. On an error no data set is published.
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
    estimate::check_space(&plan, out, options)?;
    let meta = Meta {
        classes: plan.classes.clone(),
        tool: concat!("vidrec ", env!("CARGO_PKG_VERSION")).into(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: settings(options),
        draws: Some(options.draws).filter(|&draws| draws > 1),
        ..Meta::default()
    };
    let writer = Writer::create(out, WriterOptions { meta, overwrite: options.overwrite })?;
    let (total, draws) = (plan.items.len() as u64, options.draws);
    let space = Watch::new(out);
    let mut run = Run { writer, report: PackReport::new(&plan), progress, total, draws, space, fatal: None };
    let threads = options.threads.unwrap_or_else(available_cores).clamp(1, plan.items.len().max(1));
    let memory = Memory::of(options);
    let paths = plan.items.iter().map(|item| item.path.clone()).collect();
    let ahead = ReadAhead::new(paths, options.io_threads, READ_AHEAD);
    let work = |i: usize| {
        ahead.begin(i);
        clip::pack_one(&plan.items[i], options, &memory)
    };
    ordered::for_each(plan.items.len(), threads, threads * IN_FLIGHT_PER_THREAD, work, |ordinal, packed| {
        run.take(&plan.items[ordinal], packed, options.on_error)
    });
    run.finish(out, started)
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

/// The options that determine the bytes, as they are stored. Those that are at rest are left out.
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

/// One run of the packer, on the writing side.
struct Run<'a> {
    writer: Writer,
    report: PackReport,
    progress: &'a mut dyn FnMut(&Progress),
    total: u64,
    draws: u32,
    space: Watch,
    fatal: Option<Error>,
}

impl Run<'_> {
    fn take(
        &mut self,
        item: &Item,
        packed: std::result::Result<Vec<clip::PackedClip>, clip::ClipFailure>,
        on_error: OnError,
    ) -> ControlFlow<()> {
        match packed {
            Ok(draws) => {
                if let Err(e) = draws.into_iter().try_for_each(|packed| self.write(item, packed)) {
                    self.fatal = Some(e);
                    return ControlFlow::Break(());
                }
            }
            Err(failure) => {
                let stops = on_error == OnError::Stop && failure.stage != PackStage::LeftOut;
                if stops {
                    self.fatal = Some(failure.to_error(&item.path));
                    return ControlFlow::Break(());
                }
                self.report.push_failure(item, &failure);
            }
        }
        (self.progress)(&Progress {
            videos: self.report.clips / u64::from(self.draws) + self.report.failed,
            total: self.total,
            frames: self.report.frames,
            bytes: self.writer.bytes(),
            failed: self.report.failed,
        });
        ControlFlow::Continue(())
    }

    fn write(&mut self, item: &Item, packed: clip::PackedClip) -> Result<()> {
        let frames: Vec<FrameData<'_>> = packed
            .frames
            .iter()
            .map(|f| FrameData { jpeg: &packed.jpegs[f.jpeg], pts: f.pts, source_index: Some(f.source_index) })
            .collect();
        self.writer.append(&packed.info, &frames)?;
        self.space.check(self.writer.bytes())?;
        self.report.push_clip(item, &packed);
        Ok(())
    }

    fn finish(self, out: &Path, started: Instant) -> Result<PackReport> {
        let Run { writer, mut report, fatal, .. } = self;
        if let Some(e) = fatal {
            return Err(e);
        }
        if report.clips > 0 {
            report.bytes = writer.finish()?.bytes;
        } else {
            drop(writer);
        }
        write_failures(out, &report.failures)?;
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }
}

/// Name of the list of videos that were left out.
const FAILURES: &str = "failures.jsonl";

fn write_failures(out: &Path, failures: &[Failure]) -> Result<()> {
    let path: PathBuf = out.join(FAILURES);
    if failures.is_empty() {
        return match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path, e)),
            _ => Ok(()),
        };
    }
    let mut lines = Vec::new();
    for failure in failures {
        serde_json::to_writer(&mut lines, failure).map_err(|e| Error::io("write", &path, e.into()))?;
        lines.push(b'\n');
    }
    atomic_file::write_file(&path, &lines)
}
