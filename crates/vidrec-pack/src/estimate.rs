//! An estimate of what a pack would produce, from a few of the videos, before a day is spent on it. Nothing is
//! written.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::channels::channels;
use super::options::PackOptions;
use super::plan::{Job, ManifestColumns, PackPlan, PassedOver};
use super::serve::pool;
use super::work::{
    ClipRecipe, Event, Failure, PackedClip, PackedVideo, Pool, Resources, Sources, VideoStore, for_each,
};
use crate::video::{self, VideoError};
use vidrec_core::byte_size::shown_bytes;
use vidrec_core::progress::{Progress, ProgressFn, tell};
use vidrec_core::store::disk::folder::free_space;
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::Measured;

/// The number of videos that an estimate packs, and how long it begins new ones.
const PROBES: u32 = 24;
const PROBE_TIME: Duration = Duration::from_secs(20);

/// The same two limits for the check of the free space before a run. Runs with fewer videos than this skip the
/// check: it would cost them more than it is worth.
const QUICK_PROBES: u32 = 4;
const QUICK_TIME: Duration = Duration::from_secs(5);
const QUICK_FROM: usize = 1000;

/// Bytes of a frame besides its JPEG: record and header, padding, index entry.
const BYTES_PER_FRAME: u64 = 8 + 24 + 2 + 32;

/// Bytes of a clip besides its frames and attributes: index entry and names.
const BYTES_PER_CLIP: u64 = 96 + 32;

/// What a pack would produce. The program prints it as JSON.
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
    pub passed_over: Vec<PassedOver>,
    /// What each column of each manifest was taken for.
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
    /// Mean PSNR in dB of the luma of the probed videos' JPEGs, against the images after scaling: see
    /// [`QualityTarget`](vidrec_jpeg::QualityTarget). `None` if no JPEG was made.
    pub psnr: Option<f64>,
    /// Mean PSNR in dB of the RGB of the same JPEGs, as in [`PackReport::rgb_psnr`](super::PackReport::rgb_psnr).
    pub rgb_psnr: Option<f64>,
    /// Mean SSIM of the same JPEGs.
    pub ssim: Option<f64>,
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
    let channels = channels(&plan, options, pool.as_ref())?;
    let probe = Probe { measure: true, ..Probe::default() };
    let how = (options, channels, pool.as_ref());
    let probe = probe.run(&plan, &present, how, (PROBES, PROBE_TIME), &mut |how_far| tell(progress, how_far))?;
    let videos = plan.jobs.len() as u64;
    let failed = missing.len() as u64 + probe.share(present.len(), probe.failures.len() as f64).round() as u64;
    let clips = (videos - failed.min(videos)) * u64::from(options.frames.draws);
    let labeled = plan.jobs.iter().filter(|job| job.label.is_some() || has_labels(job)).count();
    let threads = options.resources.threads_for(present.len());
    Ok(Estimate {
        videos,
        labeled: labeled as u64,
        classes: plan.classes.len() as u64,
        passed_over: plan.passed_over.clone(),
        manifests: plan.manifests.clone(),
        notes: plan.notes.iter().cloned().chain(pool.as_ref().and_then(Pool::note)).collect(),
        missing: missing.iter().map(|job| job.source.clone()).collect(),
        probed: probe.done,
        failed,
        clips,
        frames: probe.share(present.len(), probe.frames as f64).round() as u64,
        bytes: probe.share(present.len(), probe.bytes as f64).round() as u64,
        jpeg_bytes: probe.jpeg_bytes.checked_div(probe.frames).unwrap_or(0),
        psnr: mean(probe.measured.iter().map(|measured| measured.scores.psnr)),
        rgb_psnr: mean(probe.measured.iter().filter_map(|measured| measured.rgb_psnr)),
        ssim: mean(probe.measured.iter().map(|measured| measured.scores.ssim)),
        seconds: probe.share(present.len(), probe.busy.as_secs_f64()) / threads as f64,
        probe_failures: probe.failures,
        free_bytes: free_space(out.as_ref())?,
    })
}

/// Refuses to begin a long run whose output would not fit on the disk. `progress` is told that nothing is done
/// yet.
pub(super) fn check_space(
    plan: &PackPlan,
    out: &Path,
    how: (&PackOptions, Option<u32>, Option<&Pool<'_>>),
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    if plan.jobs.len() < QUICK_FROM {
        return Ok(());
    }
    let present: Vec<&Job> = plan.jobs.iter().filter(|job| !job.is_missing()).collect();
    let nothing_done = Progress { total: Some(plan.jobs.len() as u64), ..Progress::default() };
    let quick = (QUICK_PROBES, QUICK_TIME);
    let probe = Probe::default().run(plan, &present, how, quick, &mut |_| tell(progress, &nothing_done))?;
    // These four videos may be larger than most, so refuse only what would not fit even if they are.
    let expected = probe.share(present.len(), probe.bytes as f64);
    require_space(out, (expected * 0.75) as u64, free_space(out)?)
}

/// Refuses a run that will not fit on the disk, with some room for other programs.
fn require_space(dir: &Path, needed: u64, free: u64) -> Result<()> {
    const RESERVE: u64 = 64 << 20;
    if needed.saturating_add(RESERVE) <= free {
        return Ok(());
    }
    let what = "pack: there is not enough free space, as estimated from a sample of the videos";
    Err(Error::io(what, dir, std::io::ErrorKind::StorageFull.into())
        .expected(format!("about {} plus a reserve of {}", shown_bytes(needed), shown_bytes(RESERVE)))
        .found(shown_bytes(free))
        .help("free some space, choose another disk, or store fewer or smaller frames"))
}

/// Whether a clip has the attribute `labels`. For most clips, the text shows without parsing that it does not.
fn has_labels(job: &Job) -> bool {
    job.attributes.as_json().contains(r#""labels""#) && job.attributes.to_map().contains_key("labels")
}

/// Returns the time spent measuring quality, which a run will not need.
fn measuring(clips: &[PackedClip], options: &PackOptions) -> Duration {
    let all = clips.first().filter(|_| options.pictures.quality.target().is_none()).map(|clip| &clip.measured);
    all.map_or(Duration::ZERO, |all| all.iter().map(|measured| measured.took).sum())
}

fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = scores.fold((0.0, 0.0), |(count, sum), score| (count + 1.0, sum + score));
    (count > 0.0).then_some(sum / count)
}

/// The results for the probed videos.
#[derive(Default)]
struct Probe {
    done: u64,
    frames: u64,
    bytes: u64,
    /// Bytes of the JPEGs alone.
    jpeg_bytes: u64,
    /// Whether JPEGs are compared with their images, and what came out.
    measure: bool,
    measured: Vec<Measured>,
    /// The time of all threads together.
    busy: Duration,
    failures: Vec<Failure>,
}

impl Probe {
    /// Packs `count` of the videos in memory, or as many as can be begun within `limit`.
    fn run(
        self,
        plan: &PackPlan,
        jobs: &[&Job],
        (options, channels, pool): (&PackOptions, Option<u32>, Option<&Pool<'_>>),
        (count, limit): (u32, Duration),
        tell: &mut dyn FnMut(&Progress) -> Result<()>,
    ) -> Result<Self> {
        let n = u32::try_from(jobs.len()).unwrap_or(u32::MAX);
        let chosen: Vec<&Job> =
            vidrec_format::sampler::uniform(n, count.min(n)).into_iter().map(|i| jobs[i as usize]).collect();
        let started = Instant::now();
        let threads = options.resources.threads_for(chosen.len());
        let store = VideoStore::new(&options.input.storage, threads);
        let recipe = ClipRecipe { measure: self.measure, ..options.recipe(&store, (&plan.tracks, channels)) };
        let sources = Sources::new(&chosen, recipe, &options.resources, pool, threads);
        let work = |i: usize| {
            let begun = Instant::now();
            // The first one is always packed, so that there is something to go by.
            (i == 0 || started.elapsed() < limit).then(|| (sources.pack(i), begun.elapsed()))
        };
        let (mut probe, mut stopped) = (self, None);
        let sink = |event: Event<Option<(PackedVideo<'_>, Duration)>>| {
            let mut taken = Ok(());
            if let Event::Done(i, Some((packed, took))) = event {
                match packed.clips {
                    Err(failure) if failure.stops() => taken = Err(failure.to_error(&chosen[i].path)),
                    Err(failure) => probe.add_failure(chosen[i], &failure, took),
                    Ok(clips) => probe.add(&clips, took.saturating_sub(measuring(&clips, options))),
                }
            }
            match taken.and_then(|()| tell(&probe.progress(chosen.len()))) {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    stopped = Some(e);
                    ControlFlow::Break(())
                }
            }
        };
        let probed = for_each(0..chosen.len(), threads, Resources::window(threads), |_| 0, work, sink);
        probed.map_err(|e| Error::start("a thread", e))?;
        stopped.map_or(Ok(probe), Err)
    }

    fn progress(&self, total: usize) -> Progress {
        Progress {
            done: self.done,
            total: Some(total as u64),
            frames: self.frames,
            failed: self.failures.len() as u64,
            ..Progress::default()
        }
    }

    fn add_failure(&mut self, job: &Job, failure: &VideoError, took: Duration) {
        self.done += 1;
        self.busy += took;
        self.failures.push(Failure::new(job.ordinal, job, failure));
    }

    fn add(&mut self, clips: &[PackedClip], took: Duration) {
        self.done += 1;
        self.busy += took;
        for clip in clips {
            let jpegs: u64 = clip.frames.iter().map(|f| clip.jpegs[f.jpeg].len() as u64).sum();
            let attributes = serde_json::to_string(&clip.info.attributes).map_or(0, |text| text.len() as u64);
            self.frames += clip.frames.len() as u64;
            self.jpeg_bytes += jpegs;
            self.measured.extend(clip.frames.iter().filter_map(|frame| clip.measured.get(frame.jpeg)));
            self.bytes += jpegs + clip.frames.len() as u64 * BYTES_PER_FRAME;
            self.bytes += BYTES_PER_CLIP + attributes + clip.info.source.len() as u64;
        }
    }

    /// Scales `amount`, the result of the probed videos, to `all` videos.
    fn share(&self, all: usize, amount: f64) -> f64 {
        if self.done == 0 { 0.0 } else { amount * all as f64 / self.done as f64 }
    }
}
