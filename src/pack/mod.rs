//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan (inputs.rs, manifest.rs) -> one video each thread (clip.rs) -> ordered writer (ordered.rs)
//! ```

mod clip;
mod inputs;
mod manifest;
mod ordered;
mod report;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub use clip::PackStage;
pub use inputs::{Item, Plan};
pub use report::{Failure, PackReport, Progress, Warning};

use crate::format::meta::Meta;
use crate::sampler::{Rule, Short};
use crate::video::{self, FrameSize};
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
    let plan = Plan::from_inputs(inputs)?;
    let out = out.as_ref();
    let meta = Meta {
        classes: plan.classes.clone(),
        tool: concat!("vidrec ", env!("CARGO_PKG_VERSION")).into(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: settings(options),
        ..Meta::default()
    };
    let writer = Writer::create(out, WriterOptions { meta, overwrite: options.overwrite })?;
    let mut run = Run { writer, report: PackReport::new(&plan), progress, total: plan.items.len() as u64, fatal: None };
    let threads = options.threads.unwrap_or_else(available_cores).clamp(1, plan.items.len().max(1));
    let work = |ordinal: usize| clip::pack_one(&plan.items[ordinal], ordinal as u64, options);
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
    if options.rule == (Rule::Clip { stride: 0 }) {
        return Err(Error::usage("the stride must be at least 1"));
    }
    crate::jpeg::Encoder::new(options.quality).map(drop)
}

/// The options that determine the bytes, as they are stored.
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

/// One run of the packer, on the writing side.
struct Run<'a> {
    writer: Writer,
    report: PackReport,
    progress: &'a mut dyn FnMut(&Progress),
    total: u64,
    fatal: Option<Error>,
}

impl Run<'_> {
    fn take(
        &mut self,
        item: &Item,
        packed: std::result::Result<clip::PackedClip, clip::ClipFailure>,
        on_error: OnError,
    ) -> ControlFlow<()> {
        match packed {
            Ok(packed) => {
                if let Err(e) = self.write(item, packed) {
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
            videos: self.report.clips + self.report.failed,
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
