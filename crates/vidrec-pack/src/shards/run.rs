//! From clips to shards. Clips of all shards come in one stream, so the end of a shard leaves no thread without work.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::place::Attempt;
use super::plan::PartsPlan;
use super::receipt::Receipt;
use super::report;
use super::report::PackReport;
use crate::options::PackOptions;
use crate::plan::Job;
use crate::serve::pool;
use crate::video::{self, Stage, VideoError};
use crate::work::{
    Event, Failure, InputStamps, PackResult, PackedClip, PackedFrame, Pool, Resources, Sources, VideoStore, for_each,
    sound_schema,
};
use vidrec_core::dataset::writer::{EncodedTrack, FrameData, Writer};
use vidrec_core::progress::{Progress, ProgressFn, tell};
use vidrec_core::stop;
use vidrec_core::store::storage::Storage;
use vidrec_format::dataset_json::ShardJson;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::machine::Shortage;
use vidrec_format::meta::Meta;
use vidrec_format::track::schema::TrackSchema;

/// The jobs and settings that shards are packed with.
pub(super) struct ShardWork<'a> {
    pub plan: &'a PartsPlan,
    /// The parts to pack, in order.
    pub parts: Vec<u32>,
    /// Their videos, in order.
    pub jobs: Vec<&'a Job>,
    pub options: &'a PackOptions,
    pub pool: Option<&'a Pool<'a>>,
    /// Whether the video at a place of the plan may fail.
    pub may_fail: &'a dyn Fn(u64) -> bool,
    /// The results of the parts before.
    pub before: PackReport,
}

impl<'a> ShardWork<'a> {
    /// Packs the parts in a folder of this process, in `scratch` if they become objects. Each has its receipt when it is
    /// done. Returns the report of all parts that are done, and why the work ended early.
    pub fn run(&self, scratch: Option<&Path>, progress: &mut ProgressFn<'_>) -> Result<(PackReport, Result<()>)> {
        let PartsPlan { place, digest, .. } = self.plan;
        let attempts = place.attempts(scratch, digest)?;
        let attempt = Attempt::begin(&attempts)?;
        let (report, done) = self.pack(&attempt, progress);
        let removed = attempt.remove();
        place.tidy(&attempts);
        Ok((report, done.and(removed)))
    }

    fn pack(&self, attempt: &Attempt, progress: &mut ProgressFn<'_>) -> (PackReport, Result<()>) {
        let (plan, options) = (self.plan, self.options);
        let threads = options.resources.threads_for(self.jobs.len());
        let store = VideoStore::new(&options.input.storage, threads);
        let recipe = options.recipe(&store, &plan.json.tracks);
        let sources = Sources::new(&self.jobs, recipe, &options.resources, self.pool, threads);
        let mut run = ShardRun {
            work: self,
            attempt,
            meta: plan.json.meta(options.frames.draws),
            tracks: self.tracks(),
            open: None,
            next: 0,
            all: self.before.clone(),
            progress,
            stopped: None,
        };
        let window = Resources::window(threads);
        let started = for_each(self.jobs.len(), threads, window, |i| sources.pack(i), |event| run.take(event));
        let too_few = |started: usize| format!("out of {}: packed {started} at a time", Shortage::Threads.resource());
        run.all.shortage = match started {
            Ok(started) => sources.shortage().or_else(|| (1..threads).contains(&started).then(|| too_few(started))),
            Err(e) => return (run.all, Err(Error::start("a thread", e))),
        };
        let ShardRun { all, stopped, .. } = run;
        (all, stopped.map_or(Ok(()), Err))
    }

    /// Returns the tracks of all clips. Each shard numbers them in the same way, whatever tracks its clips have.
    fn tracks(&self) -> Vec<TrackSchema> {
        let audio = self.options.input.audio.as_ref().map(sound_schema);
        self.plan.json.tracks.iter().map(|track| track.schema()).chain(audio).collect()
    }
}

/// The shards while clips arrive.
struct ShardRun<'a, 'p> {
    work: &'a ShardWork<'a>,
    attempt: &'a Attempt,
    meta: Meta,
    tracks: Vec<TrackSchema>,
    open: Option<OpenShard>,
    /// The place of the next part in the list of those to pack.
    next: usize,
    /// The report of the parts that are done.
    all: PackReport,
    progress: &'p mut ProgressFn<'p>,
    stopped: Option<Error>,
}

/// The shard at work.
struct OpenShard {
    part: u32,
    /// The number of its videos that are still to come.
    left: u64,
    writer: Writer,
    report: PackReport,
    stamps: Vec<InputStamps>,
    began: Instant,
}

impl ShardRun<'_, '_> {
    /// Takes the next video if it is done, and reports the progress.
    fn take(&mut self, event: Event<PackResult<'_>>) -> ControlFlow<()> {
        let taken = match event {
            Event::Done(i, packed) => self.store(self.work.jobs[i], packed),
            Event::Waiting => Ok(()),
        };
        match taken.and_then(|()| self.tell()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                self.stopped = Some(e);
                ControlFlow::Break(())
            }
        }
    }

    fn tell(&mut self) -> Result<()> {
        let progress = self.how_far(self.open.as_ref().map(|open| (&open.report, open.writer.bytes())));
        tell(self.progress, &progress)
    }

    /// Returns the progress with the report and the bytes of a shard that has no receipt yet.
    fn how_far(&self, open: Option<(&PackReport, u64)>) -> Progress {
        let of_open = |of: fn(&PackReport) -> u64| open.map_or(0, |(report, _)| of(report));
        Progress {
            done: self.all.videos() + of_open(PackReport::videos),
            total: Some(self.work.before.videos() + self.work.jobs.len() as u64),
            frames: self.all.frames + of_open(|report| report.frames),
            bytes: self.all.bytes + open.map_or(0, |(_, bytes)| bytes),
            failed: self.all.failed + of_open(|report| report.failed),
        }
    }

    fn store(&mut self, job: &Job, packed: PackResult<'_>) -> Result<()> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.begin()?,
        };
        self.add(&mut open, job, &packed)?;
        drop(packed);
        open.left -= 1;
        if open.left == 0 {
            return self.complete(open);
        }
        self.open = Some(open);
        Ok(())
    }

    /// Begins the next shard.
    fn begin(&mut self) -> Result<OpenShard> {
        let ShardWork { plan, parts, .. } = self.work;
        let part = *parts.get(self.next).ok_or_else(|| Error::internal("more videos than the parts have"))?;
        self.next += 1;
        let mut writer = Writer::create_shard(&self.attempt.shard(), part as usize, self.meta.clone())?;
        writer.join_tracks(self.tracks.iter())?;
        let left = plan.part(part)?.videos;
        let (report, stamps) = (PackReport::default(), Vec::new());
        Ok(OpenShard { part, left, writer, report, stamps, began: Instant::now() })
    }

    /// Adds a video to the open shard.
    fn add(&self, open: &mut OpenShard, job: &Job, packed: &PackResult<'_>) -> Result<()> {
        let report = match &packed.video {
            Ok(video) => {
                video.clips.iter().try_for_each(|clip| append(&mut open.writer, clip, &video.jpegs))?;
                report::of_packed(job, video)
            }
            Err(failure) => {
                let place = self.work.plan.part(open.part)?.first + open.report.videos();
                self.check_failure(open, (place, job), failure)?;
                report::of_failed(Failure::new(place, job, failure))
            }
        };
        open.report.add(&report);
        open.stamps.push(packed.stamps.clone());
        Ok(())
    }

    /// Returns an error if the run must stop at this failure.
    fn check_failure(&self, open: &OpenShard, (place, job): (u64, &Job), failure: &VideoError) -> Result<()> {
        if failure.stage == Stage::Short {
            return Ok(());
        }
        // Do not produce a smaller data set because the machine cannot pack even one video at a time, or because
        // the network fails.
        if failure.stops() {
            stop::check()?;
            return Err(failure.to_error(&job.path));
        }
        if !(self.work.may_fail)(place) {
            let e = failure.to_error(&job.path);
            return Err(
                e.help("it was packed before, and the data set keeps its clips until all of them can be packed again")
            );
        }
        let videos = self.work.plan.json.videos;
        let most = self.work.options.limits.max_failures.map_or(u64::MAX, |most| most.count(videos));
        if self.all.failed + open.report.failed >= most {
            let last = failure.to_error(&job.path);
            return Err(Error::decode(format!("more than {most} videos could not be packed; the last: {last}")));
        }
        Ok(())
    }

    /// Completes a shard: its files get their names, and then it has its receipt.
    fn complete(&mut self, open: OpenShard) -> Result<()> {
        let OpenShard { part, writer, mut report, stamps, began, .. } = open;
        let plan = self.work.plan;
        let shard = self.hand_over(writer, &mut report)?;
        report.seconds = began.elapsed().as_secs_f64();
        let mut receipt = Receipt::new(&plan.digest, part, shard, report)?;
        if !plan.has_stamps() {
            receipt.stamps = stamps;
        }
        receipt.put(&plan.place, self.attempt.number)?;
        self.all.add(&receipt.report);
        Ok(())
    }

    /// Moves the files of a shard to the place of the plan. A shard without clips has none.
    fn hand_over(&mut self, writer: Writer, report: &mut PackReport) -> Result<Option<ShardJson>> {
        if report.clips == 0 {
            return Ok(None);
        }
        let shard = writer.finish_shard()?;
        (report.bytes, report.track_bytes) = (shard.bytes(), shard.json.track_bytes());
        let json = shard.json.clone();
        let files = shard.named().collect();
        let progress = self.how_far(Some((&*report, report.bytes)));
        self.work.plan.place.take(files, &mut || tell(self.progress, &progress))?;
        Ok(Some(json))
    }
}

/// Appends a clip to a shard.
fn append(writer: &mut Writer, clip: &PackedClip, jpegs: &[Vec<u8>]) -> Result<()> {
    let frame = |f: &PackedFrame| FrameData { jpeg: &jpegs[f.jpeg], pts: f.pts, source_index: Some(f.source_index) };
    let frames: Vec<FrameData<'_>> = clip.frames.iter().map(frame).collect();
    let tracks: Vec<_> = clip.tracks.iter().map(EncodedTrack::payload).collect();
    writer.append_payloads(&clip.info, &frames, &tracks)
}

/// The options for packing a part. Everything that determines the bytes is in the plan.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PartOptions {
    /// The share of the machine that the work may use. Default: all cores.
    pub resources: Resources,
    /// The options for reading remote videos. The plan does not store this. Default: [`Storage::default`].
    pub storage: Storage,
    /// For a plan in object storage: a folder on this machine to pack in, with room for a part. Default `None`: `TMPDIR`,
    /// or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
}

impl PartsPlan {
    /// Packs a part, or returns the report of the attempt that has done so.
    ///
    /// An attempt that was interrupted or killed leaves nothing: the next one packs the part from its beginning. Several
    /// attempts at once do no harm: each one works in its own folder, and all produce the same bytes. It is an error if
    /// another attempt produced different bytes.
    ///
    /// `progress` is called as in [`pack`](crate::pack()).
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](crate::pack()). [`Usage`](vidrec_format::error::ErrorKind::Usage) also: the plan has
    /// no such part or was made by another version of vidrec or FFmpeg, or a video has changed since.
    pub fn pack(&self, part: u32, options: &PartOptions, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        self.part(part)?;
        self.check_versions()?;
        if let Some(receipt) = self.receipt(part)? {
            return Ok(receipt.report.found());
        }
        let packed = self.pack_missing(part, options, progress);
        packed.map_err(|e| e.without_hints(&[Hint::Resume, Hint::Restart]).hint(Hint::Part))
    }

    fn pack_missing(&self, part: u32, options: &PartOptions, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        video::init();
        let jobs = self.jobs(part, &options.storage)?;
        let mut pack_options = self.options(&options.resources)?;
        pack_options.input.storage.clone_from(&options.storage);
        let pool = pool(&self.json.tracks, &pack_options)?;
        let work = ShardWork {
            plan: self,
            parts: vec![part],
            jobs: jobs.iter().collect(),
            options: &pack_options,
            pool: pool.as_ref(),
            may_fail: &|_| true,
            before: PackReport::default(),
        };
        let (report, done) = work.run(options.scratch.as_deref(), progress)?;
        done.map(|()| report)
    }

    /// Returns the options that the parts are packed with, with these resources.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): an option of the plan is unknown.
    pub fn options(&self, resources: &Resources) -> Result<PackOptions> {
        Ok(PackOptions { resources: resources.clone(), ..self.json.options()? })
    }
}
