//! A data set without some of its clips, in place.

use std::collections::HashSet;
use std::path::Path;

use super::in_place::InPlace;
use super::plan::{EditReport, advise_repair, copy_clip};
use super::selection::{Selection, subset_clips};
use crate::dataset::Dataset;
use crate::dataset::writer::{FinishedShard, Writer};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::publication::{Replaced, Staged};
use vidrec_format::{DatasetJson, Error, Meta, Result, ShardJson};

/// Removes the clips that a selection chooses from the data set in `folder`. An item of `progress` is a clip that is copied.
///
/// Only the shards that contain these clips are rewritten, without them. The files of all others stay as they are, and a shard
/// of which no clip is left goes. The clips behind a removed one get lower numbers. All of that becomes the data set in one
/// step, when `dataset.json` is replaced. Until then, and after a crash, readers see the old data set.
///
/// A list alone may name damaged clips. If clips are draws of a video, one of them in such a list stands for all.
///
/// The report is about the data set as it is then; [`left_out`](EditReport::left_out) is the number of removed clips. If no
/// clip matches, nothing changes, and a note says so.
///
/// ```
/// use vidrec::{Dataset, edit};
/// # use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};
/// # let dir = tempfile::tempdir().unwrap();
/// # let dir = dir.path().join("train");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # for source in ["a.mp4", "b.mp4", "c.mp4"] {
/// #     let clip = ClipInfo { source: source.into(), ..ClipInfo::default() };
/// #     writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }])?;
/// # }
/// # writer.finish()?;
///
/// let list = edit::ClipList { sources: vec!["b.mp4".into()], ..edit::ClipList::default() };
/// let of_b = edit::Selection { list: Some(list), ..edit::Selection::default() };
/// let report = edit::remove(&dir, &of_b, &mut vidrec::no_progress)?;
/// assert_eq!((report.clips, report.left_out), (2, 1));
/// assert_eq!(Dataset::open(&dir)?.clip(1)?.source()?, "c.mp4");
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): `folder` is not a data set, or is remote; no clip would be left; a list
/// names a clip that does not exist; some draws of a video are chosen and others are not; another process writes there, or a
/// pack was interrupted there.
/// [`Format`](vidrec_format::error::ErrorKind::Format): a clip that stays is damaged, and its shard has to be rewritten.
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system.
/// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` stopped the call. After any error, the data set is
/// unchanged.
pub fn remove(folder: impl AsRef<Path>, selection: &Selection, progress: &mut ProgressFn<'_>) -> Result<EditReport> {
    let folder = folder.as_ref();
    let InPlace { lock, set, json: before } = InPlace::open(folder)?;
    let (kept, not_found) = kept_clips(&set, selection)?;
    if kept.is_empty() {
        let e = Error::usage("no clip of the data set would be left").file(folder);
        return Err(e.help("say which clips to remove; to remove all, remove the folder"));
    }
    let mut report = EditReport { output: folder.display().to_string(), not_found, ..EditReport::default() };
    report.left_out = set.len() - kept.len() as u64;
    if report.left_out == 0 {
        report.notes = vec!["nothing to remove: no clip matches".into()];
        return Ok(report);
    }
    let parts = parts(&set, &kept)?;
    let is_same = |(at, clips): &(usize, &[u64])| clips.len() as u64 == set.clips_of_shard(*at);
    let new = parts.iter().filter(|part| !is_same(part));
    let mut counter = Counter::new(Some(new.clone().map(|(_, clips)| clips.len() as u64).sum()), progress);
    let note = format!("rewrote {} of {} shards, without these clips", new.count(), set.shard_count());
    report.notes = vec![note];
    let index_bytes: Vec<u64> = set.index_bytes().collect();
    let (mut shards, mut files) = (Vec::new(), Vec::new());
    for part in &parts {
        if is_same(part) {
            shards.push(before.shards[part.0].clone());
            report.bytes += index_bytes[part.0];
            continue;
        }
        let finished = written_anew(folder, &set, *part, &mut counter)?;
        shards.push(finished.json.clone());
        report.bytes += finished.index_length;
        files.extend(finished.named());
    }
    let first = &set.shard(parts[0].0)?.index.meta;
    let meta = Meta { classes: set.classes().to_vec(), ..first.clone() };
    let new = DatasetJson::new(&meta, shards);
    let DatasetJson { clips, frames, bytes, classes, shards, tool, ffmpeg, settings, draws, .. } = new;
    let new = DatasetJson { clips, frames, bytes, classes, shards, tool, ffmpeg, settings, draws, ..before.clone() };
    let json = DatasetJson { packed_from: None, ..new }.with_added_files(before.added_files.clone());
    let old: Vec<_> = before.file_names().cloned().collect();
    let removable = old.iter().filter(|name| name.is_given()).cloned().collect();
    let replaced = Replaced { files: old, removable }.but_for(&json);
    report.left_behind = Staged::new(folder, lock, files, &json.to_bytes(), replaced)?.publish()?;
    report.bytes += json.bytes + json.shards.iter().map(ShardJson::track_bytes).sum::<u64>();
    (report.clips, report.frames, report.shards) = (json.clips, json.frames, json.shards.len() as u64);
    Ok(report)
}

/// The clips that stay, and the sources in the lists that the data set does not have.
fn kept_clips(set: &Dataset, selection: &Selection) -> Result<(Vec<u64>, Vec<String>)> {
    if let Selection { list: Some(list), .. } = selection
        && *selection == (Selection { list: Some(list.clone()), ..Selection::default() })
    {
        // The entries of excluded clips may be damaged.
        return subset_clips(set, &Selection { exclude: list.clone(), ..Selection::default() });
    }
    let (chosen, missing) = subset_clips(set, selection)?;
    let chosen: HashSet<u64> = chosen.into_iter().collect();
    Ok(((0..set.len()).filter(|clip| !chosen.contains(clip)).collect(), missing))
}

/// The shards that stay, each with its clips that stay. The last one stays even without clips if it alone has all class names,
/// so that labels keep their meaning.
fn parts<'a>(set: &Dataset, kept: &'a [u64]) -> Result<Vec<(usize, &'a [u64])>> {
    let (mut parts, mut rest) = (Vec::new(), kept);
    for at in 0..set.shard_count() {
        let clips;
        (clips, rest) = rest.split_at(rest.partition_point(|&clip| set.shard_of(clip) == at));
        let has_names = |at: usize| Ok::<_, Error>(set.shard(at)?.index.meta.classes == set.classes());
        let is_last = at + 1 == set.shard_count();
        if !clips.is_empty() || is_last && !parts.last().map_or(Ok(true), |&(before, _)| has_names(before))? {
            parts.push((at, clips));
        }
    }
    Ok(parts)
}

/// A shard with some of its clips, synced to the disk under temporary names.
fn written_anew(
    folder: &Path,
    set: &Dataset,
    (at, clips): (usize, &[u64]),
    counter: &mut Counter<'_, '_>,
) -> Result<FinishedShard> {
    let shard = set.shard(at)?;
    let mut writer = Writer::create_shard(folder, at, Meta { records: String::new(), ..shard.index.meta.clone() })?;
    for &clip in clips {
        let (clip, bytes) = (set.clip(clip).map_err(advise_repair)?, writer.bytes());
        copy_clip(&mut writer, &clip.info().map_err(advise_repair)?, &clip, false)?;
        counter.add(clip.frame_count().into(), writer.bytes().saturating_sub(bytes))?;
    }
    writer.finish_shard()
}
