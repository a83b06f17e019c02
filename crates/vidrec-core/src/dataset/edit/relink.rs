//! Writes new indexes for the same record files, which the output shares with the input.

use std::path::Path;

use super::options::{EditOptions, EditReport};
use super::plan::OutputPlan;
use crate::dataset::writer::IndexWriter;
use crate::dataset::{Dataset, Shard, writer};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::share;
use vidrec_format::{DatasetJson, FileKind, FileName, Meta, Result, file_name};

/// Writes the plan. It must contain all clips of `set`, in their order and with their own labels. Records are not
/// written, so `progress` counts no bytes.
pub(super) fn write(
    set: &Dataset,
    plan: &OutputPlan<'_>,
    out: &Path,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    plan.refuse_output(out)?;
    let lock = writer::lock(out)?;
    let replaced = writer::replaceable(out, options.overwrite)?;
    let mut counter = Counter::new(Some(set.len()), progress);
    let (mut files, mut shards, mut bytes, mut copied, mut first) = (Vec::new(), Vec::new(), 0, 0, 0);
    for (ordinal, shard) in set.shards()?.into_iter().enumerate() {
        let stem = file_name::shard(ordinal);
        let path = |ending: &str| out.join(format!("{stem}.{ending}"));
        let mut index = IndexWriter::create(&path("vidx"))?;
        for ordinal in first..first + shard.clip_count() {
            let frames = push(&mut index, set, plan, ordinal)?;
            counter.add(frames, 0)?;
        }
        first += shard.clip_count();
        let binding = &shard.index.binding;
        let tracks = shard.tracks.as_ref();
        let index = index.finish(binding, tracks.map(|tracks| &tracks.binding), &meta_of(plan, shard))?;
        let (record, is_copy) = share(&shard.record_path, &path("rec"))?;
        copied += u64::from(is_copy);
        let tracks = tracks.map(|tracks| share(&tracks.path, &path("vtrk"))).transpose()?;
        bytes += index.length + binding.length + index.tracks.map_or(0, |tracks| tracks.length);
        let json = index.listed(FileName::with_digest(&stem, &binding.sha256, FileKind::Records), binding);
        files.extend([(record, json.record_file.clone()), (index.file.seal(), json.index_file.clone())]);
        if let (Some((tracks, is_copy)), Some(listed)) = (tracks, &json.track_file) {
            files.push((tracks, listed.file.clone()));
            copied += u64::from(is_copy);
        }
        shards.push(json);
    }
    let json = DatasetJson::new(&meta_of(plan, set.shard(0)?), shards);
    let left_behind = writer::stage(out, lock, files, &json, replaced)?.publish()?;
    let mut notes = plan.notes.clone();
    notes.push(match copied {
        0 => "no label changed: the output shares the record files with the input (hard links)".into(),
        n => format!("no label changed, but {n} files could not be linked and were copied"),
    });
    Ok(EditReport {
        output: out.display().to_string(),
        clips: json.clips,
        frames: json.frames,
        bytes,
        shards: json.shards.len() as u64,
        not_found: plan.not_found.clone(),
        notes,
        left_behind,
        ..EditReport::default()
    })
}

/// Each shard keeps its own settings.
fn meta_of(plan: &OutputPlan<'_>, shard: &Shard) -> Meta {
    Meta { classes: plan.meta.classes.clone(), ..shard.index.meta.clone() }
}

fn push(index: &mut IndexWriter, set: &Dataset, plan: &OutputPlan<'_>, ordinal: u64) -> Result<u64> {
    let clip = set.clip(ordinal)?;
    let info = (plan.sources[0].describe)(&clip)?;
    index.push(&info, &clip.frame_entries()?)?;
    Ok(clip.frame_count().into())
}
