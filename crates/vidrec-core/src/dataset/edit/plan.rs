//! The plan of an output: the clips of which data sets, in which order, and with which descriptions. Clips stream from data
//! sets to writers in the order of the plan.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::meta::joined_meta;
use crate::dataset::clip::{beginning, too_far};
use crate::dataset::writer::{ClipInfo, FrameData, OpenShard, Sharding, WriteReport, Writer, WriterOptions};
use crate::dataset::{Clip, Dataset, Frame, TrackView, proven_bytes};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::folder_of;
use crate::store::disk::publication::Staged;
use vidrec_format::track::payload::Payload;
use vidrec_format::{DatasetJson, Error, ErrorKind, Hint, JsonObject, Meta, Result, SectionId};

/// Options of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// The distribution of clips over shards. Default `None`: a shard ends where a shard of the input ends, but a few clips of
    /// each of many shards share one.
    pub shards: Option<Sharding>,
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
}

/// The report of an edit. The program prints the same with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EditReport {
    /// The folder of the output.
    pub output: String,
    /// Number of clips written.
    pub clips: u64,
    /// Number of frames written.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Number of shards written.
    pub shards: u64,
    /// Clips of the inputs that are not in this output.
    pub left_out: u64,
    /// Names in a list or a table that the data set does not have, in the order of the list.
    pub not_found: Vec<String>,
    /// Other notes: settings that differ, parts that were not copied.
    pub notes: Vec<String>,
    /// Parts of a replaced data set that could not be cleaned up, in words. Usually empty. The output is complete,
    /// and the next write in its folder cleans up. If there are several outputs, the first report has it
    /// for all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Returns the description in the output of a clip of the source at this position.
pub(super) type Describe<'a> = Box<dyn Fn(usize, &Clip<'_>) -> Result<ClipInfo> + 'a>;

/// An output before it is written.
pub(super) struct OutputPlan<'a> {
    pub meta: Meta,
    /// The data sets that clips come from.
    pub sources: Vec<Dataset>,
    pub describe: Describe<'a>,
    /// The position of the source and the ordinal there of each clip, in the order of the output. The draws of a video are
    /// complete and together.
    pub picks: Vec<(usize, u64)>,
    /// The number of consecutive picks that are draws of one video.
    pub draws: u64,
    /// Whether the clock of each clip begins at its first frame. If not, times are copied.
    pub align_clocks: bool,
    pub not_found: Vec<String>,
    pub notes: Vec<String>,
}

impl OutputPlan<'_> {
    /// Plans clips, unchanged, of `sets` from data set `first` on. Those before only grow by the output.
    pub fn new(sets: &[Dataset], first: usize, picks: Vec<(usize, u64)>) -> Result<Self> {
        let sources = sets[first..].to_vec();
        let mut notes: Vec<String> = joined_meta(sets)?.1.into_iter().collect();
        for set in &sources {
            notes.extend(not_copied(set)?);
        }
        notes.dedup();
        Ok(OutputPlan {
            meta: joined_meta(&sources)?.0,
            draws: draws_of(sets)?,
            sources,
            describe: Box::new(|_, clip| clip.info()),
            picks,
            align_clocks: false,
            not_found: Vec::new(),
            notes,
        })
    }

    /// Refuses an output that would replace its own input, also if the input consists of links to it.
    pub fn refuse_output(&self, out: &Path) -> Result<()> {
        // A folder that does not exist yet cannot be an input.
        let Ok(out_folder) = fs::canonicalize(out) else { return Ok(()) };
        for file in self.sources.iter().flat_map(Dataset::files) {
            let folders =
                [fs::canonicalize(folder_of(file)), fs::canonicalize(file).map(|file| folder_of(&file).to_owned())];
            if folders.into_iter().flatten().any(|folder| folder == out_folder) {
                return Err(Error::usage("the output is an input").file(out).help("choose another folder"));
            }
        }
        Ok(())
    }
}

/// Notes on the parts of indexes from other writers that vidrec does not know, and so does not copy.
fn not_copied(set: &Dataset) -> Result<Vec<String>> {
    let mut unknown = BTreeSet::new();
    for shard in set.shards()? {
        let sections = &shard.index.sections;
        let strange = sections.iter().filter(|s| !SectionId::ALL.contains(&s.id));
        unknown.extend(strange.map(|s| format!("section {:?}", s.id)));
        let meta = sections.iter().find(|s| s.id == SectionId::META);
        let bytes = meta.and_then(|s| proven_bytes(&*shard.index_bytes, s).ok());
        let stored: JsonObject = bytes.and_then(|b| serde_json::from_slice(b).ok()).unwrap_or_default();
        let known = serde_json::to_value(&shard.index.meta).unwrap_or_default();
        let strange = stored.0.iter().filter(|(key, value)| known.get(key.as_str()).is_none() && !value.is_null());
        unknown.extend(strange.map(|(key, _)| format!("key \"{key}\" of META")));
    }
    let note = |part| format!("{part} is unknown to this vidrec, so it is not copied");
    Ok(unknown.into_iter().map(note).collect())
}

/// The number of consecutive clips that are draws of one video.
pub(crate) fn draws_per_video(meta: &Meta) -> u64 {
    meta.draws.unwrap_or(1).max(1).into()
}

/// The draws of each video of some data sets, which must be complete, side by side, and as many in each data set.
fn draws_of(sets: &[Dataset]) -> Result<u64> {
    let mut draws = None;
    for set in sets {
        let of_set = draws_per_video(set.meta());
        if u64::from(set.draws()) != of_set {
            let e = Error::usage("the clips are not whole groups of draws").file(set.first_file());
            return Err(e.expected(format!("the {of_set} draws of each video side by side")));
        }
        if *draws.get_or_insert(of_set) != of_set {
            let e = Error::usage("the data sets have different numbers of draws of each video").file(set.first_file());
            return Err(e.expected(draws.unwrap_or(1)).found(of_set));
        }
    }
    Ok(draws.unwrap_or(1))
}

/// The error about a video whose draws do not stay together. Its first draw is `first`.
pub(super) fn torn_draws(first: u64, draws: u64) -> Error {
    let last = first + draws - 1;
    Error::usage(format!("clips {first} to {last} are draws of one video, but only some of them are selected"))
        .help("select all of them or none")
}

/// Writes all outputs, and then publishes them one after the other.
pub(super) fn write_all(
    plans: &[(OutputPlan<'_>, PathBuf)],
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    plans.iter().try_for_each(|(plan, out)| plan.refuse_output(out))?;
    let create = |(plan, out): &(OutputPlan<'_>, PathBuf)| {
        Writer::create(out, WriterOptions { meta: plan.meta.clone(), overwrite: options.overwrite })
    };
    let writers = plans.iter().map(create).collect::<Result<Vec<_>>>()?;
    let mut counter = Counter::new(Some(plans.iter().map(|(plan, _)| plan.picks.len() as u64).sum()), progress);
    let mut staged = Vec::new();
    for ((plan, _), writer) in plans.iter().zip(writers) {
        staged.push(stage(plan, writer, options.shards, &mut counter)?);
    }
    staged.into_iter().zip(plans).map(|((files, _, written), (plan, out))| publish(files, written, plan, out)).collect()
}

/// Copies the clips of a plan, and stages their shards.
pub(super) fn stage(
    plan: &OutputPlan<'_>,
    mut writer: Writer,
    shards: Option<Sharding>,
    counter: &mut Counter<'_, '_>,
) -> Result<(Staged, DatasetJson, WriteReport)> {
    // The tracks of all inputs are registered before anything is copied, so that conflicts are found first.
    for set in &plan.sources {
        writer.join_tracks(set.tracks()?.iter()).map_err(|e| e.file(set.first_file()))?;
    }
    let starts = shards.map_or_else(|| Ok(starts_as_input(plan)), |sharding| starts(plan, sharding))?;
    let mut starts = starts.iter().peekable();
    for (i, &(source, clip)) in plan.picks.iter().enumerate() {
        if starts.next_if(|&&start| start == i).is_some() {
            writer.next_shard()?;
        }
        let clip = plan.sources[source].clip(clip).map_err(advise_repair)?;
        let info = (plan.describe)(source, &clip).map_err(advise_repair)?;
        let bytes = writer.bytes();
        copy_clip(&mut writer, &info, &clip, plan.align_clocks)?;
        counter.add(clip.frame_count().into(), writer.bytes().saturating_sub(bytes))?;
    }
    writer.stage()
}

/// Publishes an output, and reports about it.
pub(super) fn publish(files: Staged, written: WriteReport, plan: &OutputPlan<'_>, out: &Path) -> Result<EditReport> {
    let clips: u64 = plan.sources.iter().map(Dataset::len).sum();
    Ok(EditReport {
        output: out.display().to_string(),
        clips: written.clips,
        frames: written.frames,
        bytes: written.bytes,
        shards: written.shards,
        left_out: clips.saturating_sub(plan.picks.len() as u64),
        not_found: plan.not_found.clone(),
        notes: plan.notes.clone(),
        left_behind: files.publish()?,
    })
}

/// Copies a clip.
pub(crate) fn copy_clip(writer: &mut Writer, info: &ClipInfo, clip: &Clip<'_>, align_clocks: bool) -> Result<()> {
    let read = clip.frames().map(|frame| frame.and_then(|frame| frame.check().map(|()| frame)));
    let read = read.collect::<Result<Vec<_>>>().map_err(advise_repair)?;
    let (begin, begin_ns) = if align_clocks { beginning(clip).map_err(advise_repair)? } else { (0, 0) };
    let pts = read.iter().map(|frame| frame.pts().checked_sub(begin)).collect::<Option<Vec<_>>>();
    let frames = read.iter().zip(pts.ok_or_else(|| too_far(clip))?);
    let frames = frames.map(|(frame, pts)| FrameData { jpeg: frame.jpeg(), pts, source_index: frame.source_index() });
    let tracks = clip.tracks().and_then(|tracks| tracks.all()).map_err(advise_repair)?;
    let moved = tracks.iter().map(|track| track.payload().earlier(begin_ns)).collect::<Option<Vec<_>>>();
    let moved = moved.ok_or_else(|| too_far(clip))?;
    let payloads = tracks.iter().zip(&moved);
    let payloads = payloads.map(|(track, (facts, bytes))| Payload { schema: track.schema(), facts: *facts, bytes });
    writer.append_payloads(info, &frames.collect::<Vec<_>>(), &payloads.collect::<Vec<_>>())?;
    tracks.iter().try_for_each(TrackView::prove_still_there)?;
    read.iter().try_for_each(Frame::prove_still_there)
}

pub(super) fn advise_repair(e: Error) -> Error {
    if e.kind() == ErrorKind::Format { e.hint(Hint::Verify).hint(Hint::Repair) } else { e }
}

/// Positions in the plan at which a shard begins, except the first.
///
/// A few clips of many shards do not make as many shards: one ends at the first end of an input shard at which the shares
/// of the input shards that it has make half of one.
fn starts_as_input(plan: &OutputPlan<'_>) -> Vec<usize> {
    let (mut starts, mut share, mut before) = (Vec::new(), 0.0, None);
    for (i, &(source, clip)) in plan.picks.iter().enumerate() {
        let shard = plan.sources[source].shard_of(clip);
        let changes = before.replace((source, shard)).is_some_and(|before| before != (source, shard));
        if changes && share >= 0.5 && i.is_multiple_of(plan.draws as usize) {
            starts.push(i);
            share = 0.0;
        }
        share += 1.0 / plan.sources[source].clips_of_shard(shard) as f64;
    }
    starts
}

/// Positions in the plan at which a shard begins, except the first.
fn starts(plan: &OutputPlan<'_>, sharding: Sharding) -> Result<Vec<usize>> {
    sharding.check()?;
    let videos = plan.picks.len() as u64 / plan.draws;
    let (mut starts, mut open) = (Vec::new(), OpenShard::default());
    for video in plan.picks.chunks(plan.draws as usize) {
        let sizes = || video.iter().map(|&(source, clip)| plan.sources[source].clip(clip)?.record_bytes());
        let bytes = if matches!(sharding, Sharding::Bytes(_)) { sizes().sum::<Result<u64>>()? } else { 0 };
        if sharding.ends_before(videos, open, bytes) {
            starts.push((open.videos * plan.draws) as usize);
            open.bytes = 0;
        }
        open = OpenShard { videos: open.videos + 1, bytes: open.bytes.saturating_add(bytes) };
    }
    Ok(starts)
}
