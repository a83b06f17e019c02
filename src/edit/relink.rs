//! New indexes for the same record files, which are shared with the input.

use std::fs;
use std::path::Path;

use super::copy::refuse_input;
use super::plan::Plan;
use super::{EditOptions, EditReport};
use crate::atomic_file;
use crate::dataset_json::{self, DatasetJson, ShardJson};
use crate::index_file::IndexFile;
use crate::reader::Shard;
use crate::{Dataset, Error, Result, writer};

/// Writes the plan, which is all clips of `set` in their order with the labels that they have.
pub(super) fn run(
    set: &Dataset,
    plan: &Plan<'_>,
    out: &Path,
    options: &EditOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<EditReport> {
    refuse_input(set, out)?;
    let _lock = writer::lock(out)?;
    let stale = writer::replaceable(out, options.overwrite)?;
    writer::remove_leftovers(out)?;
    let mut first = 0;
    let (mut indexes, mut shards, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (ordinal, shard) in set.shards().iter().enumerate() {
        let path = out.join(format!("shard-{ordinal:05}.vidx"));
        let mut index = IndexFile::create(&path)?;
        for ordinal in first..first + shard.clip_count() {
            push(&mut index, set, plan, ordinal)?;
            progress(ordinal + 1);
        }
        first += shard.clip_count();
        let (index, length) = index.finish(&shard.index.binding, &meta_of(plan, shard))?;
        indexes.push(index);
        bytes += length + shard.index.binding.length;
        let name = |ending: &str| format!("shard-{ordinal:05}.{ending}");
        shards.push(ShardJson { record_file: name("rec"), index_file: name("vidx"), ..shard.to_json() });
    }
    for file in &stale {
        fs::remove_file(file).map_err(|e| Error::io("remove what is replaced", file, e))?;
    }
    let mut copied = 0;
    for (shard, json) in set.shards().iter().zip(&shards) {
        copied += u64::from(!share(&shard.record_path, &out.join(&json.record_file))?);
    }
    indexes.into_iter().try_for_each(atomic_file::AtomicFile::publish)?;
    let json = DatasetJson::new(&meta_of(plan, &set.shards()[0]), shards);
    atomic_file::write_file(&out.join(dataset_json::FILE_NAME), &json.to_bytes())?;
    atomic_file::sync_folder(out)?;
    let mut notes = plan.notes.clone();
    notes.push(match copied {
        0 => "no label changed: the record files are shared with the input (hard links)".into(),
        n => format!("no label changed, but {n} record files could not be linked and were copied"),
    });
    Ok(EditReport {
        output: out.display().to_string(),
        clips: json.clips,
        frames: json.frames,
        bytes,
        shards: json.shards.len() as u64,
        left_out: 0,
        not_found: plan.not_found.clone(),
        notes,
    })
}

/// Each shard keeps its own settings.
fn meta_of(plan: &Plan<'_>, shard: &Shard) -> crate::format::meta::Meta {
    crate::format::meta::Meta { classes: plan.meta.classes.clone(), ..shard.index.meta.clone() }
}

fn push(index: &mut IndexFile, set: &Dataset, plan: &Plan<'_>, ordinal: u64) -> Result<()> {
    let clip = set.clip(ordinal)?;
    let info = (plan.sources[0].describe)(&clip)?;
    index.push(&info, &clip.frame_entries()?)
}

/// Gives a record file a second name, or a copy where it cannot have one; whether it is a second name.
///
/// Record files are never changed in place, so nobody notices that they are shared.
fn share(from: &Path, to: &Path) -> Result<bool> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(true);
    }
    let io = |e| Error::io("copy the file", from, e);
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let temporary = to.with_file_name(format!(".{name}.tmp"));
    fs::copy(from, &temporary).map_err(io)?;
    fs::File::open(&temporary).and_then(|f| f.sync_all()).map_err(io)?;
    fs::rename(&temporary, to).map_err(io)?;
    Ok(false)
}
