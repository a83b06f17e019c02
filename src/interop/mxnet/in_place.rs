//! Indexes a record file in place, without changing it.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::import::{MxnetOptions, RecordFile};
use super::records;
use crate::interop::ImportReport;
use crate::interop::sink;
use crate::interop::sink::Kind;
use crate::{ClipInfo, Error, Hint, Meta, ProgressFn, Result, dataset_json, limits};
use vidrec_core::dataset::writer;
use vidrec_core::dataset::writer::{FinishedIndex, IndexWriter};
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::publication::{LeftBehind, Replaced};
use vidrec_core::store::disk::{FolderLock, folder_of};
use vidrec_format::crc32;
use vidrec_format::data_binding::{DataBinding, edge_crc32};
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::file_name::{FileKind, FileName};
use vidrec_format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use vidrec_format::meta::FOREIGN_RECORDS;
use vidrec_jpeg::Decoder;

/// Writes an index beside each record file, and a `dataset.json` that makes them a data set.
///
/// If the folder has other record files, these may be data sets of their own. In that case only one record file
/// can be indexed at a time, its index has its name, and no `dataset.json` is written. The record files are not
/// changed, so nothing in them can be skipped: all their records must be JPEGs of complete clips. The `META` of
/// such a data set says that another program wrote its records.
///
/// # Errors
///
/// Those of [`import`](super::import). Also if an index exists, unless `overwrite` is set, or if the record files
/// are in different folders.
pub fn import_in_place(
    files: &[PathBuf],
    overwrite: bool,
    time_base: (u32, u32),
    mxnet: &MxnetOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ImportReport> {
    mxnet.check(files)?;
    let counter = &mut Counter::new(None, progress);
    let folder = folder_of(&files[0]);
    if let Some(other) = files.iter().find(|f| folder_of(f) != folder) {
        return Err(Error::usage("record files of one data set must be in one folder").file(other));
    }
    let is_records = |file: &&PathBuf| FileName::of(file).is_ok_and(|name| name.kind() == Some(FileKind::Records));
    if let Some(other) = files.iter().find(|file| !is_records(file)) {
        return Err(Error::usage("to be indexed in place, a record file needs a name that a data set can list")
            .file(other)
            .expected("ASCII letters, digits, '.', '_' and '-', with neither '.' nor '-' first, and .rec at the end")
            .help("give the file another name"));
    }
    let lock = writer::lock(folder)?;
    let listing = folder.join(dataset_json::FILE_NAME);
    let there_already = |file: &Path| Error::usage("the file already exists").file(file).hint(Hint::Overwrite);
    let index_paths: Vec<PathBuf> = files.iter().map(|f| f.with_extension("vidx")).collect();
    let is_whole_folder = record_files(folder)?.len() == files.len();
    let mut written = index_paths.iter().chain(is_whole_folder.then_some(&listing));
    if let Some(there) = written.find(|p| p.exists()).filter(|_| !overwrite) {
        return Err(there_already(there));
    }
    let mut report = ImportReport::default();
    let mut ready = Vec::new();
    for (path, index_path) in files.iter().zip(&index_paths) {
        let index = index_of(path, index_path, time_base, mxnet, counter)?;
        report.clips += index.json.clips;
        report.frames += index.json.frames;
        report.bytes += index.length;
        ready.push(index);
    }
    if is_whole_folder {
        report.left_behind = publish(folder, lock, ready, index_paths, overwrite)?;
    } else if let [_] = files {
        ready.into_iter().try_for_each(|index| index.file.publish())?;
        let note =
            "vidrec did not write dataset.json, because the folder has other record files: open each .rec by itself";
        report.notes.push(note.into());
    } else {
        return Err(Error::usage("there are other record files in this folder")
            .file(folder)
            .help("give all of them, to make one data set, or give only one of them"));
    }
    Ok(report)
}

/// Renames the indexes to their final names, and makes the folder a data set.
fn publish(
    folder: &Path,
    lock: FolderLock,
    indexes: Vec<FinishedIndex>,
    earlier: Vec<PathBuf>,
    overwrite: bool,
) -> Result<LeftBehind> {
    let there = writer::replaceable(folder, true)?;
    let mut replaced = Replaced::default();
    if overwrite {
        replaced = there;
        replaced.files.extend(indexes.iter().map(|index| index.json.index_file.clone()));
    }
    // These are indexes that an earlier import without a dataset.json wrote.
    let earlier = earlier.iter().filter(|path| path.exists()).map(|path| FileName::of(path));
    let removable = replaced.removable.into_iter().map(Ok).chain(earlier).collect::<Result<_>>()?;
    let replaced = Replaced { removable, ..replaced };
    let json = DatasetJson::new(&meta(), indexes.iter().map(|index| index.json.clone()).collect());
    let files = indexes.into_iter().map(|index| (index.file.seal(), index.json.index_file)).collect();
    writer::stage(folder, lock, files, &json, replaced)?.publish()
}

fn meta() -> Meta {
    Meta { records: FOREIGN_RECORDS.into(), ..sink::meta("mxnet", Vec::new()) }
}

fn record_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("list the folder", folder, e);
    let paths = fs::read_dir(folder).map_err(failed)?.map(|entry| Ok(entry.map_err(failed)?.path()));
    let paths = paths.collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rec")).collect())
}

/// Writes the index of one record file to disk, under its temporary name.
fn index_of(
    path: &Path,
    index_path: &Path,
    time_base: (u32, u32),
    mxnet: &MxnetOptions,
    counter: &mut Counter<'_, '_>,
) -> Result<FinishedIndex> {
    let file = RecordFile::open(path, mxnet)?;
    let whole = |e: Error| e.hint(Hint::Import).hint(Hint::Set("salvage"));
    if let Some((_, e)) = file.faults(mxnet).into_iter().next() {
        return Err(whole(e));
    }
    let groups = file.groups(mxnet);
    if let Some((_, e)) = groups.faults.into_iter().next() {
        return Err(whole(e.file(path)));
    }
    if file.records.is_empty() || file.records.len() as u64 > limits::MAX_ORDINALS {
        return Err(Error::usage("the file has no records, or more than a shard can have")
            .file(path)
            .found(file.records.len()));
    }
    let mut decoder = Decoder::new()?;
    let mut index = IndexWriter::default();
    for run in &groups.clips {
        let added = file.clip(run, groups.by_id2, time_base).and_then(|clip| {
            let ((width, height), frames) = entries(&mut decoder, &file, run.clone())?;
            index.push(&ClipInfo { width, height, class: String::new(), ..clip.info() }, &frames)
        });
        added.map_err(|e| file.at(e, run))?;
        counter.add(run.len() as u64, 0)?;
    }
    let binding = DataBinding {
        length: file.bytes.len() as u64,
        sha256: Sha256::digest(&file.bytes[..]).into(),
        edge_crc32: edge_crc32(&file.bytes),
    };
    index.finish(index_path, (FileName::of(path)?, &binding), None, &meta())
}

/// Returns the entries of a clip's frames, and their width and height if all frames have the same.
fn entries(decoder: &mut Decoder, file: &RecordFile, run: Range<usize>) -> Result<((u32, u32), Vec<FrameEntry>)> {
    let (mut sizes, mut entries) = (Vec::new(), Vec::new());
    for (t, record) in (0..).zip(&file.records[run]) {
        let jpeg = records::picture(&file.bytes, record)?;
        sizes.push(jpeg_size(decoder, &jpeg).map_err(|e| e.in_frame(t))?);
        entries.push(FrameEntry {
            record_offset: record.offset,
            pts: i64::from(t),
            jpeg_length: jpeg.len() as u32,
            jpeg_crc32: crc32(&jpeg),
            source_index: UNKNOWN_SOURCE_INDEX,
        });
    }
    sizes.dedup();
    Ok((if let [size] = sizes[..] { size } else { (0, 0) }, entries))
}

fn jpeg_size(decoder: &mut Decoder, jpeg: &[u8]) -> Result<(u32, u32)> {
    if sink::kind(jpeg) != Kind::Jpeg {
        return Err(Error::usage("the image is not a JPEG, so the file cannot be indexed in place")
            .hint(Hint::Import)
            .hint(Hint::Set("reencode")));
    }
    decoder.header(jpeg).map(|h| (h.width, h.height))
}
