//! What packing would give, from a few of the videos, before a day is spent on it. Nothing is written.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::channels::channels;
use super::options::PackOptions;
use super::plan::{Job, ManifestColumns, PackPlan, PassedOver};
use super::pool::pool;
use super::run::Failure;
use super::work::{
    ClipFailure, Event, Flow, Gate, MemoryBound, PackedClip, Pool, Recipe, Resources, VideoStore, for_each,
    pack_somewhere,
};
use crate::disk::free_space;
use crate::disk::space::free_space;
use crate::jpeg::Scores;
use crate::progress::{Progress, ProgressFn, tell};
use crate::{Error, Result, sampler, video};

/// Videos that an estimate looks at, and how long it begins new ones.
const PROBES: u32 = 24;
const PROBE_TIME: Duration = Duration::from_secs(20);

/// The same for the look at the free space before a run. Runs with fewer videos do without it: it would cost them more than
/// it is worth, and every run watches the free space.
const QUICK_PROBES: u32 = 4;
const QUICK_TIME: Duration = Duration::from_secs(5);
const QUICK_FROM: usize = 1000;

/// Bytes of a frame beside its JPEG: record and header, padding, index entry.
const BYTES_PER_FRAME: u64 = 8 + 24 + 2 + 32;

/// Bytes of a clip beside its frames and attributes: index entry and names.
const BYTES_PER_CLIP: u64 = 96 + 32;

/// What packing would give. The program prints it as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Videos, folders of pictures and segments to be packed.
    pub videos: u64,
    /// Of these, how many have a label or labels.
    pub labeled: u64,
    /// Classes that have a name.
    pub classes: u64,
    /// Files in the input folders that are neither videos nor frames, by kind.
    pub passed_over: Vec<PassedOver>,
    /// What the columns of each manifest became.
    pub manifests: Vec<ManifestColumns>,
    /// What else is worth knowing of the inputs, as in [`PackPlan::notes`].
    pub notes: Vec<String>,
    /// Files that are listed and not there.
    pub missing: Vec<String>,
    /// Videos that were packed in memory to learn the rest from.
    pub probed: u64,
    /// Those of them that cannot be packed.
    pub probe_failures: Vec<Failure>,
    /// Videos that will fail: those missing, and of the others the share that failed of the probed ones.
    pub failed: u64,
    /// Clips that will be stored.
    pub clips: u64,
    /// Frames that will be stored.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Mean length of a JPEG in bytes; 0 if there is none.
    pub jpeg_bytes: u64,
    /// Mean PSNR of luma in dB over the JPEGs of the probed videos, against the pictures after scaling: see
    /// [`QualityTarget`](crate::jpeg::QualityTarget). `None` if no JPEG was made.
    pub psnr: Option<f64>,
    /// The same of the SSIM.
    pub ssim: Option<f64>,
    /// Time that it will take by the clock.
    pub seconds: f64,
    /// Bytes free where it is to be stored.
    pub free_bytes: u64,
}

/// Estimates what [`pack`](super::pack) would give, from 24 videos spread over the inputs, or those that are done in 20
/// seconds. `progress` is told the videos looked at, and is called ten times a second or more.
///
/// # Errors
///
/// As `pack` has them for inputs and options; the machine has not enough to pack one video at a time; or `progress`
/// stopped it. Videos that fail are no error.
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
    let pool = pool(&plan, options)?;
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
        psnr: mean(probe.scores.iter().map(|scores| scores.psnr)),
        ssim: mean(probe.scores.iter().map(|scores| scores.ssim)),
        seconds: probe.share(present.len(), probe.busy.as_secs_f64()) / threads as f64,
        probe_failures: probe.failures,
        free_bytes: free_space(out.as_ref())?,
    })
}

/// Refuses to begin a long run whose output would not fit on the disk. `progress` is told that nothing is done yet.
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
    // Four videos may be larger than most: only what would not fit even so is refused.
    let expected = probe.share(present.len(), probe.bytes as f64);
    free_space::require(out, (expected * 0.75) as u64, free_space(out)?)
}

/// Whether a clip has the attribute `labels`. Most texts show without parsing that it has not.
fn has_labels(job: &Job) -> bool {
    job.attributes.as_json().contains(r#""labels""#) && job.attributes.to_map().contains_key("labels")
}

/// The time that a run will not need.
fn measuring(clips: &[PackedClip], options: &PackOptions) -> Duration {
    let all = clips.first().filter(|_| options.pictures.target.is_none()).map(|clip| &clip.measured);
    all.map_or(Duration::ZERO, |all| all.iter().map(|measured| measured.took).sum())
}

fn mean(scores: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = scores.len() as f64;
    (count > 0.0).then(|| scores.sum::<f64>() / count)
}

/// What some videos gave.
#[derive(Default)]
struct Probe {
    done: u64,
    frames: u64,
    bytes: u64,
    /// Of JPEGs alone.
    jpeg_bytes: u64,
    /// Whether JPEGs are compared with their pictures, and what that gave.
    measure: bool,
    scores: Vec<Scores>,
    /// Time of all threads together.
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
        let chosen: Vec<&Job> = sampler::uniform(n, count.min(n)).into_iter().map(|i| jobs[i as usize]).collect();
        let started = Instant::now();
        let memory = MemoryBound::of(&options.resources);
        let threads = options.resources.threads_for(chosen.len());
        let gate = Gate::new(threads);
        let store = VideoStore::new(&options.input.storage);
        let measure = self.measure;
        let work = |i: usize| {
            let begun = Instant::now();
            // The first one is always done, so that there is something to go by.
            (i == 0 || started.elapsed() < limit).then(|| {
                let mut held = memory.hold();
                let packed = gate.pack(|alone| {
                    let recipe = Recipe { measure, ..options.recipe(&store, (&plan.tracks, channels)) };
                    pack_somewhere(pool, chosen[i], recipe, &mut held, alone)
                });
                let measuring = packed.as_ref().map_or(Duration::ZERO, |clips| measuring(clips, options));
                (packed, begun.elapsed().saturating_sub(measuring), held)
            })
        };
        let (mut probe, mut stopped) = (self, None);
        let window = Resources::window(threads);
        let probed = for_each(
            0..chosen.len(),
            threads,
            window,
            |_| 0,
            work,
            |event| {
                if let Event::Done(i, Some((packed, took, _held))) = event {
                    if let Some(failure) = packed.as_ref().err().filter(|failure| failure.stops()) {
                        stopped = Some(failure.to_error(&chosen[i].path));
                        return Flow::Stop;
                    }
                    probe.add(chosen[i], packed, took);
                }
                match tell(&probe.progress(chosen.len())) {
                    Ok(()) => Flow::Continue,
                    Err(e) => {
                        stopped = Some(e);
                        Flow::Stop
                    }
                }
            },
        );
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

    fn add(&mut self, job: &Job, packed: Result<Vec<PackedClip>, ClipFailure>, took: Duration) {
        self.done += 1;
        self.busy += took;
        match packed {
            Ok(clips) => clips.iter().for_each(|clip| {
                let jpegs: u64 = clip.frames.iter().map(|f| clip.jpegs[f.jpeg].len() as u64).sum();
                let attributes = serde_json::to_string(&clip.info.attributes).map_or(0, |text| text.len() as u64);
                self.frames += clip.frames.len() as u64;
                self.jpeg_bytes += jpegs;
                let measured = clip.frames.iter().filter_map(|frame| clip.measured.get(frame.jpeg));
                self.scores.extend(measured.map(|measured| measured.scores));
                self.bytes += jpegs + clip.frames.len() as u64 * BYTES_PER_FRAME;
                self.bytes += BYTES_PER_CLIP + attributes + clip.info.source.len() as u64;
            }),
            Err(failure) => self.failures.push(Failure::new(job.ordinal, job, &failure)),
        }
    }

    /// What `all` videos would give if the probed ones gave `amount`.
    fn share(&self, all: usize, amount: f64) -> f64 {
        if self.done == 0 { 0.0 } else { amount * all as f64 / self.done as f64 }
    }
}
