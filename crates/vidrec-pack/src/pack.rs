//! A pack from inputs to a data set: plan, work, run.

use std::path::Path;
use std::time::Instant;

use super::channels::channels;
use super::estimate::check_space;
use super::options::{PackOptions, TOOL};
use super::plan::PackPlan;
use super::pool::pool;
use super::run::{self, Beginning, Existing, IfExists, PackReport, PackRun, RunFingerprint};
use super::track::PlannedTrack;
use super::work::{Copies, Pool, Resources, Slowed, Sources, VideoStore, for_each, sound_schema};
use crate::video;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::limits;
use vidrec_format::machine::Shortage;
use vidrec_format::meta::Meta;
use vidrec_format::progress::ProgressFn;
use vidrec_format::track::schema::TrackSchema;
use vidrec_store::disk::{FolderLock, publication};
use vidrec_store::remote::Bucket;
use vidrec_transfer::upload;

/// Packs `inputs` into the data set directory `out`.
///
/// An input is a directory, a video file or a manifest. In a directory, the name of the first folder level is the
/// class. Manifests are: `.csv` or `.tsv` with a header that names the columns, `.jsonl`, `.txt` with a path and a
/// label on each line, MXNet's `.lst`, and the lists of Kinetics and Something-Something. Clips are in the order
/// of the inputs, and within a directory in the order of the paths.
///
/// This thread calls `progress` after each video and at least ten times a second. The items of the progress are
/// videos. If `progress` breaks, no further video is begun, and those at work are finished.
///
/// A video that cannot be packed is skipped as a whole and listed in `failures.jsonl`. If no video can be packed,
/// no data set is made, and the report says `clips: 0`.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there are no videos, a manifest cannot be read, or a data
/// set exists already. [`Decode`](vidrec_format::error::ErrorKind::Decode): more videos
/// failed than [`LimitOptions::max_failures`](super::LimitOptions::max_failures). [`Io`](vidrec_format::error::ErrorKind::Io): the output cannot be
/// written. [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` broke.
/// [`Resources`](vidrec_format::error::ErrorKind::Resources): the machine does not have enough memory, file
/// descriptors or processes to pack even one video at a time. If it only has too little for [`Resources::threads`]
/// videos at a time, fewer are packed at once ([`PackReport::shortage`]), and no video is skipped because of it.
///
/// On an error no data set is published, but the work that is already on disk is kept. A call with the same inputs
/// and options and [`IfExists::Resume`](super::IfExists::Resume) resumes the run. The result is byte for
/// byte that of a run that was not interrupted.
///
/// ```no_run
/// # mod vidrec {
/// #     pub use vidrec_pack as pack;
/// #     pub use vidrec_format::error::Error;
/// #     pub use vidrec_format::progress::no_progress;
/// # }
/// use vidrec::pack::{PackOptions, pack};
///
/// let options = PackOptions::from_json(r#"{"frames": 16, "quality": 85}"#)?;
/// let report = pack(&["videos"], "train", &options, &mut vidrec::no_progress)?;
/// println!("{} clips, {} videos skipped", report.clips, report.failed);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn pack<P: AsRef<Path>>(
    inputs: &[P],
    out: impl AsRef<Path>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    options.check()?;
    let plan = PackPlan::from_inputs(inputs, &options.input)?;
    pack_plan(&plan, out, options, progress)
}

/// Packs the videos of a plan, as [`pack`] does with the plan of its inputs.
///
/// With it, a program can look at the plan before hours of work, and say what it is about to do
/// ([`PackPlan::manifests`], [`PackPlan::notes`]). `options.input` should be the options that the plan was made
/// with.
///
/// # Errors
///
/// As [`pack`], except those of the inputs.
///
/// ```no_run
/// # mod vidrec {
/// #     pub use vidrec_pack as pack;
/// #     pub use vidrec_format::error::Error;
/// #     pub use vidrec_format::progress::no_progress;
/// # }
/// use vidrec::pack::{PackOptions, PackPlan, pack_plan};
///
/// let options = PackOptions::default();
/// let plan = PackPlan::from_inputs(&["list.csv"], &options.input)?;
/// plan.notes.iter().for_each(|note| eprintln!("{note}"));
/// let report = pack_plan(&plan, "train", &options, &mut vidrec::no_progress)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn pack_plan(
    plan: &PackPlan,
    out: impl AsRef<Path>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let how = Pack { meta: meta(plan, options)?, probes: true, channels: None, copies: None };
    pack_as(plan, out.as_ref(), how, options, progress).map_err(restart)
}

/// Returns the error with the hint of a pack where it has that of other commands, because a pack says in another way that
/// a data set may be replaced.
pub fn restart(e: Error) -> Error {
    if e.hints().contains(&Hint::Overwrite) { e.without_hints(&[Hint::Overwrite]).hint(Hint::Restart) } else { e }
}

/// Packs the videos of a plan into a folder on this machine, from where the data set goes to object storage.
///
/// What an earlier call left there is resumed, or its report returned. If it is another pack, and `options` say to replace
/// what exists, it is discarded.
///
/// # Errors
///
/// As [`pack_plan`].
pub fn pack_in_scratch(
    plan: &PackPlan,
    folder: &Path,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let mut resumed = options.clone();
    resumed.run.if_exists = IfExists::Resume;
    match pack_plan(plan, folder, &resumed, progress) {
        Err(e) if e.kind() == ErrorKind::Usage && options.run.if_exists == IfExists::Replace => {
            pack_plan(plan, folder, options, progress)
        }
        packed => packed,
    }
}

/// Returns the report of a finished pack of the same videos, with the same options, at `location` in object
/// storage.
///
/// Returns `None` if there is no data set, or a different one. `parts` is the number of parts of a pack in parts.
///
/// A command that was killed after its last request can therefore be repeated. This function also removes the
/// files that the killed command left in its working folder, which is in `scratch`, or else in the system's folder
/// for temporary files.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): the network or the server failed.
pub fn find_packed(
    plan: &PackPlan,
    location: impl AsRef<Path>,
    parts: Option<u32>,
    scratch: Option<&Path>,
    options: &PackOptions,
) -> Result<Option<PackReport>> {
    let found = find_remote(plan, location.as_ref(), parts, scratch, options)?;
    found.map(|existing| existing.report(plan)).transpose()
}

/// Finds the data set of [`find_packed`].
pub(super) fn find_remote(
    plan: &PackPlan,
    location: &Path,
    parts: Option<u32>,
    scratch: Option<&Path>,
    options: &PackOptions,
) -> Result<Option<Existing>> {
    let bucket = Bucket::open(location, &options.input.storage)?;
    let Some((listing, _)) = bucket.read(FILE_NAME, limits::MAX_META_BYTES)? else { return Ok(None) };
    let fingerprint = fingerprint(plan, parts, options)?;
    let found = Existing::find_at(location, plan, &fingerprint, &options.input.storage)?;
    if found.is_some() {
        upload::remove_published(scratch, location, &listing)?;
    }
    Ok(found)
}

/// Returns the identity of a pack of all videos, in so many parts.
pub(super) fn fingerprint(plan: &PackPlan, parts: Option<u32>, options: &PackOptions) -> Result<RunFingerprint> {
    let mut meta = meta(plan, options)?;
    if let Some(parts) = parts {
        meta.settings.insert("parts", parts.min(u32::try_from(plan.jobs.len()).unwrap_or(u32::MAX)))?;
    }
    RunFingerprint::new(plan, &meta, None, false)
}

/// The ways in which a pack and one part of a pack differ.
pub(super) struct Pack<'a> {
    /// What the data set says about itself.
    pub meta: Meta,
    /// Whether to check, before the work begins, that the output will fit on the disk.
    pub probes: bool,
    /// The number of channels of all sound, if a plan of parts has decided it.
    pub channels: Option<u32>,
    /// The clips that the parts of a pack copy instead of packing their videos.
    pub copies: Option<Copies<'a>>,
}

/// Packs the videos of a plan into a data set that has `how.meta` as its description.
pub(super) fn pack_as(
    plan: &PackPlan,
    out: &Path,
    how: Pack<'_>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let started = Instant::now();
    options.check()?;
    if plan.listed.is_some() {
        return Err(Error::usage("the videos of this plan stay on disk, so only write_plan can use it"));
    }
    video::init();
    let meta = how.meta;
    let if_exists = options.run.if_exists;
    let retries = if_exists == IfExists::RetryFailed;
    let mode = retries.then_some("retry what failed");
    let fingerprint = RunFingerprint::new(plan, &meta, mode, if_exists == IfExists::Replace)?;
    let lock = FolderLock::take(out)?;
    publication::recover(out)?;
    let interrupted = run::find(out)?;
    let existing = Existing::find(out, plan, if_exists, &fingerprint, interrupted.as_ref())?;
    if let Some(existing) = existing.as_ref().filter(|e| !retries || !e.has_failures()) {
        return existing.report(plan);
    }
    let pool = pool(plan, options)?;
    let channels = match how.channels {
        None => channels(plan, options, pool.as_ref())?,
        decided => decided,
    };
    if how.probes && interrupted.is_none() && existing.is_none() {
        check_space(plan, out, (options, channels, pool.as_ref()), progress)?;
    }
    let mut done = match run::start(out, lock, interrupted, plan, meta, &fingerprint, if_exists)? {
        Beginning::At(done) => *done,
        Beginning::Published(report) => return Ok(*report),
    };
    // Each shard numbers its tracks in the same way, whatever tracks its clips have.
    let audio = options.input.audio.as_ref().map(|audio| sound_schema(audio, channels));
    let tracks: Vec<TrackSchema> = plan.tracks.iter().map(PlannedTrack::schema).chain(audio).collect();
    done.0.join_tracks(tracks.iter())?;
    let run = PackRun::new(out, plan, (&options.limits, &options.run), done, progress);
    let copies = how.copies.or_else(|| existing.as_ref().map(|existing| existing.copies(plan)));
    let threads = options.resources.threads_for(plan.jobs.len());
    let store = VideoStore::new(&options.input.storage, threads);
    let sources = Sources::new(
        &plan.jobs,
        options.recipe(&store, (&plan.tracks, channels)),
        &options.resources,
        copies,
        pool.as_ref(),
        threads,
    );
    let mut report = work(run, &sources, plan.jobs.len(), threads).finish(out, started)?;
    report.notes.extend(pool.as_ref().and_then(Pool::note));
    Ok(report)
}

/// Returns what the data set says about itself.
fn meta(plan: &PackPlan, options: &PackOptions) -> Result<Meta> {
    Ok(Meta {
        classes: plan.classes.clone(),
        tool: TOOL.into(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: options.settings()?,
        packed_from: Some(options.packed_from(&plan.inputs)?),
        draws: Some(options.frames.draws).filter(|&draws| draws > 1),
        ..Meta::default()
    })
}

/// Packs the videos that are not done yet.
fn work<'a>(mut run: PackRun<'a>, sources: &Sources<'_>, videos: usize, threads: usize) -> PackRun<'a> {
    let (window, left) = (Resources::window(threads), run.next()..videos);
    let (cost, pack) = (|ordinal| sources.cost(ordinal), |ordinal| sources.pack(ordinal));
    let started = for_each(left, threads, window, cost, pack, |event| run.take(event));
    let too_few = |started: usize| Slowed { shortage: Shortage::Threads, most: started };
    let slowed = match started {
        Ok(started) => sources.slowed().or_else(|| (1..threads).contains(&started).then(|| too_few(started))),
        Err(e) => {
            run.stop(Error::start("a thread", e));
            sources.slowed()
        }
    };
    run.set_shortage(slowed.map(|slowed| slowed.to_string()));
    run
}
