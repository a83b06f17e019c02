//! An estimate of what a pack would produce, from a few of the videos, before a day is spent on it. Nothing is
//! written.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::options::PackOptions;
use super::plan::{IgnoredFiles, Job, ManifestColumns, PackPlan};
use super::serve::pool;
use super::shards::{PackReport, of_failed, of_packed};
use super::work::{
    ClipRecipe, Event, Failure, PackResult, PackedVideo, Pool, Resources, Sources, VideoStore, for_each,
};
use crate::video;
use vidrec_core::progress::{Progress, ProgressFn, tell};
use vidrec_core::store::disk::folder::free_space;
use vidrec_format::error::{Error, Result};

/// The most videos that are packed for an estimate.
const PROBES: u32 = 24;
/// After this time, no other video is begun.
const PROBE_TIME: Duration = Duration::from_secs(20);

/// Bytes of a frame besides its JPEG: record and header, padding, index entry.
const BYTES_PER_FRAME: u64 = 8 + 24 + 2 + 32;

/// Bytes of a clip besides its frames and attributes: index entry and names.
const BYTES_PER_CLIP: u64 = 96 + 32;

/// The estimate of what a pack would produce. The program prints it as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The number of videos, folders of images and segments to be packed.
    pub videos: u64,
    /// The number of these that have a label or labels.
    pub labeled: u64,
    /// The number of classes that have a name.
    pub classes: u64,
    /// Files in the input folders that are neither videos nor frames, by kind.
    pub passed_over: Vec<IgnoredFiles>,
    /// The meaning that vidrec gave each column of each manifest.
    pub manifests: Vec<ManifestColumns>,
    /// Further notes on the inputs, as in [`PackPlan::notes`].
    pub notes: Vec<String>,
    /// Files that the inputs list but that do not exist.
    pub missing: Vec<String>,
    /// The number of videos that were packed in memory for this estimate.
    pub probed: u64,
    /// Those of the probed videos that cannot be packed.
    pub probe_failures: Vec<Failure>,
    /// The number of videos that will fail: the missing ones, and of the others the same share as of the probed
    /// ones.
    pub failed: u64,
    /// The number of clips that will be stored.
    pub clips: u64,
    /// The number of frames that will be stored.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Mean length of a JPEG in bytes; 0 if there is none.
    pub jpeg_bytes: u64,
    /// Mean PSNR in dB of the luma of the probed videos' JPEGs, against the images after scaling. `None` if no JPEG was made.
    pub psnr: Option<f64>,
    /// The wall-clock time that the pack will take, in seconds.
    pub seconds: f64,
    /// Free bytes where the data set is to be stored.
    pub free_bytes: u64,
}

/// Estimates what [`pack`](super::pack) would produce.
///
/// It packs 24 videos spread over the inputs, or as many of them as can be begun in 20 seconds. `progress` is
/// called with the number of videos done, at least ten times a second.
///
/// # Errors
///
/// The errors of `pack` for inputs and options, the machine cannot pack even one video at a time, or `progress`
/// stopped the estimate. Videos that fail are not an error.
///
/// ```no_run
/// use vidrec::pack::{PackOptions, estimate};
///
/// let estimate = estimate(&["videos"], "train", &PackOptions::default(), &mut vidrec::no_progress)?;
/// println!("about {} bytes, {} are free", estimate.bytes, estimate.free_bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn estimate<P: AsRef<Path>>(
    inputs: &[P],
    out: impl AsRef<Path>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Estimate> {
    options.check()?;
    video::init();
    let plan = PackPlan::from_inputs(inputs, &options.input)?;
    let (present, missing): (Vec<&Job>, Vec<&Job>) = plan.jobs.iter().partition(|job| !job.is_missing());
    let pool = pool(&plan.tracks, options)?;
    let n = u32::try_from(present.len()).unwrap_or(u32::MAX);
    let chosen = vidrec_format::sampler::uniform(n, PROBES.min(n)).into_iter().map(|i| present[i as usize]);
    let Probe { report, bytes, jpeg_bytes, busy } =
        probe(&chosen.collect::<Vec<_>>(), &plan, options, pool.as_ref(), progress)?;
    let probed = report.videos();
    let share = |amount: f64| if probed == 0 { 0.0 } else { amount * present.len() as f64 / probed as f64 };
    let videos = plan.jobs.len() as u64;
    let failed = missing.len() as u64 + share(report.failed as f64).round() as u64;
    let labeled = plan.jobs.iter().filter(|job| job.label.is_some() || has_labels(job)).count();
    Ok(Estimate {
        videos,
        labeled: labeled as u64,
        classes: plan.classes.len() as u64,
        passed_over: plan.passed_over.clone(),
        manifests: plan.manifests.clone(),
        notes: plan.notes.iter().cloned().chain(pool.as_ref().and_then(Pool::note)).collect(),
        missing: missing.iter().map(|job| job.source.clone()).collect(),
        probed,
        failed,
        clips: (videos - failed.min(videos)) * u64::from(options.frames.draws),
        frames: share(report.frames as f64).round() as u64,
        bytes: share(bytes as f64).round() as u64,
        jpeg_bytes: jpeg_bytes.checked_div(report.frames).unwrap_or(0),
        psnr: report.psnr,
        seconds: share(busy.as_secs_f64()) / options.resources.threads_for(present.len()) as f64,
        probe_failures: report.failures,
        free_bytes: free_space(out.as_ref())?,
    })
}

/// Whether a job has a list of labels among its attributes.
fn has_labels(job: &Job) -> bool {
    job.attributes.as_json().contains(r#""labels""#) && job.attributes.to_map().contains_key("labels")
}

/// The results of the videos of a sample.
#[derive(Default)]
struct Probe {
    report: PackReport,
    bytes: u64,
    jpeg_bytes: u64,
    /// The time that all threads together took.
    busy: Duration,
}

/// Packs the chosen videos in memory, or those of them that can be begun in time.
fn probe(
    chosen: &[&Job],
    plan: &PackPlan,
    options: &PackOptions,
    pool: Option<&Pool<'_>>,
    progress: &mut ProgressFn<'_>,
) -> Result<Probe> {
    let started = Instant::now();
    let threads = options.resources.threads_for(chosen.len());
    let store = VideoStore::new(&options.input.storage, threads);
    let recipe = ClipRecipe { measure: true, ..options.recipe(&store, &plan.tracks) };
    let sources = Sources::new(chosen, recipe, &options.resources, pool, threads);
    let work = |i: usize| {
        let begun = Instant::now();
        (i == 0 || started.elapsed() < PROBE_TIME).then(|| (sources.pack(i), begun.elapsed()))
    };
    let (mut probe, mut stopped) = (Probe::default(), None);
    let sink = |event: Event<Option<(PackResult<'_>, Duration)>>| {
        let added = match event {
            Event::Done(i, Some((packed, took))) => probe.add(chosen[i], packed, took),
            _ => Ok(()),
        };
        match added.and_then(|()| tell(progress, &probe.progress(chosen.len()))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                stopped = Some(e);
                ControlFlow::Break(())
            }
        }
    };
    let probed = for_each(chosen.len(), threads, Resources::window(threads), work, sink);
    probed.map_err(|e| Error::start("a thread", e))?;
    stopped.map_or(Ok(probe), Err)
}

impl Probe {
    fn progress(&self, total: usize) -> Progress {
        let PackReport { frames, failed, .. } = self.report;
        Progress { done: self.report.videos(), total: Some(total as u64), frames, failed, ..Progress::default() }
    }

    fn add(&mut self, job: &Job, packed: PackResult<'_>, took: Duration) -> Result<()> {
        self.busy += took;
        let report = match &packed.video {
            Err(failure) if failure.stops() => return Err(failure.to_error(&job.path)),
            Err(failure) => of_failed(Failure::new(job.ordinal, job, failure)),
            Ok(video) => {
                self.add_bytes(video);
                of_packed(job, video)
            }
        };
        self.report.add(&report);
        Ok(())
    }

    fn add_bytes(&mut self, video: &PackedVideo) {
        for clip in &video.clips {
            let jpegs: u64 = clip.frames.iter().map(|frame| video.jpegs[frame.jpeg].len() as u64).sum();
            let attributes = serde_json::to_string(&clip.info.attributes).map_or(0, |text| text.len() as u64);
            self.jpeg_bytes += jpegs;
            self.bytes += jpegs + clip.frames.len() as u64 * BYTES_PER_FRAME;
            self.bytes += BYTES_PER_CLIP + attributes + clip.info.source.len() as u64;
        }
    }
}
